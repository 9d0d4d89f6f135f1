"""Planning of a prompt: the decisions, in the order in which they are made.

    progress ── what is new since the last request (before, with the lookups: planner.py)
       ▼
    elide ───── instructions that need not be repeated are left out, where the profile says so and it pays
       ▼
    fold? ───── economics says how many turns leave; they become summaries, in a new head (folding.py)
       ▼
    volatile ── facts and excerpts that this question needs and the window does not hold
       ▼
    fit ─────── under a limit the excerpts shrink first, then the summaries, then the window (fitting.py)
       ▼
    whole? ──── all of it goes after all, where keeping a budget would cost more than pass-through (alternatives.py)
       ▼
    finish ──── the messages, the fate of each, the tokens, and the state that the next request starts from

Pure: lookups were made before; excerpts come from a function.
"""

from dataclasses import replace

from proxy.context import elide, marks, staying
from proxy.context.alternatives import CHEAPER, Kept, Whole, gives_way, is_whole, knows_more, may_give_way, outlook
from proxy.context.budget import Step, TokenBudget
from proxy.context.draft import Draft, Memory, PlanContext
from proxy.context.economics import REGRET
from proxy.context.finishing import DraftFinisher
from proxy.context.fitting import FitPlanner
from proxy.context.folding import FoldPlanner
from proxy.context.marks import MarkPlanner
from proxy.context.volatile import VolatilePlanner
from proxy.conversation.progress import Case, Progress
from proxy.types import ChatRequest, Plan


def plan(request: ChatRequest, case: Case, progress: Progress, memory: Memory, context: PlanContext) -> Plan:
    """Returns the plan of a request, in tokens of our count; its `messages` are None if they are sent as they came."""
    case, elided = elide.without(request, case, context.rates, context.count)
    return elide.with_elision(make(case, elide.shortened(progress, elided), memory, context), case, elided)


def make(case: Case, progress: Progress, memory: Memory, context: PlanContext) -> Plan:
    """Returns the same plan with all instructions."""
    planner = _Planner.of(case, progress, memory, context)
    draft, offers = planner.drafted()
    if may_give_way(context, planner.budget) and planner.is_dear(draft):
        whole = _Planner.of(case, progress, memory, replace(context, limit=context.most))
        if (plan := whole.instead_of(planner, draft)) is not None:
            return plan
    return planner.finish.planned(draft, offers, context.limit)


class _Planner(Step):
    """The steps of one request, as drawn above."""

    def __init__(self, budget: TokenBudget, memory: Memory) -> None:
        super().__init__(budget, memory)
        self.folds = FoldPlanner(budget, memory)
        self.volatile = VolatilePlanner(budget, memory, self.folds)
        self.marks = MarkPlanner(budget, memory)
        self.fits = FitPlanner(budget, memory, self.folds, self.volatile)
        self.finish = DraftFinisher(budget, memory, self.marks)

    @classmethod
    def of(cls, case: Case, progress: Progress, memory: Memory, context: PlanContext) -> "_Planner":
        """Returns a new one for a request."""
        left = staying.left(case.state, progress.newest)
        told = staying.remembered(left, memory.facts, lambda index: case.chain[index] in memory.forgotten)
        return cls(TokenBudget(case, progress, context, marks.standing(case, context), told), memory)

    def is_dear(self, draft: Draft) -> bool:
        """Tells whether a draft from which something has left may cost more than pass-through: seldom, so nothing else
        is weighed before."""
        if self.context.limit is None or self.state is None or is_whole(self.budget, draft):
            return False  # a conversation that is seen for the first time has no past to tell what it will be like
        if not self.state.kept:
            return True
        costs = self.budget.costs()
        return costs.spent + self.finish.bill(draft)[2] > (1 + REGRET) * costs.baseline

    def instead_of(self, other: "_Planner", managed: Draft) -> Plan | None:
        """Returns the plan to send the prompt as it stands or as it came, which only the model's context limits, where
        that is cheaper than `managed`, which `other` has kept within the budget; None where it is not."""
        budget, limit = self.budget, other.context.limit
        assert limit is not None  # else nothing gives way
        standing = Draft(self.folds.current_fold(), self.progress.open)
        sent, _, now = other.finish.bill(managed)
        base = other.finish.base(managed) or sent
        state = self.state
        within = Kept(
            now=now,
            tokens=other.budget.tokens(managed.without_block()),
            base=base,
            before=state.kept if state else 0,
            before_cost=state.kept_cost if state else 0.0,
            fixed=budget.fixed_prefix(None),
            limit=limit,
        )
        rates, costs = self.context.rates, budget.costs()
        expected = outlook(self.case, budget, rates, self.finish.reach)
        if is_whole(budget, standing):
            draft = self.fits.not_inflated(self.fits.fitted(self.volatile.with_volatile(standing)))
            sent, _, cost = self.finish.bill(draft)
            if gives_way(rates, costs, within, Whole(cost, sent), expected):
                plan = self.finish.planned(replace(draft, weighed=managed.weighed), "", limit)
                return replace(plan, reason=";".join(filter(None, (plan.reason, CHEAPER))))
            return None
        whole = Whole(self.finish.passing(), budget.original)
        if not self.memory.forgotten.isdisjoint(self.case.chain):
            return None  # what has left and shall be forgotten does not come back
        if knows_more(self.case, self.memory, managed) or not gives_way(rates, costs, within, whole, expected):
            return None
        return self.finish.as_it_came(limit)

    def drafted(self) -> tuple[Draft, str]:
        """Returns the draft within the limit, and why tools are offered, as of its desk."""
        draft = Draft(self.folds.current_fold(), self.progress.open)
        self.marks.pressed(draft)
        if self.case.profile.tool_results.fold_first:
            self.folds.fold_results(draft)
        draft = self.folds.folded(draft)
        self.marks.with_rewriting(draft)
        offers = marks.offers(self, draft)
        draft = self.volatile.with_volatile(draft)
        draft = self.fits.not_inflated(self.fits.fitted(draft))
        return draft, offers
