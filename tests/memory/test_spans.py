from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.memory.spans import estimate, needed, spans


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
