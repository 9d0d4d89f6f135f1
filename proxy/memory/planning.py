"""What of a conversation is sent: the decisions, in the order in which they are made.

    progress ── what is new since the last request
       ▼
    fold? ───── economics says how many turns leave; they become summaries, in a new head
       ▼
    volatile ── facts and excerpts that this question needs and the window does not hold
       ▼
    fit ─────── under a limit the excerpts shrink first, then the summaries, then the window
       ▼
    state ───── what the next request starts from

Pure: what is remembered has been looked up before, excerpts are asked for by a function.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from proxy.memory.draft import Circumstances, Draft, Figures, Memory
from proxy.memory.folding import Folder
from proxy.memory.layout import Layout, lay_out
from proxy.memory.progress import Case, Progress
from proxy.memory.volatile import BLOCK, Volatile
from proxy.types import Fold, Json, Mechanisms, Message, PathState, PlanKind, RecalledLine, Trail


@dataclass(frozen=True, slots=True)
class Managed:
    """`messages is None`: as the client sent them."""

    kind: PlanKind
    reason: str
    messages: tuple[Message, ...] | None
    original: int
    sent: int
    mechanisms: Mechanisms
    repeated: int  # tokens that a prefix cache would have held of the original prompt
    expected: int  # of the sent one, whatever it takes to be cached
    busted: int
    state: PathState
    trail: Trail
    tools: Sequence[Json] | None = None  # in place of the client's


def make(case: Case, progress: Progress, memory: Memory, around: Circumstances) -> Managed:
    return _Planner(Figures(case, progress, around), memory).made()


class _Planner:
    """One request's. Its methods are the steps above."""

    def __init__(self, figures: Figures, memory: Memory) -> None:
        self.figures = figures
        self.folder = Folder(figures, memory)
        self.needed = Volatile(figures, memory, self.folder)
        self.case, self.progress, self.around, self.state = (
            figures.case,
            figures.progress,
            figures.around,
            figures.state,
        )
        self.memory = memory

    def made(self) -> Managed:
        draft = Draft(self.folder.current_fold(), self.progress.open)
        if self.case.profile.tool_results.fold_first:
            self.folder.fold_results(draft)
        draft = self.folder.folded(draft)
        draft = self.needed.with_volatile(draft)
        draft = self._not_inflated(self._fitted(draft))
        if self.figures.is_too_large(draft):
            return self._managed(draft, "over-budget")
        return self._managed(draft, "managed" if self._is_changed(draft) else "untouched")

    def _is_changed(self, draft: Draft) -> bool:
        return bool(draft.fold or draft.volatile or draft.lent or self.figures.markers)

    def _fitted(self, draft: Draft) -> Draft:
        limit = self.around.limit
        if limit is None or not self.figures.is_too_large(draft):
            return draft
        if draft.volatile and not self.needed.is_old(draft):
            # Lines cost a little more or less than was reckoned with.
            over = self.figures.tokens(draft) - limit
            draft = self.needed.volatile(draft, max(0, draft.volatile_tokens - 2 * over - 2 * BLOCK))
            if self.figures.is_too_large(draft):
                draft = replace(draft, volatile="", volatile_tokens=0, facts=0, others=0, recalled=())
        while self.figures.is_too_large(draft) and not draft.lent and draft.fold and draft.fold.summaries:
            fold = replace(draft.fold, summaries=draft.fold.summaries[1:])
            draft = replace(draft, fold=self.folder.headed(fold))
        if self.figures.is_too_large(draft) and draft.kept:
            draft = self._shortened(draft, limit)
        if self.figures.is_too_large(draft):
            draft = replace(draft, volatile="", volatile_tokens=0, facts=0, others=0, recalled=())
        if self.figures.is_too_large(draft) and draft.fold:
            bare = replace(draft.fold, head="", head_tokens=0, fact_ids=(), fact_tokens=0, summaries=())
            draft = replace(draft, fold=bare, stated=bare)
        return draft

    def _shortened(self, draft: Draft, limit: int) -> Draft:
        """Without as many of the oldest turns as the limit demands."""
        over, leave = self.figures.tokens(draft) - limit, draft.lent
        while leave < len(draft.kept) and over > 0:
            over -= self.figures.size(draft.kept[leave])
            leave += 1
        shorter = self._without(draft, leave)
        # System messages of what leaves stay, and what was capped in a full window need not be in a shorter one.
        while leave < len(draft.kept) and self.figures.is_too_large(shorter):
            leave += 1
            shorter = self._without(draft, leave)
        return shorter

    def _without(self, draft: Draft, leave: int) -> Draft:
        kept = draft.kept[leave:]
        start = kept[0].start if kept else self.progress.newest
        before = draft.fold or Fold(self.progress.preamble)
        instructions = (*before.instructions, *self.figures.between(before.start, start))
        fold = replace(before, start=start, instructions=instructions, turn=self.progress.turns)
        return replace(draft, fold=self.folder.capped(fold, kept), kept=kept, lent=0)

    def _not_inflated(self, draft: Draft) -> Draft:
        """No prompt is larger than the client's own, but for what memory adds from outside of it."""
        stated = draft.sent_fold.fact_tokens if draft.sent_fold else 0
        outside = stated + draft.facts + draft.others
        if self.figures.tokens(draft) <= self.figures.original + outside:
            return draft
        bare = replace(draft, volatile="", volatile_tokens=0, facts=0, others=0, recalled=())
        before = self.state.fold if self.state else None
        if self.figures.tokens(bare) > self.figures.original + stated and before is None:
            self.figures.cap_all(())
            return Draft(None, self.progress.open, weighed=draft.weighed)
        return bare

    def _managed(self, draft: Draft, kind: PlanKind) -> Managed:
        is_changed = self._is_changed(draft)
        sent = self.figures.tokens(draft) if is_changed else self.figures.original
        start = self.figures.start(draft)
        repeated = self.figures.repeated_by(draft)
        books = self.figures.books()
        fold, progress = draft.fold, self.progress
        stated = draft.sent_fold.fact_tokens if draft.sent_fold else 0
        mechanisms = Mechanisms(
            window=progress.before
            - progress.preamble_tokens
            - (self.figures.prefix(draft) - self.case.overhead - progress.preamble_tokens)
            - sum(turn.tokens for turn in draft.kept[draft.lent :]),
            capped=sum(self.figures.saved[index] for index in self.figures.capped if index >= start),
            tools=sum(self.figures.saved[index] for index in self.figures.markers if index >= start),
            summaries=max(0, draft.head - stated),
            facts=stated + draft.facts,
            recall=draft.volatile_tokens - draft.facts,
        )
        # What goes as it came costs what passing it through does, wherever blocks begin.
        passes = not is_changed and repeated >= self.figures.passed_before()
        cost = self.around.rates.least if passes else self.around.rates.cost
        spent = cost(sent, repeated) + self.around.rates.rethinking * self._lost(draft)
        state = PathState(
            turns=progress.turns,
            at=self.around.now,
            newest=progress.newest,
            before=progress.before,
            original=self.figures.original,
            sent=sent,
            stable=self._stable(draft, sent),
            baseline=books.baseline,
            spent=books.spent + spent,
            fold=fold,
            open=draft.kept,
            folded_results=tuple(
                index for index in self.figures.markers if draft.fold is None or index >= draft.fold.start
            ),
            volatile=draft.volatile,
            volatile_facts=draft.facts,
            volatile_others=draft.others,
            lent=draft.lent,
            volatile_link=self.case.chain[progress.newest],
            vector=self.case.vector,
            continuity=progress.topic.continuity,
            shift=progress.topic.shift,
            domain=progress.topic.domain,
        )
        return Managed(
            kind=kind,
            reason=f"turns={len(draft.kept) + 1}" if is_changed else "",
            messages=self._messages(draft) if is_changed else None,
            original=self.figures.original,
            sent=sent,
            mechanisms=mechanisms if is_changed else Mechanisms(),
            repeated=self.around.rates.held(self.figures.original, self.figures.passed_before()),
            expected=repeated if is_changed else min(repeated, self.figures.passed_before()),
            busted=self.figures.repeated() - repeated,
            state=state,
            trail=self._trail(draft),
        )

    def _lost(self, draft: Draft) -> int:
        """Tokens of thinking that is lost, since what stands before it is another fold."""
        before = self.state.fold if self.state else None
        if not self.around.rates.rethinking or draft.fold == before:
            return 0
        return sum(self.figures.standing(draft).thought)

    def _trail(self, draft: Draft) -> Trail:
        fold, start, topic = draft.sent_fold, self.figures.start(draft), self.progress.topic
        return Trail(
            limit=self.around.limit,
            turns=self.progress.turns,
            kept=len(draft.kept) - draft.lent,
            start=start,
            newest=self.progress.newest,
            head=draft.head,
            summaries=len(fold.summaries) if fold else 0,
            facts=len(fold.fact_ids) if fold else 0,
            volatile=draft.volatile_tokens,
            recalled=tuple(
                RecalledLine(each.session, each.turn, each.role, each.tokens, round(each.score, 3))
                for each in draft.recalled
            ),
            capped=tuple(index for index in self.figures.capped if index >= start),
            markers=tuple(index for index in self.figures.markers if index >= start),
            shift=topic.shift,
            continuity=topic.continuity,
            domain=topic.domain,
            break_even=draft.weighed,
            profile=self.around.profile,
        )

    def _stable(self, draft: Draft, sent: int) -> int:
        """Tokens that the next request repeats, unless the turn goes on."""
        if not draft.lent and not draft.volatile:
            return sent
        if draft.lent:
            stable = self.figures.stable_without(draft)
        else:
            stable = sent - self.figures.newest() - draft.volatile_tokens
        return min(stable, self.figures.ended(draft)) if self.around.rates.breakpoints else stable

    def _messages(self, draft: Draft) -> tuple[Message, ...]:
        fold = draft.sent_fold or Fold(self.progress.preamble)
        layout = Layout(
            preamble=self.progress.preamble,
            start=self.figures.start(draft),
            newest=self.progress.newest,
            head=fold.head,
            volatile=draft.volatile,
            role=self.around.role,
            instructions=self.figures.instructions(draft),
            replaced={**self.figures.capped, **self.figures.markers},
        )
        return lay_out(self.case.messages, layout)
