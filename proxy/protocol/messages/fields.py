"""Fields of a request of the Messages API: which of them keep a request as it came, which a chat completion can
express, and which an answer depends on."""

from collections.abc import Callable, Mapping

from proxy.types import Json

ALIKE = ("model", "stream", "temperature", "top_p")
_HANDS_OFF = (
    *("context_management", "container", "mcp_servers", "thread", "compaction", "fallbacks"),
    "fallback_credit_token",  # holds for the very body that was refused
)
# What is told in a chat completion's own fields, so that it is not keyed twice.
_TOLD = frozenset(
    {*ALIKE, "max_tokens", "messages", "system", "stop_sequences", "tools", "tool_choice", "output_format"}
)
# Labels, and what is about the price alone: they make no difference to the answer.
_LABELS = frozenset({"metadata", "cache_control", "diagnostics", "betas", "user_profile_id", "workspace_id"})
# Hints that an upstream which is translated to does without.
_HINTS = frozenset({"top_k", "thinking", "service_tier", "output_config", "inference_geo", "speed"})
# Edits by which the provider leaves old results or thinking out of a prompt. Whoever leaves none out sends more, and
# says the same. Claude Code asks for one with every request that thinks.
_CLEARING = ("clear_thinking_", "clear_tool_uses_")
_PLAIN_TOOL = frozenset({"name", "description", "input_schema", "type", "cache_control"})


def hands_off(fields: Mapping[str, Json]) -> str:
    """Returns the first field that speaks of state or work at the provider; "": there is none."""
    return next((name for name in _HANDS_OFF if fields.get(name)), "")


def foreign(fields: Mapping[str, Json]) -> str:
    """Returns the first field that says something which no chat completion can express; "": there is none."""
    for name, value in fields.items():
        is_known = name in _TOLD or name in _LABELS or name in _HINTS
        is_clearing = name == "context_management" and _only_clears(value)
        if not is_known and not is_clearing and value not in (None, False, [], {}):
            return name
    return next((name for name, is_readable in _READABLE.items() if not is_readable(fields.get(name))), "")


def _only_clears(management: Json) -> bool:
    match management:
        case {"edits": list(edits), **more} if not more:
            kinds = [edit.get("type") if isinstance(edit, dict) else None for edit in edits]
            return all(isinstance(kind, str) and kind.startswith(_CLEARING) for kind in kinds)
        case _:
            return False


def _is_instruction(system: Json) -> bool:
    match system:
        case None | str():
            return True
        case list():
            return all(isinstance(each, dict) and isinstance(each.get("text"), str) for each in system)
        case _:
            return False


def _is_choice(choice: Json) -> bool:
    match choice:
        case None | {"type": "auto" | "any" | "none"} | {"type": "tool", "name": str()}:
            return True
        case _:
            return False


# Fields of several forms, which are read before they are told.
_READABLE: Mapping[str, Callable[[Json], bool]] = {
    "system": _is_instruction,
    "tools": lambda tools: isinstance(tools, list | None),
    "tool_choice": _is_choice,
}


def unexpressed(fields: Mapping[str, Json]) -> dict[str, Json]:
    """Returns what a chat completion's fields do not tell, and an answer may depend on: for an upstream that has this
    API two requests that differ in it are two."""
    apart = {
        name: value for name, value in fields.items() if value is not None and name not in _TOLD and name not in _LABELS
    }
    tools = fields.get("tools")
    more = [
        {name: value for name, value in each.items() if name not in _PLAIN_TOOL} if isinstance(each, dict) else each
        for each in (tools if isinstance(tools, list) else ())
    ]
    return {**apart, "more_of_tools": more} if any(more) else apart
