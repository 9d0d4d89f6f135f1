"""Everything that flows between modules. Frozen: a stage reads what it is given and returns something new.

base.py     names that every module uses
request.py  the request, who asks, in which conversation
reuse.py    answers from memory
memory.py   facts, turns, summaries, the state of a conversation
plan.py     what the upstream will get, and why
answer.py   what comes back
ledger.py   what it cost
account.py  what requests came to, added up; what one said

Token counts are in the upstream's own tokens where it told us (`Usage`), else estimates by the o200k ranks,
calibrated per model. Durations are seconds, sizes bytes, prices US dollars per million tokens.
"""

from proxy.types.account import (
    BreakEven,
    Bucket,
    Contents,
    RecalledLine,
    SessionCard,
    Sums,
    Trail,
    TurnCard,
)
from proxy.types.answer import Answer, Delivery, StoredAnswer, StreamedBody, Usage
from proxy.types.base import (
    UNANSWERED,
    Continuity,
    Headers,
    Json,
    Mode,
    Outcome,
    PlanKind,
    RowKind,
    SessionSource,
    Source,
    Vector,
)
from proxy.types.ledger import LedgerRow, PrefixCache, Price
from proxy.types.memory import (
    DOMAINS,
    ArchivedTurn,
    Confidence,
    Excerpt,
    Fact,
    FactSource,
    FactStatus,
    Fold,
    Forgetting,
    Language,
    PathState,
    ShiftCause,
    Statement,
    Summary,
    TurnDigest,
    Utterance,
    VolatileBlock,
)
from proxy.types.plan import Exchange, Fates, Mechanisms, Plan, Prompt, PromptTokens
from proxy.types.request import (
    ChatRequest,
    Directives,
    Identity,
    Incoming,
    Message,
    Part,
    ResponseFormat,
    Sampling,
    Scope,
    Tool,
    ToolCall,
    Turn,
)
from proxy.types.reuse import Asked, Candidate, ReuseDecision, ReuseEntry, ReuseHit, ReuseMiss

__all__ = [
    "DOMAINS",
    "UNANSWERED",
    "Answer",
    "ArchivedTurn",
    "Asked",
    "BreakEven",
    "Bucket",
    "Candidate",
    "ChatRequest",
    "Confidence",
    "Contents",
    "Continuity",
    "Delivery",
    "Directives",
    "Excerpt",
    "Exchange",
    "Fact",
    "FactSource",
    "FactStatus",
    "Fates",
    "Fold",
    "Forgetting",
    "Headers",
    "Identity",
    "Incoming",
    "Json",
    "Language",
    "LedgerRow",
    "Mechanisms",
    "Message",
    "Mode",
    "Outcome",
    "Part",
    "PathState",
    "Plan",
    "PlanKind",
    "PrefixCache",
    "Price",
    "Prompt",
    "PromptTokens",
    "RecalledLine",
    "ResponseFormat",
    "ReuseDecision",
    "ReuseEntry",
    "ReuseHit",
    "ReuseMiss",
    "RowKind",
    "Sampling",
    "Scope",
    "SessionCard",
    "SessionSource",
    "ShiftCause",
    "Source",
    "Statement",
    "StoredAnswer",
    "StreamedBody",
    "Summary",
    "Sums",
    "Tool",
    "ToolCall",
    "Trail",
    "Turn",
    "TurnCard",
    "TurnDigest",
    "Usage",
    "Utterance",
    "Vector",
    "VolatileBlock",
]
