"""Old messages ranked by what the newest question needs."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.memory.recall import WEIGHTS, Query, expected_cosines, rank
from proxy.memory.selecting import FRAMING
from proxy.memory.turn_index import TurnIndex
from proxy.types import ArchivedTurn
from tests.memory.indexed import TALK, index_of, path, search, turn, vector

BUDGET = 200


def test_a_question_of_the_user_comes_behind_what_they_stated_and_before_its_answer_where_they_ask_for_it() -> None:
    long = "Teak oil protects the deck well. " * 4
    talk = [turn(number, f"thing {number}?", long) for number in range(4, 12)]
    asked, told = turn(1, "Which oil does the deck get?", long), turn(2, "The deck gets oil.", long)
    ranking = rank(
        index_of([asked, told, *talk]), Query("Which oil does the deck get?", None, path(asked, told, *talk))
    )
    assert ranking.scores[2] > ranking.scores[0]


def test_of_statements_that_match_alike_one_with_a_figure_is_worth_more_where_answers_are_long() -> None:
    long = "Teak oil protects wood well. " * 4
    talk = [turn(at, f"we saw thing {name}", long) for at, name in enumerate("abcdefgh", 3)]
    vague, exact = turn(1, "the mast was dear at last", long), turn(2, "the mast was 950 at last", long)

    def first_scores(*turns: ArchivedTurn) -> float:
        return float(rank(index_of(turns), Query("What did the mast come to?", None, path(*turns))).scores[0])

    assert first_scores(exact, *talk, vague) > first_scores(vague, *talk, exact) + WEIGHTS.concrete / 4


def test_figures_gain_nothing_in_a_talk_of_equals() -> None:
    talk = [turn(1, "the mast was 950 at last", "the sails were dear too"), *TALK]
    query = Query("What did the mast come to?", None, path(*talk))
    one, other = (rank(index_of(talk), query, replace(WEIGHTS, concrete=weight)) for weight in (0.0, 1.0))
    np.testing.assert_array_equal(one.scores, other.scores)


def partly_embedded(turns: tuple[ArchivedTurn, ...], newest: int) -> TurnIndex:
    index = index_of(turns)
    for each in turns[len(turns) - newest :]:
        index.add(each, np.array([vector(text) for text in index.texts(each)]))
    return index


@pytest.mark.parametrize("newest", range(len(TALK) + 1))
def test_what_is_not_embedded_yet_is_found_whatever_else_is(newest: int) -> None:
    query = Query("how is my boat named?", vector("how is my boat named?"), path(*TALK))
    (only,) = search(partly_embedded(TALK, newest), query, budget_tokens=36 + FRAMING, count=len)
    assert only.turn == 1


@given(st.integers(0, 29), st.floats(0.2, 0.9))
def test_an_awaited_vector_is_expected_as_near_as_its_words_are_and_a_known_one_stays_as_it_is(
    missing: int, steepness: float
) -> None:
    generator = np.random.default_rng(missing)
    scores = generator.random(30).astype(np.float32)
    cosines = (0.3 + steepness * scores).astype(np.float32)
    awaited = np.arange(30) < missing
    expected = expected_cosines(np.where(awaited, 0, cosines), awaited, ~awaited, scores)
    assert np.all(np.diff(expected[awaited][np.argsort(scores[awaited])]) > 0)
    np.testing.assert_array_equal(expected[~awaited], cosines[~awaited])
