"""Vectors that the recall of a question depends on, told from a ranking by words alone."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from proxy.memory.recall import Ranking, Search
from proxy.memory.selecting import FAINT, Need
from proxy.memory.shelf import Shelf
from proxy.memory.view import best
from proxy.types import ArchivedTurn

# By how much vectors raise the score of the gate, at most: 2,317 messages of the evaluation data, 694 about the past.
MOST_RAISED = 2.5
MOST_NEAR = 512  # messages, the best by words, whose vectors a question about the past waits for
FAINT_NEAR = 4  # the same for a question that hardly needs the past
MOST_OTHERS = 64  # turns that get theirs afterwards, once all of those have them: what only its meaning finds


class Owing(NamedTuple):
    """Turns whose vectors are to be made for a question."""

    turns: tuple[ArchivedTurn, ...] = ()  # the most urgent first
    waits: bool = True  # the question waits for them


def depends(found: Search, need: Need) -> bool:
    """Tells whether the question's vector may matter. `need`: by words alone.

    Where few old turns have vectors, what the words let through: of the messages of the evaluation data that they do
    not, vectors would let 18 of 1,469 through, 16 of them ordinary talk, nearly all as faint as can be. Where most of
    them have, all that vectors might let through."""
    has_most = bool(found.awaited.size and found.awaited.mean() < 0.5)
    return need.score >= FAINT - (MOST_RAISED if has_most else 0.0)


def owed(shelf: Shelf, ranking: Ranking, need: Need, *, is_answered: bool = False) -> Owing:
    """Returns the turns whose vectors are to be made for this question, the best by words first: of the beginning of
    the ranking, of a few messages where the question hardly needs the past or a fact answers it. Where all of these
    have theirs: some of the others, the newest first. The caller holds the shelf's lock."""
    if not shelf.owed or (need.score < FAINT and not is_answered):
        return Owing()
    is_about_past = need.kind in ("some", "past")
    order = np.argsort(-best(ranking.scores, ranking.view), kind="stable")
    near = ranking.view.messages[order[: MOST_NEAR if is_about_past else FAINT_NEAR]]
    if turns := tuple(_saying(shelf, near.tolist())):
        return Owing(turns)
    return Owing(tuple(shelf.owed.newest(MOST_OTHERS)) if is_about_past else (), waits=False)


def _saying(shelf: Shelf, messages: Iterable[int]) -> Iterable[ArchivedTurn]:
    found = (shelf.owed.saying(shelf.index.link(number)) for number in messages)
    return {turn.link: turn for turn in found if turn is not None}.values()
