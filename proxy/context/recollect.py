"""Recollection for one request: standing facts, facts that the question is about, and the amount of old turns that the
question calls for. Runs in a worker thread, which holds the shelf's lock."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace

import numpy as np

from proxy.context.draft import FRAMING, Memory
from proxy.conversation.blocks import without_ours
from proxy.conversation.progress import Case, Progress
from proxy.conversation.turns import archived, complete
from proxy.language.words import terms
from proxy.memory import choosing, need, recall, selecting
from proxy.memory.choosing import Current, current
from proxy.memory.clause_models import needs
from proxy.memory.commands import is_command
from proxy.memory.cues import cues
from proxy.memory.facts import Decay
from proxy.memory.need import answering
from proxy.memory.shelf import Shelf
from proxy.memory.values import spoken_in
from proxy.types import Excerpt, Fact, Vector

ANSWERED = 150  # tokens of excerpts for a question that a fact answers, the fact included
_QUESTION = 300  # characters at the end of a message, where its question stands


@dataclass(frozen=True, slots=True)
class RecallContext:
    """Session, time and settings of the request that recollects."""

    session: str
    is_private: bool  # the scope is one person's: conversations may share messages
    now: float
    decay: Decay
    count: Callable[[str], int]  # tokens of a text


def recollect(context: RecallContext, case: Case, so_far: Progress, shelf: Shelf, limit: int | None) -> Memory:
    """Returns the memory that may matter for a request. `limit`: tokens of the prompt."""
    if case.state is None:
        _index(context, case, shelf)
    holding = shelf.current = current(shelf.facts.values(), context.now, context.decay, shelf.current)
    known = holding.facts
    memory = Memory(
        standing=holding.standing,
        facts=holding.ids,
        forgotten=shelf.forgotten,
        notes=shelf.notes,
    )
    if case.state is not None and case.state.volatile_link == case.chain[so_far.newest]:
        return memory  # the same turn goes on: its question was looked up before
    asked = without_ours(case.messages[so_far.newest].text)
    answers = answering(known, asked, context.now, context.decay)
    relevant = _relevant(context, asked, holding, case, so_far, shelf) if not answers else ()
    # A fact that the question itself states is still missing as an answer.
    before = _last_said(case, so_far, upto=so_far.newest)
    told = tuple(holding.marked(fact) for fact in choosing.unsaid(answers, before))
    memory = replace(memory, relevant=told or relevant)
    held = _first_held(case, so_far, limit)
    others = context.session if context.is_private and cues(asked).before else None
    if held <= so_far.preamble and others is None:
        return memory  # the prompt holds everything
    query = recall.Query(
        text=asked,
        vector=case.vector,
        path=case.chain[: so_far.newest],
        exclude=frozenset(case.chain[held:]),
        others_than=others,
    )
    ranking = recall.rank(shelf.index, query)
    needed = need.need(shelf.index, query, ranking)
    numbers = case.profile.recall
    most = numbers.cap if numbers.tokens == "rest" else min(numbers.cap, numbers.tokens)

    def counted(at: int, said: str) -> int | None:
        """A message that is a role and a text has been counted, and so has its text."""
        known = case.messages[at]
        return case.tokens(at) - FRAMING if known.is_bare and known.text == said else None

    # Messages since that fact may have changed it in words that were not understood: only these are recalled.
    since = _turn_after(case, so_far, {link for fact in answers for link in fact.links})
    weights = selecting.NEAR if answers else recall.WEIGHTS

    def recalled(tokens: int, start: int) -> tuple[Excerpt, ...]:
        rest = replace(query, exclude=frozenset((*case.chain[:since], *case.chain[start:])))
        return selecting.select(
            shelf.index, ranking, rest, budget_tokens=tokens, count=context.count, known=counted, weights=weights
        )

    wanted = round(needed.share * most)
    return replace(
        memory,
        wanted=min(most, ANSWERED) if answers else wanted,
        is_asked_for=needed.kind == "past",
        is_faint=needed.kind == "faint" and not answers,
        recall=recalled,
    )


def _index(context: RecallContext, case: Case, shelf: Shelf) -> None:
    """Adds a history that is new here to the word index of the shelf, newest turn first, back to the first known turn.
    Embeddings follow later."""
    turns, new = complete(case.messages), []
    for number in range(len(turns), 0, -1):
        start, stop = turns[number - 1]
        if (link := case.chain[stop - 1]) in shelf.walked:
            break
        if link not in shelf.embedded:
            new.append((number, start, stop))
    for number, start, stop in reversed(new):
        turn = archived(case.messages, case.chain, start, stop, number=number, session=context.session, at=context.now)
        texts = [said.text for said in turn.utterances if said.role == "user"]
        if shelf.may_keep(turn) and not any(map(is_command, texts)):
            shelf.add(turn, None)
    if turns:
        shelf.walked.add(case.chain[turns[-1][1] - 1])


def _relevant(
    context: RecallContext, asked: str, holding: Current, case: Case, so_far: Progress, shelf: Shelf
) -> tuple[Fact, ...]:
    """Returns the facts that the question is about and that the last turns do not state."""
    if not holding.facts:
        return ()
    question = asked[-_QUESTION:]
    language = spoken_in(question)
    asks = needs(question, language)
    needed = choosing.Need(
        terms=frozenset(terms(asked)),
        domain=so_far.topic.domain,
        said=_last_said(case, so_far),
        asks=asks,
        language=language,
    )
    if needed.is_personal:  # otherwise cosines are not used
        needed = replace(needed, cosines=_cosines(case.vector, shelf))
    tokens = case.profile.facts.tokens
    return choosing.relevant(holding, needed, tokens=tokens, count=context.count)


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
