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
    finish ──── the messages, the fate of each, the tokens, and the state that the next request starts from

Pure: lookups were made before; excerpts come from a function.
"""

from proxy.context import elide, marks, staying
from proxy.context.budget import Step, TokenBudget
from proxy.context.draft import Draft, Memory, PlanContext
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
    told = staying.remembered(staying.left(case.state, progress.newest), memory.facts)
    return _Planner(TokenBudget(case, progress, context, marks.standing(case, context), told), memory).made()


class _Planner(Step):
    """The steps of one request, as drawn above."""

    def __init__(self, budget: TokenBudget, memory: Memory) -> None:
        super().__init__(budget, memory)
        self.folds = FoldPlanner(budget, memory)
        self.volatile = VolatilePlanner(budget, memory, self.folds)
        self.marks = MarkPlanner(budget, memory)
        self.fits = FitPlanner(budget, memory, self.folds, self.volatile)
        self.finish = DraftFinisher(budget, memory, self.marks)

    def made(self) -> Plan:
        draft = Draft(self.folds.current_fold(), self.progress.open)
        self.marks.pressed(draft)
        if self.case.profile.tool_results.fold_first:
            self.folds.fold_results(draft)
        draft = self.folds.folded(draft)
        self.marks.with_rewriting(draft)
        offers = marks.offers(self, draft)
        draft = self.volatile.with_volatile(draft)
        draft = self.fits.not_inflated(self.fits.fitted(draft))
        return self.finish.planned(draft, offers)
