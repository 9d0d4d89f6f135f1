"""Vectors that the recall of a question depends on, told from a ranking by words alone."""

import numpy as np

from proxy.memory.recall import Ranking, Search
from proxy.memory.selecting import FAINT, Need
from proxy.memory.shelf import Shelf
from proxy.memory.view import best
from proxy.types import ArchivedTurn

# By how much vectors raise the score of the gate, at most: 2,317 messages of the evaluation data, 694 about the past.
MOST_RAISED = 2.5
MOST_TURNS = 512  # of one scope that wait for vectors; the others get theirs when they are needed again
FAINT_TURNS = 4  # turns that get their vectors for a question that hardly needs the past


def depends(found: Search, need: Need) -> bool:
    """Tells whether the question's vector may matter. `need`: by words alone.

    Where few old turns have vectors, what the words let through: of the messages of the evaluation data that they do
    not, vectors would let 18 of 1,469 through, 16 of them ordinary talk, nearly all as faint as can be. Where most of
    them have, all that vectors might let through."""
    has_most = bool(found.awaited.mean() < 0.5)
    return need.score >= FAINT - (MOST_RAISED if has_most else 0.0)


def owed(shelf: Shelf, ranking: Ranking, need: Need, *, is_answered: bool = False) -> tuple[ArchivedTurn, ...]:
    """Returns the turns whose vectors are to be made for this question, the best by words first: of the ranking, a few
    where the question hardly needs the past or a fact answers it. The caller holds the shelf's lock."""
    if not shelf.owed or (need.score < FAINT and not is_answered):
        return ()
    order = np.argsort(-best(ranking.scores, ranking.view), kind="stable")
    most = MOST_TURNS if need.kind in ("some", "past") else FAINT_TURNS
    found: dict[bytes, ArchivedTurn] = {}
    for number in ranking.view.messages[order].tolist():
        if (turn := shelf.owed.saying(shelf.index.message(number).link)) is not None:
            found[turn.link] = turn
            if len(found) == most:
                break
    return tuple(found.values())
