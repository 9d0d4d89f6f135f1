"""What is decided about a request on its way to the upstream."""

from collections.abc import Sequence
from dataclasses import dataclass, fields

from proxy.types.account import Trail
from proxy.types.base import Json, PlanKind
from proxy.types.memory import PathState
from proxy.types.request import ChatRequest, Directives, Identity, Incoming, Message
from proxy.types.reuse import ReuseMiss


@dataclass(frozen=True, slots=True)
class Mechanisms:
    """What each mechanism did to the prompt, in tokens. The first four were left out, the others added."""

    window: int = 0  # turns that left the window
    capped: int = 0  # the middle of long older answers
    tools: int = 0  # old tool results
    elided: int = 0  # instructions and tool descriptions that need not be repeated
    summaries: int = 0
    facts: int = 0
    recall: int = 0

    @property
    def added(self) -> int:
        return self.summaries + self.facts + self.recall

    @property
    def left_out(self) -> int:
        return self.window + self.capped + self.tools + self.elided

    def items(self) -> tuple[tuple[str, int], ...]:
        return tuple((each.name, tokens) for each in fields(self) if (tokens := getattr(self, each.name)))


@dataclass(frozen=True, slots=True)
class Plan:
    """What the upstream will get. `messages is None` means: what the client sent."""

    kind: PlanKind
    tokens_original: int
    tokens_sent: int
    rough: int = 0  # the sent prompt by the rough count: what the upstream's own is compared with
    counted: int = 0  # the sent prompt by the o200k ranks; 0: not counted
    reason: str = ""
    messages: tuple[Message, ...] | None = None
    tools: Sequence[Json] | None = None  # in place of the client's, which need not be described again
    mechanisms: Mechanisms = Mechanisms()
    repeated: int = 0  # tokens that a prefix cache would have held of the original prompt
    expected: int = (
        0  # tokens that a prefix cache should hold of the sent prompt; 0 also where it may have let go of them
    )
    busted: int = 0  # tokens that it held of ours, and that are billed anew since we changed what is before them
    state: PathState | None = None  # of the conversation, once this has been sent
    trail: Trail | None = None  # how it came to be; None: it was not looked into


@dataclass(frozen=True, slots=True)
class Prompt:
    """A body ready to be sent. `strip_usage`: we asked for the usage chunk, the client did not."""

    body: bytes
    plan: Plan
    strip_usage: bool = False


@dataclass(frozen=True, slots=True)
class Passage:
    """All that was decided about a request on its way to the upstream: what `record` needs once it is answered."""

    incoming: Incoming
    request: ChatRequest
    identity: Identity
    directives: Directives
    miss: ReuseMiss
    plan: Plan
    upstream: str  # that shall answer; a fallback may
    started: float  # perf_counter
