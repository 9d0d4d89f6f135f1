"""What the model has said in a round, as it goes back upstream."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.protocol.responses import spoken
from proxy.protocol.tool_results import Said
from tests.other_apis import misplaced_items
from tests.protocol.responses.test_rounds import is_ours, rounds
from tests.responding import Round, free, searched, text, thought, use

Json = Any


def said(*items: Json, ours: tuple[int, ...] = ()) -> Said:
    found = spoken.said_in([(item, json.dumps(item).encode()) for item in items], ours)
    assert found is not None
    return found


def given_back(span: bytes) -> list[Json]:
    return list(json.loads(b"[%b]" % span))


@given(rounds(), st.booleans())
def test_what_goes_back_is_in_order_with_ours_and_without_them(drawn: list[Round], ends: bool) -> None:
    items = [*drawn[0].items, *([] if ends else [text("end", "So.")])]
    calls = [item for item in items if "call_id" in item]
    found = said(*items, ours=tuple(at for at, call in enumerate(calls) if is_ours(call)))
    assert given_back(found.message.span) == items
    assert [call.id for call in found.ours] == [call["call_id"] for call in calls if is_ours(call)]
    rest = given_back(found.rest.span)
    assert [item for item in rest if item["type"] != "reasoning"] == [
        item for item in items if item["type"] != "reasoning" and not is_ours(item)
    ]
    assert [fault for fault in misplaced_items(rest) if "reasoning" in fault and not _is_followed(rest)] == []


def _is_followed(items: list[Json]) -> bool:
    """A search that the provider made itself stands behind its reasoning, too."""
    return any(item["type"] == "web_search_call" for item in items)


def test_reasoning_stands_or_falls_with_what_follows_it() -> None:
    items = [thought("1"), use("1", "remember"), thought("2"), text("2", "So."), thought("3"), use("3", "remember")]
    assert given_back(said(*items, ours=(0, 1)).rest.span) == items[2:4]
    both = [thought("1"), use("1", "remember"), use("2", "look")]
    assert given_back(said(*both, ours=(0,)).rest.span) == [both[0], both[2]]


def test_reasoning_that_nobody_could_read_is_left_out_and_the_ids_with_it() -> None:
    found = said(thought("1", "Hm.", sealed=False), use("1", "remember"), ours=(0,))
    (call,) = given_back(found.message.span)
    assert call == {name: value for name, value in use("1", "remember").items() if name != "id"}
    open_ = {**thought("1", sealed=False), "content": [{"type": "reasoning_text", "text": "Hm."}]}
    assert given_back(said(open_, use("1", "remember"), ours=(0,)).message.span)[0] == open_


@pytest.mark.parametrize("arguments", ["", "{no", "[]", None])
def test_arguments_that_are_no_object_go_back_as_none_and_are_told_as_they_are(arguments: Json) -> None:
    call = {**use("1", "remember"), "arguments": arguments}
    found = said(call, {**call, "call_id": ""}, ours=(0, 1))
    assert [item["arguments"] for item in given_back(found.message.span)] == ["{}", "{}"]
    assert [each.arguments for each in found.ours] == [arguments] * 2
    assert all(each.id for each in found.ours)
    assert [each.id for each in found.message.tool_calls] == [each.id for each in found.ours]


def test_nothing_said_is_no_message() -> None:
    assert spoken.said_in([], ()) is None


@pytest.mark.parametrize(
    ("item", "asks"),
    [
        (text("1", "x"), False),
        (thought("1"), False),
        (searched("1"), False),
        ({"type": "tool_search_call", "execution": "server"}, False),
        ({"type": "tool_search_call", "execution": "client"}, True),
        (use("1", "look"), True),
        (free("1", "patch", "x"), True),
        ({"type": "mcp_approval_request"}, True),
        ({"type": "of a later version"}, True),
    ],
)
def test_what_asks_something_of_the_client(item: Json, *, asks: bool) -> None:
    assert spoken.asks(item) is asks
