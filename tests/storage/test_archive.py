"""The bounds of the archive in memory, how vectors are kept, and by what a turn is forgotten."""

from dataclasses import replace

import numpy as np
import pytest

from proxy.storage.archive import MemoryArchive, links_of, packed_rows, unpacked_rows
from proxy.types import ArchivedTurn, Utterance, Vector

TTL = 1000.0
TURN = ArchivedTurn(
    b"t-1", b"", "s", 1, 10.0, b"[]", (Utterance("user", "hi", b"u-1"), Utterance("assistant", "", b"t-1"))
)


def turn(number: int) -> ArchivedTurn:
    return replace(TURN, link=b"t-%d" % number, number=number, utterances=())


@pytest.mark.parametrize("rows", [0, 1, 5])
def test_vectors_are_kept_as_float16(rows: int) -> None:
    vectors: Vector = np.random.default_rng(rows).standard_normal((rows, 384)).astype(np.float32)
    packed = packed_rows(vectors)
    assert packed is not None
    assert (packed[0], len(packed[1])) == (384, rows * 384 * 2)
    unpacked = unpacked_rows(packed)
    assert unpacked is not None
    assert unpacked.shape == vectors.shape
    assert unpacked.dtype == np.float32
    assert np.array_equal(unpacked, vectors.astype(np.float16))


def test_no_vectors_are_none() -> None:
    assert packed_rows(None) is None
    assert unpacked_rows(None) is None


def test_a_turn_has_its_own_link_and_those_of_its_messages_once() -> None:
    assert links_of(TURN) == (b"t-1", b"u-1")
    assert links_of(turn(2)) == (b"t-2",)


async def test_memory_keeps_the_turns_that_changed_last() -> None:
    archive = MemoryArchive(TTL, max_turns=3)
    for number in (1, 2, 3):
        archive.add("a/", turn(number), None)
    archive.add("a/", turn(1), np.zeros((1, 4), np.float32))
    archive.add("b/", turn(4), None)
    assert [each.number for each, _ in (await archive.turns("a/", 0, 0.0)).entries] == [3, 1]


async def test_memory_never_lets_go_of_what_was_forgotten() -> None:
    archive = MemoryArchive(TTL, max_turns=1)
    archive.forget("a/", [b"t-1", b"t-2"])
    archive.add("a/", turn(3), None)
    archive.add("a/", turn(4), None)
    archive.add("a/", turn(1), None)
    changes = await archive.turns("a/", 0, 0.0)
    assert [each.number for each, _ in changes.entries] == [4]
    assert changes.gone == (b"t-1", b"t-2")
