"""The tokens of every part of a request's prompt, as it would be sent."""

from collections.abc import Mapping, Sequence

from proxy.context import shortening, staying
from proxy.context.draft import FRAMING, Draft, PlanContext
from proxy.conversation.blocks import memory_head
from proxy.conversation.progress import Case, Progress
from proxy.desk.marking import NO_CHANGES, Changes
from proxy.memory.current import render
from proxy.protocol.message import INSTRUCTIONS
from proxy.types import Fact, Fold, Message, ToldFacts, TurnDigest


class DraftSizes:
    """Tokens of every part of a request's prompt. `cap_all`, `mark` and `edit` change them, since they shorten
    messages."""

    def __init__(
        self,
        case: Case,
        progress: Progress,
        context: PlanContext,
        changes: Changes = NO_CHANGES,
        told: Mapping[int, ToldFacts] = staying.NOTHING,
    ) -> None:
        self.case, self.progress, self.context = case, progress, context
        self.state = case.state
        self.original = case.overhead + progress.before + progress.newest_tokens - case.added
        before = self.state.fold if self.state else None
        self._unfolded = Fold(progress.preamble)
        self.capped: dict[int, Message] = {}
        self.markers: dict[int, Message] = {}
        self.told = dict(told)
        self.saved: dict[int, int] = {}  # tokens that shortened messages leave out, by index; below 0: they add some
        self.saved |= {index: -each.tokens for index, each in told.items()}
        self.changes = NO_CHANGES
        self.edit(changes)
        self.changed_before = changes  # by the model's marks, in the request before
        self.cap_all(before.capped if before else ())
        self.mark(self.state.folded_results if self.state else ())

    def edit(self, changes: Changes) -> None:
        """Lets the model's marks take effect: before any other way to shorten a message."""
        for index in (*self.changes.removed, *self.changes.replaced):
            del self.saved[index]
        self.changes = changes
        for index in (*changes.removed, *changes.replaced):
            self.capped.pop(index, None)
            self.markers.pop(index, None)
            self.told.pop(index, None)
        self.saved |= self._saved_of(changes)

    def _saved_of(self, changes: Changes) -> dict[int, int]:
        removed = {index: self.case.tokens(index) for index in changes.removed}
        return removed | {index: self._saved(index, said) for index, said in changes.replaced.items()}

    def saved_by(self, changes: Changes, start: int) -> int:
        """Returns the tokens that these changes would leave out of messages[start:], beside those that are left out
        now."""
        new = self._saved_of(changes)
        before = {*self.changes.removed, *self.changes.replaced}
        return sum(new.get(index, 0) - self.saved.get(index, 0) for index in {*new, *before} if index >= start)

    def edited(self) -> Mapping[int, int]:
        """Returns the tokens of the messages that the model's marks have changed, as they are sent, by index."""
        edited = (*self.changes.removed, *self.changes.replaced)
        return {index: self.case.tokens(index) - self.saved[index] for index in edited}

    def _is_edited(self, index: int) -> bool:
        return index in self.changes.removed or index in self.changes.replaced

    def stated(self, stated: Sequence[Fact]) -> int:
        """Returns the tokens that these facts take in a block of their own."""
        return self.context.count(memory_head(render(stated), ())) + FRAMING if stated else 0

    def stop(self, turn: TurnDigest) -> int:
        """Returns the index after the last message of a turn."""
        later = (each.start for each in self.progress.open if each.start > turn.start)
        return next(later, self.progress.newest)

    def size(self, turn: TurnDigest) -> int:
        """Returns the tokens of a complete turn as it is sent."""
        if not self.saved:
            return turn.tokens
        stop = self.stop(turn)
        return turn.tokens - sum(left for index, left in self.saved.items() if turn.start <= index < stop)

    def window(self, turns: Sequence[TurnDigest]) -> list[int]:
        """Returns the tokens of each of these complete turns as it is sent."""
        return [self.size(turn) for turn in turns] if self.saved else [turn.tokens for turn in turns]

    def cap_all(self, indices: Sequence[int]) -> None:
        """Shortens the long answers among the messages with these indices; all others become whole again."""
        for index in self.capped:
            del self.saved[index]
        self.capped = {}
        for index in indices:
            said = self.case.messages[index]
            if said.role != "assistant" or self.case.tokens(index) <= self.case.profile.window.answer_tokens + FRAMING:
                continue
            if self._is_edited(index):
                continue
            shorter = self.context.cap(index)
            saved = self._saved(index, shorter)
            if shorter is not said and saved > 0:
                self.capped[index], self.saved[index] = shorter, saved

    def mark(self, results: Sequence[int]) -> None:
        """Replaces the tool results with these indices by markers, except where a marker would not be shorter."""
        if not results:
            return
        keep = self.case.profile.tool_results.keep
        for index in self.markers:
            del self.saved[index]
        self.markers = {}
        for index, said in shortening.markers(self.case.messages, frozenset(results), self.case.tokens, keep).items():
            if (saved := self._saved(index, said)) > 0 and not self._is_edited(index):
                self.markers[index], self.saved[index] = said, saved

    def _saved(self, index: int, shorter: Message) -> int:
        """Returns the tokens of a message's text that `shorter` leaves out. Reasoning and other fields stay."""
        whole = self.case.messages[index]
        if shorter.is_bare and not whole.has_only_text:
            return self.case.tokens(index) - FRAMING - self._texts(shorter)
        before = self.case.tokens(index) - FRAMING if whole.is_bare else self._texts(whole)
        return before - self._texts(shorter)

    def _texts(self, said: Message) -> int:
        """Returns the tokens of a message's text, counted part by part."""
        return sum([self.context.count(text) for text in said.texts])

    def told_from(self, start: int) -> list[ToldFacts]:
        """Returns the facts that were told with earlier questions, and stand in messages[start:]; oldest first."""
        return [each for index, each in sorted(self.told.items()) if index >= start]

    def told_in(self, draft: Draft) -> int:
        """Returns the tokens of facts that were told with earlier questions."""
        return sum([each.tokens for each in self.told_from(self.start(draft)) if not each.quoted]) if self.told else 0

    def quoted_in(self, draft: Draft) -> int:
        """Returns the tokens of excerpts that were told with earlier questions."""
        return sum([each.tokens for each in self.told_from(self.start(draft)) if each.quoted]) if self.told else 0

    def is_too_large(self, draft: Draft) -> bool:
        """True if the draft exceeds the limit."""
        return self.context.limit is not None and self.tokens(draft) > self.context.limit

    def tokens(self, draft: Draft) -> int:
        """Returns the tokens of the whole prompt."""
        return (
            self.prefix(draft)
            + draft.head
            + sum(self.window(draft.kept[draft.omitted :]))
            + self.newest()
            + draft.volatile.tokens
        )

    def newest(self) -> int:
        """Returns the tokens of the newest turn as it is sent, without the volatile block."""
        left = sum(tokens for index, tokens in self.saved.items() if index >= self.progress.newest)
        return self.progress.newest_tokens - left

    def pressure(self) -> int | None:
        """Returns the tokens of a prompt above which folds need not pay off; None without a limit."""
        if self.context.limit is None or self.context.caching.is_ours:
            return self.context.limit  # what only we have cached costs so little that a longer prompt is worth it
        return round(self.case.profile.pressure * self.context.limit)

    def prefix(self, draft: Draft) -> int:
        """Returns the tokens of tools and instructions, at the beginning of the prompt."""
        instructions = sum([self.case.tokens(index) for index in self.instructions(draft)])
        return self.case.overhead + self.progress.preamble_tokens + instructions

    def instructions(self, draft: Draft) -> tuple[int, ...]:
        """Returns the indices of system messages among the turns that are left out: these messages are sent all the
        same."""
        fold = draft.fold or self._unfolded
        return (*fold.instructions, *self.between(fold.start, self.start(draft)))

    def between(self, start: int, stop: int) -> tuple[int, ...]:
        """Returns the indices of the system messages in messages[start:stop]."""
        return tuple([index for index in range(start, stop) if self.case.messages[index].role in INSTRUCTIONS])

    def in_front_of(self, draft: Draft, index: int) -> int:
        """Returns the tokens of the prompt before the message with this index, and before the volatile block in it."""
        own = sum(self.case.tokens(at) - self.saved.get(at, 0) for at in range(self.start(draft), index))
        volatile = draft.volatile.tokens if index > self.progress.newest else 0
        return self.prefix(draft) + draft.head + own + volatile

    def start(self, draft: Draft) -> int:
        """Returns the index of the first message that is sent after the preamble."""
        sent = draft.kept[draft.omitted :]
        if draft.omitted:
            return sent[0].start if sent else self.progress.newest
        return draft.fold.start if draft.fold else self.progress.preamble
