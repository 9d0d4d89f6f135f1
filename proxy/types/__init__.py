"""The records that flow between modules. They are frozen: a stage reads them and returns new ones.

request.py  aliases that every module uses; a request, its messages and tools
identity.py who sends it: tenant, end user, conversation; what its headers direct
answer.py   answers and usage; reuse of answers: entries, hits and misses
memory.py   facts, turns, summaries, the state of a conversation
keys.py     keys that this proxy gives out, their limits and sums; imported from there
curation.py memory with a model's help: jobs, their outcomes, events, digests; imported from there
desk.py     memory that the model manages itself: its events, the tape, documents; imported from there
quality.py  comparisons of a managed answer with that of the request as it was; imported from there
plan.py     prices; the prompt that is sent upstream and the decisions behind it
ledger.py   ledger rows, their filters and sums

Token counts are the upstream's own where it reports them (`Usage`), else estimates by the o200k ranks, calibrated per
model. Times are Unix seconds, durations seconds, sizes bytes, prices US dollars per million tokens.
"""

from proxy.types.answer import (
    Answer,
    Asked,
    Candidate,
    Delivery,
    Judgement,
    ReuseDecision,
    ReuseEntry,
    ReuseHit,
    ReuseMiss,
    Round,
    Served,
    StoredAnswer,
    StreamedBody,
    Usage,
)
from proxy.types.identity import Directives, Identity, Incoming, Scope
from proxy.types.ledger import ANY_ROW, Bucket, Contents, LedgerRow, RowFilter, SessionCard, Sums, TurnCard
from proxy.types.memory import (
    DOMAINS,
    SELF_CORRECTION,
    ArchivedTurn,
    Confidence,
    ContextRead,
    Excerpt,
    Fact,
    FactSource,
    FactStatus,
    Fold,
    FoldReason,
    Forgetting,
    Language,
    OpenTurn,
    PathState,
    ShiftCause,
    Statement,
    Summary,
    ToldFacts,
    TurnDigest,
    Utterance,
    VolatileBlock,
    fact_source,
)
from proxy.types.plan import (
    BreakEven,
    DeskTrail,
    Exchange,
    Fates,
    Mechanisms,
    Plan,
    PrefixCache,
    Price,
    Prompt,
    PromptTokens,
    RecalledLine,
    Repeats,
    Trail,
)
from proxy.types.request import (
    MANAGED_ROUTE,
    UNANSWERED,
    UNMANAGED,
    ApiName,
    Breakpoints,
    ChatRequest,
    Continuity,
    Headers,
    Json,
    Message,
    Mode,
    Outcome,
    Part,
    PlanKind,
    RequestOrigin,
    ResponseFormat,
    RowKind,
    Sampling,
    SessionSource,
    Source,
    Tool,
    ToolCall,
    Vector,
)
