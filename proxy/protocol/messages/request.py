"""A request of the Messages API, read as the neutral request of a chat completion; a changed one, written.

What is at the provider alone (its own tools, containers, context management, MCP connectors) is named in
`Origin.hands_off`: such a request passes as it is. What no chat completion can express is named in `Origin.foreign`.

The client's own breakpoints (`cache_control`) stay with their blocks. Where it sets some, and fewer than the provider
takes, a managed prompt gets one more at the end of what the next request has in common with it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from proxy.errors import BadRequest, MissingParameter
from proxy.protocol.chat import ChatCompletionRequest
from proxy.protocol.message import ChatCompletionMessage, chat_message
from proxy.protocol.messages import blocks
from proxy.protocol.messages import fields as fields_of
from proxy.protocol.origin import Origin, elements, opened
from proxy.protocol.request import MAX_MESSAGES
from proxy.types import Json, Message

MOST_BREAKPOINTS = 4  # https://docs.claude.com/en/docs/build-with-claude/prompt-caching

# A line that a client puts before its instructions for the provider's accounts; it changes with every request.
_ATTRIBUTION = "x-anthropic-"

_objects = msgspec.json.Decoder(list[dict[str, Any]])
_encode = msgspec.json.Encoder().encode


def parse(body: bytes) -> ChatCompletionRequest:
    """Parses a body. Raises BadRequest for one that no upstream could accept."""
    values, fields = opened(body)
    if "messages" not in values:
        raise MissingParameter("messages: Field required", param="messages")
    read = _read(bytes(values["messages"]))
    system = _system(fields.get("system"))
    messages: tuple[ChatCompletionMessage, ...] = read.messages if system is None else (system, *read.messages)
    tools, foreign = _tools(fields.get("tools"))
    hands_off = fields_of.hands_off(fields) or foreign or read.opaque
    origin = Origin(
        "messages",
        body,
        values,
        {name: value for name, value in fields.items() if name != "messages"},
        hands_off=hands_off,
        foreign=fields_of.foreign(fields) or foreign or read.foreign.partition(":")[0],
    )
    chat = _chat_fields(fields, tools)
    raw = _encode(chat | {"messages": [msgspec.Raw(said.raw) for said in messages]})
    every = chat | fields_of.unexpressed(fields)
    return ChatCompletionRequest(raw, every, messages, fields["model"], fields.get("stream") is True, origin)


def _read(raw: bytes) -> blocks.ReadMessages:
    try:
        decoded = _objects.decode(raw)
    except (msgspec.ValidationError, RecursionError):
        raise BadRequest("messages: expected an array of objects.", param="messages") from None
    if not decoded:
        raise BadRequest("messages: at least one message is required", param="messages")
    if len(decoded) > MAX_MESSAGES:
        raise BadRequest(f"messages: more than {MAX_MESSAGES}", param="messages")
    return blocks.read(decoded, elements(raw))


def _system(system: Json) -> ChatCompletionMessage | None:
    """Returns the instructions as a message. Its bytes stay in their own field."""
    if isinstance(system, list):
        texts = [text for block in system if isinstance(block, dict) and isinstance(text := block.get("text"), str)]
        said = "\n\n".join(text for text in texts if text and not text.startswith(_ATTRIBUTION))
    else:
        said = system if isinstance(system, str) else ""
    if not said:
        return None
    data = {"role": "system", "content": said}
    return chat_message(_encode(data), data)


def _tools(given: Json) -> tuple[list[Json], str]:
    """Returns tools as a chat completion's, and the first that the provider runs itself."""
    tools: list[Json] = []
    foreign = ""
    for at, each in enumerate(given if isinstance(given, list) else ()):
        match each:
            case {"name": str(name), "input_schema": schema, **more} if more.get("type") in (None, "custom"):
                function = {"name": name, "description": more.get("description") or "", "parameters": schema}
                tools.append({"type": "function", "function": function})
            case _:
                foreign = foreign or f"tools[{at}]"
    return tools, foreign


def _chat_fields(fields: Mapping[str, Json], tools: list[Json]) -> dict[str, Json]:
    chat = {name: fields[name] for name in fields_of.ALIKE if fields.get(name) is not None}
    if fields.get("stream"):
        chat["stream_options"] = {"include_usage": True}
    if (most := fields.get("max_tokens")) is not None:
        chat["max_tokens"] = most
    if stops := fields.get("stop_sequences"):
        chat["stop"] = stops
    if tools:
        chat["tools"] = tools
        _choose(chat, fields.get("tool_choice"))
    match fields.get("output_config"), fields.get("output_format"):
        case ({"format": {"type": "json_schema", "schema": schema}}, _) | (
            _,
            {"type": "json_schema", "schema": schema},
        ):
            chat["response_format"] = {"type": "json_schema", "json_schema": {"name": "output", "schema": schema}}
    user, session = _who(fields.get("metadata"))
    if user:
        chat["user"] = user
    if session:
        chat["metadata"] = {"session_id": session}
    return chat


