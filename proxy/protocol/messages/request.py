"""A request of the Messages API, read as the neutral request of a chat completion; a changed one, written.

What is at the provider alone (its own tools, containers, context management, MCP connectors) is named in
`Origin.hands_off`: such a request passes as it is. What no chat completion can express is named in `Origin.foreign`.

The client's own breakpoints (`cache_control`) stay with their blocks; a managed prompt gets those that it lacks
(breakpoints.py).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from proxy.errors import BadRequest, MissingParameter
from proxy.protocol.chat import ChatCompletionRequest
from proxy.protocol.message import ChatCompletionMessage, chat_message
from proxy.protocol.messages import blocks, breakpoints
from proxy.protocol.messages import fields as fields_of
from proxy.protocol.origin import Origin, elements, opened
from proxy.protocol.request import MAX_MESSAGES, glimpse
from proxy.types import Breakpoints, Json, Message, Repeats

# A line that a client puts before its instructions for the provider's accounts; it changes with every request.
_ATTRIBUTION = "x-anthropic-"

_objects = msgspec.json.Decoder(list[dict[str, Any]])
_encode = msgspec.json.Encoder().encode


def parse(body: bytes) -> ChatCompletionRequest:
    """Parses a body. Raises BadRequest for one that no upstream could accept."""
    values, fields = opened(body)
    if "messages" not in values:
        raise MissingParameter("messages: Field required", param="messages")
    said = _said(bytes(values["messages"]))
    read = blocks.read(said, elements(values["messages"]))
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
        breakpoints=breakpoints.read(fields, said) if b'"cache_control"' in body else Breakpoints(),
        has_own=read.has_own and not hands_off,
    )
    chat = _chat_fields(fields, tools)
    raw = _encode(chat | {"messages": [msgspec.Raw(said.raw) for said in messages]})
    every = chat | fields_of.unexpressed(fields)
    return ChatCompletionRequest(raw, every, messages, fields["model"], fields.get("stream") is True, origin)


def glimpsed(body: bytes) -> ChatCompletionRequest | None:
    """Parses a body that `parse` cannot read, and an upstream might: half an emoji, NaN, a byte order mark. It can only
    be sent as it is. None if it is no JSON to any parser, or no request for a message."""
    loose = glimpse(body)
    if loose is None:
        return None
    origin = Origin("messages", body, {}, {}, hands_off="unreadable", foreign="messages")
    return ChatCompletionRequest(body, loose.fields, (), loose.model, loose.stream, origin)


def _said(raw: bytes) -> list[dict[str, Any]]:
    try:
        decoded = _objects.decode(raw)
    except (msgspec.ValidationError, RecursionError):
        raise BadRequest("messages: expected an array of objects.", param="messages") from None
    if not decoded:
        raise BadRequest("messages: at least one message is required", param="messages")
    if len(decoded) > MAX_MESSAGES:
        raise BadRequest(f"messages: more than {MAX_MESSAGES}", param="messages")
    return decoded


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
                told = {"description": said} if (said := more.get("description")) else {}
                tools.append({"type": "function", "function": {"name": name, **told, "parameters": schema}})
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


def stops_of(request: ChatCompletionRequest) -> tuple[str, ...]:
    """Returns the stop sequences of a request."""
    stops = request.fields.get("stop")
    return tuple(stop for stop in stops if isinstance(stop, str)) if isinstance(stops, list) else ()


# --- and back ---------------------------------------------------------------------------------------------------------


def written(
    origin: Origin, messages: Sequence[Message] | None, model: str | None, repeats: Repeats | None = None
) -> bytes:
    """Returns the body in its own API, with these messages in place of the client's; None: as they are. All other
    values keep their bytes, unless they get a breakpoint of ours. `repeats`: what later requests repeat of these
    messages; None: no breakpoints are set."""
    values = dict(origin.values)
    if model is not None:
        values["model"] = msgspec.Raw(_encode(model))
    if messages is not None:
        said, added = list(messages), 0
        if said and said[0].role == "system" and not said[0].span:
            first = said.pop(0)
            before = _system(origin.fields.get("system"))
            if before is None or first.text != before.text:
                system, added = _changed(origin.fields.get("system"), before, first)
                values["system"] = msgspec.Raw(_encode(system))
        spans: Sequence[bytes] = blocks.spans(said)
        if repeats is not None:
            left_out = len(messages) - len(said)
            repeats = replace(repeats, messages=max(0, repeats.messages - left_out))
            spans = _marked(values, spans, said, repeats, added)
        values["messages"] = msgspec.Raw(blocks.written(said, spans))
    return _encode(values)


def _marked(
    values: dict[str, msgspec.Raw], spans: Sequence[bytes], said: Sequence[Message], repeats: Repeats, added: int
) -> Sequence[bytes]:
    """Sets breakpoints in these values, and returns the spans with theirs. `added`: blocks of ours in `system`."""
    tools, system, automatic = (values.get(name) for name in ("tools", "system", "cache_control"))
    body = breakpoints.Body(
        None if tools is None else bytes(tools),
        None if system is None else bytes(system),
        spans,
        None if automatic is None else msgspec.json.decode(automatic),
        added,
    )
    done = breakpoints.placed(body, said, repeats)
    for name, before, after in (("tools", body.tools, done.tools), ("system", body.system, done.system)):
        if after is not None and after is not before:
            values[name] = msgspec.Raw(after)
    return done.spans


def _changed(system: Json, before: Message | None, first: Message) -> tuple[Json, int]:
    """Returns the instructions as they are, and behind them what was added, with the number of blocks that are; else
    the changed text, behind lines for the provider's accounts."""
    if before is not None and first.text.startswith(before.text):
        own = system if isinstance(system, list) else [{"type": "text", "text": system}]
        return [*own, {"type": "text", "text": first.text[len(before.text) :].lstrip("\n")}], 1
    added = 1 if before is None else 0
    lines = [block for block in system if _is_attribution(block)] if isinstance(system, list) else []
    return [*lines, {"type": "text", "text": first.text}] if lines else first.text, added


def _is_attribution(block: Json) -> bool:
    text = block.get("text") if isinstance(block, dict) else None
    return isinstance(text, str) and text.startswith(_ATTRIBUTION)
