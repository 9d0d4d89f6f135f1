"""The demonstration's requests, read by the proxy's own adapters: they say the same in each API."""

from typing import Any

import msgspec
import pytest

from proxy.demo.speaking import answered, asked
from proxy.protocol import apis
from proxy.types import ApiName

Json = Any
LOOK = {"type": "function", "function": {"name": "look", "description": "Looks", "parameters": {"type": "object"}}}
CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"q":1}'}}
SAID: list[Json] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Hello"},
    {"role": "assistant", "content": None, "reasoning_content": "Hm", "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "seen"},
    {"role": "assistant", "content": "So."},
    {"role": "user", "content": "And?"},
]


@pytest.mark.parametrize("api", ["chat", "responses", "messages"])
def test_a_request_says_the_same_in_each_api(api: ApiName) -> None:
    path, body = asked(api, "m", SAID, {"tools": [LOOK], "temperature": 0})
    assert path == apis.path_of(api)
    told = msgspec.json.decode(apis.as_chat(msgspec.json.encode(body)))
    assert [(each["role"], each.get("content")) for each in told["messages"]] == [
        (each["role"], each.get("content")) for each in SAID
    ]
    assert told["messages"][2]["tool_calls"] == [CALL]
    assert (told["model"], told["temperature"], told["tools"]) == ("m", 0, [LOOK])


@pytest.mark.parametrize(
    "body",
    [
        {"choices": [{"message": {"content": "Hi"}}]},
        {"object": "response", "output": [{"type": "message", "content": [{"type": "output_text", "text": "Hi"}]}]},
        {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "Hi"}]},
    ],
)
def test_an_answer_is_a_chat_completion(body: Json) -> None:
    assert answered(msgspec.json.encode(body))["choices"][0]["message"]["content"] == "Hi"
