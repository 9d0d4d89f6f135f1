"""The part of a request's prompt that was sent before, which a prefix cache holds, and the costs of the conversation so
far."""

import math
from dataclasses import replace
from functools import cached_property
from itertools import pairwise

from proxy.context import staying
from proxy.context.draft import Draft, Memory
from proxy.context.draft_sizes import DraftSizes
from proxy.context.economics import CostSoFar, PromptSizes
from proxy.desk.marking import NO_CHANGES
from proxy.protocol.message import INSTRUCTIONS
from proxy.types import Fold


class TokenBudget(DraftSizes):
    """The tokens of a request's prompt, and how many of them were sent before."""

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
        edited = self.changes.first_difference(self.changed_before)
        differing = (*new, *untold, *(() if edited is None else (edited,)))
        first = min((index for index in differing if index >= self.start(draft)), default=None)
        return math.inf if first is None else self.in_front_of(draft, first)

    def _laid_out(self, fold: Fold | None) -> tuple[object, ...]:
        fold = fold or self._unfolded
        return fold.start, fold.head, fold.capped, fold.instructions

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


class Step:
    """A step in the planning of one request, with what all steps read."""

    def __init__(self, budget: TokenBudget, memory: Memory) -> None:
        self.budget, self.memory = budget, memory
        self.case, self.progress, self.context, self.state = budget.case, budget.progress, budget.context, budget.state
