"""A prompt in the making: what goes into it, the tokens of every part, and the books of the conversation."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from proxy.memory import block, facts, tools
from proxy.memory.economics import Books, Rates, Standing
from proxy.memory.layout import INSTRUCTIONS
from proxy.memory.progress import Case, Progress
from proxy.types import Excerpt, Fact, Fold, Message, TurnDigest
from proxy.wire.content import text

Count = Callable[[str], int]

_TEXT = frozenset({"role", "content", "tool_call_id"})  # of a message that costs its text and no more
FRAMING = 4  # tokens that a block or a message costs beside its text


@dataclass(frozen=True, slots=True)
class Memory:
    """What is remembered and may matter for this request."""

    standing: tuple[Fact, ...] = ()  # for the head
    relevant: tuple[Fact, ...] = ()  # for the volatile block
    facts: frozenset[str] = frozenset()  # ids of all that there are
    forgotten: frozenset[bytes] = frozenset()  # links of messages that the user wants forgotten
    wanted: int = 0  # tokens of excerpts that the question calls for
    is_faint: bool = False  # hardly: worth no more than a part of what this request saves
    is_asked_for: bool = False  # the past is what it asks for: worth more than it costs
    # (tokens, index of the first message that the prompt holds) → excerpts from before it and from other conversations
    recall: Callable[[int, int], tuple[Excerpt, ...]] = lambda _tokens, _start: ()


@dataclass(frozen=True, slots=True)
class Circumstances:
    """Of the request, beside what it says."""

    now: float
    session: str
    rates: Rates
    limit: int | None  # tokens of the prompt
    role: Literal["user", "system"]  # where the head stands
    count: Count
    cap: Callable[[int], Message]  # the message with this index, shortened to `window.answer_tokens`


@dataclass(frozen=True, slots=True)
class Draft:
    """A prompt in the making."""

    fold: Fold | None
    kept: tuple[TurnDigest, ...]  # complete turns
    volatile: str = ""
    volatile_tokens: int = 0
    facts: int = 0  # tokens in the volatile block
    others: int = 0  # tokens of excerpts from other conversations
    stated: Fold | None = None  # the fold, with facts alone in its head
    lent: int = 0  # of the kept turns, oldest first, that make room for excerpts this time

    @property
    def sent_fold(self) -> Fold | None:
        """Whose head is sent: without its summaries where excerpts need the room."""
        return self.stated if self.lent else self.fold

    @property
    def head(self) -> int:
        return self.sent_fold.head_tokens if self.sent_fold else 0


class Figures:
    """Of one request. What its parts cost changes as messages are shortened: `cap_all`, `mark`."""

    def __init__(self, case: Case, progress: Progress, around: Circumstances) -> None:
        self.case, self.progress, self.around = case, progress, around
        self.state = case.state
        self.original = case.overhead + progress.before + progress.newest_tokens
        before = self.state.fold if self.state else None
        self.capped: dict[int, Message] = {}
        self.markers: dict[int, Message] = {}
        self.saved: dict[int, int] = {}  # tokens that capped messages and markers leave out, by index
        self.has_new_markers = False  # tool results are left out that the request before still had
        self.cap_all(before.capped if before else ())
        self.mark(self.state.folded_results if self.state else ())

    def is_refolded(self, draft: Draft) -> bool:
        """Something is left out, or stands before it, that is new since the request before."""
        return self.has_new_markers or draft.fold != (self.state.fold if self.state else None)

    def stated(self, stated: Sequence[Fact]) -> int:
        """Tokens of these facts in a block of their own."""
        return self.around.count(block.head(facts.render(stated), ())) + FRAMING if stated else 0

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
            shorter = self.around.cap(index)
            saved = self._saved(index, shorter)
            if shorter is not said and saved > 0:
                self.capped[index], self.saved[index] = shorter, saved

    def mark(self, results: Sequence[int]) -> None:
        if not results:
            return
        keep = self.case.profile.tool_results.keep
        self.markers = tools.markers(self.case.messages, frozenset(results), self.case.tokens, keep)
        for index, said in self.markers.items():
            self.saved[index] = max(0, self._saved(index, said))

    def _saved(self, index: int, shorter: Message) -> int:
        """Tokens of a message's text that `shorter` leaves out; what else it has, its thinking, stays."""
        whole = self.case.messages[index].data
        is_text = isinstance(whole.get("content"), str) and _TEXT.issuperset(whole)
        before = self.case.tokens(index) - FRAMING if is_text else self.around.count(text(whole))
        return before - self.around.count(text(shorter.data))

    def is_too_large(self, draft: Draft) -> bool:
        return self.around.limit is not None and self.tokens(draft) > self.around.limit

    def tokens(self, draft: Draft) -> int:
        return (
            self.prefix(draft)
            + draft.head
            + sum(map(self.size, draft.kept[draft.lent :]))
            + self.newest()
            + draft.volatile_tokens
        )

    def newest(self) -> int:
        """Tokens of the newest turn as it is sent, without the volatile block."""
        left = sum(tokens for index, tokens in self.saved.items() if index >= self.progress.newest)
        return self.progress.newest_tokens - left

    def pressure(self) -> int | None:
        return None if self.around.limit is None else round(self.case.profile.pressure * self.around.limit)

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
        )

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
        """Tokens that this prompt begins with as one before it did."""
        if self.state is None:
            return 0
        lent, volatile = (self.state.lent, self.state.volatile) if self.goes_on else (0, draft.volatile)
        if self.is_refolded(draft) or draft.lent != lent or draft.volatile != volatile:
            return min(self.repeated(), self.unmoved(self.state.fold))
        return self.repeated()

    def unmoved(self, fold: Fold | None) -> int:
        """Tokens at the beginning that no later fold changes, nor what stands in its head."""
        messages = self.case.messages
        if self.around.role == "system":
            return self.case.overhead + (self.case.tokens(0) if messages[0].role in INSTRUCTIONS else 0)
        instructions = (*self.between(0, self.progress.preamble), *(fold.instructions if fold else ()))
        return self.case.overhead + sum(map(self.case.tokens, instructions))

    def passed_before(self) -> int:
        """Tokens that a prefix cache would hold of the client's own prompt, had all been passed through."""
        if self.state is not None:
            return self.state.original
        return self.progress.before if self.case.was_seen else 0

    def books(self) -> Books:
        rates, state = self.around.rates, self.state
        if state is not None:
            baseline = state.baseline + rates.cost(self.original, state.original)
            return Books(baseline, state.spent)
        if not self.case.was_seen:
            return Books(rates.cost(self.original, 0), 0.0)
        # Short so far, and so sent as it was: as many requests as there are turns, growing evenly.
        past = self.progress.before * rates.write + rates.cached * self.progress.before * (self.progress.turns - 1) / 2
        return Books(past + rates.cost(self.original, self.progress.before), past)

    def start(self, draft: Draft) -> int:
        """Index of the first message that is sent after the preamble."""
        sent = draft.kept[draft.lent :]
        if draft.lent:
            return sent[0].start if sent else self.progress.newest
        return draft.fold.start if draft.fold else self.progress.preamble
