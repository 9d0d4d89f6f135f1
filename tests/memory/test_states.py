"""The states of conversations, in memory and in storage."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from proxy.conversation.progress import pack
from proxy.memory.states import STEPS_BACK
from tests.memory.indexed import link
from tests.memory.libraries import CHAIN, STATE, House


@pytest.mark.parametrize(
    ("kept", "asked", "found"),
    [
        ((3,), 6, 3),
        ((3, 5), 6, 5),  # the longest
        ((6,), 6, None),  # its own, of when it was sent before
        ((7,), 6, None),
        ((), 6, None),
        ((1,), 1 + STEPS_BACK, 1),
        ((1,), 2 + STEPS_BACK, None),
        ((1,), 1, None),
        ((1,), 0, None),
    ],
)
@pytest.mark.parametrize("afresh", [False, True])
async def test_the_state_of_the_longest_earlier_request_is_found(
    kept: Sequence[int], asked: int, found: int | None, afresh: bool, house: House
) -> None:
    library = house.library()
    for length in kept:
        library.paths.keep("a", "s", CHAIN[length - 1], replace(STATE, turns=length))
    got = await (house.library() if afresh else library).paths.last("a", CHAIN[:asked])
    assert (got and (got[0].turns, got[1])) == (found and (found, found))
    assert await library.paths.last("b", CHAIN[:asked]) is None


async def test_of_a_history_that_storage_does_not_know_only_memory_is_asked_for_a_state(house: House) -> None:
    library = house.library()
    library.paths.keep("a", "s", CHAIN[3], STATE)
    assert await library.paths.last("a", CHAIN[:6], is_new=True) == (STATE, 4)
    assert await house.library().paths.last("a", CHAIN[:6], is_new=True) is None


async def test_another_history_has_another_state(house: House) -> None:
    library = house.library()
    library.paths.keep("a", "s", CHAIN[3], STATE)
    assert await library.paths.last("a", (*CHAIN[:3], link("x"), link("y"))) is None


async def test_what_another_version_wrote_is_no_state(house: House) -> None:
    house.states.put("a", "s", CHAIN[3], 1.0, b"\xff" + pack(STATE)[1:])
    assert await house.library().paths.last("a", CHAIN[:6]) is None


async def test_states_in_memory_are_bounded(house: House) -> None:
    library = house.library(most_states=2)
    for number in range(4):
        library.paths.keep("a", str(number), CHAIN[number], STATE)
    house.states.forget("a")  # what storage has lost, memory alone can tell
    found = [await library.paths.last("a", (CHAIN[number], link("next"))) for number in range(4)]
    assert found == [None, None, (STATE, 1), (STATE, 1)]
