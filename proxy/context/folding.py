"""Folding of a prompt: turns that leave the window become summaries in a new head, extracted ones, or a model's where
these are ready; long answers lose their middle, old tool results become a line."""

import math
from bisect import bisect_right
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

from proxy.config.profiles import Window
from proxy.context import economics, shortening, slots, summaries
from proxy.context.budget import Step
from proxy.context.draft import FRAMING, Draft, TooMuch
from proxy.context.economics import Terms
from proxy.context.filling import render
from proxy.conversation.blocks import memory_head, without_ours
from proxy.conversation.progress import VectorsNeeded
from proxy.memory.commands import is_command
from proxy.memory.current import render as render_facts
from proxy.memory.shelf import Segment
from proxy.types import Fact, Fold, Summary, TurnDigest

# Share of the limit that the facts in the head may take: 150 of 4,000 tokens, as in the architecture note.
FACTS_SHARE = 0.0375


class FoldPlanner(Step):
    """The folds of one request."""

    def folded(self, draft: Draft) -> Draft:
        """Returns the draft, folded if the economics say so. A conversation that is seen for the first time is folded
        only if a limit or the strict profile demands it: it is read in the background, and managed from the next
        request on."""
        profile = self.case.profile
        is_new = self.state is None and self.progress.turns > 1
        if is_new and profile.fold != "strict" and not self.budget.is_too_large(draft):
            return draft
        digests = (*self.progress.open, self.progress.digest)
        terms = Terms(
            turns=window_turns(digests, profile.window),
            tokens=profile.window.tokens,
            head=self._expected_head(draft),
            limit=self.context.limit,
            pressure=self.budget.pressure(),
            strict=profile.fold == "strict",
            flush=self.progress.topic.shift == "flush",
        )
        rates, sizes, costs = self.context.rates, self.budget.sizes(draft), self.budget.costs()
        decided = economics.decide(rates, sizes, costs, terms)
        if "topic" in self.case.lacks:
            window = profile.window
            others = {window.min_turns, window.max_turns} - {terms.turns}  # for another continuity of the last turns
            leave = (economics.decide(rates, sizes, costs, replace(terms, turns=turns)).leave for turns in others)
            if any(each != decided.leave for each in leave):
                raise VectorsNeeded("topic")
        draft = replace(draft, weighed=decided)
        return self.fold(draft, decided.leave) if decided.leave else draft

    def current_fold(self) -> Fold | None:
        """Returns the previous request's fold, with a new head if a fact or message in it has been forgotten since."""
        fold = self.state.fold if self.state else None
        if fold is None:
            # Tools that were offered in a prompt that is not known need their rules, whatever was sent before.
            is_unknown = self.state is None and (self.progress.turns == 1 or self.context.has_tools)
            is_first = is_unknown or bool(self.context.offers)
            has_head = self.memory.standing or self.memory.desk
            first = self.headed(Fold(self.progress.preamble)) if is_first and has_head else None
            return first if first and first.head else None
        if self.context.offers:  # what the prompt begins with changes anyway
            fold = self.headed(fold)
        if fold.forgotten != len(self.memory.forgotten) or not self.memory.facts >= set(fold.fact_ids):
            return self.headed(replace(fold, summaries=()))
        return fold

    def fold(self, draft: Draft, leave: int) -> Draft:
        """Returns the draft with its `leave` oldest complete turns turned into summaries."""
        leaving, kept = draft.kept[:leave], draft.kept[leave:]
        first = self.progress.turns - len(draft.kept)
        before = draft.fold or Fold(self.progress.preamble)
        start = kept[0].start if kept else self.progress.newest
        made = slots.usable(self._made(start), before.summaries)
        written = self._summaries(leaving, first, slots.turns_of(made))
        found = slots.placed(before.summaries, written, made)
        fold = Fold(
            start=start,
            summaries=summaries.keep_slots(found, self.case.profile.summaries.slots),
            instructions=(*before.instructions, *self.budget.between(before.start, start)),
            turn=self.progress.turns,
        )
        fold = self.capped(self.headed(fold), kept)
        return replace(draft, fold=fold, kept=kept)

    def _made(self, start: int) -> list[Summary]:
        """Returns the model's summaries of turns of this conversation before messages[start], as they may stand in a
        head."""
        if not self.memory.summaries:
            return []
        if self.context.in_place:
            raise TooMuch
        limit = self.case.profile.summaries.tokens
        places = {link: at for at, link in enumerate(self.case.chain[:start])}
        asked = [at for at in range(start) if self.case.messages[at].role == "user"]
        found = []
        for each in self.memory.summaries:
            first, last, at = each.summary.first_turn, each.summary.last_turn, places.get(each.link)
            if at is None or bisect_right(asked, at) != last or not 1 <= first <= last:
                continue  # another conversation's, or of what has not left yet
            if self._is_heard(asked[first - 1], (*asked, start)[last]):
                found.append(slots.shown(each.summary, limit, self.context.count))
        return [each for each in found if each]

    def _summaries(self, leaving: Sequence[TurnDigest], first: int, covered: AbstractSet[int]) -> list[Summary]:
        """Returns summaries of the newest segments that have any content, at most as many as there are slots, without
        the turns that are covered already."""
        numbers, found = self.case.profile.summaries, list[Summary]()
        for each in reversed(slots.uncovered(leaving, first, covered, numbers.segment_turns)):
            if len(found) == numbers.slots:
                break
            if summary := self._summary(leaving[each.start : each.stop], first + each.start):
                found.insert(0, summary)
        return found

    def _summary(self, turns: Sequence[TurnDigest], number: int) -> Summary | None:
        starts = tuple(turn.start for turn in turns)
        spans = tuple(zip(starts, (*starts[1:], self.budget.stop(turns[-1])), strict=True))
        before = self._before(starts[0])
        limit = self.case.profile.summaries.tokens
        segment = Segment(
            starts=starts,
            link=self.case.chain[spans[-1][1] - 1],
            number=number,
            heard=tuple(self._is_heard(*span) for span in (before, *spans) if span),
            tokens=limit,
        )

        def written() -> Summary | None:
            if self.context.in_place:
                raise TooMuch
            said = [summaries.NumberedTurn(number + offset, *self._said(*span)) for offset, span in enumerate(spans)]
            asked = summaries.NumberedTurn(number - 1, *self._said(*before)) if before else None
            return summaries.summarise(said, before=asked, max_tokens=limit, count=self.context.count)

        return self.memory.notes.of(segment, written)

    def _before(self, start: int) -> tuple[int, int] | None:
        """Returns the range of the turn that ends at `start`; None if there is none."""
        asked = (at for at in reversed(range(self.progress.preamble, start)) if self.case.messages[at].role == "user")
        first = next(asked, None)
        return None if first is None else (first, start)

    def _is_heard(self, start: int, stop: int) -> bool:
        """True if no message in messages[start:stop] is forgotten."""
        return self.memory.forgotten.isdisjoint(self.case.chain[start:stop])

    def _said(self, start: int, stop: int) -> tuple[str, str]:
        """Returns the texts of user and assistant in a turn; empty ones if the turn is forgotten or orders to
        forget."""
        if not self._is_heard(start, stop):
            return "", ""
        texts: dict[str, list[str]] = {"user": [], "assistant": []}
        for index in range(start, stop):
            role = self.case.messages[index].role
            if role in texts:
                texts[role].append(without_ours(self.case.messages[index].text))
        user, assistant = "\n".join(texts["user"]), "\n".join(texts["assistant"])
        return ("", "") if is_command(user) else (user, assistant)

    def headed(self, fold: Fold) -> Fold:
        """Returns the fold with its head rendered, and with the newest summaries that the limit leaves room for."""
        stated = self.unsaid(self.memory.standing, fold.start, self._head_room(FACTS_SHARE))
        rendered = [render(summary) for summary in fold.summaries]
        room = self._head_room(self.case.profile.head_share)
        desk = self._desk_within(room)
        head = memory_head(render_facts(stated), rendered, desk)
        own = self.context.count(memory_head("", (), desk)) + FRAMING if desk else 0
        while rendered and self.context.count(head) + FRAMING - own > room:
            rendered.pop(0)
            head = memory_head(render_facts(stated), rendered, desk)
        return replace(
            fold,
            head=head,
            head_tokens=self.context.count(head) + FRAMING if head else 0,
            fact_ids=tuple(fact.id for fact in stated),
            fact_tokens=self.budget.stated(stated),
            summaries=fold.summaries[len(fold.summaries) - len(rendered) :],
            forgotten=len(self.memory.forgotten),
            desk_tokens=own,
        )

    def _desk_within(self, room: float) -> str:
        """Returns what the model keeps itself, where the prompt has room for it beside `room` for all else."""
        desk, limit = self.memory.desk, self.context.limit
        if not desk or limit is None:
            return desk
        return desk if self.context.count(desk) + room + self.case.overhead <= limit / 2 else ""

    def _head_room(self, share: float) -> float:
        """Returns the tokens of this share of the limit; infinite without a limit."""
        return math.inf if self.context.limit is None else share * self.context.limit

    def unsaid(self, stated: Sequence[Fact], start: int, room: float = math.inf) -> tuple[Fact, ...]:
        """Returns the facts of `stated` that no message from `start` on states, within the profile's tokens and
        `room`."""
        said = frozenset(self.case.chain[start:])
        left = min(self.case.profile.facts.tokens, room)
        chosen = []
        for fact in stated:
            tokens = self.context.count(render_facts((fact,)))
            if tokens <= left and said.isdisjoint(fact.links):
                chosen.append(fact)
                left -= tokens
        return tuple(chosen)

    def capped(self, fold: Fold, kept: Sequence[TurnDigest]) -> Fold:
        """Returns the fold with long answers shortened, except in the newest complete turn, where the window is
        full."""
        limit = self.case.profile.window
        self.budget.cap_all(())
        if not limit.answer_tokens or sum(map(self.budget.size, kept)) <= limit.tokens:
            return replace(fold, capped=())
        self.budget.cap_all([index for turn in kept[:-1] for index in range(turn.start, self.budget.stop(turn))])
        return replace(fold, capped=tuple(self.budget.capped))

    def fold_results(self, draft: Draft) -> None:
        """Marks old tool results, before any turn is folded, where a limit demands it or it pays. Reasoning that would
        be lost with them counts as a reason not to."""
        loses_thoughts = self.context.rates.rethinking > 0 and any(said.reasoning for said in self.case.messages)
        if loses_thoughts and not self.budget.is_too_large(draft):
            return
        prompt = shortening.Prompt(
            start=draft.fold.start if draft.fold else self.progress.preamble,
            before=self.budget.prefix(draft) + draft.head,
            tokens=self.budget.tokens(draft),
            repeated=self.budget.repeated(),
            keep=self.case.profile.tool_results.keep,
            folded=self.budget.markers.keys(),
            edited=self.budget.edited(),
            limit=self.context.limit,
            pressure=self.budget.pressure(),
        )
        left = shortening.to_fold(self.case.messages, self.case.tokens, prompt, self.context.rates, self.budget.costs())
        if left:
            self.budget.mark((*self.budget.markers, *left))

    def _expected_head(self, draft: Draft) -> int:
        numbers = self.case.profile.summaries
        known = len(draft.fold.summaries) if draft.fold else 0
        new = -(-len(draft.kept) // max(1, numbers.segment_turns))
        stated = self.context.count(render_facts(self.memory.standing)) if self.memory.standing else 0
        expected = min(stated, self.case.profile.facts.tokens) + min(numbers.slots, known + new) * numbers.tokens
        own = self.context.count(self.memory.desk) + FRAMING if self.memory.desk else 0
        return own + round(min(expected + 2 * FRAMING, self._head_room(self.case.profile.head_share)))


def window_turns(digests: Sequence[TurnDigest], numbers: Window) -> int:
    """Returns how many turns the window should have after `digests`, oldest first."""
    last = [digest.continuity for digest in digests[-numbers.continuity_turns :]]
    known = [near for near in last if near is not None]
    if len(known) < numbers.continuity_turns:
        return numbers.turns
    if min(known) > numbers.high_continuity:
        return numbers.max_turns
    if max(known) < numbers.low_continuity:
        return numbers.min_turns
    return numbers.turns
