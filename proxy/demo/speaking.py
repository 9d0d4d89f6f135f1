"""The demonstration's requests in each API, as a client of that API sends them for the same conversation, and their
answers as chat completions."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from proxy.protocol import apis
from proxy.protocol.message import message
from proxy.protocol.messages import blocks
from proxy.protocol.responses import items
from proxy.types import ApiName

Fields = Mapping[str, Any]

MOST_TOKENS = 2_000  # of an answer; Messages want to be told


def asked(api: ApiName, model: str, messages: Sequence[Fields], fields: Fields) -> tuple[str, dict[str, Any]]:
    """Returns the path behind /v1 and the body of a request. `fields`: of a chat completion, besides the messages."""
    path = apis.path_of(api)
    if api == "chat":
        return path, {"model": model, "messages": messages, **fields}
    given = dict(fields)
    functions = [tool["function"] for tool in given.pop("tools", ())]
    system = "\n\n".join(said["content"] for said in messages if said["role"] == "system")
    told: dict[str, Any]
    said = [message(each) for each in messages if each["role"] != "system"]
    if api == "responses":
        tools = [{"type": "function", **function} for function in functions]
        told = {"instructions": system, "input": msgspec.Raw(b"[" + items.written(said, frozenset()) + b"]")}
    else:
        tools = [_tool(function) for function in functions]
        told = {"system": system, "max_tokens": MOST_TOKENS, "messages": msgspec.Raw(blocks.written(said))}
    return path, {"model": model, **told, **({"tools": tools} if tools else {}), **given}


def _tool(function: Fields) -> dict[str, Any]:
    described = {"description": function.get("description", ""), "input_schema": function.get("parameters", {})}
    return {"name": function["name"], **described}


def answered(body: bytes) -> Fields:
    """Returns an answer as a chat completion."""
    return apis.completion_in(msgspec.json.decode(body, type=dict[str, Any]))
