"""Memory that goes with one question: facts and excerpts of old turns that it needs and the window does not hold.

`recollect` looks up, while the shelf's lock is held, which facts and how much of the past the question calls for.
`VolatilePlanner` decides what of it is sent, as a block in the newest user message: it is billed in full each time, so
it goes with this question only, and within the savings so far, unless the question asks for the past.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache, partial

import numpy as np

from proxy.context import economics
from proxy.context.draft import FRAMING, Draft, Memory, PlanContext, Pointed, Step, TokenBudget, TooMuch
from proxy.context.folding import FoldPlanner
from proxy.context.pointed import by_item
from proxy.conversation.progress import (
    Case,
    Progress,
    VectorsNeeded,
    archived,
    complete,
    volatile_block,
    without_ours,
    without_summaries,
)
from proxy.language.words import terms
from proxy.memory import choosing, meaning, recall, selecting
from proxy.memory.choosing import answering
from proxy.memory.commands import is_command
from proxy.memory.cues import cues
from proxy.memory.current import Current, current, render
from proxy.memory.predictions import Needs, needs
from proxy.memory.shelf import Shelf
from proxy.memory.signals import spoken_in
from proxy.types import Excerpt, Fact, Vector, VolatileBlock
from proxy.types.memory import Language

ANSWERED = 150  # tokens of excerpts for a question that a fact answers, the fact included
_QUESTION = 300  # characters at the end of a message, where its question stands
BLOCK = 24  # tokens of the tags and titles around excerpts
# Tokens of excerpts that a question about the past gets at any price, where the limit keeps the past out of the prompt.
ASKED_FOR = 500
SHARED = 0.5  # share of a request's savings for excerpts that it hardly needs
LEAST_RECALL = 60  # tokens: fewer hold no message
# Complete turns of the window that a question about the past leaves, if they take at most this share of the limit.
LEAST_TURNS = 2
LEAST_SHARE = 0.15


def recollect(context: PlanContext, case: Case, so_far: Progress, shelf: Shelf) -> Memory:
    """Returns the memory that may matter for a request."""
    if case.state is None:
        _index(context, case, shelf)
    holding = shelf.current = current(shelf.facts.values(), context.now, context.decay, shelf.current)
    memory = Memory(
        standing=holding.standing,
        facts=holding.known.keys(),
        forgotten=shelf.forgotten,
        notes=shelf.notes,
        summaries=shelf.summaries or (),  # after `forgotten`: what is forgotten leaves these first
    )
    if _goes_on(case, so_far):
        return memory  # its question was looked up before
    asked = without_ours(case.messages[so_far.newest].text)
    answers = answering(holding, asked, context.now)
    relevant = _relevant(context, asked, holding, case, so_far, shelf) if not answers else ()
    # A fact that the question itself states is still missing as an answer.
    before = _last_said(case, so_far, upto=so_far.newest)
    told = tuple(holding.marked(fact) for fact in choosing.unsaid(answers, before))
    memory = replace(memory, relevant=told or relevant)
    if (listed := by_item(memory, asked, context, case, so_far, shelf)) is not None:
        return listed
    held = _first_held(case, so_far, context.limit)
    others = context.session if context.is_private and cues(asked).before else None
    if held <= so_far.preamble and others is None:
        return memory  # the prompt holds everything
    if context.in_place and others is not None:
        raise TooMuch  # all of the scope is searched, and excerpts will be wanted
    query = recall.Query(
        text=asked,
        vector=None if "turns" in case.lacks else case.vector,
        path=case.chain[: so_far.newest],
        exclude=frozenset(case.chain[held:]),
        others_than=others,
    )
    found = recall.search(shelf.index, query)
    needed = selecting.need(shelf.index, query, found)
    ranking = cache(lambda: recall.ranked(found, query))  # few questions need excerpts
    numbers = case.profile.recall
    most = numbers.cap if numbers.tokens == "rest" else min(numbers.cap, numbers.tokens)

    # Messages since that fact may have changed it in words that were not understood: only these are recalled.
    since = _turn_after(case, so_far, {link for fact in answers for link in fact.links})
    weights = selecting.NEAR if answers else recall.WEIGHTS
    if "turns" in case.lacks and (since < held if answers else meaning.depends(found, needed)):
        if context.in_place:
            raise TooMuch
        owing = meaning.owed(shelf, ranking(), needed, is_answered=bool(answers))
        raise VectorsNeeded("turns", owing.turns, waits=owing.waits)

    def recalled(tokens: int, start: int) -> tuple[Excerpt, ...]:
        if context.in_place:
            raise TooMuch
        rest = replace(query, exclude=frozenset((*case.chain[:since], *case.chain[start:])))
        return selecting.select(
            shelf.index,
            ranking(),
            rest,
            budget_tokens=tokens,
            count=context.count,
            known=partial(_counted, case),
            weights=weights,
        )

    return replace(
        memory,
        wanted=min(most, ANSWERED) if answers else round(needed.share * most),
        is_asked_for=needed.kind == "past",
        is_faint=needed.kind == "faint" and not answers,
        recall=recalled,
    )


def _counted(case: Case, at: int, said: str) -> int | None:
    """Returns the tokens of a message's text where they are known: a message that is a role and a text was counted."""
    known = case.messages[at]
    return case.tokens(at) - FRAMING if known.is_bare and known.text == said else None


