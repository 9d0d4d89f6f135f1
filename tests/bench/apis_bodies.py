"""Requests that say the same in each API."""

import json
from typing import Any

import msgspec

from proxy.protocol.message import chat_message
from proxy.protocol.messages import blocks
from proxy.protocol.responses import items
from proxy.types import ApiName, Message
from tests.bench.context_data import Conversation

Json = Any
MOST_TOKENS = 900  # of an answer, which Messages have to say


def body_of(api: ApiName, conversation: Conversation, said: list[Message]) -> Json:
    """A request that says this, in an API."""
    functions = [each["function"] for each in conversation.tools]
    definitions = [{**each, "parameters": each.get("parameters") or {"type": "object"}} for each in functions]
    leading = next((at for at, each in enumerate(said) if each.role != "system"), len(said))
    system = "\n\n".join(each.text for each in said[:leading])
    match api:
        case "responses":
            tools = [{"type": "function", "strict": None, **each} for each in definitions]
            told = json.loads(b"[" + items.written(said[leading:], frozenset()) + b"]")
            return {
                "model": "m",
                "instructions": system,
                "input": told,
                "store": False,
                "max_output_tokens": MOST_TOKENS,
                **({"tools": tools} if tools else {}),
            }
        case "messages":
            tools = [
                {("input_schema" if name == "parameters" else name): value for name, value in each.items()}
                for each in definitions
            ]
            told = json.loads(blocks.written(said[leading:]))
            return {
                "model": "m",
                "max_tokens": MOST_TOKENS,
                "system": system,
                "messages": told,
                **({"tools": tools} if tools else {}),
            }
        case _:
            first = [{"role": "system", "content": system}] if system else []
            tools = [{"type": "function", "function": each} for each in definitions]
            return {
                "model": "m",
                "messages": first + [each.data for each in said[leading:]],
                "max_tokens": MOST_TOKENS,
                **({"tools": tools} if tools else {}),
            }


def plain(said: Json) -> Message:
    """A message without what is no part of the conversation in every API, the arguments of its calls in the spelling of
    the one that has them as objects."""
    kept = {name: value for name, value in said.items() if name in ("role", "content", "tool_calls", "tool_call_id")}
    if kept.get("tool_calls"):
        kept["tool_calls"] = [_spelt(call) for call in kept["tool_calls"]]
    return chat_message(msgspec.json.encode(kept), kept)


def _spelt(call: Json) -> Json:
    function = call["function"]
    try:
        arguments = msgspec.json.encode(msgspec.json.decode(function.get("arguments") or "{}")).decode()
    except msgspec.DecodeError:
        return call
    return {**call, "function": {**function, "arguments": arguments}}
