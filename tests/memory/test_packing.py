"""An index that was packed and unpacked is the index that it was, and goes on as it would have."""

import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.memory import packing
from proxy.memory.recall import Query, rank
from proxy.memory.turn_index import TurnIndex
from proxy.types import ArchivedTurn
from tests.examples import examples
from tests.memory.indexed import index_of, link, path, turn, vector

WORDS = ("boat", "harbour", "5433", "Marigold", "«maníes»", "long " * 40, "\0", "ñ🙂", "")
TURNS = [turn(number, f"{WORDS[number % 9]} {number}", f"{WORDS[(number * 5) % 9]} noted") for number in range(1, 12)]
OTHERS = [turn(number, f"{WORDS[number % 7]} x", "yes", session=f"o{number % 3}", prefix="o") for number in range(1, 9)]


def assert_same(one: TurnIndex, other: TurnIndex, asked: str) -> None:
    for others in (None, "s"):
        query = Query(asked, vector(asked), path(*TURNS), others_than=others)
        ranked, again = rank(one, query), rank(other, query)
        assert ranked.scores.tolist() == again.scores.tolist()
        said = [one.message(int(number)) for number in ranked.view.messages]
        assert said == [other.message(int(number)) for number in again.view.messages]
    assert len(one) == len(other)
    assert all(one.has_vectors(each) == other.has_vectors(each) for each in TURNS)


@settings(max_examples=examples(60), deadline=None)
@given(
    before=st.lists(st.sampled_from([*TURNS, *OTHERS]), max_size=12, unique_by=lambda each: each.link),
    with_vectors=st.booleans(),
    removed=st.sets(st.sampled_from([said.link for each in TURNS for said in each.utterances]), max_size=4),
    after=st.lists(st.sampled_from([*TURNS, *OTHERS]), max_size=6),
    removed_after=st.sets(st.sampled_from([said.link for each in TURNS for said in each.utterances]), max_size=4),
    asked=st.sampled_from(WORDS[:4]),
)
def test_it_finds_the_same_and_grows_the_same(
    before: list[ArchivedTurn],
    with_vectors: bool,
    removed: set[bytes],
    after: list[ArchivedTurn],
    removed_after: set[bytes],
    asked: str,
) -> None:
    index = TurnIndex()
    for each in before:
        index.add(
            each, np.stack([vector(text) for text in index.texts(each)]) if with_vectors and index.texts(each) else None
        )
    index.remove(tuple(removed))
    again = TurnIndex.unpacked(index.packed())
    assert again is not None
    assert_same(index, again, asked)
    for each in after:
        index.add(each)
        again.add(each)
    index.remove(tuple(removed_after))
    again.remove(tuple(removed_after))
    assert_same(index, again, asked)
    twice = TurnIndex.unpacked(again.packed())
    assert twice is not None
    assert_same(index, twice, asked)


@pytest.mark.parametrize("data", [b"", b"\x80", b"not msgpack"])
def test_other_bytes_are_no_index(data: bytes) -> None:
    assert TurnIndex.unpacked(data) is None


def test_another_format_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing, "FORMAT", 0)
    data = index_of(TURNS[:1]).packed()
    monkeypatch.undo()
    assert TurnIndex.unpacked(data) is None


def test_what_was_removed_is_not_in_the_bytes() -> None:
    index = index_of([turn(1, "the word is xylophone", "noted")])
    assert b"xylophone" in texts_of(index.packed())
    index.remove([link("1.0")])
    data = index.packed()
    assert b"xylophone" not in texts_of(data)
    assert link("1.0") not in data


def texts_of(data: bytes) -> bytes:
    decoded = packing.decode(data)
    assert decoded is not None
    return b"".join(map(zlib.decompress, decoded.messages.texts))


def test_a_part_of_which_nothing_is_left_does_not_move_the_others() -> None:
    many = [turn(number, f"word{number} is said", f"answer{number}") for number in range(packing.TEXTS_AT_ONCE * 3)]
    index = index_of(many)
    index.remove([said.link for each in many[: packing.TEXTS_AT_ONCE] for said in each.utterances])
    again = TurnIndex.unpacked(index.packed())
    assert again is not None
    for each in many[packing.TEXTS_AT_ONCE :]:
        for said in each.utterances:
            assert (found := again.find(said.link)) is not None
            assert found.text == said.text
