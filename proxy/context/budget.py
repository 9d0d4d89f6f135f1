"""The tokens of every part of a request's prompt, as it would be sent and as it was sent before, and the costs of the
conversation so far."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise

from proxy.context import shortening, staying
from proxy.context.draft import FRAMING, Draft, Memory, PlanContext
from proxy.context.economics import CostSoFar, PromptSizes
from proxy.conversation.blocks import memory_head
from proxy.conversation.progress import Case, Progress
from proxy.desk.marking import NO_CHANGES, Changes
from proxy.memory.current import render
from proxy.protocol.message import INSTRUCTIONS
from proxy.types import Fact, Fold, Message, ToldFacts, TurnDigest


class TokenBudget:
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
        self.changes = self._changed_before = NO_CHANGES  # by the model's marks
        self.edit(changes)
        self._changed_before = changes
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

    def sizes(self, draft: Draft) -> PromptSizes:
        """Returns the sizes of the prompt as it would be sent without a further fold."""
        return PromptSizes(
            prefix=self.prefix(draft),
            head=draft.head,
            open=self.window(draft.kept),
            newest=self.newest(),
            repeated=self.repeated(),
            reasoning=self._reasoning(draft) if self.context.rates.rethinking else (),
            in_loop=self.case.messages[-1].role in ("tool", "function"),
        )

    def _reasoning(self, draft: Draft) -> tuple[int, ...]:
        """Returns the tokens of reasoning in each kept turn and in the newest one."""
        messages, newest = self.case.messages, self.progress.newest
        spans = (*((turn.start, self.stop(turn)) for turn in draft.kept), (newest, len(messages)))
        return tuple([sum([self.context.count(said.reasoning) for said in messages[slice(*span)]]) for span in spans])

    def repeated(self) -> int:
        """Returns the tokens at the beginning that this prompt shares with the previous one if nothing is folded."""
        if self.state is None:
            return self.passed_before()
        if not self.state.is_written:
            return 0
        if self.context.now - (self.state.managed_at or self.state.at) >= self.context.ttl:
            return 0
        return self.state.sent if self.is_same_turn else self.state.stable

    @property
    def is_same_turn(self) -> bool:
        """True if the previous request belonged to the same turn."""
        return self.state is not None and self.state.volatile_link == self.case.chain[self.progress.newest]

    def repeated_by(self, draft: Draft) -> int:
        """Returns the tokens at the beginning that this draft shares with the previous prompt."""
        if self.state is None:
            return self._first_repeated(draft)
        if self.context.rates.breakpoints and not self._goes_on_from(draft):
            return 0
        omitted, block = (self.state.omitted, self.state.volatile) if self.is_same_turn else (0, draft.volatile)
        if draft.omitted != omitted:
            return min(self.repeated(), self.fixed_prefix(self.state.fold))
        same = self._as_before(draft)
        if draft.volatile.text != block.text:
            same = min(same, self.in_front_of(draft, self.progress.newest))
        return round(min(self.repeated(), same))

    def _first_repeated(self, draft: Draft) -> int:
        """Returns the tokens at the beginning that the first draft of a conversation shares with the requests before,
        which were sent as they came."""
        passed = self.passed_before()
        if draft.fold or draft.omitted or self.changes != NO_CHANGES:
            return min(passed, self.fixed_prefix(None))
        first = min(self.markers, default=self.progress.newest if draft.volatile.text else None)
        ahead = math.inf if first is None else self.in_front_of(draft, first)
        return 0 if self.context.rates.breakpoints and ahead < passed else round(min(passed, ahead))

    def _goes_on_from(self, draft: Draft) -> bool:
        """Tells whether a draft has all that the previous prompt had behind its instructions: a provider that finds a
        prompt only where an earlier one ended has none that ended in front of a change."""
        return math.isinf(self._as_before(draft))

    def ended(self, draft: Draft) -> int:
        """Returns the most tokens that the next turn's prompt can share with an earlier request at a cache breakpoint.
        This request does not count: it ends behind a volatile block that the next one will not have."""
        before = self.repeated_by(draft)
        return min(before, self.state.stable) if self.state is not None and self.is_same_turn else before

    def stable_without(self, draft: Draft) -> int:
        """Returns the tokens that the next request shares with the request before this one, where this draft omits
        turns."""
        if self.state is None:
            return self.fixed_prefix(draft.fold)
        return round(min(self.state.stable, self._as_before(replace(draft, omitted=0))))

    def _as_before(self, draft: Draft) -> float:
        """Returns the tokens before the first difference to the previous prompt, the volatile block apart; infinite if
        there is no difference."""
        assert self.state is not None
        if self._laid_out(draft.fold) != self._laid_out(self.state.fold):
            return self.fixed_prefix(self.state.fold)
        new = self.markers.keys() - set(self.state.folded_results)
        untold = staying.left(self.state, self.progress.newest).keys() - self.told.keys()
        edited = self.changes.first_difference(self._changed_before)
        differing = (*new, *untold, *(() if edited is None else (edited,)))
        first = min((index for index in differing if index >= self.start(draft)), default=None)
        return math.inf if first is None else self.in_front_of(draft, first)

    def _laid_out(self, fold: Fold | None) -> tuple[object, ...]:
        fold = fold or self._unfolded
        return fold.start, fold.head, fold.capped, fold.instructions

    def in_front_of(self, draft: Draft, index: int) -> int:
        """Returns the tokens of the prompt before the message with this index, and before the volatile block in it."""
        own = sum(self.case.tokens(at) - self.saved.get(at, 0) for at in range(self.start(draft), index))
        volatile = draft.volatile.tokens if index > self.progress.newest else 0
        return self.prefix(draft) + draft.head + own + volatile

    def fixed_prefix(self, fold: Fold | None) -> int:
        """Returns the tokens at the beginning that no later fold changes."""
        if self.context.rates.breakpoints or self.context.rates.indivisible:
            return 0
        messages = self.case.messages
        if self.context.role == "system":
            return self.case.overhead + (self.case.tokens(0) if messages[0].role in INSTRUCTIONS else 0)
        instructions = (*self.between(0, self.progress.preamble), *(fold.instructions if fold else ()))
        return self.case.overhead + sum(map(self.case.tokens, instructions))

    def passed(self) -> int:
        """Returns the tokens at the beginning of the client's own prompt that the cache holds from when they were last
        sent as they came."""
        state = self.state
        if state is None:
            return self.passed_before()
        is_held = state.passed and self.context.now - state.passed_at < self.context.ttl
        return min(state.passed if is_held else self.fixed_prefix(None), self.original)

    def passed_before(self) -> int:
        """Returns the tokens that a prefix cache would hold if all requests had been passed through unchanged."""
        if self.state is not None:
            return self.state.original
        return sum(self._asked_before[-1:])

    @cached_property
    def _asked_before(self) -> list[int]:
        """Returns the tokens of the earlier requests of a conversation without a state, which were short and so sent as
        they came: one for each of its answers."""
        if not self.case.was_seen:
            return []
        tokens, found, said = self.case.overhead, list[int](), self.case.messages
        for index, each in enumerate(said):
            if each.role == "assistant" and index and said[index - 1].role != "assistant":
                found.append(tokens)
            tokens += self.case.tokens(index)
        return found

    def costs(self) -> CostSoFar:
        """Returns the costs of the conversation so far, this request included in the baseline."""
        alone, state = self.context.alone, self.state
        if state is not None:
            baseline = state.baseline + alone.least(self.original, state.original)
            return CostSoFar(baseline, state.spent)
        return CostSoFar(self._past + alone.least(self.original, self.passed_before()), self._past)

    @cached_property
    def _past(self) -> float:
        """The cost of the earlier requests of a conversation without a state."""
        return sum([self.context.alone.least(now, before) for before, now in pairwise([0, *self._asked_before])])

    def start(self, draft: Draft) -> int:
        """Returns the index of the first message that is sent after the preamble."""
        sent = draft.kept[draft.omitted :]
        if draft.omitted:
            return sent[0].start if sent else self.progress.newest
        return draft.fold.start if draft.fold else self.progress.preamble


class Step:
    """A step in the planning of one request, with what all steps read."""

    def __init__(self, budget: TokenBudget, memory: Memory) -> None:
        self.budget, self.memory = budget, memory
        self.case, self.progress, self.context, self.state = budget.case, budget.progress, budget.context, budget.state
