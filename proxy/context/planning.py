"""Planning of a prompt: the decisions, in the order in which they are made.

    progress ── what is new since the last request (before, with the lookups: planner.py)
       ▼
    elide ───── instructions that need not be repeated are left out, where the profile says so and it pays
       ▼
    fold? ───── economics says how many turns leave; they become summaries, in a new head
       ▼
    volatile ── facts and excerpts that this question needs and the window does not hold
       ▼
    fit ─────── under a limit the excerpts shrink first, then the summaries, then the window
       ▼
    plan ────── the messages, the fate of each, the tokens, and the state that the next request starts from

Pure: lookups were made before; excerpts come from a function.
"""

import sys
from collections.abc import Sequence
from dataclasses import replace

from proxy.context import elide, marks, staying
from proxy.context.budget import Step, TokenBudget
from proxy.context.caching import pays
from proxy.context.draft import Draft, Memory, PlanContext
from proxy.context.economics import REGRET
from proxy.context.folding import FoldPlanner
from proxy.context.layout import kept, lay_out
from proxy.context.marks import MarkPlanner
from proxy.context.volatile import BLOCK, VolatilePlanner
from proxy.conversation.progress import Case, Progress
from proxy.desk.marking import NO_CHANGES
from proxy.types import (
    ChatRequest,
    Fates,
    Fold,
    Mechanisms,
    Message,
    PathState,
    Plan,
    PlanKind,
    PromptTokens,
    RecalledLine,
    Repeats,
    Trail,
)
from proxy.types.desk import DeskPlan

# Share of the limit above which a prompt is prepared for its first fold: a turn that doubles the prompt is rare.
MARKED_AHEAD = 0.5


def plan(request: ChatRequest, case: Case, progress: Progress, memory: Memory, context: PlanContext) -> Plan:
    """Returns the plan of a request, in tokens of our count; its `messages` are None if they are sent as they came."""
    case, elided = elide.without(request, case, context.rates, context.count)
    return elide.with_elision(make(case, elide.shortened(progress, elided), memory, context), case, elided)


def make(case: Case, progress: Progress, memory: Memory, context: PlanContext) -> Plan:
    """Returns the same plan with all instructions."""
    left = staying.left(case.state, progress.newest)
    told = staying.remembered(left, memory.facts)
    return _Planner(TokenBudget(case, progress, context, marks.standing(case, context), told), memory).made()


