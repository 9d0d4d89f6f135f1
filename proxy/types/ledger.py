"""What a request cost."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields

from proxy.types.base import Json, Outcome, PlanKind, Source


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens."""

    input: float = 0.0
    cached: float = 0.0  # prompt tokens that the provider's prefix cache held
    write: float = 0.0  # prompt tokens written to it
    output: float = 0.0


@dataclass(frozen=True, slots=True)
class PrefixCache:
    """How an upstream remembers the beginning of a prompt. The defaults describe one that is known not to."""

    ttl: float = 0.0  # seconds of idleness that it survives for sure; 0: there is no cache, inf: until evicted
    block: int = 1  # tokens: a prefix is found in multiples of this
    minimum: int = 0  # tokens: shorter prompts are not cached
    # A prefix is found only where an earlier request ended, at its newest message or its answer.
    breakpoints: bool = False
    reasoning: bool = False  # what was thought is kept only while nothing before it has changed


@dataclass(frozen=True, slots=True)
class Sums:
    """Of ledger rows. Tokens and US dollars; what context management added or left out is told by mechanism.

    They say the same as the metrics, to the token: `olvido_tokens` of kind original is `tokens_original +
    tokens_reused_prompt`, of kind sent `tokens_sent` (of these, measured: `tokens_measured`); `olvido_saved_tokens` by
    exact and intent reuse is `tokens_reused`; every other sum is the counter of its name.
    """

    requests: int = 0
    errors: int = 0  # with a status of 400 and above, or no whole answer though the client waited for one
    reused_exact: int = 0
    reused_intent: int = 0
    managed: int = 0  # requests whose prompt was rewritten
    over_budget: int = 0
    failed_open: int = 0
    tokens_original: int = 0  # of requests that went upstream
    tokens_sent: int = 0
    tokens_cached: int = 0
    tokens_billed: int = 0
    tokens_completion: int = 0  # generated upstream
    tokens_measured: int = 0  # of those sent, what the upstream's usage counted; the rest is our estimate
    tokens_reused: int = 0  # prompt and completion tokens of answers from memory
    tokens_reused_prompt: int = 0  # of these, prompt tokens
    tokens_busted: int = 0
    cost: float = 0.0
    saved_exact: float = 0.0  # dollars against pass-through, by what saved them
    saved_intent: float = 0.0
    saved_context: float = 0.0  # of requests that were cheaper than pass-through
    added_context: float = 0.0  # of requests that were dearer, as a positive number
    window: int = 0  # tokens left out
    capped: int = 0
    tools: int = 0
    elided: int = 0
    summaries: int = 0  # tokens added
    facts: int = 0
    recall: int = 0
    overhead_seconds: float = 0.0

    def __add__(self, other: "Sums") -> "Sums":
        return Sums(*(getattr(self, each.name) + getattr(other, each.name) for each in fields(self)))


@dataclass(frozen=True, slots=True)
class Bucket:
    """Requests of one span of time, of one name if they were asked for by name."""

    at: float  # unix seconds: where the span begins
    name: str  # of a model, an upstream, a source or a plan; "": of all
    sums: Sums


@dataclass(frozen=True, slots=True)
class SessionCard:
    """A conversation in a list of them."""

    scope: str
    session: str
    first_at: float
    last_at: float
    sums: Sums


@dataclass(frozen=True, slots=True)
class TurnCard:
    """An archived turn in the tree that a conversation's branches make."""

    link: bytes
    parent: bytes  # b"" for a first turn
    turn: int
    at: float
    begins: str  # the first characters of what the user said


@dataclass(frozen=True, slots=True)
class BreakEven:
    """The numbers by which it was decided whether old turns leave. Costs are in prompt tokens at the input price."""

    leave: int  # complete turns that leave; 0: none
    reason: str  # strict, limit, flush, pressure, economic; "" if none leaves
    cached: float  # price of a token that the prefix cache holds, now
    write: float  # of one that it does not
    turns: int  # complete turns in the prompt before the decision
    standing: int  # tokens of the prompt as it stood
    folded: int  # tokens with the wanted window
    advance: float  # what folding costs now
    carried: float  # what the turns that would leave have cost since they left the window
    regret: float  # by how much what was spent would pass what pass-through costs, as a share of it
    baseline: float  # cost of pass-through so far
    spent: float  # of what was sent so far


@dataclass(frozen=True, slots=True)
class RecalledLine:
    session: str
    turn: int
    role: str
    tokens: int
    score: float


@dataclass(frozen=True, slots=True)
class Trail:
    """How a prompt came to be, without a word of it. Indices are of the client's messages."""

    limit: int | None  # tokens of the prompt
    turns: int  # user messages so far
    kept: int  # complete turns in the prompt
    start: int  # first message that is sent after the preamble
    newest: int  # newest user message
    head: int = 0  # tokens of the memory head
    summaries: int = 0  # how many stand in it
    facts: int = 0  # how many stand in it
    volatile: int = 0  # tokens of the volatile block
    recalled: tuple[RecalledLine, ...] = ()
    capped: tuple[int, ...] = ()
    markers: tuple[int, ...] = ()
    shift: str | None = None  # the newest turn begins another topic: why we think so
    continuity: float | None = None
    domain: str = ""
    break_even: BreakEven | None = None
    profile: str = ""


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """One row a request. No contents, no keys."""

    request_id: str
    at: float  # unix seconds
    scope: str
    session: str
    model: str
    upstream: str
    source: Source
    status: int
    outcome: Outcome
    stream: bool
    plan: PlanKind
    plan_reason: str
    reuse_reason: str  # of exact reuse: hit, or why not
    tokens_original: int  # prompt as the client sent it
    tokens_sent: int  # prompt as it went upstream; 0 when reused
    tokens_cached: int
    tokens_billed: int  # prompt tokens the upstream charged for
    tokens_completion: int
    measured: bool  # the four above come from the upstream's usage, not from our estimate
    cost: float  # US dollars
    cost_saved: float  # against plain pass-through; below 0 where memory cost more than it left out
    total_seconds: float
    upstream_seconds: float
    retries: int = 0
    intent_reason: str = ""  # of reuse by intent: hit, why not, or "" if none was looked for
    tokens_busted: int = 0  # that the prefix cache held of our prompt, and that a fold had billed anew
    mechanisms: Mapping[str, int] = field(default_factory=dict)  # tokens left out or added, by what did it
    trail: Trail | None = None  # how the prompt came to be; None if it was not looked into
    stage_seconds: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Contents:
    """What a request said, kept for whoever runs the proxy to look at, for as long as the configuration says."""

    scope: str
    request_id: str
    session: str
    at: float
    body: bytes  # as the client sent it
    sent: bytes = b""  # as it went upstream; b"": the same, or nowhere
    fates: bytes = b""  # of its messages, packed; b"": all were sent as they came
    answer: bytes = b""  # the assistant's message, JSON
    headers: Mapping[str, str] = field(default_factory=dict)  # of the request: ours, and who the client says it is

    @property
    def size(self) -> int:
        return len(self.body) + len(self.sent) + len(self.fates) + len(self.answer)


def plain(sums: Sums) -> Json:
    return {each.name: getattr(sums, each.name) for each in fields(sums)}
