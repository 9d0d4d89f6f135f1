"""What a request cost."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from proxy.types.account import Trail
from proxy.types.base import Outcome, PlanKind, Source


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
