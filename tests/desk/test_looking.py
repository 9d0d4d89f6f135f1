"""A desk as people look at it: what became of marks and edits, and what the client never saw of an answer."""

import msgspec
import pytest

from proxy.desk.looking import HiddenCall, HiddenRound, rounds, seen
from proxy.types import Message
from proxy.types.desk import (
    Applied,
    Board,
    Called,
    Confirmed,
    DeskEvent,
    Edit,
    Ended,
    Hidden,
    Mark,
    Offered,
    Payload,
    Pin,
    Reset,
)
from tests.builders import Said, result

PRUNE = Mark("prune", (b"a",), 3, 3, tokens=90)
RANGE = Mark("range", (b"b", b"c"), 4, 5, "a summary", 120)
EDIT = Edit("edit_section", "agent_notes.md", "", "notes", version=1)
WAITS = Edit("remember", "shop", "", "ACME", "waiting")


def log(*payloads: Payload) -> list[DeskEvent]:
    """Events, the first at second 1."""
    return [DeskEvent(float(at), f"r{at}", each, at) for at, each in enumerate(payloads, 1)]


@pytest.mark.parametrize(
    ("payloads", "states"),
    [
        ((PRUNE,), [("waiting", "", 0.0)]),
        ((PRUNE, RANGE, Applied((1,), "pressure", 80)), [("applied", "pressure", 3.0), ("waiting", "", 0.0)]),
        ((PRUNE, Applied((1, 9), "fold", 1), Applied((1,), "economic", 1)), [("applied", "fold", 2.0)]),
        ((PRUNE, Applied((1,), "fold", 1), Reset(())), [("undone", "fold", 2.0)]),
        ((PRUNE, Reset(()), RANGE), [("undone", "", 0.0), ("waiting", "", 0.0)]),
        ((PRUNE, Reset(()), Applied((1,), "fold", 1)), [("undone", "", 0.0)]),
    ],
)
def test_a_mark_waits_takes_effect_or_is_undone(
    payloads: tuple[Payload, ...], states: list[tuple[str, str, float]]
) -> None:
    assert [(each.state, each.reason, each.applied_at) for each in seen(log(*payloads)).marks] == states


@pytest.mark.parametrize(
    ("payloads", "states"),
    [
        ((EDIT, WAITS), ["done", "waiting"]),
        ((WAITS, Confirmed(1, is_allowed=True), EDIT), ["confirmed", "done"]),
        ((WAITS, Confirmed(1, is_allowed=False)), ["declined"]),
        (
            (WAITS, Confirmed(1, is_allowed=False), Confirmed(1, is_allowed=True), Confirmed(7, is_allowed=True)),
            ["declined"],
        ),
        ((EDIT, WAITS, Reset(("agent_notes.md",)), EDIT), ["undone", "undone", "done"]),
        ((EDIT, Edit("", "plan.md", "a", "b", by="person"), Reset(("agent_notes.md",))), ["undone", "done"]),
        ((WAITS, Confirmed(1, is_allowed=False), Reset(())), ["declined"]),
    ],
)
def test_an_edit_is_done_waits_is_decided_or_undone(payloads: tuple[Payload, ...], states: list[str]) -> None:
    assert [each.state for each in seen(log(*payloads)).edits] == states


@pytest.mark.parametrize(
    ("payloads", "told"),
    [
        ((), ((), 0.0, "")),
        ((Offered("en", ("a",), "fold"), Offered("en", ("b",), "fold")), (("b",), 1.0, "")),
        ((Offered("en", ("a",), "fold"), Ended("loop")), (("a",), 1.0, "loop")),
        ((Offered("en", ("a",), "fold"), Ended("loop"), Offered("en", (), "fold")), ((), 1.0, "loop")),
        ((Ended("loop"), Offered("en", ("a",), "first")), (("a",), 2.0, "")),
    ],
)
def test_the_offer_is_told_since_when_and_why_it_ended(
    payloads: tuple[Payload, ...], told: tuple[tuple[str, ...], float, str]
) -> None:
    desk = seen(log(*payloads))
    assert (desk.offered.names if desk.offered else (), desk.offered_at, desk.ended) == told


def test_pins_calls_and_the_last_reset_are_told() -> None:
    called = Called("remember", "{}", "ok", 1)
    board = Board(b"a", "x", "low", "")
    desk = seen(log(Pin(b"a"), Pin(b"b"), Pin(b"a", is_pinned=False), called, called, board, Reset(()), Pin(b"c")))
    assert (dict(desk.pins), desk.calls, desk.reset_at) == ({b"b": 2.0, b"c": 8.0}, {"remember": 2}, 7.0)


# --- hidden rounds ---


def calls(text: str, *made: tuple[str, str, str]) -> Said:
    told = [
        {"id": id_, "type": "function", "function": {"name": name, "arguments": given}} for id_, name, given in made
    ]
    return {"role": "assistant", "content": text, "tool_calls": told}


def raw(*said: Said) -> tuple[bytes, ...]:
    return tuple(map(msgspec.json.encode, said))


def one_each(_: Message) -> int:
    return 1


LONG = '{"file_name":"a.md","content":"' + "x" * 3_000 + '"}'
TWO_ROUNDS = Hidden(
    b"l",
    b"a",
    raw(
        calls("Let me see.", ("c1", "load_from_disk", "{}"), ("c2", "save_to_disk_memory", LONG)),
        result("c1", "the file"),
        result("c2", "Saved."),
        calls("", ("c3", "load_from_disk", "{}")),
        result("c3", "No such file."),
    ),
)
NOTED = (
    Called("load_from_disk", "{}", "ok", 1),
    Called("save_to_disk", LONG[:2_000], "ok", 1),
    Called("load_from_disk", "{}", "no-file", 2),
)


def test_each_round_is_told_with_its_calls_results_and_tokens() -> None:
    assert rounds(log(*NOTED, TWO_ROUNDS), one_each) == (
        HiddenRound(
            "Let me see.",
            (
                HiddenCall("load_from_disk", "{}", "the file", "ok"),
                HiddenCall("save_to_disk_memory", LONG, "Saved.", "ok"),
            ),
            3,
        ),
        HiddenRound("", (HiddenCall("load_from_disk", "{}", "No such file.", "no-file"),), 2),
    )


def test_of_a_turn_that_called_the_clients_tools_too_ours_alone_are_told() -> None:
    mixed = calls("Both.", ("c1", "look", "{}"), ("c2", "remember", "{}"), ("c3", "get_time", "{}"))
    results = raw(result("c2", "Done."), result("c3", "noon"))
    hidden = Hidden(b"l", b"a", (), raw(mixed)[0], results, ("c1",))
    (told,) = rounds(log(Called("remember", "{}", "ok", 1), hidden), one_each)
    assert told.calls == (
        HiddenCall("remember", "{}", "Done.", "ok"),
        HiddenCall("get_time", "{}", "noon", ""),  # a result of the client's own tool that was known already
    )
    assert told.tokens == 3


def test_where_the_exchange_is_not_kept_calls_are_told_as_they_were_noted() -> None:
    assert rounds(log(*NOTED), one_each) == (
        HiddenRound(
            "",
            (HiddenCall("load_from_disk", "{}", None, "ok"), HiddenCall("save_to_disk", LONG[:2_000], None, "ok")),
            0,
        ),
        HiddenRound("", (HiddenCall("load_from_disk", "{}", None, "no-file"),), 0),
    )


def test_without_calls_there_are_no_rounds() -> None:
    assert rounds([], one_each) == ()
    assert rounds(log(Pin(b"a"), Board(b"a", "x", "low", "")), one_each) == ()
