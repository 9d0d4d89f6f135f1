from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.memory.view import (
    FIRST_ROWS,
    Columns,
    Paths,
    View,
    Walked,
    beside,
    best,
    estimate,
    joined,
    needed,
    room,
    spans,
    spread,
    total,
)
from tests.memory.indexed import index_of, link, path, turn

LONG = "\n\n".join(f"Paragraph {number} of the log. " + "Filling words stand here. " * 12 for number in range(3))
TURNS = (turn(1, "My boat is blue", "A fine colour"), turn(2, LONG, "Noted"), turn(3, "Is it late?", LONG))
INDEX = index_of(TURNS)
LINKS = path(*TURNS)


def same(one: View, other: View) -> bool:
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in View.__slots__)


@pytest.mark.parametrize("cut", range(len(LINKS) + 1))
def test_what_was_said_since_joins_what_was_there(cut: int) -> None:
    index = index_of(TURNS)
    before, whole = index.view(LINKS[:cut]), index_of(TURNS).view(LINKS)
    assert same(index.view(LINKS), whole)
    assert before.messages.tolist() == whole.messages[:cut].tolist()


def test_another_conversation_begins_where_the_first_one_ends() -> None:
    one, other = INDEX.view(LINKS[:2]), INDEX.view(LINKS[2:])
    assert joined(one, other, goes_on=False).begins.tolist() == [True, False, True, False, False, False]
    assert joined(one, other, goes_on=True).begins.tolist() == [True, False, False, False, False, False]


def test_the_best_and_the_sum_of_a_message_are_those_of_its_passages() -> None:
    view = INDEX.view(LINKS)
    values = np.arange(len(view.passages), dtype=np.float32)
    parts = [values[view.message_of == position] for position in range(len(view.messages))]
    assert not view.is_even
    assert best(values, view).tolist() == [part.max() for part in parts]
    assert total(values, view).tolist() == [part.sum() for part in parts]
    assert spread(best(values, view), view).tolist() == [part.max() for part in parts for _ in part]


def test_where_every_message_is_one_passage_its_values_are_the_messages_own() -> None:
    view = INDEX.view(LINKS[:2])
    values = np.array([3, 5], dtype=np.float32)
    assert view.is_even
    assert best(values, view).tolist() == total(values, view).tolist() == spread(values, view).tolist() == [3, 5]


def test_neighbours_are_those_of_the_same_conversation() -> None:
    view = joined(INDEX.view(LINKS[:3]), INDEX.view(LINKS[3:]), goes_on=False)
    before, after = beside(np.array([1, 2, 3, 4, 5, 6], dtype=np.float32), view)
    assert before.tolist() == [0, 1, 2, 0, 4, 5]
    assert after.tolist() == [2, 3, 0, 5, 6, 0]


def walked(length: int) -> Walked:
    return Walked(INDEX.view(LINKS[:length]), length, frozenset(), len(LINKS))


def test_the_longest_known_beginning_of_a_path_is_found() -> None:
    paths = Paths()
    assert paths.nearest(LINKS) is None
    for length in (2, 4):
        paths.keep(LINKS, walked(length))
    found = [paths.nearest(LINKS[:length]) for length in range(7)]
    assert [each.length if each else 0 for each in found] == [0, 0, 2, 2, 4, 4, 4]
    assert paths.nearest((*LINKS[:2], link("branch"))) is paths.nearest(LINKS[:2])
    assert paths.nearest((link("other"), LINKS[0], LINKS[1])) is None
    paths.clear()
    assert paths.nearest(LINKS) is None


def test_no_more_paths_are_kept_than_there_may_be_and_the_oldest_goes_first() -> None:
    paths = Paths(most=2)
    for length in (1, 2, 1, 3):
        paths.keep(LINKS, walked(length))
    assert [getattr(paths.nearest(LINKS[:length]), "length", 0) for length in (1, 2, 3)] == [1, 1, 3]
    assert paths.nbytes == walked(1).view.nbytes + walked(3).view.nbytes


@pytest.mark.parametrize("rows", [0, 1, FIRST_ROWS, FIRST_ROWS + 1, 5 * FIRST_ROWS])
def test_every_row_is_found_where_it_was_put_however_many_follow(rows: int) -> None:
    columns = Columns(number=np.int64, is_even=np.bool_)
    for number in range(rows):
        columns.append(number=number, is_even=number % 2 == 0)
    assert len(columns) == rows
    assert columns["number"].tolist() == list(range(rows))
    assert columns["is_even"].tolist() == [number % 2 == 0 for number in range(rows)]


