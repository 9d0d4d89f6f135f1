"""Items of a response's input as messages, and back."""

import json
from itertools import pairwise
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.protocol.chains import identity_of
from proxy.protocol.dialects import OPENAI, violations
from proxy.protocol.message import message, prefixed, replaced, suffixed
from proxy.protocol.messages.blocks import has_broken_seal
from proxy.protocol.responses import items
from proxy.types import Message
from tests.other_apis import call, free_call, inputs, misplaced_items, said, thought

Json = Any
CUSTOM = frozenset({"patch"})


def read(*given: Json) -> items.ReadItems:
    return items.read(given, [json.dumps(item).encode() for item in given])


def written(messages: tuple[Message, ...] | list[Message]) -> list[Json]:
    return list(msgspec.json.decode(b"[" + items.written(messages, CUSTOM) + b"]"))


def output(call_id: str, text: Json = "ok", kind: str = "function_call_output") -> Json:
    return {"type": kind, "call_id": call_id, "output": text}


USER = {"role": "user", "content": "Hello"}


@pytest.mark.parametrize(
    ("given_items", "roles"),
    [
        ([USER], ["user"]),
        ([{"role": "developer", "content": "x"}, USER], ["developer", "user"]),
        ([USER, thought(1), said(1, "Hi"), USER], ["user", "assistant", "user"]),
        ([USER, said(1, "One"), said(2, "Two"), USER], ["user", "assistant", "user"]),
        ([USER, thought(1), said(1, "One"), thought(2), said(2, "Two"), USER], ["user", "assistant", "user"]),
        ([USER, said(1, "One"), thought(2), call("a"), output("a")], ["user", "assistant", "tool"]),
        ([USER, thought(1), call("a"), call("b"), output("a"), output("b")], ["user", "assistant", "tool", "tool"]),
        (
            [USER, thought(1), call("a"), thought(2), call("b"), output("a"), output("b")],
            ["user", "assistant"] + ["tool"] * 2,
        ),
        (
            [USER, said(1, "Let me look"), call("a"), output("a"), said(2, "So")],
            ["user", "assistant", "tool", "assistant"],
        ),
        ([USER, call("a"), said(1, "I look"), output("a")], ["user", "assistant", "tool"]),
    ],
)
def test_what_the_model_said_between_two_inputs_is_one_message(given_items: list[Json], roles: list[str]) -> None:
    messages = read(*given_items).messages
    assert [each.role for each in messages] == roles
    assert violations(messages, OPENAI, thinking=False) == ()


@given(inputs())
def test_messages_that_are_kept_are_the_clients_own_items(given_items: list[Json]) -> None:
    raws = [json.dumps(item, ensure_ascii=False).encode() for item in given_items]
    found = items.read(given_items, raws)
    assert items.written(found.messages, CUSTOM) == b",".join(raws)
    assert found.opaque == ""
    assert violations(found.messages, OPENAI, thinking=False) == ()


@given(inputs(), st.data())
def test_any_whole_turns_that_are_left_out_leave_a_valid_input(given_items: list[Json], data: st.DataObject) -> None:
    messages = read(*given_items).messages
    starts = [at for at, each in enumerate(messages) if each.role == "user"] + [len(messages)]
    turns = [messages[begins:ends] for begins, ends in pairwise(starts)]
    kept = data.draw(st.lists(st.sampled_from(turns), unique_by=id))
    assert misplaced_items(written([each for turn in turns if turn in kept for each in turn])) == []


def test_changed_messages_are_items_that_say_the_same() -> None:
    image = {"type": "input_image", "image_url": "https://a/b.png", "detail": "low"}
    asked = {"role": "user", "content": [{"type": "input_text", "text": "What is it?"}, image]}
    first, _, told, _, free = read(
        asked, call("a"), output("a", "long"), free_call("b"), output("b", "long", "custom_tool_call_output")
    ).messages
    calls = read(asked, call("a"), output("a"), free_call("b"), output("b", kind="custom_tool_call_output")).messages
    changed = [prefixed(first, "Before"), calls[1], replaced(told, "short"), calls[3], replaced(free, "short")]
    assert written(changed) == [
        {
            "type": "message",
            "role": "user",
            "content": [
                {"type": "input_text", "text": "Before\n"},
                {"type": "input_text", "text": "What is it?"},
                image,
            ],
        },
        call("a"),
        {"type": "function_call_output", "call_id": "a", "output": "short"},
        free_call("b"),
        {"type": "custom_tool_call_output", "call_id": "b", "output": "short"},
    ]


def test_messages_from_elsewhere_are_items() -> None:
    function = {"name": "patch", "arguments": '{"input":"text"}'}
    other = {"name": "look", "arguments": "{}"}
    calls = [{"id": "a", "type": "function", "function": function}, {"id": "b", "type": "function", "function": other}]
    told = message({"role": "assistant", "content": "I look", "tool_calls": calls})
    assert [item["type"] for item in written([told])] == ["message", "custom_tool_call", "function_call"]
    assert written([told])[1]["input"] == "text"


