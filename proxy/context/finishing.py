"""A finished draft as a plan: its messages, its tokens and what they cost with the prefix cache, the breakpoints that
it needs, and the state that the next request starts from. Pure."""

import sys
from collections.abc import Sequence
from dataclasses import replace

from proxy.context import alternatives
from proxy.context.budget import Step, TokenBudget
from proxy.context.caching import pays
from proxy.context.draft import Draft, Memory
from proxy.context.economics import REGRET
from proxy.context.layout import kept, lay_out
from proxy.context.marks import MarkPlanner
from proxy.context.telling import DraftTeller
from proxy.desk.marking import NO_CHANGES
from proxy.types import (
    Fates,
    Mechanisms,
    Message,
    PathState,
    Plan,
    PlanKind,
    PromptTokens,
    Repeats,
)
from proxy.types.desk import DeskPlan

# Share of the limit above which a prompt is prepared for its first fold: a turn that doubles the prompt is rare.
MARKED_AHEAD = 0.5


class DraftFinisher(Step):
    """The plan of one request, told from its draft."""

    def __init__(self, budget: TokenBudget, memory: Memory, marks: MarkPlanner) -> None:
        super().__init__(budget, memory)
        self.marks = marks
        self.teller = DraftTeller(budget, memory)
        self.reach = alternatives.reach(self.state, memory, goes_on=budget.is_same_turn)

    def bill(self, draft: Draft) -> tuple[int, int, float]:
        """Returns the tokens of a draft's prompt, how many at its beginning the previous one began with, and its
        cost."""
        repeated, passed = self.budget.repeated_by(draft), self.budget.passed_before()
        if self._is_changed(draft):
            sent = self.budget.tokens(draft)
            return sent, repeated, self._cost(draft, sent, repeated)
        if self.state is None:
            repeated = passed  # short so far, and so sent as it came
        # An unchanged prompt costs the same as pass-through, wherever blocks begin.
        return (
            self.budget.original,
            repeated,
            self._as_it_came(self.budget.original, repeated, passes=repeated >= passed),
        )

    def _is_changed(self, draft: Draft) -> bool:
        is_changed = bool(draft.fold or draft.volatile.text or draft.omitted or self.budget.markers or self._has_desk())
        is_changed = is_changed or bool(self.budget.told_from(self.budget.start(draft)))
        return is_changed or self._is_marked_ahead(draft)

    def as_it_came(self, limit: int | None) -> Plan:
        """Returns the plan to send the client's own prompt, though turns have left the managed one: what is known of
        that stays as the request before has left it. `limit`: of tokens, which it may exceed."""
        state, progress, original = self.state, self.progress, self.budget.original
        assert state is not None
        draft = Draft(None, progress.open)
        held, costs, repeated = self.budget.passed(), self.budget.costs(), self.budget.repeated()
        bare = DraftFinisher(
            TokenBudget(replace(self.case, state=None), progress, self.context), self.memory, self.marks
        )
        fates = bare.teller.fates(draft)
        passed = self.budget.passed_before()
        return Plan(
            kind="over-budget" if limit is not None and original > limit else "untouched",
            tokens=PromptTokens(
                original=original,
                sent=original,
                counted=original,
                repeated=self.context.alone.held(original, passed),
                expected=held,
                is_unwritten=self.context.alone.most < sys.maxsize,
            ),
            reason=alternatives.CHEAPER,
            fates=fates,
            state=replace(
                self._state(draft, original, 0.0),
                sent=repeated,
                stable=repeated,
                spent=costs.spent + self.passing(),
                fold=state.fold,
                folded_results=state.folded_results,
                told=tuple(self.budget.told_from(state.fold.start if state.fold else 0)),
                base=state.base,
                kept=state.kept,
                kept_cost=state.kept_cost,
                managed_at=state.managed_at or state.at,
                passed=original,
                passed_at=self.context.now,
            ),
            trail=self.teller.trail(draft, fates),
        )

    def passing(self) -> float:
        """Returns the cost of the client's own prompt, by what the cache holds of it."""
        return self._as_it_came(self.budget.original, self.budget.passed(), passes=False)

    def planned(self, draft: Draft, offers: str, limit: int | None) -> Plan:
        """Returns the plan of a draft. `offers`: as of its desk; `limit`: of its tokens, which it may exceed."""
        is_changed = self._is_changed(draft)
        sent, repeated, spent = self.bill(draft)
        is_too_large = limit is not None and sent > limit
        kind: PlanKind = "over-budget" if is_too_large else "managed" if is_changed else "untouched"
        passed = self.budget.passed_before()
        fates = self.teller.fates(draft)
        messages = self._messages(draft, fates) if is_changed else None
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
                mechanisms=self.teller.mechanisms(draft, fates) if is_changed else Mechanisms(),
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
            trail=self.teller.trail(draft, fates),
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
        before = self.state
        is_changed = self._is_changed(draft)
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
            base=self.base(draft),
            passed=(before.passed if before else 0) if is_changed else self.budget.original,
            passed_at=(before.passed_at if before else 0.0) if is_changed else self.context.now,
            reach=self.reach,
            kept=(before.kept if before else 0) + int(not alternatives.is_whole(self.budget, draft)),
            kept_cost=(before.kept_cost if before else 0.0)
            + (0.0 if alternatives.is_whole(self.budget, draft) else spent),
        )

    def base(self, draft: Draft) -> int:
        """Returns the tokens of the prompt right after its beginning was last rewritten; 0 if it never was."""
        before = self.state
        is_as_before = before is not None and draft.fold == before.fold
        if is_as_before and not self.budget.markers.keys() - set(before.folded_results if before else ()):
            return before.base if before else 0
        return self.budget.tokens(draft.without_block())

    def _lost(self, draft: Draft) -> int:
        """Returns the tokens of reasoning that are lost because the fold before them changed."""
        before = self.state.fold if self.state else None
        if not self.context.rates.rethinking or draft.fold == before:
            return 0
        return sum(self.budget.sizes(draft).reasoning)

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
