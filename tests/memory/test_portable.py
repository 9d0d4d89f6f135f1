"""Facts as lines of JSON: all of them come back, and what is no fact is refused by its line."""

from dataclasses import replace

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.memory.portable import LATEST, Malformed, dumped, loaded
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
