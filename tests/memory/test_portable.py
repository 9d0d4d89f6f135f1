"""Facts as lines of JSON: all of them come back, and what is no fact is refused by its line."""

from dataclasses import replace

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.conversation.blocks import head
from proxy.memory.facts import Decay
from proxy.memory.portable import (
    LATEST,
    MOST_SHOWN,
    WIDEST,
    Malformed,
    count,
    dumped,
    excerpt,
    loaded,
    moment,
    plain,
    table,
    word,
)
from proxy.types import Fact
from tests.builders import NOW

FACT = Fact(
    id="f-0123456789abcdef",
    domain="personal",
    key="alergia",
    value="soy alérgico a los «maníes»\nde verdad",
    confidence="medium",
    source="inferred",
    session="s-1",
    turn=7,
    created_at=NOW,
    last_confirmed_at=NOW + 1,
    pinned=True,
    superseded_by="f-fedcba9876543210",
    superseded_at=NOW + 2,
    links=(b"\0" * 16, b"\xff" * 16),
)


def test_what_is_dumped_is_loaded_as_it_was() -> None:
    facts = (FACT, replace(FACT, id="f-0000000000000000", superseded_by=None, links=()))
    data = dumped(facts)
    assert data.count(b"\n") == 2
    assert "alérgico a los «maníes»\\nde".encode() in data
    assert loaded(data) == facts
    assert loaded(b"\xef\xbb\xbf\n" + data.replace(b"\n", b"\r\n\n")) == facts
    assert loaded(b"") == ()


@given(st.text(min_size=1).filter(str.strip), st.lists(st.binary(max_size=20)))
def test_any_value_comes_back(value: str, links: list[bytes]) -> None:
    said = replace(FACT, value=value, links=tuple(links))
    assert loaded(dumped([said])) == (said,)


def line(**differing: object) -> bytes:
    values = {**msgspec.json.decode(msgspec.json.encode(FACT)), **differing}
    return msgspec.json.encode({name: value for name, value in values.items() if value is not ...})


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (b"{", "truncated"),
        (b"[]", "object"),
        (b"\xff\xfe", "malformed"),
        (line() + b"x", "malformed"),
        (line(id=...), "id"),
        (line(id="f-1"), "16 hex digits"),
        (line(id="f-0123456789ABCDEF"), "16 hex digits"),
        (line(id="f-0123456789abcdef\n"), "16 hex digits"),
        (line(superseded_by="x"), "16 hex digits"),
        (line(value=" \n"), "empty"),
        (line(key=""), "empty"),
        (line(domain=""), "empty"),
        (line(value=1), "value"),
        (line(confidence="certain"), "certain"),
        (line(source="guess"), "guess"),
        (line(turn=-1), "turn"),
        (line(turn=1.5), "turn"),
        (line(turn=2**40), "turn"),
        (line(created_at=-1), "time"),
        (line(last_confirmed_at=LATEST + 1), "time"),
        (line(superseded_at="now"), "superseded_at"),
        (line(pinned="yes"), "pinned"),
        (line(links=["!"]), "links"),
        (line(scope="x", status="active"), "scope, status"),
    ],
)
def test_a_line_that_is_no_fact_is_refused_by_its_number(bad: bytes, why: str) -> None:
    good = dumped([FACT])
    with pytest.raises(Malformed, match=r"^line 3: ") as refused:
        loaded(good + b"\n" + bad + b"\n" + good)
    assert why in str(refused.value)


FACT_TABLE = Fact("f-0123456789abcdef", "personal", "ciudad", "vivo en Córdoba", "high", "explicit", "s", 3, NOW, NOW)


def test_a_fact_a_line_and_the_columns_stand_below_each_other() -> None:
    superseded = replace(
        FACT_TABLE, id="f-0000000000000002", superseded_by=FACT_TABLE.id, pinned=True, confidence="low"
    )
    assert table([FACT_TABLE, superseded], NOW, Decay()).splitlines() == [
        "ID                  STATUS      PINNED  CONFIDENCE  CONFIRMED   DOMAIN    KEY     VALUE",
        "f-0123456789abcdef  active              high        2023-11-14  personal  ciudad  vivo en Córdoba",
        "f-0000000000000002  superseded  yes     low         2023-11-14  personal  ciudad  vivo en Córdoba",
    ]


def test_a_long_value_is_cut() -> None:
    said = replace(FACT_TABLE, value="ñ" * (WIDEST + 1))
    assert table([said], NOW, Decay()).endswith("  " + "ñ" * (WIDEST - 1) + "…")
    assert table([replace(said, value="ñ" * WIDEST)], NOW, Decay()).endswith("  " + "ñ" * WIDEST)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("vivo  en\n\tRosario", "vivo en Rosario"),
        ("\x1b[2Jborrado", " [2Jborrado"),
        ("\x9b31mrojo", " 31mrojo"),
        ("a\u202eb", "a b"),
        ("año 日本 🙂", "año 日本 🙂"),
    ],
)
def test_nothing_in_a_value_is_obeyed_by_a_terminal(text: str, shown: str) -> None:
    assert plain(text) == shown
    assert shown.strip() in table([replace(FACT_TABLE, value=text, key=text, domain=text)], NOW, Decay())


def test_what_is_no_text_is_said_in_words() -> None:
    assert [word(each) for each in (None, True, False, 3, "a\nb")] == ["", "yes", "no", "3", "a b"]
    assert [count(each) for each in (0, 1, 2)] == ["0 facts", "1 fact", "2 facts"]
    assert moment(NOW) == "2023-11-14 22:13:20 UTC"


FILLER = "Lorem ipsum dolor sit amet. " * 40
VALUE = "I'm allergic to nuts"


@pytest.mark.parametrize(
    ("said", "value", "shown"),
    [
        ("Remember that I'm allergic to nuts.", VALUE, "Remember that I'm allergic to nuts."),
        (f"{FILLER}Also, I'm allergic to nuts.{FILLER}", VALUE, VALUE),
        (f"{FILLER}Also, I'M  allergic\nto nuts.{FILLER}", VALUE, "I'M  allergic\nto nuts"),
        (f"{FILLER}I live in Rosario. By the way. With a dog.", "I live in Rosario. With a dog.", "I live in Rosario."),
        (f"{VALUE}. {FILLER}", VALUE, VALUE),
        (f"{FILLER}{VALUE}.", VALUE, VALUE),
        (FILLER, VALUE, "Lorem ipsum"),
        (f"{head('- [personal] it is so', ())}\n\nI'm allergic to nuts.", VALUE, "I'm allergic to nuts."),
        ("", VALUE, ""),
        (FILLER, "", "Lorem ipsum"),
    ],
)
def test_an_excerpt_has_the_value_in_it(said: str, value: str, shown: str) -> None:
    found = excerpt(said, value)
    assert shown in found
    assert len(found) <= MOST_SHOWN
    assert "<memory>" not in found


@given(st.text(max_size=2_000), st.text(max_size=400))
def test_it_is_short_and_verbatim(said: str, value: str) -> None:
    found = excerpt(said, value)
    assert len(found) <= MOST_SHOWN
    assert found.removeprefix("…").removesuffix("…") in said or found in said
