"""Ledger rows, their filters and sums; conversations and turns as they are listed; the bodies of requests."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from proxy.types.plan import Trail
from proxy.types.request import MANAGED_ROUTE, Outcome, PlanKind, Source


@dataclass(frozen=True, slots=True)
class Sums:
    """Sums over ledger rows, in tokens and US dollars. The last fields are tokens by mechanism of context management.

    They equal the metrics, to the token: `olvido_tokens` of kind original is `tokens_original +
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
    tokens_measured: int = 0  # of those sent, counted by the upstream; the others are our estimate
    tokens_reused: int = 0  # prompt and completion tokens of answers from memory
    tokens_reused_prompt: int = 0  # of these, prompt tokens
    tokens_busted: int = 0
    cost: float = 0.0
    saved_exact: float = 0.0  # dollars against pass-through, by what saved them
    saved_intent: float = 0.0
    saved_context: float = 0.0  # of requests that were cheaper than pass-through
    added_context: float = 0.0  # of requests that were dearer, as a positive number
    window: int = 0  # tokens left out by each mechanism
    capped: int = 0
    tools: int = 0
    elided: int = 0
    summaries: int = 0  # tokens added by each mechanism
    facts: int = 0
    recall: int = 0
    overhead_seconds: float = 0.0
    memory: float = 0.0  # dollars that the model which helps memory has cost, in `cost` as well
    pruned: int = 0  # tokens left out by the model
    desk: int = 0  # tokens added by the model's own memory
    unmanaged: int = 0  # requests to other routes, which no other sum counts
    unmanaged_cost: float = 0.0  # dollars of these, as far as their upstream told what it used
    quality: float = 0.0  # dollars that comparing answers has cost, in `cost` as well


@dataclass(frozen=True, slots=True)
class Bucket:
    """The sums of one span of time, of one group if they are grouped."""

    at: float  # beginning of the span, Unix seconds
    name: str  # of a model, an upstream, a source, a plan or a route; "": of all
    sums: Sums


@dataclass(frozen=True, slots=True)
class SessionCard:
    """A conversation, as a list of conversations shows it."""

    scope: str
    session: str
    first_at: float
    last_at: float
    sums: Sums


@dataclass(frozen=True, slots=True)
class TurnCard:
    """An archived turn, as a node of the tree of a conversation's branches."""

    link: bytes
    parent: bytes  # b"" for a first turn
    turn: int
    at: float
    begins: str  # the first characters of its user message


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """The accounts of one request: tokens, costs, times, decisions. No texts, no keys."""

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
    reuse_reason: str  # of exact reuse: hit, or the reason of the miss
    tokens_original: int  # prompt as the client sent it
    tokens_sent: int  # prompt as it went upstream; 0 when reused
    tokens_cached: int
    tokens_billed: int  # prompt tokens the upstream charged for
    tokens_completion: int
    measured: bool  # the four above are the upstream's counts, not our estimates
    cost: float  # US dollars
    cost_saved: float  # US dollars against pass-through; below 0 if memory cost more than it saved
    total_seconds: float
    upstream_seconds: float
    retries: int = 0
    intent_reason: str = ""  # of reuse by intent: hit, the reason of the miss, or "" without a look-up
    tokens_busted: int = 0  # that the prefix cache had of our prompt, and that are billed anew because of a fold
    route: str = MANAGED_ROUTE  # of the API, one of `protocol/routes.py`; any other was passed through
    mechanisms: Mapping[str, int] = field(default_factory=dict)  # tokens left out or added, by mechanism
    trail: Trail | None = None  # None if the prompt was not planned
    stage_seconds: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RowFilter:
    """A condition on ledger rows: what each has to be like. None: whatever it is."""

    model: str | None = None
    route: str | None = None
    source: Source | None = None
    plan: PlanKind | None = None  # of a request of the managed route that went upstream
    unmanaged: bool | None = None  # of another route than the managed one
    failed: bool | None = None  # with an error, or without a whole answer though the client waited for one
    dearer: bool | None = None  # than pass-through
    since: float | None = None  # unix seconds
    until: float | None = None  # unix seconds, itself excluded


ANY_ROW = RowFilter()


@dataclass(frozen=True, slots=True)
class Contents:
    """The bodies of a request and its answer, kept for administrators as long as the configuration says."""

    scope: str
    request_id: str
    session: str
    at: float
    body: bytes  # as the client sent it
    sent: bytes = b""  # as it was sent upstream; b"": the same, or not sent
    fates: bytes = b""  # of its messages, packed; b"": all were sent unchanged
    answer: bytes = b""  # the assistant's message, JSON
    headers: Mapping[str, str] = field(default_factory=dict)  # of the request: our own, and those that name the client

    @property
    def size(self) -> int:
        """Bytes of all parts."""
        return len(self.body) + len(self.sent) + len(self.fates) + len(self.answer)
