"""Prices; the plan of a prompt, with the decisions behind it; the record of a request on its way upstream."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

from proxy.types.answer import ReuseMiss
from proxy.types.desk import DeskPlan, Pressure
from proxy.types.identity import Directives, Identity, Incoming
from proxy.types.memory import PathState
from proxy.types.request import ApiName, ChatRequest, Json, Message, PlanKind


@dataclass(frozen=True, slots=True)
class Price:
    """The prices of a model, in US dollars per million tokens."""

    input: float = 0.0
    cached: float = 0.0  # prompt tokens that the provider's prefix cache held
    write: float = 0.0  # prompt tokens written to that cache
    output: float = 0.0
    # Prompt tokens written to it for an hour, where the client asks for that; None: twice the input, for every model of
    # the one provider that sells it (platform.claude.com/docs/en/about-claude/pricing, 2026-11).
    write_hour: float | None = None

    @property
    def hour(self) -> float:
        """The price of a write for an hour."""
        return 2 * self.input if self.write_hour is None else self.write_hour


@dataclass(frozen=True, slots=True)
class PrefixCache:
    """The rules of a provider's prefix cache. The defaults describe a provider without one."""

    ttl: float = 0.0  # seconds without use that a prefix stays for sure; 0: there is no cache, inf: until evicted
    block: int = 1  # tokens; a prefix is cached in multiples of this
    minimum: int = 0  # tokens; shorter prompts are not cached
    # A prefix is found only where an earlier request ended, at its newest message or its answer.
    breakpoints: bool = False
    reasoning: bool = False  # reasoning is kept only while no message before it has changed
    marked: bool = False  # of requests of the Messages API, only what they mark (`cache_control`) is cached


@dataclass(frozen=True, slots=True)
class BreakEven:
    """The numbers behind the decision to fold old turns out of the prompt. Costs are in prompt tokens at the input
    price."""

    leave: int  # complete turns that are folded
    reason: str  # strict, limit, flush, pressure, economic; "" if none is folded
    cached: float  # price of a token that the prefix cache has, relative to the input price
    write: float  # price of one that it does not have, the same
    turns: int  # complete turns in the prompt before the decision
    standing: int  # tokens of the prompt without the fold
    folded: int  # tokens of the prompt with it
    advance: float  # cost of folding now
    carried: float  # cost of the turns to be folded since they left the window
    regret: float  # excess of the spent cost over that of pass-through, as a share of the latter
    baseline: float  # cost of pass-through so far
    spent: float  # cost of what was sent so far


@dataclass(frozen=True, slots=True)
class RecalledLine:
    """A recalled excerpt, without its text. `tokens` of the excerpt, `score` of the search."""

    session: str
    turn: int
    role: str
    tokens: int
    score: float


@dataclass(frozen=True, slots=True)
class DeskTrail:
    """The numbers of a prompt whose model manages memory itself. Tokens in the upstream's own count."""

    used: int  # of the prompt, without the dashboard
    limit: int | None  # tokens of context that pressure is measured against; None: unknown
    pressure: float  # share of the safe context that is used; 0 without a limit
    level: Pressure
    schemas: int = 0  # tokens of our tools' schemas in it; 0: they were not offered
    rounds: int = 1  # that were billed, the hidden ones too
    cost: float = 0.0  # US dollars of the schemas, in all rounds


@dataclass(frozen=True, slots=True)
class Trail:
    """The numbers behind a prompt, without its text. Indices are of the client's messages."""

    limit: int | None  # tokens that the prompt may have; None: no limit
    turns: int  # user messages so far
    kept: int  # complete turns in the prompt
    start: int  # first message that is sent after the preamble
    newest: int  # newest user message
    head: int = 0  # tokens of the memory head
    summaries: int = 0  # number of them in the head
    facts: int = 0  # number of them in the head
    volatile: int = 0  # tokens of the volatile block
    recalled: tuple[RecalledLine, ...] = ()
    capped: tuple[int, ...] = ()  # answers that are sent without their middle
    markers: tuple[int, ...] = ()  # tool results that are sent as a marker
    shift: str | None = None  # cause by which the newest turn changes the topic; None: it does not
    continuity: float | None = None  # cosine of the newest turn with the one before
    domain: str = ""  # of the newest user message
    break_even: BreakEven | None = None
    profile: str = ""  # its name
    desk: DeskTrail | None = None  # None: the model did not manage memory itself


@dataclass(frozen=True, slots=True)
class Mechanisms:
    """Tokens that each mechanism left out of the prompt (the first five) or added to it (the others)."""

    window: int = 0  # turns that left the window
    capped: int = 0  # the middle of long older answers
    tools: int = 0  # old tool results
    elided: int = 0  # instructions and tool descriptions that need not be repeated
    pruned: int = 0  # messages that the model has pruned or summarised
    summaries: int = 0
    facts: int = 0
    recall: int = 0
    desk: int = 0  # the model's own memory: its tools, what they said, its sections

    @property
    def added(self) -> int:
        """Tokens added to the prompt."""
        return self.summaries + self.facts + self.recall + self.desk

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
    is_unwritten: bool = False  # passed through, nothing new of it would be written to the prefix cache

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
    told: tuple[int, ...] = ()  # earlier questions with the facts that they called for
    summaries: tuple[tuple[int, int], ...] = ()  # first and last turn of each
    is_elided: bool = False  # the first message is sent without parts that need not be repeated
    removed: tuple[int, ...] = ()  # messages that the model has pruned or summarised: they are not sent
    rewritten: tuple[int, ...] = ()  # messages that a line, or the model's summary, stands for
    head: str = ""  # the memory head
    volatile: str = ""  # the volatile block


@dataclass(frozen=True, slots=True)
class Repeats:
    """The beginnings of a managed prompt that later requests have, too: where breakpoints belong, if the provider's
    prefix cache holds only what is marked."""

    messages: int  # that the next turn's prompt begins with; 0: instructions alone
    whole: bool  # the next request begins with all messages of this one
    minimum: int  # tokens: shorter beginnings are not cached


@dataclass(frozen=True, slots=True)
class Plan:
    """The prompt for the upstream, and the reasons for it. `messages is None`: those of the client."""

    kind: PlanKind
    tokens: PromptTokens
    reason: str = ""
    messages: tuple[Message, ...] | None = None
    dialect: str = ""  # the messages follow its rules; "": not known
    tools: Sequence[Json] | None = None  # in place of the client's, without descriptions that need not be repeated
    fates: Fates | None = None  # of the messages; None: all are sent unchanged
    state: PathState | None = None  # of the conversation, once this has been sent
    trail: Trail | None = None  # None: it was not planned
    desk: DeskPlan | None = None  # None: the model has no tools of ours, nor had it any
    repeats: Repeats | None = None  # None: no breakpoint of ours is needed, or none would pay


@dataclass(frozen=True, slots=True)
class Prompt:
    """A body ready to be sent. `strip_usage`: the usage chunk was asked for by us, not by the client. `api`: the API
    that the body is written for."""

    body: bytes
    plan: Plan
    strip_usage: bool = False
    api: ApiName = "chat"


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
    own: Identity | None = None  # with the links of all the client's messages, where `request` has fewer
