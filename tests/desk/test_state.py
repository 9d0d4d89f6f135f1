"""What is known of a session's desk: a fold over its events and lines, the same however it is read."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.desk.state import MOST_EDITS, DeskState, after
from proxy.types.desk import (
    Applied,
    Board,
    Called,
    Confirmed,
    DeskEvent,
    DeskNews,
    Edit,
    Ended,
    Hidden,
    Mark,
    Offered,
    Payload,
    Pin,
    Reset,
    TapeLine,
)
from tests.builders import NOW, assistant, messages, result
from tests.desk.hiding import ours

NAMES = ("forget", "remember")
OFFERED = Offered("en", NAMES, "first")
ASSISTANT = messages(ours("h1"))[0].raw
RESULT = messages(result("h1"))[0].raw


def line(number: int, **more: Any) -> TapeLine:
    return replace(TapeLine(number, b"l%d" % number, NOW + number, "user", 7), **more)


def news(*payloads: Payload, first: int = 1) -> DeskNews:
    return DeskNews(tuple(DeskEvent(NOW, "r", each, at) for at, each in enumerate(payloads, start=first)))


def folded(*payloads: Payload) -> DeskState:
    return after(DeskState(), news(*payloads))


def edit(name: str, **more: Any) -> Edit:
    return Edit(**{"tool": "edit_section", "name": name, "before": "", "after": "a", **more})


PAYLOADS: list[Payload] = [
    OFFERED,
    Hidden(b"l1", b"a1", (ASSISTANT, RESULT)),
    Hidden(b"l1", b"a2", (ASSISTANT, RESULT)),
    Board(b"l1", "full", "high", "prune"),
    Board(b"l1", "fuller", "high", "note"),
    Mark("prune", (b"l1",), 1, 1),
    Mark("range", (b"l1", b"l2"), 1, 2, "in short"),
    Applied((6,), "fold", 12),
    Pin(b"l2"),
    Pin(b"l2", is_pinned=False),
    edit("user_profile.md", state="waiting"),
    Confirmed(11, is_allowed=True),
    Called("remember", "{}", "ok", 1),
    Ended("loop"),
    Reset(("user_profile.md",)),
]


@given(st.lists(st.sampled_from(PAYLOADS), max_size=20), st.data())
def test_a_state_is_the_same_in_however_many_readings(payloads: list[Payload], data: st.DataObject) -> None:
    lines = tuple(line(number) for number in range(1, len(payloads) + 1))
    events = news(*payloads).events
    whole = after(DeskState(), DeskNews(events, lines))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(payloads)), max_size=3)))
    state = DeskState()
    for start, stop in zip([0, *cuts], [*cuts, len(payloads)], strict=True):
        state = after(state, DeskNews(events[start:stop], lines[start:stop]))
    assert state == whole
    assert after(state, DeskNews(events, lines)) == whole


def test_messages_are_known_by_their_links_and_by_their_ids_without_content() -> None:
    state = after(DeskState(), DeskNews((), (line(1), line(2, content=b"{}", is_hidden=True))))
    assert state.lines == {b"l1": line(1), b"l2": line(2, is_hidden=True)}
    assert state.links == {1: b"l1", 2: b"l2"}
    assert (state.line, state.last, state.begun_at) == (2, 2, NOW + 1)
    assert state.times == {b"l1": NOW + 1, b"l2": NOW + 2}


def test_what_others_wrote_in_between_is_read_next_time() -> None:
    known = after(DeskState(), DeskNews(news(OFFERED).events, (line(1),)))
    written = DeskNews(news(Ended("person"), first=3).events, (line(4),))
    state = after(known, written, is_whole=False)
    assert (state.event, state.line, state.last) == (1, 1, 4)
    assert state.ended == ""
    assert state.links == {1: b"l1", 4: b"l4"}
    missing = DeskNews((*news(Pin(b"l1"), Ended("person"), first=2).events,), (line(2), line(3), line(4)))
    state = after(state, missing)
    assert (state.event, state.line, state.ended) == (3, 4, "person")
    assert state.pins == {b"l1"}


def test_what_follows_directly_is_known_at_once() -> None:
    known = after(DeskState(), DeskNews(news(OFFERED).events, (line(1),)))
    state = after(known, DeskNews(news(Pin(b"l1"), first=2).events, (line(1), line(2))), is_whole=False)
    assert (state.event, state.line, state.pins) == (2, 2, frozenset({b"l1"}))


@pytest.mark.parametrize(
    ("payloads", "offered", "ended"),
    [
        ([], None, ""),
        ([OFFERED], OFFERED, ""),
        ([OFFERED, Ended("loop")], OFFERED, "loop"),
        ([OFFERED, Ended("loop"), Offered("en", (), "fold")], None, "loop"),
        ([Ended("person"), OFFERED], OFFERED, ""),
    ],
)
def test_tools_are_offered_until_they_are_withdrawn(
    payloads: list[Payload], offered: Offered | None, ended: str
) -> None:
    state = folded(*payloads)
    assert (state.offered, state.ended) == (offered, ended)


def test_a_reset_takes_marks_and_edits_back_and_nothing_else() -> None:
    state = folded(*PAYLOADS)
    assert (state.marks, state.applied, state.edits, state.waiting) == ({}, frozenset(), (), {})
    assert (state.reset, state.undone) == (15, ("user_profile.md",))
    assert len(state.hidden[b"l1"]) == 2
    assert state.boards[b"l1"].text == "full"
    assert folded(*PAYLOADS[:-1]).marked == {b"l1", b"l2"}
    assert folded(*PAYLOADS[:-1]).applied == {6}


@pytest.mark.parametrize(("is_allowed", "became"), [(True, "done"), (False, "declined")])
def test_an_edit_waits_until_a_person_decides(is_allowed: bool, became: str) -> None:
    waits = edit("user_profile.md", state="waiting")
    assert folded(waits).waiting == {1: waits}
    state = folded(waits, edit("notes.md"), Confirmed(1, is_allowed))
    assert state.waiting == {}
    assert [each.state for each in state.edits] == ["done", became]


def test_no_more_edits_are_held_than_the_newest() -> None:
    state = folded(*(edit(f"n{number}.md") for number in range(2 * MOST_EDITS)))
    assert [each.name for each in state.edits] == [f"n{at}.md" for at in reversed(range(MOST_EDITS, 2 * MOST_EDITS))]


@pytest.mark.parametrize(
    "hidden",
    [
        Hidden(b"l1", b"a1", (b"{",)),
        Hidden(b"l1", b"a1", (ASSISTANT,)),
        Hidden(b"l1", b"a1", (RESULT,)),
        Hidden(b"l1", b"a1", (ASSISTANT, RESULT), instead=b"nothing"),
        Hidden(b"l1", b"a1", (), instead=messages(ours("h1", "c1"))[0].raw, calls=("c1",)),
        Hidden(b"l1", b"a1", (), after=(messages(assistant("x"))[0].raw,)),
    ],
)
def test_an_exchange_of_which_a_part_is_gone_is_left_out(hidden: Hidden) -> None:
    assert folded(hidden).hidden == {}


def test_an_exchange_keeps_its_bytes_in_another_api() -> None:
    seal = b'{"type":"thinking","thinking":"Hm.","signature":"x"}'
    (exchange,) = folded(Hidden(b"l1", b"a1", (ASSISTANT, RESULT), spans=(seal, b"", b""))).hidden[b"l1"]
    assert [each.span for each in exchange.before] == [seal, b""]
    assert [each.is_sealed for each in exchange.before] == [True, False]
    assert not folded(Hidden(b"l1", b"a1", (ASSISTANT, RESULT), spans=(b"{no", b"", b""))).hidden


def test_the_size_grows_with_what_is_held() -> None:
    text = "x" * 50_000
    large = messages(result("h1", text))[0].raw
    assert folded(Hidden(b"l1", b"a1", (ASSISTANT, large))).size > 50_000
    assert folded(edit("n.md", after=text)).size > 50_000
    assert DeskState().size == 0
