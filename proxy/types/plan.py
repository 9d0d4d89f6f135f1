"""What is decided about a request on its way to the upstream."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

from proxy.types.base import Json, PlanKind
from proxy.types.ledger import Trail
from proxy.types.memory import PathState
from proxy.types.request import ChatRequest, Directives, Identity, Incoming, Message
from proxy.types.reuse import ReuseMiss


@dataclass(frozen=True, slots=True)
class Mechanisms:
    """Tokens that each mechanism left out of the prompt (the first four) or added to it (the others)."""

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
class PromptTokens:
    """Tokens of a prompt, as the client sent it and as it goes upstream: by our count while it is planned, then in the
    upstream's own (`scaled`), as far as it has told them."""

    original: int
    sent: int
    rough: int = 0  # the sent prompt by the rough count: what the upstream's own is compared with
    counted: int = 0  # the sent prompt by the o200k ranks; 0: not counted
    repeated: int = 0  # that a prefix cache would have held of the original prompt
    expected: int = 0  # that a prefix cache should hold of the sent prompt; 0 also where it may have let go of them
    busted: int = 0  # that it held of ours, and that are billed anew since we changed what is before them
    mechanisms: Mechanisms = Mechanisms()  # by our count

    def scaled(self, factor: float) -> "PromptTokens":
        """In tokens of the upstream. `factor`: so many of them are one of ours."""
        return replace(
            self,
            original=round(self.original * factor),
            sent=round(self.sent * factor),
            repeated=round(self.repeated * factor),
            expected=round(self.expected * factor),
            busted=round(self.busted * factor),
        )


@dataclass(frozen=True, slots=True)
class Fates:
    """The decisions about each message of a managed request, from which `memory/fates.py` tells its fate. Indices are
    of the client's messages, whose texts are not repeated here."""

    preamble: int  # messages before the first user message: always sent
    left: int  # index of the first message that no fold has taken out of the window
    start: int  # index of the first message that is sent after the preamble: those from `left` on make room this time
    newest: int  # index of the newest user message
    instructions: tuple[int, ...] = ()  # system messages among those left out: they are sent all the same
    capped: tuple[int, ...] = ()  # long answers that are sent without their middle
    markers: tuple[int, ...] = ()  # old tool results, of which a line is sent
    quoted: tuple[int, ...] = ()  # messages that the volatile block quotes
    summaries: tuple[tuple[int, int], ...] = ()  # first and last turn that each tells of
    is_elided: bool = False  # the first message is sent without what need not be repeated
    head: str = ""  # the memory head
    volatile: str = ""  # the volatile block


@dataclass(frozen=True, slots=True)
class Plan:
    """The prompt that the upstream will get, and why. `messages is None` means: what the client sent."""

    kind: PlanKind
    tokens: PromptTokens
    reason: str = ""
    messages: tuple[Message, ...] | None = None
    tools: Sequence[Json] | None = None  # in place of the client's, which need not be described again
    fates: Fates | None = None  # of the messages; None: all were sent as they came
    state: PathState | None = None  # of the conversation, once this has been sent
    trail: Trail | None = None  # how it came to be; None: it was not looked into


@dataclass(frozen=True, slots=True)
class Prompt:
    """A body ready to be sent. `strip_usage`: we asked for the usage chunk, the client did not."""

    body: bytes
    plan: Plan
    strip_usage: bool = False


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request and all that was decided about it on its way to the upstream, for recording once it is answered."""

    incoming: Incoming
    request: ChatRequest
    identity: Identity
    directives: Directives
    miss: ReuseMiss
    plan: Plan
    upstream: str  # that shall answer; a fallback may
    started: float  # perf_counter
