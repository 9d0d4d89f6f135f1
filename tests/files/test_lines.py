"""Words in a file are never taken for a line, a comment or a control character of ours."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.files.lines import comment, decoded, encoded, link_code, link_of, many_lines, one_line, parted

ANY = st.text(st.characters(exclude_categories=()))
NASTY = st.lists(st.sampled_from(["<!--", "-->", "--!>", "<", "-", ">", "!", "\n", "\r", "a", " ", "o:abcd", "\u2028"]))


@given(ANY | NASTY.map("".join))
def test_a_text_becomes_one_line_without_a_comment(text: str) -> None:
    line = one_line(text)
    assert not any(mark in line for mark in ("<!--", "-->", "--!>"))
    assert line.isprintable() or not line
    assert parted(line) == (line, "", {})
    assert one_line(line) == line


@given(ANY | NASTY.map("".join))
def test_a_text_of_many_lines_has_no_other_line_ends_and_no_control_characters(text: str) -> None:
    lines = many_lines(text)
    assert all(line.splitlines() in ([], [line]) for line in lines)
    assert many_lines("\n".join(lines)) == lines


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("a\r\nb\rc\u2028d", ["a", "b", "c", "d"]),
        (
            "\ttab, emoji \N{WAVING HAND SIGN}\u200d and ñ\u00a0stay",
            ["\ttab, emoji \N{WAVING HAND SIGN}\u200d and ñ\u00a0stay"],
        ),
        ("bell\x07 \x1b[31m \u202eright to left\ud800", ["bell\ufffd \ufffd[31m \ufffdright to left\ufffd"]),
    ],
)
def test_lines_show_as_they_are(text: str, lines: list[str]) -> None:
    assert many_lines(text) == lines


def test_a_comment_is_parted_from_its_line() -> None:
    line = f"- likes tea{comment(o='abcd', m='', t='3')}"
    assert line == "- likes tea <!-- o:abcd t:3 -->"
    assert parted(f"{line}  ") == ("- likes tea", " <!-- o:abcd t:3 -->  ", {"o": "abcd", "t": "3"})
    assert comment(o="") == ""


@pytest.mark.parametrize("line", ["a <!-- a person's -->", "<!-- o:abcd --> b", "a <!-- o:abcd ->", "a o:abcd -->"])
def test_no_other_comment_is(line: str) -> None:
    assert parted(line) == (line, "", {})


@given(st.binary(min_size=16, max_size=16))
def test_a_link_has_a_code_that_gives_it_back(link: bytes) -> None:
    assert link_of(link_code(link)) == link


@pytest.mark.parametrize("code", ["", "abcd", "a" * 25 + "1", "é" * 26, "a" * 27])
def test_anything_else_is_no_code(code: str) -> None:
    assert link_of(code) is None


@given(st.binary())
def test_a_file_of_any_bytes_comes_back_as_it_was(data: bytes) -> None:
    assert encoded(decoded(data), data) == data


@given(st.binary(), ANY)
def test_any_text_can_take_its_place(data: bytes, text: str) -> None:
    encoded(text, data)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_the_words_of_a_file_are_read_in_its_encoding(encoding: str) -> None:
    data = "está en Lima".encode(encoding)
    assert decoded(data) == "está en Lima"
    assert decoded(encoded("está en Łódź", data)) == "está en Łódź"
