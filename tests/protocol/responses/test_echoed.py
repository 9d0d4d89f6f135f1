"""What a response repeats of its request."""

from dataclasses import replace
from typing import Any

import msgspec
import pytest

from proxy.protocol.origin import Origin
from proxy.protocol.responses import request
from proxy.protocol.responses.echoed import Echo, echo_of

Json = Any


def origin(**fields: Json) -> Origin:
    body = {"model": "m", "input": "Hi", **fields}
    return request.origin_of(request.parse(msgspec.json.encode(body)))


def unsaid(echo: Echo, response: Json, *ours: str) -> Json:
    values = msgspec.json.decode(msgspec.json.encode(response), type=dict[str, msgspec.Raw])
    changed = echo.unsaid(values, ours)
    return {name: msgspec.json.decode(value) for name, value in changed.items()}


TOOLS = [{"type": "function", "name": "look"}, {"type": "function", "name": "remember"}, {"type": "web_search"}]


@pytest.mark.parametrize(
    ("response", "changed"),
    [
        ({"tools": TOOLS}, {"tools": [TOOLS[0], TOOLS[2]]}),
        ({"tools": TOOLS[:1]}, {}),
        ({"tools": None}, {}),
        ({"instructions": "Be nice."}, {}),
        ({"instructions": "Be nice.\n\nAnd remember."}, {"instructions": "Be nice."}),
        ({"instructions": None}, {"instructions": "Be nice."}),
        ({"id": "resp_1"}, {}),
    ],
)
def test_tools_of_ours_and_other_instructions_are_left_out(response: Json, changed: Json) -> None:
    assert unsaid(echo_of(origin(instructions="Be nice.")), response, "remember") == changed


def test_what_is_kept_here_is_told_as_if_the_provider_had_stored_it() -> None:
    chained = replace(origin(), chain="resp_0", is_unstored=True)
    told = unsaid(echo_of(chained), {"store": False, "previous_response_id": None})
    assert told == {"store": True, "previous_response_id": "resp_0"}
    assert unsaid(echo_of(replace(origin(store=False), is_unstored=True)), {"store": False}) == {}


UNSTORED = echo_of(replace(origin(), chain="resp_0", is_unstored=True))
RESPONSE = {"store": False, "previous_response_id": None, "output": [{"a": 1.0}]}
TOLD = {"store": True, "previous_response_id": "resp_0", "output": [{"a": 1.0}]}


def test_a_response_that_passes_tells_it_too_whole_and_in_its_events() -> None:
    raw = msgspec.json.encode(RESPONSE)
    assert msgspec.json.decode(UNSTORED.told(raw)) == TOLD
    assert UNSTORED.told(told := msgspec.json.encode(TOLD)) is told
    event = msgspec.json.encode({"type": "response.completed", "response": RESPONSE})
    assert msgspec.json.decode(UNSTORED.told_in(event)) == {"type": "response.completed", "response": TOLD}


@pytest.mark.parametrize("data", [b'{"delta":"the \\"response\\""}', b'{"response":"none"}', b'"response"', b"[DONE]"])
def test_an_event_without_a_response_stays_as_it_is(data: bytes) -> None:
    assert UNSTORED.told_in(data) is data
