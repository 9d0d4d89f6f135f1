"""Messages made of blocks as messages of a chat completion, and back."""

import json
from itertools import pairwise
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.errors import BadRequest
from proxy.protocol.chains import identity_of
from proxy.protocol.dialects import ANTHROPIC, violations
from proxy.protocol.message import message, prefixed, replaced
from proxy.protocol.messages import blocks
from proxy.types import Message
from tests.other_apis import dialogues, misplaced_blocks

Json = Any
USE = {"type": "tool_use", "id": "t1", "name": "look", "input": {"q": 1}}
IMAGE_PARTS = [{"type": "image_url", "image_url": {"url": "u"}}]
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": "found"}


def read(*messages: Json) -> blocks.ReadMessages:
    return blocks.read(messages, [json.dumps(each).encode() for each in messages])


def written(messages: tuple[Message, ...] | list[Message]) -> list[Json]:
    return list(msgspec.json.decode(blocks.written(messages)))


def user(*content: Json) -> Json:
    return {"role": "user", "content": list(content)}


def text(said: str, **more: Json) -> Json:
    return {"type": "text", "text": said, **more}


def unfolded(messages: list[Json]) -> list[Json]:
    """With contents as blocks."""
    return [
        {**said, "content": [text(said["content"])] if isinstance(said["content"], str) else said["content"]}
        for said in messages
    ]


@given(dialogues())
def test_messages_that_are_kept_have_the_clients_own_blocks(messages: list[Json]) -> None:
    found = read(*messages)
    assert written(found.messages) == unfolded(messages)
    assert found.opaque == ""
    assert violations(found.messages, ANTHROPIC, thinking=False) == ()


@given(dialogues(), st.data())
def test_any_whole_turns_that_are_left_out_leave_valid_messages(messages: list[Json], data: st.DataObject) -> None:
    found = read(*messages).messages
    starts = [at for at, each in enumerate(found) if each.role == "user"] + [len(found)]
    turns = [found[begins:ends] for begins, ends in pairwise(starts)]
    kept = data.draw(st.lists(st.sampled_from(turns), unique_by=id))
    sent = written([each for turn in turns if turn in kept for each in turn])
    assert [fault for fault in misplaced_blocks(sent) if "breakpoints" not in fault] == []


def test_results_and_what_is_said_beside_them_are_one_message_again() -> None:
    said = user(RESULT, text("And?", cache_control={"type": "ephemeral"}))
    found = read({"role": "user", "content": "Go"}, {"role": "assistant", "content": [USE]}, said).messages
    assert [each.role for each in found] == ["user", "assistant", "tool", "user"]
    changed = [*found[:2], replaced(found[2], "short"), prefixed(found[3], "Facts")]
    assert written(changed)[2]["content"] == [
        {"type": "tool_result", "tool_use_id": "t1", "content": "short"},
        text("Facts\n\nAnd?"),
    ]


def test_images_are_the_same_there_and_back() -> None:
    source = {"type": "base64", "media_type": "image/png", "data": "AA=="}
    (found,) = read(user({"type": "image", "source": source}, text("What?"))).messages
    assert found.parts[0].kind == "image"
    (again,) = written([prefixed(found, "Facts")])
    assert again["content"] == [text("Facts\n"), {"type": "image", "source": source}, text("What?")]


def test_a_breakpoint_makes_no_difference_to_who_is_recognised() -> None:
    (first,) = read(user(text("Hi", cache_control={"type": "ephemeral"}))).messages
    (second,) = read({"role": "user", "content": "Hi"}).messages
    assert identity_of(first) == identity_of(second)


def test_arguments_make_none_however_they_are_spelt() -> None:
    (_, found) = read({"role": "user", "content": "Go"}, {"role": "assistant", "content": [USE]}).messages
    function = {"name": "look", "arguments": '{ "q" : 1 }'}
    answer = message({"role": "assistant", "tool_calls": [{"id": "t1", "type": "function", "function": function}]})
    assert identity_of(found) == identity_of(answer)


def test_signed_thinking_stays_whole_or_is_not_sent() -> None:
    thought = {"type": "thinking", "thinking": "Hm", "signature": "s"}
    (_, found) = read({"role": "user", "content": "Go"}, {"role": "assistant", "content": [thought, USE]}).messages
    assert found.is_sealed
    assert replaced(found, "x") is found
    assert not blocks.has_broken_seal([found])


def test_thinking_that_was_broken_off_is_left_out_where_it_comes_back() -> None:
    half = {"type": "thinking", "thinking": "Hm", "signature": blocks.UNFINISHED}
    said = read({"role": "user", "content": "Go"}, {"role": "assistant", "content": [half, text("So.")]})
    assert said.has_own
    assert written(said.messages)[1] == {"role": "assistant", "content": [text("So.")]}
    assert not said.messages[1].is_sealed
    assert not read({"role": "user", "content": "Go"}).has_own


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("no such file", "Error: no such file"),
        (None, "Error: "),
        ([text("no such file")], "Error: no such file"),
        ([{"type": "image", "source": {"type": "url", "url": "u"}}], [text("Error: "), *IMAGE_PARTS]),
    ],
)
def test_a_result_of_a_tool_that_failed_says_so(content: Json, told: Json) -> None:
    (found,) = read(user({**RESULT, "content": content, "is_error": True})).messages
    assert found.data["content"] == told


@pytest.mark.parametrize(
    ("block", "opaque", "foreign"),
    [
        ({"type": "image", "source": {"type": "file", "file_id": "f"}}, "", "messages[0].content[0]"),
        ({**RESULT, "content": [text("a"), {"type": "document"}]}, "", "messages[0].content[0].content[1]"),
        ({**RESULT, "content": [{"type": "tool_reference", "tool_name": "look"}]}, "", ""),
        *(
            (block, "messages[0].content[0]", "messages[0].content[0]")
            for block in [
                {"type": "text"},
                {"type": "text", "text": 5},
                {"type": "text", "text": None},
                {"type": 5},
                {**RESULT, "content": 5},
                {**RESULT, "tool_use_id": None},
                {"type": "document", "source": {"type": "text", "data": "x"}},
            ]
        ),
    ],
)
def test_what_cannot_be_read_or_told_is_named(block: Json, opaque: str, foreign: str) -> None:
    found = read(user(block))
    assert (found.opaque.partition(":")[0], found.foreign.partition(":")[0]) == (opaque, foreign)


def test_input_that_is_no_object_is_no_call() -> None:
    found = read({"role": "assistant", "content": [{**USE, "input": "x"}]})
    assert found.opaque == "messages[0].content[0]: tool_use"


@pytest.mark.parametrize("kind", ["server_tool_use", "web_search_tool_result", "compaction", "something_new"])
@pytest.mark.parametrize("role", ["user", "assistant"])
def test_a_block_that_is_none_of_a_conversation_is_named(kind: str, role: str) -> None:
    assert read({"role": "user", "content": "Go"}, {"role": role, "content": [{"type": kind}]}).opaque == (
        f"messages[1].content[0]: {kind}"
    )


@pytest.mark.parametrize(
    "said", [{"role": "robot", "content": "x"}, {"role": "user"}, {"role": "user", "content": [1]}, {"content": "x"}]
)
def test_what_is_no_message_is_refused(said: Json) -> None:
    with pytest.raises(BadRequest):
        read(said)


@pytest.mark.parametrize(("given_", "told"), [('{"a":1}', {"a": 1}), ("", {}), (None, {}), ("[1]", {}), ("{", {})])
def test_arguments_are_an_object(given_: str | None, told: Json) -> None:
    assert blocks.arguments_of(given_) == told
