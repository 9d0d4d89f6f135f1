"""Calls of tools, read however an upstream has written them.

Arguments are to be JSON as a text; some servers give the object itself. The call of a custom tool has an input, free
text, in their place. A name may come in the namespace of the model's own template (`functions.look`), with the number
of the call (`look:0`), or with capitals.
"""

import re
from collections.abc import Collection, Mapping
from typing import Any

import msgspec

from proxy.types import Json, ToolCall

_SPELLING = re.compile(r"(?:[\w-]+[.:/])*([A-Za-z_][\w-]*)(?::\d+)?")

_encode = msgspec.json.Encoder().encode


def function_of(call: Json) -> Mapping[str, Any]:
    """Returns the function that a call names, its name and arguments; {} if it names none."""
    function = call.get("function") if isinstance(call, dict) else None
    return function if isinstance(function, dict) else {}


def called(call: Json) -> Mapping[str, Any]:
    """Returns the function that a call names, as `function_of`; that of a custom tool with its input as the only
    argument."""
    if (function := function_of(call)) or not isinstance(call, dict):
        return function
    match call.get("custom"):
        case {"name": name, "input": str(given)}:
            return {"name": name, "arguments": {"input": given}}
        case _:
            return {}


def arguments_in(function: Mapping[str, Json]) -> str | None:
    """Returns the arguments of a function that is called, as JSON; None if they are neither text nor an object."""
    match function.get("arguments"):
        case str(text):
            return text
        case dict() as given:
            return _encode(given).decode()
        case _:
            return None


def read_call(call: Json) -> ToolCall:
    """Returns a call of a function as it reads; one without a name for what is none."""
    function = function_of(call)
    name, id_ = function.get("name"), call.get("id") if isinstance(call, dict) else None
    named = name if isinstance(name, str) else ""
    return ToolCall("" if id_ is None else str(id_), named, arguments_in(function))


def meant(name: str, names: Collection[str]) -> str | None:
    """Returns the one of these names that a call means by its own; None if it means none of them."""
    if name in names:
        return name
    spelt = _SPELLING.fullmatch(name)
    short = spelt[1].lower() if spelt else ""
    return short if short in names else None
