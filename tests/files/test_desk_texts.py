"""What becomes of a document that a person and the model have changed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.files import text as texts
from proxy.files.desk_texts import ended, forgotten_lines, joined, nearest, said, shown, without

LINES = st.lists(st.sampled_from(["a", "b", "c", "d", "e"]), max_size=6).map(
    lambda lines: "".join(f"{line}\n" for line in lines) or None
)


@pytest.mark.parametrize(
    ("base", "stored", "file", "expected"),
    [
        (None, None, None, None),
        (None, "m", None, "m"),
        (None, None, "p", "p"),
        ("b", "m", "b", "m"),
        ("b", "b", "p", "p"),
        ("b", "b", None, None),
        ("b", None, "b", None),
        ("b", "m", None, "m"),
        ("b", None, "p", "p"),
        ("b", "same", "same", "same"),
        ("b\n", "m\n", "p\n", "p\n"),
        ("a\nb\nc\n", "m\nb\nc\n", "a\nb\np\n", "m\nb\np\n"),
    ],
)
def test_both_sides_count_and_of_the_same_lines_the_persons(
    base: str | None, stored: str | None, file: str | None, expected: str | None
) -> None:
    assert joined(base, stored, file) == expected


@given(LINES, LINES, LINES)
def test_what_came_of_it_comes_of_it_again_with_what_the_person_had_taken_as_the_base(
    base: str | None, stored: str | None, file: str | None
) -> None:
    result = joined(base, stored, file)
    assert joined(file, result, file) == result
    assert joined(result, result, result) == result
    assert joined(base, base, file) == file
    assert joined(base, stored, base) == stored


@given(st.text(st.one_of(st.characters(), st.sampled_from("\0\r\n\ufeff\ud800<> ="))))
def test_what_a_file_shows_is_read_as_it_is_shown(text: str) -> None:
    seen = shown(text)
    data = texts.encode(texts.Text(seen or ""))
    assert said(texts.decode(data, may_have_markers=True).text) == seen
    assert shown(seen or "") == seen


@pytest.mark.parametrize(("text", "expected"), [("", ""), ("a", "a\n"), ("a\n", "a\n")])
def test_the_last_line_has_an_end(text: str, expected: str) -> None:
    assert ended(text) == expected


@pytest.mark.parametrize(
    ("file", "expected"),
    [("a\nb\nx\n", "a\nb\nc\n"), ("d\ne\nx\n", "d\ne\n"), ("y\n", "d\ne\n"), (None, "a\nb\nc\n")],
)
def test_a_text_was_made_of_the_one_that_it_shares_most_with(file: str | None, expected: str) -> None:
    assert nearest(("a\nb\nc\n", "d\ne\n"), file) == expected


@pytest.mark.parametrize(
    ("before", "after", "gone"),
    [
        ("- a\n- b\n", "- forgotten\n- b\n", {"- a"}),
        ("a\nb\nc\n", "olvidado\nb\nforgotten\n", {"a", "c"}),
        ("a\n", "b\n", set()),
        ("- forgotten\n- b\n", "- forgotten\n- c\n", set()),
        ("", "forgotten\n", set()),
    ],
)
def test_lines_that_have_lost_their_words_were_forgotten(before: str, after: str, gone: set[str]) -> None:
    assert forgotten_lines(before, after) == gone


def test_they_lose_them_elsewhere_too() -> None:
    assert without("- a\r\n- b\n- a", frozenset({"- a"})) == "- forgotten\n- b\n- forgotten"
