"""Bodies of the Messages API with more in them, all else to the byte."""

import msgspec
import pytest

from proxy.desk.schemas import MEMORY_OFFER, NAMES, definitions
from proxy.protocol.messages.bodies import BUILT_IN, followed, with_tools
from proxy.protocol.tool_results import result
from proxy.types import ToolCall
from tests.builders import assistant, messages

OWN = b'{"name": "look",  "input_schema":{}}'
HEAD = b'{"model":"m","max_tokens":  5,"messages":[ {"role":"user","content":"caf\\u00e9"} ]'


def test_tools_stand_behind_the_clients_own_in_the_apis_form() -> None:
    body = HEAD + b',"tools":[' + OWN + b"]}"
    made = with_tools(body, definitions("en", NAMES), has_built_in=True)
    assert OWN in made
    tools = msgspec.json.decode(made)["tools"]
    assert [tool["name"] for tool in tools] == ["look", *NAMES]
    assert all(set(tool) == {"name", "description", "input_schema"} for tool in tools[1:])


@pytest.mark.parametrize("rest", [b"}", b',"tools":null}', b',"tools":[]}'])
def test_a_body_without_tools_gets_some(rest: bytes) -> None:
    made = with_tools(HEAD + rest, definitions("en", MEMORY_OFFER), has_built_in=True)
    assert msgspec.json.decode(made)["tools"] == [BUILT_IN]


def test_a_provider_without_the_memory_tool_gets_its_schema() -> None:
    (tool,) = msgspec.json.decode(with_tools(HEAD + b"}", definitions("en", MEMORY_OFFER), has_built_in=False))["tools"]
    assert tool["name"] == "memory"
    assert "str_replace" in tool["input_schema"]["properties"]["command"]["enum"]


def test_messages_of_a_further_round_stand_behind_the_others() -> None:
    call = ToolCall("m1", "memory", '{"command":"view"}')
    calls = [{"id": "m1", "type": "function", "function": {"name": "memory", "arguments": call.arguments}}]
    (said,) = messages(assistant("So.", tool_calls=calls))
    made = followed(HEAD + b"}", [said, result(call, "empty")])
    assert b'{"role":"user","content":"caf\\u00e9"}' in made
    assert msgspec.json.decode(made)["messages"][1:] == [
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "So."},
                {"type": "tool_use", "id": "m1", "name": "memory", "input": {"command": "view"}},
            ],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "m1", "content": "empty"}]},
    ]


@pytest.mark.parametrize("body", [b'{"model":"m"}', b'{"messages":[]}'])
def test_a_body_without_messages_cannot_be_continued(body: bytes) -> None:
    with pytest.raises(ValueError, match="cannot be continued"):
        followed(body, [])