class _Planner(Step):
    """Planner of one request. Its methods are the steps above."""

    def __init__(self, budget: TokenBudget, memory: Memory) -> None:
        super().__init__(budget, memory)
        self.folds = FoldPlanner(budget, memory)
        self.volatile = VolatilePlanner(budget, memory, self.folds)
        self.marks = MarkPlanner(budget, memory)

    def made(self) -> Plan:
        draft = Draft(self.folds.current_fold(), self.progress.open)
        self.marks.pressed(draft)
        if self.case.profile.tool_results.fold_first:
            self.folds.fold_results(draft)
        draft = self.folds.folded(draft)
        self.marks.with_rewriting(draft)
        offers = marks.offers(self, draft)
        draft = self.volatile.with_volatile(draft)
        draft = self._not_inflated(self._fitted(draft))
        return self._planned(draft, offers)

    def _fitted(self, draft: Draft) -> Draft:
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

    def _not_inflated(self, draft: Draft) -> Draft:
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

    def _planned(self, draft: Draft, offers: str) -> Plan:
        is_changed = bool(draft.fold or draft.volatile.text or draft.omitted or self.budget.markers or self._has_desk())
        is_changed = is_changed or self.budget.told_in(draft) > 0
        is_changed = is_changed or self._is_marked_ahead(draft)
        sent = self.budget.tokens(draft) if is_changed else self.budget.original
        is_too_large = self.context.limit is not None and sent > self.context.limit
        kind: PlanKind = "over-budget" if is_too_large else "managed" if is_changed else "untouched"
        repeated, passed = self.budget.repeated_by(draft), self.budget.passed_before()
        fates = self._fates(draft)
        messages = self._messages(draft, fates) if is_changed else None
        # An unchanged prompt costs the same as pass-through, wherever blocks begin.
        passes = not is_changed and repeated >= passed
        spent = self._cost(draft, sent, repeated) if is_changed else self._as_it_came(sent, repeated, passes=passes)
        repeats = None if messages is None else self._repeats(draft, fates, messages, spent)
        if is_changed and self.context.rates.marked and repeats is None:
            spent = self._as_it_came(sent, 0, passes=False)
        return Plan(
            kind=kind,
            tokens=PromptTokens(
                original=self.budget.original,
                sent=sent,
                counted=sent,
                repeated=self.context.alone.held(self.budget.original, passed),
                expected=repeated if is_changed else min(repeated, passed, self.context.alone.most),
                busted=self.budget.repeated() - repeated,
                mechanisms=self._mechanisms(draft, fates) if is_changed else Mechanisms(),
                is_unwritten=self.context.alone.most < sys.maxsize,
            ),
            reason=f"turns={len(draft.kept) + 1}" if is_changed else "",
            messages=messages,
            fates=fates,
            state=replace(
                self._state(draft, sent, spent),
                is_written=self._is_written(repeats, is_changed=is_changed),
                is_split=self.context.caching.is_split or repeats is not None,
            ),
            trail=self._trail(draft, fates),
            desk=self._desk(offers),
            repeats=repeats,
        )

    def _is_marked_ahead(self, draft: Draft) -> bool:
        """Tells whether a prompt that nothing else changes gets breakpoints of ours, since it comes near the limit: one
        behind its instructions, which costs nothing, and without which the first fold would have to write them again;
        all of them, if the client sets none and they pay."""
        limit, caching = self.context.limit, self.context.caching
        if limit is None or not caching.is_marked or self.budget.original <= MARKED_AHEAD * limit:
            return False
        if caching.is_ours:
            cost = caching.rates.cost(self.budget.original, self.budget.repeated())
            return pays(caching, self.budget.costs(), cost, regret=REGRET)
        return not caching.is_split and self.budget.prefix(draft) >= caching.rates.minimum

    def _has_desk(self) -> bool:
        """Tells whether something of the desk is in the prompt."""
        return self.case.added > 0 or self.budget.changes != NO_CHANGES

    def _desk(self, offers: str) -> DeskPlan | None:
        desk, marked = self.context.desk, self.marks
        if desk is None:
            return None
        return DeskPlan(
            offers=self.context.offers or offers,
            has_tools=self.context.has_tools,
            applied=marked.applied,
            reason=marked.reason,
            saved=marked.saved,
            definitions=self.context.definitions if self.context.has_tools else 0,
        )

    def _fates(self, draft: Draft) -> Fates:
        fold = draft.fold or Fold(self.progress.preamble)
        start = self.budget.start(draft)
        return Fates(
            preamble=self.progress.preamble,
            left=fold.start,
            start=start,
            newest=self.progress.newest,
            instructions=self.budget.instructions(draft),
            capped=tuple([index for index in self.budget.capped if index >= start]),
            markers=tuple([index for index in self.budget.markers if index >= start]),
            quoted=draft.volatile.quoted,
            summaries=tuple([(each.first_turn, each.last_turn) for each in fold.summaries]),
            head=fold.head,
            volatile=draft.volatile.text,
            told=tuple([each.index for each in self.budget.told_from(start)]),
            removed=tuple(sorted(self.budget.changes.removed)),
            rewritten=tuple(sorted(self.budget.changes.replaced)),
        )

    def _mechanisms(self, draft: Draft, fates: Fates) -> Mechanisms:
        progress, saved, stated = self.progress, self.budget.saved, draft.stated_tokens
        edited = (index for index in (*fates.removed, *fates.rewritten) if index >= fates.start)
        gone = sum(self.context.desk.view.ours[: fates.start]) if self.context.desk is not None else 0
        return Mechanisms(
            window=progress.before
            - gone
            - progress.preamble_tokens
            - (self.budget.prefix(draft) - self.case.overhead - progress.preamble_tokens)
            - sum(turn.tokens for turn in draft.kept[draft.omitted :]),
            capped=sum([saved[index] for index in fates.capped]),
            tools=sum([saved[index] for index in fates.markers]),
            pruned=sum([saved[index] for index in edited]),
            summaries=max(0, draft.head - stated - draft.desk_tokens),
            facts=stated + draft.volatile.facts + self.budget.told_in(draft),
            recall=draft.volatile.tokens - draft.volatile.facts,
            desk=draft.desk_tokens + self.case.added - gone,
        )

    def _cost(self, draft: Draft, sent: int, repeated: int) -> float:
        """Returns the cost of a changed prompt, with breakpoints where it needs some."""
        rates = self.context.rates
        cost = rates.cost(sent, repeated)
        is_whole = self._goes_on() or draft.is_repeated
        if rates.tail is None or is_whole or sent < rates.minimum:
            return cost
        return cost - (rates.write - rates.tail) * (sent - max(repeated, self._stable(draft, sent)))

    def _as_it_came(self, sent: int, repeated: int, *, passes: bool) -> float:
        """Returns the cost of a prompt with no breakpoints but the client's."""
        return (self.context.alone.least if passes else self.context.alone.cost)(sent, repeated)

    def _goes_on(self) -> bool:
        """Tells whether the newest turn has messages behind its user's: what was added to it stays until it is over."""
        return len(self.case.messages) > self.progress.newest + 1

    def _repeats(self, draft: Draft, fates: Fates, messages: Sequence[Message], spent: float) -> Repeats | None:
        """Returns what later requests repeat of these messages; None if no breakpoints are to be set. `spent`: with
        them."""
        if not pays(self.context.caching, self.budget.costs(), spent):
            return None
        behind = sum(index >= fates.newest for index in kept(self.case.messages, fates))
        is_whole = draft.is_repeated
        turn = len(messages) if is_whole else 0 if draft.omitted else len(messages) - behind
        return Repeats(turn, whole=is_whole or self._goes_on(), minimum=self.context.rates.minimum)

    def _is_written(self, repeats: Repeats | None, *, is_changed: bool) -> bool:
        """Tells whether the prompt is written to the prefix cache, as far as any is."""
        if is_changed and self.context.rates.marked:
            return repeats is not None
        return self.context.alone.most == sys.maxsize

    def _state(self, draft: Draft, sent: int, spent: float) -> PathState:
        progress, costs = self.progress, self.budget.costs()
        spent += self.context.rates.rethinking * self._lost(draft)
        return PathState(
            turns=progress.turns,
            at=self.context.now,
            newest=progress.newest,
            before=progress.before,
            original=self.budget.original,
            sent=sent,
            stable=self._stable(draft, sent),
            baseline=costs.baseline,
            spent=costs.spent + spent,
            fold=draft.fold,
            open=draft.kept,
            folded_results=tuple(
                index for index in self.budget.markers if draft.fold is None or index >= draft.fold.start
            ),
            volatile=draft.volatile,
            omitted=draft.omitted,
            volatile_link=self.case.chain[progress.newest],
            vector=self.case.vector,
            continuity=progress.topic.continuity,
            shift=progress.topic.shift,
            domain=progress.topic.domain,
            applied=(*(self.state.applied if self.state else ()), *self.marks.applied),
            has_tools=self.context.has_tools,
            told=tuple(self.budget.told_from(draft.fold.start if draft.fold else 0)),
        )

    def _lost(self, draft: Draft) -> int:
        """Returns the tokens of reasoning that are lost because the fold before them changed."""
        before = self.state.fold if self.state else None
        if not self.context.rates.rethinking or draft.fold == before:
            return 0
        return sum(self.budget.sizes(draft).reasoning)

    def _trail(self, draft: Draft, fates: Fates) -> Trail:
        fold, topic = draft.sent_fold, self.progress.topic
        return Trail(
            limit=self.context.limit,
            turns=self.progress.turns,
            kept=len(draft.kept) - draft.omitted,
            start=fates.start,
            newest=fates.newest,
            head=draft.head,
            summaries=len(fold.summaries) if fold else 0,
            facts=len(fold.fact_ids) if fold else 0,
            volatile=draft.volatile.tokens,
            recalled=tuple(
                RecalledLine(each.session, each.turn, each.role, each.tokens, round(each.score, 3))
                for each in draft.recalled
            ),
            capped=fates.capped,
            markers=fates.markers,
            shift=topic.shift,
            continuity=topic.continuity,
            domain=topic.domain,
            break_even=draft.weighed,
            profile=self.context.profile,
        )

    def _stable(self, draft: Draft, sent: int) -> int:
        """Returns the tokens at the beginning that the next request repeats, unless the turn goes on."""
        if draft.is_repeated:
            return sent
        if draft.omitted:
            stable = self.budget.stable_without(draft)
        else:
            stable = sent - self.budget.newest() - draft.volatile.tokens
        return min(stable, self.budget.ended(draft)) if self.context.rates.breakpoints else stable

    def _messages(self, draft: Draft, fates: Fates) -> tuple[Message, ...]:
        return lay_out(
            self.case.messages,
            fates,
            head=draft.sent_fold.head if draft.sent_fold else "",
            role=self.context.role,
            replaced={**self.budget.capped, **self.budget.markers, **self.budget.changes.replaced},
            told={each.index: each.text for each in self.budget.told_from(fates.start)},
        )
