"""Calls of tools, as upstreams write them."""

from typing import Any

import pytest

from proxy.protocol.calls import arguments_in, called, meant, read_call
from proxy.types import ToolCall

Json = Any
TEXT = '{"at":"x"}'


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        pytest.param(
            {"id": "c", "type": "function", "function": {"name": "look", "arguments": TEXT}},
            ToolCall("c", "look", TEXT),
            id="as it should be",
        ),
        pytest.param(
            {"function": {"name": "look", "arguments": {"at": "x"}}},
            ToolCall("", "look", TEXT),
            id="an object (Ollama)",
        ),
        pytest.param({"id": 7, "function": {"name": "look"}}, ToolCall("7", "look", None), id="a number for an id"),
        pytest.param(
            {"function": {"name": 5, "arguments": [1]}}, ToolCall("", "", None), id="neither name nor arguments"
        ),
        pytest.param({"id": None, "function": None}, ToolCall("", "", None), id="no function"),
        pytest.param(None, ToolCall("", "", None), id="null"),
        pytest.param("look", ToolCall("", "", None), id="a text"),
        pytest.param({"type": "custom", "custom": {"name": "sh", "input": "ls"}}, ToolCall("", "", None), id="custom"),
    ],
)
def test_a_call_of_a_function_is_read_however_it_is_written(call: Json, expected: ToolCall) -> None:
    assert read_call(call) == expected


@pytest.mark.parametrize(
    ("call", "name", "arguments"),
    [
        ({"function": {"name": "look", "arguments": TEXT}}, "look", TEXT),
        ({"type": "custom", "custom": {"name": "sh", "input": 'a "b"'}}, "sh", r'{"input":"a \"b\""}'),
        ({"type": "custom", "custom": {"name": "sh"}}, None, None),
        ({"type": "custom", "custom": None}, None, None),
        (None, None, None),
    ],
)
def test_a_custom_tools_input_is_its_only_argument(call: Json, name: str | None, arguments: str | None) -> None:
    function = called(call)
    assert (function.get("name"), arguments_in(function)) == (name, arguments)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("look", "look"),
        ("Look", "look"),
        ("functions.look", "look"),  # gpt-oss
        ("default_api.look", "look"),  # Gemini
        ("functions.look:0", "look"),  # Kimi, where a server takes the id for the name
        ("look:12", "look"),
        ("default_api:look", "look"),
        ("tools/my_tools/look", "look"),
        ("Look_At", "Look_At"),
        ("look_at", None),
        ("outlook", None),
        ("look_", None),
        ("look.", None),
        ("", None),
        ("look up", None),
        ("." * 10_000, None),
        ("a" * 100_000 + "!", None),
    ],
)
def test_a_name_means_a_tool_however_the_models_template_spells_it(name: str, expected: str | None) -> None:
    assert meant(name, {"look", "Look_At"}) == expected