def read_question(case: Case, so_far: Progress) -> None:
    """Reads the newest message for what it asks, so that `recollect` need not: half of its work, without the lock."""
    if _goes_on(case, so_far):
        return
    asked = without_ours(case.messages[so_far.newest].text)
    cues(asked)
    _asks(asked[-_QUESTION:])


def _goes_on(case: Case, so_far: Progress) -> bool:
    """True if the request belongs to the same turn as the one before."""
    return case.state is not None and case.state.volatile_link == case.chain[so_far.newest]


@lru_cache(64)
def _asks(question: str) -> tuple[Language, Needs]:
    language = spoken_in(question)
    return language, needs(question, language)


def _index(context: PlanContext, case: Case, shelf: Shelf) -> None:
    """Adds a history that is new here to the word index of the shelf, newest turn first, back to the first known turn.
    Vectors follow when they are needed."""
    turns, new = complete(case.messages), []
    for number in range(len(turns), 0, -1):
        start, stop = turns[number - 1]
        if (link := case.chain[stop - 1]) in shelf.walked:
            break
        if link not in shelf.kept:
            new.append((number, start, stop))
    for number, start, stop in reversed(new):
        turn = archived(case.messages, case.chain, start, stop, number=number, session=context.session, at=context.now)
        texts = [said.text for said in turn.utterances if said.role == "user"]
        if shelf.may_keep(turn) and not any(map(is_command, texts)):
            shelf.add(turn, None)
    if turns:
        shelf.walked.add(case.chain[turns[-1][1] - 1])


def _relevant(
    context: PlanContext, asked: str, holding: Current, case: Case, so_far: Progress, shelf: Shelf
) -> tuple[Fact, ...]:
    """Returns the facts that the question is about and that the last turns do not state."""
    if not holding.facts:
        return ()
    language, asks = _asks(asked[-_QUESTION:])
    needed = choosing.Need(
        terms=frozenset(terms(asked)),
        domain=so_far.topic.domain,
        said=_last_said(case, so_far),
        asks=asks,
        language=language,
    )

    def cosines() -> Mapping[str, float] | None:
        if "facts" in case.lacks:
            raise VectorsNeeded("facts")
        return _cosines(case.vector, shelf)

    tokens = case.profile.facts.tokens
    return choosing.relevant(holding, needed, tokens=tokens, count=context.count, cosines=cosines)


def _cosines(vector: Vector | None, shelf: Shelf) -> Mapping[str, float] | None:
    """Returns the cosine of the question with each fact, by fact id; None without a vector."""
    known = tuple(shelf.fact_vectors.items())  # in one step: the event loop may be adding one
    if vector is None or not known:
        return None if vector is None else {}
    found = np.stack([of for _, of in known]) @ vector
    return dict(zip([name for name, _ in known], found.tolist(), strict=True))


