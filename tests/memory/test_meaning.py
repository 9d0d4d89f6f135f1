"""Whether the recall of a question depends on vectors, and on which: told from its words."""

import numpy as np
import pytest

from proxy.memory.meaning import FAINT_NEAR, MOST_NEAR, MOST_OTHERS, MOST_RAISED, depends, owed
from proxy.memory.recall import Query, Ranking, rank
from proxy.memory.selecting import FAINT, PAST, Need, NeedKind
from proxy.memory.shelf import Shelf
from proxy.types import ArchivedTurn, Utterance

TEXTS = (
    "my boat is called Marigold",
    "I bake bread",
    "the tax form",
    "an old friend",
    "the boat again",
    "rain",
    "snow",
)


def turn(text: str) -> ArchivedTurn:
    link = text.encode()
    return ArchivedTurn(link, b"", "s", 1, 1.0, b"", (Utterance("user", text, link),))


def a_shelf(*texts: str) -> Shelf:
    shelf = Shelf()
    for text in texts:
        shelf.put(turn(text), None)
    return shelf


def ranked(shelf: Shelf, question: str = "What is my boat called?") -> Ranking:
    return rank(shelf.index, Query(question, None, [text.encode() for text in TEXTS]))


def need(kind: NeedKind, score: float) -> Need:
    return Need(kind, 1.0, score)


@pytest.mark.parametrize(
    ("score", "alone", "beside"),
    [(PAST, True, True), (FAINT, True, True), (FAINT - 0.1, False, True), (FAINT - MOST_RAISED - 0.1, False, False)],
)
def test_vectors_matter_where_words_open_the_gate_and_where_they_are_there_near_it(
    score: float, alone: bool, beside: bool
) -> None:
    shelf = a_shelf(*TEXTS)
    assert depends(ranked(shelf), need("none", score)) is alone
    for number, text in enumerate(TEXTS[:-1]):
        shelf.put(turn(text), np.ones((1, 4), np.float32))
        assert depends(ranked(shelf), need("none", score)) is (beside if number >= len(TEXTS) // 2 else alone)


def test_all_turns_are_wanted_for_a_question_about_the_past_the_best_by_words_first() -> None:
    shelf = a_shelf(*TEXTS)
    found, waits = owed(shelf, ranked(shelf), need("past", PAST))
    assert waits
    assert found[0].link == TEXTS[0].encode()
    assert {each.link for each in found} == {text.encode() for text in TEXTS}


def test_few_are_wanted_where_the_question_hardly_needs_the_past_or_a_fact_answers_it() -> None:
    shelf = a_shelf(*TEXTS)
    assert len(owed(shelf, ranked(shelf), need("faint", FAINT)).turns) == FAINT_NEAR
    assert len(owed(shelf, ranked(shelf), need("none", -9.0), is_answered=True).turns) == FAINT_NEAR
    assert owed(shelf, ranked(shelf), need("none", FAINT - 0.1)).turns == ()


def test_a_question_waits_for_the_nearest_turns_and_for_none_of_the_others() -> None:
    texts = ["My boat is called Marigold.", *(f"Somebody walked dog {number}." for number in range(MOST_NEAR + 99))]
    shelf = a_shelf(*texts)
    ranking = rank(shelf.index, Query("What is my boat called?", None, [text.encode() for text in texts]))
    near, waits = owed(shelf, ranking, need("past", PAST))
    assert (len(near), near[0].link, waits) == (MOST_NEAR, texts[0].encode(), True)
    shelf.put_vectors([(each, np.ones((1, 4), np.float32)) for each in near])
    others, waits = owed(shelf, ranking, need("past", PAST))
    assert (len(others), waits) == (MOST_OTHERS, False)
    assert {each.link for each in others}.isdisjoint(each.link for each in near)
    assert owed(shelf, ranking, need("faint", FAINT)).turns == ()


def test_turns_with_vectors_are_owed_none() -> None:
    shelf = a_shelf(*TEXTS)
    shelf.put(turn(TEXTS[0]), np.ones((1, 4), np.float32))
    assert TEXTS[0].encode() not in {each.link for each in owed(shelf, ranked(shelf), need("past", PAST)).turns}
