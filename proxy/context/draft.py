"""A prompt in the making: what it is planned under, what of memory may go into it, and the parts that it will have."""

import math
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import Literal

from proxy.context.caching import Caching
from proxy.context.economics import Rates
from proxy.context.shortening import Count
from proxy.desk.planned import DeskInput
from proxy.memory.ageing import Decay
from proxy.memory.shelf import Notes
from proxy.types import BreakEven, Excerpt, Fact, Fold, Message, TurnDigest, VolatileBlock
from proxy.types.curation import StoredSummary

NO_BLOCK = VolatileBlock()
FRAMING = 4  # tokens that a block or a message costs beside its text


@dataclass(frozen=True, slots=True)
class Pointed:
    """The items of a list that a question points at, as they are recalled where the prompt does not hold them."""

    index: int  # of the message that lists them
    items: tuple[str, ...]  # verbatim
    excerpt: Excerpt

    def is_in(self, text: str) -> bool:
        """Tells whether a text, the message or what is left of it, has the items."""
        return all(item in text for item in self.items)


@dataclass(frozen=True, slots=True)
class Memory:
    """The remembered facts, notes and old turns of a scope that may matter for one request."""

    standing: tuple[Fact, ...] = ()  # for the head
    relevant: tuple[Fact, ...] = ()  # for the volatile block
    facts: AbstractSet[str] = frozenset()  # ids of all facts of the scope
    forgotten: frozenset[bytes] = frozenset()  # links of messages to be forgotten
    notes: Notes = field(default_factory=Notes, compare=False)  # summaries written for earlier requests
    summaries: tuple[StoredSummary, ...] = ()  # a model's, of all conversations of the scope
    wanted: int = 0  # tokens of excerpts that the question calls for
    is_faint: bool = False  # the question hardly needs the past: a share of this request's savings is its price
    is_asked_for: bool = False  # the question asks for the past: worth more than its price
    reaches_back: bool = False  # by its words, whatever the prompt holds
    pointed: Pointed | None = None  # goes with the question at any price
    desk: str = ""  # for the head: what the model keeps itself
    # (tokens, index of the first message that the prompt holds) → excerpts from before it and from other conversations
    recall: Callable[[int, int], tuple[Excerpt, ...]] = lambda _tokens, _start: ()


@dataclass(frozen=True, slots=True)
class PlanContext:
    """Conditions under which a request is planned: time, session, prices, limits."""

    now: float
    session: str
    is_private: bool  # the scope is one person's: conversations may share messages
    caching: Caching
    limit: int | None  # tokens of the prompt
    role: Literal["user", "system"]  # of the message that carries the head
    count: Count
    cap: Callable[[int], Message]  # the message with this index, shortened to `window.answer_tokens`
    decay: Decay  # limits of a fact's age
    profile: str = ""  # name
    desk: DeskInput | None = None  # None: the model has no memory of its own
    desk_limit: float | None = None  # tokens that its pressure is measured against; None: unknown
    definitions: int = 0  # tokens of its tools, offered or not
    has_tools: bool = False  # they are in this request
    offers: str = ""  # why they are offered from this request on; "": no change
    in_place: bool = False  # on the event loop: what takes more than a moment raises TooMuch
    may_exceed: bool = False  # the limit is a budget, which gives way where keeping it costs more than pass-through
    most: int | None = None  # tokens of the prompt that the model's context has room for
    ttl: float = math.inf  # seconds without use that the prefix cache keeps a prompt

    @property
    def rates(self) -> Rates:
        """The prices of the prompt that is sent."""
        return self.caching.rates

    @property
    def alone(self) -> Rates:
        """The prices of the client's own prompt."""
        return self.caching.alone


class TooMuch(Exception):
    """Raised when a plan takes more than the event loop can spare."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A prompt in the making: its fold, its window and its volatile block."""

    fold: Fold | None
    kept: tuple[TurnDigest, ...]  # complete turns
    volatile: VolatileBlock = NO_BLOCK
    stated: Fold | None = None  # the fold, with facts alone in its head
    omitted: int = 0  # of the kept turns, oldest first, that make room for excerpts this time
    recalled: tuple[Excerpt, ...] = ()  # excerpts in the volatile block, if it is new in this request
    weighed: BreakEven | None = None  # the numbers behind the decision to fold

    @property
    def sent_fold(self) -> Fold | None:
        """The fold whose head is sent: the one without summaries where excerpts need the room."""
        return self.stated if self.omitted else self.fold

    @property
    def head(self) -> int:
        """Tokens of the memory head."""
        return self.sent_fold.head_tokens if self.sent_fold else 0

    @property
    def stated_tokens(self) -> int:
        """Tokens of the facts in the memory head."""
        return self.sent_fold.fact_tokens if self.sent_fold else 0

    @property
    def desk_tokens(self) -> int:
        """Tokens of the model's own memory in the memory head."""
        return self.sent_fold.desk_tokens if self.sent_fold else 0

    @property
    def is_repeated(self) -> bool:
        """True if the next turn's request repeats all of it, if nothing is folded."""
        return not self.omitted and (not self.volatile.text or self.volatile.stays)

    def without_block(self) -> "Draft":
        """Returns the draft without a volatile block."""
        return replace(self, volatile=NO_BLOCK, recalled=())
