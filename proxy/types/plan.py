"""Plans of prompts, and the record of a request on its way upstream."""

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
        """Tokens added to the prompt."""
        return self.summaries + self.facts + self.recall

    @property
    def left_out(self) -> int:
        """Tokens left out of the prompt."""
        return self.window + self.capped + self.tools + self.elided

    def items(self) -> tuple[tuple[str, int], ...]:
        """Returns names and tokens of the mechanisms that did something."""
        return tuple((each.name, tokens) for each in fields(self) if (tokens := getattr(self, each.name)))


@dataclass(frozen=True, slots=True)
class PromptTokens:
    """Token counts of a prompt, as the client sent it and as it is sent upstream: by our count while it is planned,
    then in the upstream's own tokens (`scaled`), if it has reported them."""

    original: int
    sent: int
    rough: int = 0  # the sent prompt by the rough count, which is calibrated by the upstream's own
    counted: int = 0  # the sent prompt by the o200k ranks; 0: not counted
    repeated: int = 0  # that a prefix cache would have of the original prompt
    expected: int = 0  # that the prefix cache should have of the sent prompt; 0 also if they may have expired there
    busted: int = 0  # that it had of ours, and that are billed anew since a message before them has changed
    mechanisms: Mechanisms = Mechanisms()  # by our count

    def scaled(self, factor: float) -> "PromptTokens":
        """Returns the counts in tokens of the upstream. `factor`: tokens of the upstream per token of ours."""
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
    """The decisions about the messages of a managed request, from which `context/layout.py` derives the fate of each.
    Indices are of the client's messages."""

    preamble: int  # messages before the first user message: always sent
    left: int  # index of the first message that no fold has taken out of the window
    start: int  # index of the first message that is sent after the preamble; above `left` to make room for excerpts
    newest: int  # index of the newest user message
    instructions: tuple[int, ...] = ()  # system messages among those left out: they are sent nevertheless
    capped: tuple[int, ...] = ()  # long answers that are sent without their middle
    markers: tuple[int, ...] = ()  # old tool results that are sent as one line
    quoted: tuple[int, ...] = ()  # messages that the volatile block quotes
    summaries: tuple[tuple[int, int], ...] = ()  # first and last turn of each
    is_elided: bool = False  # the first message is sent without parts that need not be repeated
    head: str = ""  # the memory head
    volatile: str = ""  # the volatile block


@dataclass(frozen=True, slots=True)
class Plan:
    """The prompt for the upstream, and the reasons for it. `messages is None`: those of the client."""

    kind: PlanKind
    tokens: PromptTokens
    reason: str = ""
    messages: tuple[Message, ...] | None = None
    tools: Sequence[Json] | None = None  # in place of the client's, without descriptions that need not be repeated
    fates: Fates | None = None  # of the messages; None: all are sent unchanged
    state: PathState | None = None  # of the conversation, once this has been sent
    trail: Trail | None = None  # None: it was not planned


@dataclass(frozen=True, slots=True)
class Prompt:
    """A body ready to be sent. `strip_usage`: the usage chunk was asked for by us, not by the client."""

    body: bytes
    plan: Plan
    strip_usage: bool = False


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request with the decisions about it on its way upstream, for recording once it is answered."""

    incoming: Incoming
    request: ChatRequest
    identity: Identity
    directives: Directives
    miss: ReuseMiss
    plan: Plan
    upstream: str  # that is to answer; a fallback may do so
    started: float  # perf_counter