def test_what_is_written_into_a_column_stays_when_it_grows() -> None:
    columns = Columns(number=np.int64)
    columns.append(number=1)
    columns["number"][0] = 7
    size = columns.nbytes
    for _ in range(FIRST_ROWS):
        columns.append(number=2)
    assert columns["number"][0] == 7
    assert columns.nbytes == 2 * size


def test_room_is_made_for_rows_of_any_width_and_only_where_it_is_needed() -> None:
    rows = np.arange(6).reshape(3, 2)
    assert room(rows, 3) is rows
    grown = room(rows, 4)
    assert grown.shape == (6, 2)
    assert grown[:3].tolist() == rows.tolist()
    assert not grown[3:].any()
    assert len(room(rows, 100)) == 100


def passages(text: str, most: int) -> list[str]:
    return [text[start:end] for start, end in spans(text, most)]


WORDY = st.text(alphabet=st.sampled_from("ab é.\n\t漢😀-"), max_size=400)


def test_a_short_text_is_one_passage_without_the_space_around_it() -> None:
    assert passages("  Two lines,\none thought.\n", 120) == ["Two lines,\none thought."]


@pytest.mark.parametrize("text", ["", " \n\t "])
def test_white_space_has_no_passage(text: str) -> None:
    assert passages(text, 120) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("one two three.\n\nfour five six.", ["one two three.", "four five six."]),
        ("one two three\nfour five six", ["one two three", "four five six"]),
        ("One two three. Four five six.", ["One two three.", "Four five six."]),
        ("one two three four five six", ["one two three four", "five six"]),
        ("0123456789" * 3, ["0123456789" * 2, "0123456789"]),
    ],
    ids=["paragraphs", "lines", "sentences", "words", "one-word"],
)
def test_it_is_cut_where_it_hurts_least(text: str, expected: list[str]) -> None:
    assert passages(text, 5) == expected


def test_neighbouring_pieces_share_a_passage_as_long_as_they_fit() -> None:
    assert passages("one\n\ntwo\n\nthree\n\nfour\n\nfive", 4) == ["one\n\ntwo\n\nthree", "four\n\nfive"]


@given(WORDY, st.integers(1, 40))
def test_passages_are_short_verbatim_and_leave_out_nothing_but_space(text: str, most: int) -> None:
    found = spans(text, most)
    assert all(estimate(text[start:end]) <= most for start, end in found)
    assert all(left[1] <= right[0] for left, right in pairwise(found))
    assert "".join("".join(text[start:end] for start, end in found).split()) == "".join(text.split())


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("abcd", 1), ("abcde", 2), ("ñandú", 2), ("漢字", 2)])
def test_length_is_estimated_by_bytes(text: str, tokens: int) -> None:
    assert estimate(text) == tokens


CODE = "```\n" + "\n".join(f"value_{at} = {at}" for at in range(100)) + "\n```"
TEXT = f"This is what I run every day.\n\n{CODE}\n\nIt is slow."


def cut(text: str, *matching: str) -> list[str]:
    found = spans(text, 60)
    matched = [any(word in text[start:end] for word in matching) for start, end in found]
    return [text[found[at][0] : found[at][1]] for at in sorted(needed(text, found, matched))]


def test_fences_are_left_out_and_what_stands_around_them_is_kept() -> None:
    kept = "\n".join(cut(TEXT))
    assert "every day" in kept
    assert "slow" in kept
    assert "value_50 " not in kept


def test_a_part_of_a_fence_that_matches_is_kept() -> None:
    kept = "\n".join(cut(TEXT, "value_50 "))
    assert "value_50 " in kept
    assert "value_80 " not in kept


def test_a_short_fence_is_kept() -> None:
    text = "I run this.\n\n```\nmake all\n```\n\nIt is slow."
    assert cut(text) == [text]


def test_a_fence_that_never_ends_goes_to_the_end() -> None:
    assert "value_50 " not in "\n".join(cut(TEXT.replace("\n```\n", "\n")))


def test_of_a_long_text_its_beginning_and_end_and_what_matches() -> None:
    text = "\n\n".join(f"Paragraph {at} of the report. " + "It goes on and on. " * 10 for at in range(10))
    kept = "\n".join(cut(text, "Paragraph 5"))
    assert [at for at in range(10) if f"Paragraph {at} " in kept] == [0, 5, 9]