def test_sealed_reasoning_stays_whole() -> None:
    (_, answer) = read(USER, thought(1), said(1, "Hi")).messages
    assert answer.is_sealed
    assert replaced(answer, "other") is answer


def test_reasoning_that_we_have_handed_out_is_read_again_and_goes_to_no_provider() -> None:
    ours = {"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "olvido:SSB0aGluaw=="}
    (_, answer) = read(USER, ours, said(1, "Hi")).messages
    assert (answer.data["reasoning_content"], answer.is_sealed) == ("I think", False)
    assert [item["type"] for item in written([answer])] == ["message"]
    alone = read(USER, ours, USER)
    assert (alone.has_own, [item["role"] for item in written(alone.messages)]) == (True, ["user", "user"])


def test_an_answer_is_recognised_however_it_is_told() -> None:
    (_, answer) = read(USER, said(1, "Hi")).messages
    assert identity_of(answer) == identity_of(message({"role": "assistant", "content": "Hi"}))


@pytest.mark.parametrize("kind", ["web_search_call", "compaction", "item_reference", "something_new"])
def test_an_item_that_is_none_of_a_conversation_is_named(kind: str) -> None:
    assert read(USER, {"type": kind, "id": "x"}).opaque == f"input[1]: {kind}"


def test_tools_beside_the_requests_own_stay_as_they_are() -> None:
    tools = {"type": "additional_tools", "role": "developer", "tools": [{"type": "function", "name": "look"}]}
    found = read(tools, USER)
    assert (found.opaque, found.foreign) == ("", "input[0]")
    assert written(found.messages)[0] == tools
    assert has_broken_seal([suffixed(found.messages[0], "More")])
    assert items.added_tools(found.messages) == {"look"}
    assert items.added_tools(read(USER).messages) == set()
    assert read(USER, tools).opaque == "input[1]: additional_tools"  # said in between, it is nobody's to move


@given(inputs())
def test_an_answer_reads_when_it_comes_back_as_it_did_when_it_was_given(given_items: list[Json]) -> None:
    for message_ in read(*given_items).messages:
        if message_.role == "assistant":
            raws = [json.dumps(item).encode() for item in msgspec.json.decode(b"[%b]" % message_.span)]
            found = items.answer_of([(json.loads(raw), raw) for raw in raws])
            assert (identity_of(found), found.is_sealed) == (identity_of(message_), message_.is_sealed)


def test_an_output_without_its_call_is_none_of_this_input() -> None:
    found = read(USER, output("z"), call("z"))  # it may be at the provider
    assert (found.opaque, found.dangling) == ("input[1]: function_call_output", "z")


@pytest.mark.parametrize(
    ("item", "named"),
    [
        ({"role": "user", "content": [{"type": "input_text", "text": "x"}]}, ""),
        ({"role": "user", "content": [{"type": "input_image", "image_url": "data:x", "detail": None}]}, ""),
        ({"role": "user", "content": [{"type": "input_text", "text": "x"}, {"type": "input_file"}]}, "content[1]"),
        ({"role": "user", "content": [{"type": "input_image", "file_id": "f"}]}, "content[0]"),
        ({"role": "user", "content": [None]}, "content[0]"),
        ({"role": "user", "content": 7}, "content"),
        ({"role": "assistant", "content": [{"type": "output_audio"}]}, "content[0]"),
        ({**output("a"), "output": [{"type": "input_file", "file_url": "x"}]}, "output[0]"),
        ({**output("a"), "output": {"a": 1}}, "output"),
    ],
)
def test_a_part_that_no_chat_completion_can_express_is_named(item: Json, named: str) -> None:
    assert read(USER, call("a"), item).foreign == (named and f"input[2].{named}")


ODD: list[Json] = [None, 1, "x", "", [], ["a"], {}, {"a": 1}, [None], [{"type": None}], True]


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("name", ["type", "role", "content", "call_id", "name", "arguments", "output", "input", "id"])
def test_an_item_of_any_form_can_be_read_and_keeps_its_bytes(name: str, odd: Json) -> None:
    whole = [USER, thought(1), call("a"), free_call("b"), said(1, "So"), output("a"), USER]
    for at in range(len(whole)):
        given_items = [*whole[:at], {**whole[at], name: odd}, *whole[at + 1 :]]
        raws = [json.dumps(item).encode() for item in given_items]
        found = items.read(given_items, raws)
        if not found.opaque:
            assert items.written(found.messages, CUSTOM) == b",".join(raws)


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("name", ["summary", "content", "encrypted_content", "id"])
def test_reasoning_of_any_form_can_be_read(name: str, odd: Json) -> None:
    (_, answer) = read(USER, {**thought(1), name: odd}, said(1, "Hi")).messages
    assert written([answer])[0][name] == odd


def test_an_image_is_the_same_item_again_when_its_message_has_changed() -> None:
    image = {"type": "input_image", "image_url": "data:x", "detail": "low", "prompt_cache_breakpoint": {"mode": "x"}}
    (asked,) = read({"role": "user", "content": [image]}).messages
    assert asked.data["content"][0]["image_url"] == {"url": "data:x", "detail": "low"}
    assert written([suffixed(asked, "More")])[0]["content"][0] == image
