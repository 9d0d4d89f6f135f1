"""The state of a conversation, written and read."""

from dataclasses import replace

import msgspec
import numpy as np
import pytest

from proxy.conversation.state import VERSION, pack, unpack
from proxy.types import Fold, PathState, Summary, TurnDigest, VolatileBlock

VECTOR = np.array([0.5, -0.25, 0.125], np.float32)  # that float16 holds exactly
SUMMARY = Summary("tea", ("green", "black"), "green it is", ("no sugar",), ("when?",), 1, 3)
# Every value differs from its default, so that one that is not written shows.
STATE = PathState(
    turns=9,
    at=1.5,
    newest=17,
    before=900,
    original=1_000,
    sent=500,
    stable=400,
    baseline=2_000.5,
    spent=1_500.25,
    fold=Fold(7, "<memory>", 11, ("f-1",), 5, (SUMMARY,), (8, 10), (3,), 6, 2),
    open=(TurnDigest(b"\xff" * 16, 120, 0.5, "phrase", "work", 7), TurnDigest(b"\0" * 16, 80, None, None)),
    folded_results=(4, 6),
    volatile=VolatileBlock("<recalled>", 9, facts=3, others=4, quoted=(1, 3)),
    volatile_link=b"\x80" * 16,
    lent=1,
    vector=VECTOR,
    continuity=0.25,
    shift="flush",
    domain="food",
)


def test_a_state_comes_back_as_it_was() -> None:
    found = unpack(pack(STATE))
    assert found == STATE
    assert found is not None
    assert found.vector is not None
    assert found.vector.dtype == np.float32
    assert np.array_equal(found.vector, VECTOR)


def test_so_does_one_of_a_conversation_that_has_just_begun() -> None:
    bare = PathState(1, 0.0, 0, 0, 9, 9, 9, 9.0, 9.0)
    assert unpack(pack(bare)) == bare
    assert replace(bare, turns=2) != bare


@pytest.mark.parametrize(
    "packed",
    [
        b"",
        b"\0",
        bytes([VERSION]),
        bytes([VERSION + 1]) + pack(STATE)[1:],
        pack(STATE)[:-1],
        pack(STATE) + b"\0",
        bytes([VERSION]) + msgspec.msgpack.encode({"turns": "nine"}),
        bytes([VERSION]) + b"\xc1",
    ],
)
def test_what_cannot_be_read_is_no_state(packed: bytes) -> None:
    assert unpack(packed) is None