def _turn_after(case: Case, so_far: Progress, links: Collection[bytes]) -> int:
    """Returns the index of the first message of the turn after the last of these links; 0 if the conversation has none
    of them."""
    if not links:
        return 0
    last = max((at for at in range(so_far.newest) if case.chain[at] in links), default=None)
    if last is None:
        return 0
    return next(at for at in range(last + 1, so_far.newest + 1) if case.messages[at].role == "user")


def _last_said(case: Case, so_far: Progress, *, upto: int | None = None) -> tuple[str, ...]:
    """Returns the texts of the last turns and of the newest message, up to index `upto`."""
    turns = case.profile.facts.said_turns
    last = so_far.open[-turns:] if turns else ()
    start = last[0].start if last else so_far.newest
    return tuple(said.text for said in case.messages[start:upto])


def _first_held(case: Case, so_far: Progress, limit: int | None) -> int:
    """Returns the index of the first message that the prompt will hold, as estimated before any fold."""
    fold = case.state.fold if case.state else None
    tokens = case.overhead + so_far.preamble_tokens + (fold.head_tokens if fold else 0)
    tokens += sum(turn.tokens for turn in so_far.open) + so_far.newest_tokens
    if limit is not None and tokens > limit:
        kept = so_far.open[-case.profile.window.turns :]
        return kept[0].start if kept else so_far.newest
    return fold.start if fold else so_far.preamble


