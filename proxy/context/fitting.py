"""Cuts to a prompt that is above its limit, or larger than the client's own. Pure."""

from dataclasses import replace

from proxy.context.budget import Step, TokenBudget
from proxy.context.draft import Draft, Memory
from proxy.context.folding import FoldPlanner
from proxy.context.volatile import BLOCK, VolatilePlanner
from proxy.types import Fold


class FitPlanner(Step):
    """The limits of one request."""

    def __init__(self, budget: TokenBudget, memory: Memory, folds: FoldPlanner, volatile: VolatilePlanner) -> None:
        super().__init__(budget, memory)
        self.folds, self.volatile = folds, volatile

    def fitted(self, draft: Draft) -> Draft:
        """Returns the draft within the limit, as far as it can be: excerpts give way first, then summaries, then the
        window."""
        limit = self.context.limit
        if limit is None or not self.budget.is_too_large(draft):
            return draft
        is_old = self.state is not None and draft.volatile.text == self.state.volatile.text
        if draft.volatile.text and not is_old:
            # The lines cost a little more or less than estimated.
            over = self.budget.tokens(draft) - limit
            draft = self.volatile.volatile(draft, max(0, draft.volatile.tokens - 2 * over - 2 * BLOCK))
            if self.budget.is_too_large(draft):
                draft = draft.without_block()
        if draft.volatile.text and self._least(draft) > limit:
            draft = draft.without_block()  # nothing else would be enough
        while self.budget.is_too_large(draft) and not draft.omitted and draft.fold and draft.fold.summaries:
            fold = replace(draft.fold, summaries=draft.fold.summaries[1:])
            draft = replace(draft, fold=self.folds.headed(fold))
        if self.budget.is_too_large(draft) and draft.kept:
            draft = self._shortened(draft, limit)
        if self.budget.is_too_large(draft):
            draft = draft.without_block()
        if self.budget.is_too_large(draft) and draft.fold:
            bare = replace(draft.fold, head="", head_tokens=0, fact_ids=(), fact_tokens=0, summaries=())
            draft = replace(draft, fold=bare, stated=bare)
        return draft

    def not_inflated(self, draft: Draft) -> Draft:
        """Returns the draft, cut back where it would exceed the client's own prompt by more than memory from outside of
        it."""
        stated = draft.stated_tokens
        ours = draft.desk_tokens + self.case.added + self.budget.told_in(draft)
        outside = stated + draft.volatile.facts + draft.volatile.others + ours
        if self.budget.tokens(draft) <= self.budget.original + outside:
            return draft
        bare = draft.without_block()
        before = self.state.fold if self.state else None
        if self.budget.tokens(bare) > self.budget.original + stated + ours and before is None:
            self.budget.cap_all(())
            return Draft(None, self.progress.open, weighed=draft.weighed)
        return bare

    def _least(self, draft: Draft) -> int:
        """Returns the tokens of the draft without its summaries and turns, of which system messages stay."""
        if draft.fold and draft.fold.summaries and not draft.omitted:
            draft = replace(draft, fold=self.folds.headed(replace(draft.fold, summaries=())))
        turns = sum(self.budget.window(draft.kept[draft.omitted :]))
        instructions = self.budget.between(self.budget.start(draft), self.progress.newest)
        return self.budget.tokens(draft) - turns + sum(map(self.case.tokens, instructions))

    def _shortened(self, draft: Draft, limit: int) -> Draft:
        """Returns the draft without as many of the oldest turns as the limit demands."""
        over, leave = self.budget.tokens(draft) - limit, draft.omitted
        while leave < len(draft.kept) and over > 0:
            over -= self.budget.size(draft.kept[leave])
            leave += 1
        shorter = self._without(draft, leave)
        # System messages of leaving turns stay, and answers capped in a full window may be whole in a shorter one.
        while leave < len(draft.kept) and self.budget.is_too_large(shorter):
            leave += 1
            shorter = self._without(draft, leave)
        return shorter

    def _without(self, draft: Draft, leave: int) -> Draft:
        kept = draft.kept[leave:]
        start = kept[0].start if kept else self.progress.newest
        before = draft.fold or Fold(self.progress.preamble)
        instructions = (*before.instructions, *self.budget.between(before.start, start))
        fold = replace(before, start=start, instructions=instructions, turn=self.progress.turns)
        return replace(draft, fold=self.folds.capped(fold, kept), kept=kept, omitted=0)
