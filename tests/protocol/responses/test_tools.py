"""Tools of the Responses API as those of a chat completion."""

from typing import Any

import pytest

from proxy.protocol.responses.tools import can_choose, chat_tools, choose, tools_beside

Json = Any
LOOK: Json = {
    "type": "function",
    "name": "look",
    "parameters": {},
    "strict": None,
    "defer_loading": True,
    "output_schema": {},
}
PATCH = {"type": "custom", "name": "patch"}
SEARCH = {"type": "web_search"}


def test_tools_are_functions_of_what_a_chat_completion_knows() -> None:
    tools, custom, foreign = chat_tools([LOOK, SEARCH, PATCH, None])
    assert [tool["function"]["name"] for tool in tools] == ["look", "patch"]
    assert tools[0]["function"] == {"name": "look", "parameters": {}}
    assert (set(custom), foreign) == ({"patch"}, "tools[1]")


def allowed(*names: Json, mode: Json = "auto") -> Json:
    return {"type": "allowed_tools", "mode": mode, "tools": [{"type": "function", "name": name} for name in names]}


@pytest.mark.parametrize(
    ("choice", "can"),
    [
        (None, True),
        ("required", True),
        ({"type": "function", "name": "look"}, True),
        ({"type": "function"}, False),
        ({"type": "web_search"}, False),
        (["look"], False),
        (allowed("look", "other"), True),
        (allowed("other"), False),
        (allowed(["look"]), False),
        (allowed("look", mode="sometimes"), False),
        (allowed(), False),
    ],
)
def test_a_choice_that_cannot_be_told_is_known(choice: Json, can: bool) -> None:
    assert can_choose(choice, [LOOK, PATCH, None]) is can
    assert not can_choose(allowed("look"), "look")


def test_a_choice_is_told() -> None:
    chat: Json = {"tools": chat_tools([LOOK, PATCH])[0]}
    choose(chat, allowed("patch", mode="required"))
    assert ([tool["function"]["name"] for tool in chat["tools"]], chat["tool_choice"]) == (["patch"], "required")


@pytest.mark.parametrize(
    ("given", "choice", "beside"),
    [
        ([LOOK], "auto", {}),
        ([], "auto", {}),
        (None, None, {}),
        ([LOOK, SEARCH], "auto", {"tools": ["look's", SEARCH], "tool_choice": "auto"}),
        ([SEARCH], {"type": "web_search"}, {"tools": ["look's", SEARCH], "tool_choice": {"type": "web_search"}}),
        ([LOOK], {"type": "mcp"}, {"tool_choice": {"type": "mcp"}}),
        ("look", None, {"tools": ["look's", "look"]}),
    ],
)
def test_what_no_chat_completion_has_stays_as_it_came(given: Json, choice: Json, beside: Json) -> None:
    assert tools_beside({"tools": given, "tool_choice": choice}, {"tools": ["look's"]}) == beside
