"""A prompt in the making: what goes into it, the tokens of every part, and the costs of the conversation."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from proxy.context import tools
from proxy.context.economics import CostSoFar, Rates, Standing
from proxy.conversation import blocks as block
from proxy.conversation.progress import Case, Progress
from proxy.memory import choosing
from proxy.memory.shelf import Notes
from proxy.protocol.turns import INSTRUCTIONS
from proxy.types import BreakEven, Excerpt, Fact, Fold, Message, TurnDigest, VolatileBlock

Count = Callable[[str], int]

NO_BLOCK = VolatileBlock()
FRAMING = 4  # tokens that a block or a message costs beside its text


@dataclass(frozen=True, slots=True)
class Memory:
    """Memory of the scope that may matter for this request."""

    standing: tuple[Fact, ...] = ()  # for the head
    relevant: tuple[Fact, ...] = ()  # for the volatile block
    facts: frozenset[str] = frozenset()  # ids of all that there are
    forgotten: frozenset[bytes] = frozenset()  # links of messages that the user wants forgotten
    notes: Notes = field(default_factory=Notes, compare=False)  # that were written for earlier requests
    wanted: int = 0  # tokens of excerpts that the question calls for
    is_faint: bool = False  # hardly: worth no more than a part of what this request saves
    is_asked_for: bool = False  # the past is what it asks for: worth more than it costs
    # (tokens, index of the first message that the prompt holds) → excerpts from before it and from other conversations
    recall: Callable[[int, int], tuple[Excerpt, ...]] = lambda _tokens, _start: ()


@dataclass(frozen=True, slots=True)
class PlanContext:
    """Conditions under which a request is planned: time, session, prices, limits."""

    now: float
    session: str
    rates: Rates
    limit: int | None  # tokens of the prompt
    role: Literal["user", "system"]  # where the head stands
    count: Count
    cap: Callable[[int], Message]  # the message with this index, shortened to `window.answer_tokens`
    profile: str = ""  # its name


@dataclass(frozen=True, slots=True)
class Draft:
    """A prompt in the making."""

    fold: Fold | None
    kept: tuple[TurnDigest, ...]  # complete turns
    volatile: VolatileBlock = NO_BLOCK
    stated: Fold | None = None  # the fold, with facts alone in its head
    lent: int = 0  # of the kept turns, oldest first, that make room for excerpts this time
    recalled: tuple[Excerpt, ...] = ()  # in the volatile block, where that was made for this request
    weighed: BreakEven | None = None  # why turns leave, or stay

    @property
    def sent_fold(self) -> Fold | None:
        """Whose head is sent: without its summaries where excerpts need the room."""
        return self.stated if self.lent else self.fold

    @property
    def head(self) -> int:
        """Tokens of the memory head."""
        return self.sent_fold.head_tokens if self.sent_fold else 0

    @property
    def stated_tokens(self) -> int:
        """Tokens of the facts in the memory head."""
        return self.sent_fold.fact_tokens if self.sent_fold else 0

    def without_block(self) -> "Draft":
        return replace(self, volatile=NO_BLOCK, recalled=())


class TokenBudget:
    """Tokens of every part of a request's prompt. They change as messages are shortened: `cap_all`, `mark`."""

    def __init__(self, case: Case, progress: Progress, context: PlanContext) -> None:
        self.case, self.progress, self.context = case, progress, context
        self.state = case.state
        self.original = case.overhead + progress.before + progress.newest_tokens
        before = self.state.fold if self.state else None
        self.capped: dict[int, Message] = {}
        self.markers: dict[int, Message] = {}
        self.saved: dict[int, int] = {}  # tokens that capped messages and markers leave out, by index
        self.cap_all(before.capped if before else ())
        self.mark(self.state.folded_results if self.state else ())

    def stated(self, stated: Sequence[Fact]) -> int:
        """Tokens of these facts in a block of their own."""
        return self.context.count(block.head(choosing.render(stated), ())) + FRAMING if stated else 0

    def stop(self, turn: TurnDigest) -> int:
        """Index after its last message."""
        later = (each.start for each in self.progress.open if each.start > turn.start)
        return next(later, self.progress.newest)

    def size(self, turn: TurnDigest) -> int:
        """Tokens of a complete turn as it is sent."""
        if not self.saved:
            return turn.tokens
        stop = self.stop(turn)
        return turn.tokens - sum(left for index, left in self.saved.items() if turn.start <= index < stop)

    def cap_all(self, indices: Sequence[int]) -> None:
        for index in self.capped:
            del self.saved[index]
        self.capped = {}
        for index in indices:
            said = self.case.messages[index]
            if said.role != "assistant" or self.case.tokens(index) <= self.case.profile.window.answer_tokens + FRAMING:
                continue
            shorter = self.context.cap(index)
            saved = self._saved(index, shorter)
            if shorter is not said and saved > 0:
                self.capped[index], self.saved[index] = shorter, saved

    def mark(self, results: Sequence[int]) -> None:
        """But for those whose call takes more tokens to name than they have."""
        if not results:
            return
        keep = self.case.profile.tool_results.keep
        self.markers = {}
        for index, said in tools.markers(self.case.messages, frozenset(results), self.case.tokens, keep).items():
            if (saved := self._saved(index, said)) > 0:
                self.markers[index], self.saved[index] = said, saved

    def _saved(self, index: int, shorter: Message) -> int:
        """Tokens of a message's text that `shorter` leaves out; what else it has, its thinking, stays."""
        whole = self.case.messages[index]
        before = self.case.tokens(index) - FRAMING if whole.is_bare else self._texts(whole)
        return before - self._texts(shorter)

    def _texts(self, said: Message) -> int:
        """Tokens of a message's text, part by part, as the message is counted."""
        return sum([self.context.count(text) for text in said.texts])

    def is_too_large(self, draft: Draft) -> bool:
        return self.context.limit is not None and self.tokens(draft) > self.context.limit

    def tokens(self, draft: Draft) -> int:
        return (
            self.prefix(draft)
            + draft.head
            + sum(map(self.size, draft.kept[draft.lent :]))
            + self.newest()
            + draft.volatile.tokens
        )

    def newest(self) -> int:
        """Tokens of the newest turn as it is sent, without the volatile block."""
        left = sum(tokens for index, tokens in self.saved.items() if index >= self.progress.newest)
        return self.progress.newest_tokens - left

    def pressure(self) -> int | None:
        return None if self.context.limit is None else round(self.case.profile.pressure * self.context.limit)

    def prefix(self, draft: Draft) -> int:
        instructions = sum(map(self.case.tokens, self.instructions(draft)))
        return self.case.overhead + self.progress.preamble_tokens + instructions

    def instructions(self, draft: Draft) -> tuple[int, ...]:
        """Indices of system messages among the turns that are left out: they are sent all the same."""
        fold = draft.fold or Fold(self.progress.preamble)
        return (*fold.instructions, *self.between(fold.start, self.start(draft)))

    def between(self, start: int, stop: int) -> tuple[int, ...]:
        """Indices of the system messages there."""
        return tuple(index for index in range(start, stop) if self.case.messages[index].role in INSTRUCTIONS)

    def standing(self, draft: Draft) -> Standing:
        return Standing(
            prefix=self.prefix(draft),
            head=draft.head,
            open=tuple(map(self.size, draft.kept)),
            newest=self.newest(),
            repeated=self.repeated(),
            thought=self.thoughts(draft) if self.context.rates.rethinking else (),
            in_loop=self.in_loop,
        )

    @property
    def in_loop(self) -> bool:
        """Tools have been called, and what they returned is what this request tells."""
        return self.case.messages[-1].role in ("tool", "function")

    def thought(self, start: int, stop: int) -> int:
        """Tokens of thinking in the messages there."""
        return sum(self.context.count(self.case.messages[index].reasoning) for index in range(start, stop))

    def thoughts(self, draft: Draft) -> tuple[int, ...]:
        """The same of every turn that is kept, and of the newest."""
        newest = self.thought(self.progress.newest, len(self.case.messages))
        return (*(self.thought(turn.start, self.stop(turn)) for turn in draft.kept), newest)

    def repeated(self) -> int:
        """Tokens that the prompt of the request before began with, and this one does if nothing is folded."""
        if self.state is None:
            return 0
        return self.state.sent if self.goes_on else self.state.stable

    @property
    def goes_on(self) -> bool:
        """The request before was of the same turn."""
        return self.state is not None and self.state.volatile_link == self.case.chain[self.progress.newest]

    def repeated_by(self, draft: Draft) -> int:
        """Of these, the tokens that this prompt begins with, too."""
        if self.state is None:
            return 0
        lent, block = (self.state.lent, self.state.volatile) if self.goes_on else (0, draft.volatile)
        if draft.lent != lent:
            return min(self.repeated(), self.unmoved(self.state.fold))
        same = self._as_before(draft)
        if draft.volatile.text != block.text:
            same = min(same, self._in_front_of(draft, self.progress.newest))
        return round(min(self.repeated(), same))

    def ended(self, draft: Draft) -> int:
        """Where, at most, the last request ended that a request after this turn begins with, block and all: at what
        breakpoints find then. This one ends behind a block that will not be there."""
        before = self.repeated_by(draft)
        return min(before, self.state.stable) if self.state is not None and self.goes_on else before

    def stable_without(self, draft: Draft) -> int:
        """Tokens that the next request repeats of what went before this one, whose draft has lent turns."""
        if self.state is None:
            return self.unmoved(draft.fold)
        return round(min(self.state.stable, self._as_before(replace(draft, lent=0))))

    def _as_before(self, draft: Draft) -> float:
        """Tokens in front of the first thing, but for the volatile block, that is not as it was in the request before;
        infinite if there is none."""
        assert self.state is not None
        if self._laid_out(draft.fold) != self._laid_out(self.state.fold):
            return self.unmoved(self.state.fold)
        new = self.markers.keys() - set(self.state.folded_results)
        first = min((index for index in new if index >= self.start(draft)), default=None)
        return math.inf if first is None else self._in_front_of(draft, first)

    def _laid_out(self, fold: Fold | None) -> tuple[object, ...]:
        fold = fold or Fold(self.progress.preamble)
        return fold.start, fold.head, fold.capped, fold.instructions

    def _in_front_of(self, draft: Draft, index: int) -> int:
        """Tokens of the prompt before the message with this index, and before the volatile block in it."""
        own = sum(self.case.tokens(at) - self.saved.get(at, 0) for at in range(self.start(draft), index))
        volatile = draft.volatile.tokens if index > self.progress.newest else 0
        return self.prefix(draft) + draft.head + own + volatile

    def unmoved(self, fold: Fold | None) -> int:
        """Tokens at the beginning that are found again whatever later folds change, and what stands in their heads."""
        if self.context.rates.breakpoints:
            return 0
        messages = self.case.messages
        if self.context.role == "system":
            return self.case.overhead + (self.case.tokens(0) if messages[0].role in INSTRUCTIONS else 0)
        instructions = (*self.between(0, self.progress.preamble), *(fold.instructions if fold else ()))
        return self.case.overhead + sum(map(self.case.tokens, instructions))

    def passed_before(self) -> int:
        """Tokens that a prefix cache would hold of the client's own prompt, had all been passed through."""
        if self.state is not None:
            return self.state.original
        return self.progress.before if self.case.was_seen else 0

    def costs(self) -> CostSoFar:
        rates, state = self.context.rates, self.state
        if state is not None:
            baseline = state.baseline + rates.least(self.original, state.original)
            return CostSoFar(baseline, state.spent)
        if not self.case.was_seen:
            return CostSoFar(rates.cost(self.original, 0), 0.0)
        # Short so far, and so sent as it was: as many requests as there are turns, growing evenly.
        past = self.progress.before * rates.write + rates.cached * self.progress.before * (self.progress.turns - 1) / 2
        return CostSoFar(past + rates.least(self.original, self.progress.before), past)

    def start(self, draft: Draft) -> int:
        """Index of the first message that is sent after the preamble."""
        sent = draft.kept[draft.lent :]
        if draft.lent:
            return sent[0].start if sent else self.progress.newest
        return draft.fold.start if draft.fold else self.progress.preamble
