"""The look-up of what one question calls for: facts, and how much of the past.

`recollect` is called while the shelf's lock is held. Excerpts are searched for only once a draft has room for them.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache, partial

import numpy as np

from proxy.context.draft import FRAMING, Memory, PlanContext, TooMuch
from proxy.context.pointed import by_item
from proxy.conversation.blocks import without_ours
from proxy.conversation.progress import Case, Progress, VectorsNeeded
from proxy.conversation.turns import archived, complete
from proxy.language.words import terms
from proxy.memory import choosing, meaning, recall, selecting
from proxy.memory.choosing import answering
from proxy.memory.commands import is_command
from proxy.memory.cues import cues
from proxy.memory.current import Current, current
from proxy.memory.predictions import Needs, needs
from proxy.memory.shelf import Shelf
from proxy.memory.signals import spoken_in
from proxy.types import Excerpt, Fact, Vector
from proxy.types.memory import Language

ANSWERED = 150  # tokens of excerpts for a question that a fact answers, the fact included
_QUESTION = 300  # characters at the end of a message, where its question stands


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
    memory = replace(memory, relevant=told or relevant, reaches_back=cues(asked).before)
    if (listed := by_item(memory, asked, context, case, so_far, shelf)) is not None:
        return listed
    return _with_past(memory, asked, answers, context, case, so_far, shelf)


def _with_past(
    memory: Memory,
    asked: str,
    answers: Sequence[Fact],
    context: PlanContext,
    case: Case,
    so_far: Progress,
    shelf: Shelf,
) -> Memory:
    """Returns the memory with as much of the past as the question calls for, what `answers` it already included."""
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