def _choose(chat: dict[str, Json], choice: Json) -> None:
    match choice:
        case {"type": "any"}:
            chat["tool_choice"] = "required"
        case {"type": "tool", "name": str(name)}:
            chat["tool_choice"] = {"type": "function", "function": {"name": name}}
        case {"type": "auto" | "none" as kind}:
            chat["tool_choice"] = kind
    if isinstance(choice, dict) and choice.get("disable_parallel_tool_use"):
        chat["parallel_tool_calls"] = False


def _who(metadata: Json) -> tuple[str, str]:
    """Returns the end user and the session that `metadata.user_id` names: `user_…_session_…`, or JSON with these, as
    Claude Code writes it; else all of it is a user."""
    given = metadata.get("user_id") if isinstance(metadata, dict) else None
    if not isinstance(given, str) or not given:
        return "", ""
    try:
        match msgspec.json.decode(given):
            case {"session_id": str(session), **more}:
                return str(more.get("device_id") or more.get("account_uuid") or ""), session
    except (ValueError, RecursionError):
        pass
    user, _, session = given.partition("_session_")
    return user, session


def stops_of(origin: Origin) -> tuple[str, ...]:
    """Returns the stop sequences of a request."""
    stops = origin.fields.get("stop_sequences")
    return tuple(stop for stop in stops if isinstance(stop, str)) if isinstance(stops, list) else ()


# --- and back ---------------------------------------------------------------------------------------------------------


def written(origin: Origin, messages: Sequence[Message] | None, model: str | None) -> bytes:
    """Returns the body in its own API, with these messages in place of the client's; None: as they are. All other
    values keep their bytes."""
    values = dict(origin.values)
    if model is not None:
        values["model"] = msgspec.Raw(_encode(model))
    if messages is not None:
        said = list(messages)
        if said and said[0].role == "system" and not said[0].span:
            first = said.pop(0)
            before = _system(origin.fields.get("system"))
            if before is None or first.text != before.text:
                values["system"] = msgspec.Raw(_encode(_changed(origin.fields.get("system"), before, first)))
        array = blocks.written(said)
        values["messages"] = msgspec.Raw(with_breakpoint(array, _breakpoints(values, array)))
    return _encode(values)


def _changed(system: Json, before: Message | None, first: Message) -> Json:
    """Returns the instructions as they are, and behind them what was added; a changed text as one string."""
    if before is not None and isinstance(system, list) and first.text.startswith(before.text):
        return [*system, {"type": "text", "text": first.text[len(before.text) :].lstrip("\n")}]
    return first.text


def _breakpoints(values: Mapping[str, msgspec.Raw], array: bytes) -> int:
    """Returns the number of breakpoints that the client has set, as they are sent."""
    around = b"".join(bytes(values[name]) for name in ("system", "tools") if name in values)
    own = 1 if "cache_control" in values else 0  # automatic caching takes one
    return own + around.count(b'"cache_control"') + array.count(b'"cache_control"')


def with_breakpoint(array: bytes, set_by_client: int) -> bytes:
    """Returns messages with one more breakpoint, on the last block before the newest user's message, if the client sets
    some and there is room for it."""
    if not 0 < set_by_client < MOST_BREAKPOINTS:
        return array
    messages = msgspec.json.decode(array, type=list[msgspec.Raw])
    last = next((at for at in range(len(messages) - 1, 0, -1) if b'"role":"user"' in bytes(messages[at])[:20]), 0)
    if last < 1:
        return array
    said = msgspec.json.decode(messages[last - 1], type=dict[str, msgspec.Raw])
    content = msgspec.json.decode(said["content"], type=list[msgspec.Raw])
    block = msgspec.json.decode(content[-1]) if content else {}
    if "cache_control" in block or block.get("type") not in ("text", "tool_use", "tool_result", "image"):
        return array
    content[-1] = msgspec.Raw(_encode({**block, "cache_control": {"type": "ephemeral"}}))
    said["content"] = msgspec.Raw(_encode(content))
    messages[last - 1] = msgspec.Raw(_encode(said))
    return _encode(messages)
