"""Reading of a round whose events tell of things by index: what passes, when, and what never does."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.protocol.by_index import IndexedRound
from proxy.protocol.rounds import Whose
from proxy.protocol.sse import DONE, Event, encode
from proxy.types import ToolCall

Json = Any
# `remember` is ours; `look` is the client's, but for calls whose results are known.
WHOSE = Whose(
    frozenset({"remember", "look"}),
    frozenset({"look", "search"}),
    lambda call: call.name == "remember" or call.arguments == "known",
)


class Things(IndexedRound):
    """Things that are begun and ended, by `at`."""

    def __init__(self, *, is_first: bool = True) -> None:
        super().__init__(WHOSE, index="at", is_first=is_first, max_event_bytes=10_000)
        self.told: dict[int, Json] = {}

    def _event(self, given: Event, told: Json, data: bytes) -> bytes:
        assert json.loads(data) == told
        if "at" not in told:
            return given.raw
        self.told.setdefault(told["at"], {}).update(told)
        if told.get("name"):
            self._begin_call(told["at"], told["name"])
        if told.get("ends") and told["at"] in self._calls:
            self._decide(told["at"])
        return self._hold(given, told)

    def _call_at(self, index: int) -> ToolCall:
        return ToolCall("c", self.told[index]["name"], self.told[index].get("arguments"))

    def _passed(self, given: Event, _told: Json) -> bytes:
        return given.raw


def event(**told: Json) -> bytes:
    return encode(json.dumps(told).encode())


BEGUN = {name: event(at=at, name=name) for at, name in enumerate(("remember", "look", "search"))}


def test_a_call_of_ours_never_passes_and_one_of_the_clients_at_once() -> None:
    round_ = Things()
    assert round_.feed(BEGUN["remember"]) == b""
    assert round_.feed(BEGUN["search"]) == BEGUN["search"]
    assert (round_.ours, round_.has_theirs, round_.is_untouched) == ((0,), True, False)


@pytest.mark.parametrize(("arguments", "passes"), [("known", False), ("x", True)])
def test_what_may_be_either_waits_for_its_arguments_and_what_is_behind_with_it(arguments: str, *, passes: bool) -> None:
    round_ = Things()
    ended, behind = event(at=1, ends=True, arguments=arguments), event(at=3)
    assert round_.feed(BEGUN["look"]) == b""
    assert round_.feed(behind) == b""
    assert round_.feed(ended) == (BEGUN["look"] + behind + ended if passes else behind)
    assert round_.has_theirs is passes


def test_the_end_of_a_stream_passes_unless_something_is_hidden() -> None:
    assert Things().feed(DONE) == DONE
    round_ = Things(is_first=False)
    assert round_.feed(DONE) == b""
    assert not round_.failed


def test_at_the_end_of_a_round_all_is_decided() -> None:
    round_ = Things()
    assert round_.feed(BEGUN["look"]) == b""
    assert round_.end() == BEGUN["look"]


@pytest.mark.parametrize("bad", [event(type="error"), b"data: {no\n\n", b"data: []\n\n"])
@pytest.mark.parametrize(
    ("before", "is_first", "passes"),
    [
        (b"", True, True),
        (BEGUN["search"], True, True),
        (b"", False, False),
        (BEGUN["remember"], True, False),
        (BEGUN["look"], True, False),
    ],
)
def test_what_cannot_be_used_passes_unless_something_is_hidden(
    bad: bytes, before: bytes, *, is_first: bool, passes: bool
) -> None:
    round_ = Things(is_first=is_first)
    round_.feed(before)
    assert round_.feed(bad) == (bad if passes else b"")
    assert round_.failed is not passes


@given(st.lists(st.sampled_from(["", "search"]), max_size=5), st.integers(0, 200))
def test_what_is_not_ours_passes_to_the_byte_however_it_is_cut(names: list[str], cut: int) -> None:
    stream = b": ping\n\n" + b"".join(event(at=at, name=name) for at, name in enumerate(names)) + event(type="ping")
    round_ = Things()
    assert round_.feed(stream[:cut]) + round_.feed(stream[cut:]) + round_.end() == stream
    assert round_.is_untouched
