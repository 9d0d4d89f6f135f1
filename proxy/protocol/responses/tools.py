"""Tools of a request, and the choice among them, as those of a chat completion: functions, and functions that stand for
tools with free text."""

from collections.abc import Mapping, Sequence

from proxy.types import Json

# The fields of a function that a chat completion knows. What else there is says how tools are searched, or called by
# code that the provider runs: there they are foreign themselves.
_OF_FUNCTION = ("description", "parameters", "strict")


def tools_beside(fields: Mapping[str, Json], chat: Mapping[str, Json]) -> dict[str, Json]:
    """Returns the tools, and the choice among them, as the neutral request holds them where some are none of a chat
    completion: these stay as they came."""
    given, choice = fields.get("tools"), fields.get("tool_choice")
    others = [each for each in given if not _is_callable(each)] if isinstance(given, list) else [given] if given else []
    beside: dict[str, Json] = {"tools": [*chat.get("tools", ()), *others]} if others else {}
    if choice is not None and (others or (not isinstance(choice, str) and "tool_choice" not in chat)):
        beside["tool_choice"] = choice
    return beside


def _is_callable(tool: Json) -> bool:
    return isinstance(tool, dict) and tool.get("type") in ("function", "custom") and isinstance(tool.get("name"), str)


def chat_tools(given: Json) -> tuple[list[Json], frozenset[str], str]:
    """Returns tools as a chat completion's, the names of those with free text, and the first that is none."""
    tools: list[Json] = []
    custom: list[str] = []
    foreign = ""
    for at, each in enumerate(given if isinstance(given, list) else ()):
        match each:
            case {"type": "function", "name": str(name), **more}:
                function = {key: more[key] for key in _OF_FUNCTION if more.get(key) is not None}
                tools.append({"type": "function", "function": {"name": name, **function}})
            case {"type": "custom", "name": str(name)}:
                custom.append(name)
                tools.append(_free_tool(name, each))
            case _:
                foreign = foreign or f"tools[{at}]"
    return tools, frozenset(custom), foreign


def _free_tool(name: str, more: Mapping[str, Json]) -> Json:
    """Returns a function that stands for a tool whose input is free text."""
    told = more.get("description")
    description = told if isinstance(told, str) else ""
    match more.get("format"):
        case {"type": "grammar", "definition": str(grammar), "syntax": str(syntax)}:
            description += f"\n\nThe input follows this grammar ({syntax}):\n{grammar}"
    schema = {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]}
    return {"type": "function", "function": {"name": name, "description": description.strip(), "parameters": schema}}


def can_choose(choice: Json, given: Json) -> bool:
    """True if a chat completion can express a choice among these tools."""
    match choice:
        case None | str() | {"type": "function" | "custom", "name": str()}:
            return True
        case {"type": "allowed_tools", "mode": "auto" | "required", "tools": list(allowed)}:
            names = {each["name"] for each in given if _is_callable(each)} if isinstance(given, list) else set()
            return any(each in names for each in _names(allowed))
        case _:
            return False


def choose(chat: dict[str, Json], choice: Json) -> None:
    """Puts a choice into a chat completion with tools."""
    match choice:
        case str():
            chat["tool_choice"] = choice
        case {"type": "function" | "custom", "name": str(name)}:
            chat["tool_choice"] = {"type": "function", "function": {"name": name}}
        case {"type": "allowed_tools", "mode": str(mode), "tools": list(allowed)}:
            names = frozenset(_names(allowed))
            chat["tools"] = [tool for tool in chat["tools"] if tool["function"]["name"] in names]
            chat["tool_choice"] = mode


def _names(tools: Sequence[Json]) -> list[str]:
    return [tool["name"] for tool in tools if isinstance(tool, dict) and isinstance(tool.get("name"), str)]
