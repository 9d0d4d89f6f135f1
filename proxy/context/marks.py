"""Marks of the model take effect, and its tools are offered: when the prompt is rewritten anyway, under pressure, or
where it pays.

A mark changes messages in the middle of the prompt, and the provider's prefix cache loses all that stands behind them.
So marks wait, by the rules of `economics`: without need until carrying what they leave out has cost as much as
rewriting what follows (ski rental), and never so that spending exceeds pass-through by more than `FORCED`. A prompt
that is rewritten for another reason, a fold, takes them along. Under pressure they need not pay, but be worth it.

The tools stand at the very beginning, so offering them rewrites all of it, and costs their definitions in each request
from then on. They come half-way to the pressure at which they are needed; before that with a fold that leaves spending
within `FORCED` of pass-through, or where the model may be expected to save more with them, in as many requests to come
as there have been (Lindy's rule).
"""

from collections.abc import Collection, Sequence

from proxy.context.budget import Step
from proxy.context.draft import Draft, PlanContext
from proxy.context.economics import FORCED, REGRET
from proxy.context.shortening import LEAST
from proxy.conversation.progress import Case
from proxy.desk.marking import NO_CHANGES, Changes, changes
from proxy.desk.planned import Marked

SAFE = 0.8  # share of the limit that is safe: the note's T_safe
WORTH = 0.125  # least share of the prompt that marks leave out under pressure
URGENT = 0.9  # pressure from which on any mark takes effect
USED = 0.5  # share of old results that a model may be expected to prune
NEWEST = 3  # results that are not old


def pressure(tokens: int, limit: float | None) -> float:
    """Returns the memory pressure of a prompt, 1 at the end of what is safe; 0 if no limit is known."""
    return tokens / (SAFE * limit) if limit else 0.0


def standing(case: Case, context: PlanContext) -> Changes:
    """Returns the changes by marks that have taken effect in an earlier request."""
    if context.desk is None or case.state is None:
        return NO_CHANGES
    return changes(context.desk.view, _of(context.desk.marks, case.state.applied))


def _of(marks: Sequence[Marked], numbers: Collection[int]) -> list[Marked]:
    return [each for each in marks if each.number in numbers]


class MarkPlanner(Step):
    """The marks of one request."""

    applied: tuple[int, ...] = ()  # that take effect with this request
    reason: str = ""
    saved: int = 0  # tokens that they leave out

    def pressed(self, draft: Draft) -> None:
        """Lets marks take effect for their own sake, before anything is folded."""
        waiting = self._waiting()
        if not waiting:
            return
        tokens = self.budget.tokens(draft)
        after = self._changes()
        saved, first = self._weighed(draft, after)
        share = saved / tokens if tokens else 0.0
        pressing = pressure(tokens, self.context.desk_limit)
        assert self.context.desk is not None, "marks wait at a desk"
        if pressing >= self.context.desk.threshold and (share >= WORTH or pressing >= URGENT):
            self._apply(after, waiting, "pressure", saved)
        elif saved > 0 and self._pays(draft, after, tokens, saved, first):
            self._apply(after, waiting, "economic", saved)

    def with_rewriting(self, draft: Draft) -> None:
        """Lets marks take effect where the prompt is rewritten in this request anyway."""
        waiting = self._waiting()
        if waiting and (self.context.offers or rewrites(self, draft)):
            after = self._changes()
            saved, _ = self._weighed(draft, after)
            self._apply(after, waiting, "fold", saved)

    def _waiting(self) -> tuple[int, ...]:
        desk, state = self.context.desk, self.state
        if desk is None or self.applied:
            return ()
        known = state.applied if state is not None else ()
        return tuple(each.number for each in desk.marks if each.number not in known)

    def _changes(self) -> Changes:
        assert self.context.desk is not None, "marks wait at a desk"
        return changes(self.context.desk.view, self.context.desk.marks)

    def _apply(self, after: Changes, waiting: tuple[int, ...], reason: str, saved: int) -> None:
        self.budget.edit(after)
        self.applied, self.reason, self.saved = waiting, reason, saved

    def _weighed(self, draft: Draft, after: Changes) -> tuple[int, int]:
        """Returns the tokens that changes leave out of a draft, and the tokens in front of the first of them."""
        first = after.first_difference(self.budget.changes)
        if first is None:
            return 0, self.budget.tokens(draft)
        start = self.budget.start(draft)
        front = self.budget.in_front_of(draft, first) if first >= start else self.budget.prefix(draft)
        return self.budget.saved_by(after, start), front

    def _pays(self, draft: Draft, after: Changes, tokens: int, saved: int, front: int) -> bool:
        rates, costs = self.context.rates, self.budget.costs()
        found = min(self.budget.repeated(), front)
        cost, standing = rates.cost(tokens - saved, found), rates.cost(tokens, self.budget.repeated())
        # Where tools that were offered early have cost more than they saved, marks are the way back.
        if costs.spent + cost > (1 + FORCED) * max(costs.baseline, costs.spent + standing):
            return False
        start = self.budget.start(draft)
        touched = [index for index in (*after.removed, *after.replaced) if index >= start]
        if not touched:
            return False
        answers = sum(said.role == "assistant" for said in self.case.messages[max(touched) :])
        return cost - standing <= rates.cached * saved * answers


def rewrites(step: Step, draft: Draft) -> bool:
    """Tells whether a draft changes what the previous prompt began with."""
    state = step.state
    if state is None:
        return False
    return draft.fold != state.fold or bool(step.budget.markers.keys() - set(state.folded_results))


def offers(step: Step, draft: Draft) -> str:
    """Returns why the tools are to be offered from this request on: "fold", "pressure", "economic"; "" if they are
    not, or are offered already."""
    desk, state, context = step.context.desk, step.state, step.context
    if desk is None or not desk.schemas or desk.offered is not None or context.offers:
        return ""
    tokens = step.budget.tokens(draft)
    is_folded = draft.fold is None or state is None or draft.fold.start != step.progress.preamble
    if rewrites(step, draft) and is_folded and _is_affordable(step, tokens):
        return "fold"
    if pressure(tokens, context.desk_limit) >= desk.threshold / 2:
        return "pressure"
    return "economic" if state is not None and _would_pay(step, draft, tokens) else ""


def _is_affordable(step: Step, tokens: int) -> bool:
    """Tells whether the tools, in a prompt that is written anew, leave spending within `FORCED` of pass-through."""
    costs = step.budget.costs()
    cost = step.context.rates.cost(tokens + step.context.definitions, 0)
    return costs.spent + cost <= (1 + FORCED) * costs.baseline


def _would_pay(step: Step, draft: Draft, tokens: int) -> bool:
    rates, costs, context, messages = step.context.rates, step.budget.costs(), step.context, step.case.messages
    past = sum(said.role == "assistant" for said in messages)
    results = [index for index, said in enumerate(messages) if said.role in ("tool", "function")]
    old = [index for index in results[:-NEWEST] if index >= step.budget.start(draft)]
    sizes = [step.case.tokens(index) - step.budget.saved.get(index, 0) for index in old]
    prunable = USED * sum(size for size in sizes if size >= LEAST)
    definitions, repeated = context.definitions, step.budget.repeated()
    advance = rates.cost(tokens + definitions, 0) - rates.cost(tokens, repeated)
    if costs.spent + rates.cost(tokens + definitions, 0) > (1 + REGRET) * costs.baseline:
        return False
    # The prompt without what is pruned is written once more when it leaves.
    rewriting = (rates.write - rates.cached) * max(0.0, tokens - prunable)
    return rates.cached * past * (prunable - definitions) >= advance + rewriting
