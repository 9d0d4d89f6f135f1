"""Tests of repeated calls of the client's tools, and of edits that go round in circles."""

import json
from collections.abc import Sequence

import pytest

from proxy.desk.planned import View
from proxy.desk.repeated import LOOP, call_key, goes_round, is_listed, results
from proxy.protocol.message import message
from proxy.types import Message, ToolCall
from proxy.types.desk import Edit


def call(name: str, arguments: object, name_of_call: str) -> Message:
    function = {"name": name, "arguments": json.dumps(arguments)}
    made = {"id": name_of_call, "type": "function", "function": function}
    return message({"role": "assistant", "content": None, "tool_calls": [made]})


def result(name_of_call: str, text: object) -> Message:
    return message({"role": "tool", "tool_call_id": name_of_call, "content": text})


def view(*messages: Message, hidden: Sequence[int] = ()) -> View:
    links = tuple(bytes([index]) * 16 for index in range(len(messages)))
    return View(messages, links, links, frozenset(hidden))


def found(seen: View, since: float = 0.0, at: float = 10.0) -> dict[tuple[str, bytes], str]:
    return results(seen, ["get_*", "read_file"], dict.fromkeys(seen.chain, at), since)


READ = (call("read_file", {"path": "a", "line": 1}, "c1"), result("c1", "text of a"))


@pytest.mark.note("5.1/2", "Caché 5.1/2")
def test_a_result_is_known_by_name_and_arguments_however_they_are_written() -> None:
    again = call_key(ToolCall("c2", "read_file", '{ "line":1,"path":"a"}'))
    assert again is not None
    assert found(view(*READ))[again] == "text of a"


@pytest.mark.note("Caché 5.1/3")
@pytest.mark.parametrize(
    ("seen", "since"),
    [
        (view(*READ, call("write_file", {"path": "a"}, "c2"), result("c2", "ok")), 0.0),
        (view(*READ), 11.0),
        (view(call("read_file", {"path": "a"}, "c1")), 0.0),
        (view(READ[0], result("c1", [{"type": "text", "text": "x"}, {"type": "image_url", "image_url": {}}])), 0.0),
        (view(call("list_files", {}, "c1"), result("c1", "a b")), 0.0),
        (view(call("read_file", {}, "c1"), result("other", "a b")), 0.0),
    ],
    ids=["another tool since", "too old", "no result yet", "an image", "not listed", "another call's"],
)
def test_a_result_is_not_known(seen: View, since: float) -> None:
    assert found(seen, since) == {}


def test_the_newest_of_equal_calls_counts_and_hidden_calls_drop_nothing() -> None:
    ours = (call("remember", {"key": "a", "value": "b"}, "m1"), result("m1", "Remembered"))
    again = (call("read_file", {"path": "a", "line": 1}, "c2"), result("c2", "newer"))
    seen = view(*READ, *ours, *again, hidden=(2, 3))
    assert list(found(seen).values()) == ["newer"]
    assert list(found(view(*READ, *ours, hidden=(2, 3))).values()) == ["text of a"]


@pytest.mark.parametrize(
    ("name", "listed"), [("get_user", True), ("GET_user", False), ("read_file", True), ("x", False)]
)
def test_names_are_matched_by_patterns(name: str, listed: bool) -> None:
    assert is_listed(name, ["get_*", "read_file"]) is listed


def test_edits_that_write_the_same_texts_again_and_again_are_a_loop() -> None:
    def edit(after: str, name: str = "agent_notes.md") -> Edit:
        return Edit("edit_section", name, "", after)

    back_and_forth = [edit("ab"[number % 2]) for number in range(LOOP)]
    assert goes_round(back_and_forth[1:], back_and_forth[0])
    assert not goes_round(back_and_forth[2:], back_and_forth[0])
    assert not goes_round([edit(str(number)) for number in range(LOOP)], edit("new"))
    assert not goes_round([edit("a", f"{number}.md") for number in range(LOOP)], edit("a"))