class VolatilePlanner(Step):
    """The volatile block of one request."""

    def __init__(self, budget: TokenBudget, memory: Memory, folds: FoldPlanner) -> None:
        super().__init__(budget, memory)
        self.folds = folds

    def with_volatile(self, draft: Draft) -> Draft:
        """Returns the draft with its block: a new one, or the previous request's while the same turn goes on."""
        state = self.state
        if state is not None and self.budget.is_same_turn:
            # The same turn goes on: the block in its user message stays.
            draft = replace(draft, volatile=state.volatile)
            return self._stated_only(replace(draft, omitted=state.omitted)) if draft.kept == state.open else draft
        return self.volatile(self._with_room(draft), self.memory.wanted)

    def _with_room(self, draft: Draft) -> Draft:
        """Returns the draft without older turns of the window, where a question about the past needs their room, for
        this one time: the next request sends them again, and the prefix cache still holds them."""
        limit, item = self.context.limit, self._pointed(self.budget.start(draft))
        if limit is None or not (self.memory.is_asked_for or item):
            return draft
        draft = self._stated_only(draft)
        wanted = item.excerpt.tokens if item else min(self.memory.wanted, max(self._allowance(draft), ASKED_FOR))
        while draft.omitted < len(draft.kept) and limit - self.budget.tokens(draft) < wanted + BLOCK:
            sent = draft.kept[draft.omitted :]
            if len(sent) <= LEAST_TURNS and sum(map(self.budget.size, sent)) <= LEAST_SHARE * limit:
                break
            draft = replace(draft, omitted=draft.omitted + 1)
        return draft

    def _stated_only(self, draft: Draft) -> Draft:
        """Returns the draft with a head of facts alone: the same bytes as long as a turn goes on, whatever is
        learnt."""
        if draft.fold is None:
            return draft
        head = without_summaries(draft.fold.head)
        tokens = self.context.count(head) + FRAMING if head else 0
        return replace(draft, stated=replace(draft.fold, head=head, head_tokens=tokens, summaries=()))

    def volatile(self, draft: Draft, wanted: int) -> Draft:
        """Returns the draft with a new block of at most `wanted` tokens of excerpts."""
        bare = draft.without_block()
        start = self.budget.start(bare)
        limit = self.context.limit
        free = math.inf if limit is None else limit - self.budget.tokens(bare) - BLOCK
        relevant = self._payable(self.folds.unsaid(self.memory.relevant, start, free), bare)
        allowed: float = self._allowance(bare)
        if self.memory.is_asked_for and limit is not None and self.budget.original > limit:
            # The question asks for the past, and the limit would not let all of it be sent.
            allowed = max(allowed, ASKED_FOR + self.budget.stated(relevant))
        if self.memory.is_faint:
            allowed = min(allowed, SHARED * self._saving(bare))
        if item := self._pointed(start):
            wanted = allowed = item.excerpt.tokens + self.budget.stated(relevant)
        room = round(min(wanted, allowed, free))
        excerpts = self._recalled(room - self.budget.stated(relevant), start)
        # Facts from a message that is quoted are not repeated.
        said = {excerpt.link for excerpt in excerpts}
        unsaid = tuple(fact for fact in relevant if said.isdisjoint(fact.links))
        if unsaid != relevant:
            relevant, excerpts = unsaid, self._recalled(room - self.budget.stated(unsaid), start)
        text = volatile_block(render(relevant), excerpts, now=self.context.now, session=self.context.session)
        tokens = self.context.count(text) + FRAMING if text else 0
        stated = self.budget.stated(relevant)
        own = [each.tokens for each in excerpts if each.session == self.context.session]
        others = tokens - stated - sum(own) if len(own) < len(excerpts) else 0
        return replace(
            bare,
            volatile=VolatileBlock(text, tokens, stated, max(0, others), self._quoted(excerpts)),
            recalled=excerpts,
        )

    def _quoted(self, excerpts: Sequence[Excerpt]) -> tuple[int, ...]:
        """Returns the indices of this conversation's messages that the excerpts are from."""
        if not excerpts:
            return ()
        indices = dict(zip(self.case.chain, range(self.progress.newest), strict=False))
        return tuple(sorted({indices[each.link] for each in excerpts if each.link in indices}))

    def _saving(self, draft: Draft) -> float:
        """Returns the savings of this request over pass-through, in prompt tokens."""
        rates = self.context.rates
        full = self.context.alone.least(self.budget.original, self.budget.passed_before())
        ours = rates.cost(self.budget.tokens(draft), self.budget.repeated_by(draft))
        return (full - ours) / rates.added

    def _payable(self, relevant: tuple[Fact, ...], draft: Draft) -> tuple[Fact, ...]:
        """Returns the relevant facts that are worth their price. Facts from other conversations always are:
        pass-through could not know them. Facts from this one were left out to save money: they come back for a question
        that needs the past; else as far as they are free, the most relevant first, and that one at any price where the
        question may need the past: it is one line, and without it a few hundredths of a cosine would decide whether the
        question can be answered."""
        if self.memory.wanted and not self.memory.is_faint:
            return relevant
        allowed = self._allowance(draft, regret=-economics.RESERVE)
        chosen: list[Fact] = []
        own: list[Fact] = []
        for fact in relevant:
            if fact.session == self.context.session:
                is_first = self.memory.is_faint and not chosen
                if not is_first and self.budget.stated([*own, fact]) > allowed:
                    continue
                own.append(fact)
            chosen.append(fact)
        return tuple(chosen)

    def _recalled(self, tokens: int, start: int) -> tuple[Excerpt, ...]:
        if self.memory.pointed is None:
            return self.memory.recall(tokens, start) if tokens >= LEAST_RECALL else ()
        item = self._pointed(start)
        return (item.excerpt,) if item is not None and item.excerpt.tokens <= tokens else ()

    def _pointed(self, start: int) -> Pointed | None:
        """Returns the list item that the question points at; None if the prompt, which holds the messages from `start`
        on, has it."""
        item = self.memory.pointed
        if item is None or item.index < start:
            return item
        shortened = self.budget.capped.get(item.index)
        return None if shortened is None or item.is_in(shortened.text) else item

    def _allowance(self, draft: Draft, *, regret: float = economics.REGRET) -> int:
        """Returns the tokens of memory that the savings so far can pay. The next request sends the newest turn without
        the block, so the prefix cache misses that turn then, and, where there are only breakpoints, everything since
        the last one."""
        rates = self.context.rates
        repeated = self.budget.repeated_by(draft)
        lost = self.budget.tokens(draft) - repeated if rates.breakpoints else self.budget.newest()
        again = round(lost * max(0.0, 1 - rates.cached / rates.added))
        allowed = economics.allowance(rates, self.budget.tokens(draft), repeated, self.budget.costs(), regret=regret)
        return max(0, allowed - again)
