"""Whatever editor saved a text, it is read, and saved again as its person saves it."""

import codecs
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.files.text import Text, decode, encode
from proxy.files.unusable import Unusable

LINES = "- vive en Málaga — «sí»\n- two\n"


@pytest.mark.note("Decisiones/2")
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(
    ("encoding", "mark"),
    [
        ("utf-8", b""),
        ("utf-8", codecs.BOM_UTF8),
        ("utf-16-le", codecs.BOM_UTF16_LE),
        ("utf-16-be", codecs.BOM_UTF16_BE),
    ],
)
def test_a_text_is_saved_as_its_person_saves_it(encoding: str, mark: bytes, newline: str) -> None:
    data = mark + LINES.replace("\n", newline).encode(encoding)
    text = decode(data)
    assert text == Text(LINES, encoding, mark, newline)
    assert encode(text) == data
    assert encode(replace(text, text="ñ\n")) == mark + f"ñ{newline}".encode(encoding)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", ""),
        (codecs.BOM_UTF8, ""),
        ("- Málaga €\n".encode("cp1252"), "- Málaga €\n"),
        ("- Málaga\x81\n".encode("latin-1"), "- Málaga\x81\n"),
        (b"one\r\ntwo\nthree\r", "one\ntwo\nthree\n"),
        (b"Title\n=======\n", "Title\n=======\n"),
        (b"a <<<<<<< b\n", "a <<<<<<< b\n"),
        (b"<<<<<<<<<<\n", "<<<<<<<<<<\n"),
    ],
    ids=["empty", "a mark alone", "windows", "latin-1", "mixed ends", "a heading", "inside a line", "a rule"],
)
def test_what_else_is_text(data: bytes, text: str) -> None:
    assert decode(data).text == text


def test_a_western_text_becomes_utf_8_when_it_is_written() -> None:
    assert encode(decode("Málaga\r\n".encode("cp1252"))) == "Málaga\r\n".encode()


def test_lines_end_as_most_of_them_did() -> None:
    assert encode(decode(b"a\r\nb\r\nc\n")) == b"a\r\nb\r\nc\r\n"


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"a\0b", "x.md is not text"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "x.md is not text"),
        (codecs.BOM_UTF32_LE + "a".encode("utf-32-le"), "x.md is not text"),
        (codecs.BOM_UTF16_LE + b"a", "x.md is not text"),
        (codecs.BOM_UTF8 + b"\xff", "x.md is not text"),
        (b"- a\n<<<<<<< HEAD\n- b\n=======\n- c\n>>>>>>> other\n", "x.md has merge markers, in line 2"),
        (b"- a\r\n- b\r\n>>>>>>>\r\n", "x.md has merge markers, in line 3"),
        (codecs.BOM_UTF16_BE + "<<<<<<< ñ".encode("utf-16-be"), "x.md has merge markers, in line 1"),
    ],
)
def test_what_no_person_meant_as_a_memory_is_told(data: bytes, said: str) -> None:
    with pytest.raises(Unusable) as caught:
        decode(data, "x.md")
    assert str(caught.value) == said


def test_half_a_character_does_not_make_a_text_unreadable() -> None:
    assert encode(Text("a\ud83d\n")) == b"a?\n"


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_told(data: bytes) -> None:
    try:
        text = decode(data)
    except Unusable:
        return
    assert "\r" not in text.text
    assert decode(encode(text)).text == text.text


@given(st.text(st.characters(exclude_characters="\0\r\ufeff", exclude_categories=["Cs"])))
def test_utf_8_comes_back_byte_for_byte(text: str) -> None:
    try:
        assert encode(decode(text.encode())) == text.encode()
    except Unusable as error:
        assert "merge markers" in str(error)  # noqa: PT017 (it may, and need not, be raised)
