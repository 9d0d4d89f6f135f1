"""Items of a response's input as messages of a chat completion, and messages as items.

What the model said between two inputs (reasoning, text, calls of tools) is one message, as it is one answer; it stands
or falls as a whole. A message knows the bytes of its items. It is *sealed* where it holds reasoning that is encrypted:
then nothing in it may be rewritten."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from proxy.protocol.message import INSTRUCTIONS, ChatCompletionMessage, chat_message
from proxy.protocol.origin import told_result
from proxy.protocol.responses import reasoning
from proxy.types import Json, Message

_OUTPUTS = ("function_call_output", "custom_tool_call_output")
_ROLES = frozenset({"user", "system", "developer"})
_TEXTS = frozenset({"input_text", "output_text", "text"})
_values = msgspec.json.Decoder(dict[str, msgspec.Raw])
_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True)
class ReadItems:
    """The messages of an input, the first item that is none of a conversation, and the first that no chat completion
    can express, though it stays where it is."""

    messages: tuple[ChatCompletionMessage, ...]
    opaque: str = ""  # `input[3]: web_search_call`; "": there is none
    foreign: str = ""  # `input[0]`, `input[2].content[1]`; "": there is none
    dangling: str = ""  # call_id of the first output whose call is not there; "": there is none
    has_own: bool = False  # reasoning that the proxy has handed out: it is no provider's to read


@dataclass(slots=True)
class _Said:
    """The words of the model between two inputs, item by item."""

    spans: list[bytes] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    calls: list[Json] = field(default_factory=list)
    is_sealed: bool = False

    def message(self) -> ChatCompletionMessage:
        data: dict[str, Any] = {"role": "assistant", "content": "\n\n".join(self.texts) if self.texts else None}
        if self.refusals:
            data["refusal"] = "\n\n".join(self.refusals)
        if self.reasoning:
            data["reasoning_content"] = "\n\n".join(self.reasoning)
        if self.calls:
            data["tool_calls"] = self.calls
        return chat_message(_encode(data), data, span=b",".join(self.spans), is_sealed=self.is_sealed)


def read(items: Sequence[Mapping[str, Json]], raws: Sequence[bytes]) -> ReadItems:
    """Reads an input that is a list. An output whose call is not there is opaque: the call may be at the provider."""
    reading = _Reading()
    for at, (item, raw) in enumerate(zip(items, raws, strict=True)):
        reading.take(at, item, raw)
    return reading.ended()


class _Reading:
    """An input that is being read, item by item."""

    def __init__(self) -> None:
        self._messages: list[ChatCompletionMessage] = []
        self._said: _Said | None = None
        self._calls: set[str] = set()
        self._opaque = self._foreign = self._dangling = ""
        self._has_own = False

    def take(self, at: int, item: Mapping[str, Json], raw: bytes) -> None:
        """Reads the item at this place."""
        kind = item.get("type", "message" if "role" in item else "")
        self._foreign = self._foreign or _foreign(item, kind, at)
        is_told = kind == "message" and item.get("role") == "assistant"
        if is_told or kind in ("reasoning", "function_call", "custom_tool_call"):
            self._say(item, kind, raw)
            return
        self._close()
        if kind in _OUTPUTS and str(item.get("call_id")) not in self._calls:
            self._dangling = self._dangling or str(item.get("call_id"))
        elif (given := _given(item, kind, raw)) is not None:
            self._messages.append(given)
            return
        elif kind == "additional_tools" and all(each.role in INSTRUCTIONS for each in self._messages):
            data = {"role": "developer", "content": ""}  # tools beside the request's own, before anything is said
            self._messages.append(chat_message(_encode(data), data, span=raw, is_sealed=True))
            self._foreign = self._foreign or f"input[{at}]"
            return
        self._opaque = self._opaque or f"input[{at}]: {str(kind)[:60] or 'unknown'}"

    def ended(self) -> ReadItems:
        """Returns what was read."""
        self._close()
        return ReadItems(tuple(self._messages), self._opaque, self._foreign, self._dangling, self._has_own)

    def _say(self, item: Mapping[str, Json], kind: str, raw: bytes) -> None:
        said = self._said = self._said or _Said()
        if kind == "reasoning" and reasoning.is_own(item):
            self._has_own = True
        else:
            said.spans.append(raw)
        _take(said, item, kind)
        if kind in ("function_call", "custom_tool_call"):
            self._calls.add(str(item.get("call_id")))

    def _close(self) -> None:
        if self._said is not None:
            self._messages.append(self._said.message())
            self._said = None


def answer_of(items: Sequence[tuple[Mapping[str, Json], bytes]]) -> ChatCompletionMessage:
    """Returns the items of one answer, each decoded and in its bytes, as the message that they are read as when they
    come back. Items of kinds that are none of a conversation are in its bytes alone."""
    made = _Said()
    for item, raw in items:
        made.spans.append(raw)
        _take(made, item, str(item.get("type")))
    return made.message()


def added_tools(messages: Sequence[Message]) -> set[str]:
    """Returns the names of tools that stand in items of their own, before anything is said."""
    names: set[str] = set()
    for each in messages:
        if each.role not in INSTRUCTIONS:
            break
        match msgspec.json.decode(each.span or b"{}"):
            case {"type": "additional_tools", "tools": list(tools)}:
                names |= {str(tool.get("name")) for tool in tools if isinstance(tool, dict)}
    return names


# Kinds of items that need no id, though it names them at the provider that made them.
_PORTABLE = frozenset(
    {"message", "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output", "reasoning"}
)


def portable(raw: bytes) -> bytes:
    """Returns an item of an earlier response as one that any upstream may be sent: under no id, since only the provider
    that has stored it knows that; reasoning that is not encrypted, for us to read. A kind that we do not know stays."""
    values = _values.decode(raw)
    kind = msgspec.json.decode(values.get("type", b'"message"'))
    if not isinstance(kind, str) or kind not in _PORTABLE:
        return raw
    values.pop("id", None)
    if kind == "reasoning" and msgspec.json.decode(values.get("encrypted_content", b"null")) is None:
        text, _ = reasoning.read(msgspec.json.decode(raw))
        values["encrypted_content"] = msgspec.Raw(_encode(reasoning.sealed(text)))
    return _encode(values)


def _foreign(item: Mapping[str, Json], kind: str, at: int) -> str:
    """Returns the part of an item that no chat completion can express; "" if there is none."""
    name = "output" if kind in _OUTPUTS else "content"
    if kind != "message" and kind not in _OUTPUTS:
        return ""
    content = item.get(name)
    if content is None or isinstance(content, str):
        return ""
    if not isinstance(content, list):
        return f"input[{at}].{name}"
    found = next((index for index, part in enumerate(content) if not _is_expressible(part)), None)
    return "" if found is None else f"input[{at}].{name}[{found}]"


def _is_expressible(part: Json) -> bool:
    match part:
        case {"type": str(kind), "text": str()} if kind in _TEXTS:
            return True
        case {"type": "refusal", "refusal": str()} | {"type": "input_image", "image_url": str()}:
            return True
        case _:
            return False


def _given(item: Mapping[str, Json], kind: str, raw: bytes) -> ChatCompletionMessage | None:
    """Returns an item that is given to the model as a message; None if it is none."""
    role = item.get("role")
    if kind == "message" and isinstance(role, str) and role in _ROLES:
        data = {"role": role, "content": _content(item.get("content"))}
    elif kind in _OUTPUTS:
        call = str(item.get("call_id"))
        data = {"role": "tool", "tool_call_id": call, "content": told_result(_content(item.get("output")))}
    else:
        return None
    return chat_message(_encode(data), data, span=raw)


def _take(said: _Said, item: Mapping[str, Json], kind: str) -> None:
    match kind:
        case "message":
            _take_text(said, item.get("content"))
        case "function_call":
            function = {"name": item.get("name"), "arguments": item.get("arguments")}
            said.calls.append({"id": item.get("call_id"), "type": "function", "function": function})
        case "custom_tool_call":
            arguments = _encode({"input": item.get("input")}).decode()
            function = {"name": item.get("name"), "arguments": arguments}
            said.calls.append({"id": item.get("call_id"), "type": "function", "function": function})
        case "reasoning":
            text, is_sealed = reasoning.read(item)
            said.is_sealed = said.is_sealed or is_sealed
            if text:
                said.reasoning.append(text)


def _take_text(said: _Said, content: Json) -> None:
    if isinstance(content, str):
        said.texts.append(content)
        return
    for part in content if isinstance(content, list) else ():
        match part:
            case {"type": "output_text" | "input_text" | "text", "text": str(text)}:
                said.texts.append(text)
            case {"type": "refusal", "refusal": str(text)}:
                said.refusals.append(text)


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def _content(content: Json) -> Json:
    """Returns a content as that of a chat message. Parts of kinds that it does not know stay as they are."""
    if not isinstance(content, list):
        return content if isinstance(content, str) else _encode(content).decode() if content is not None else ""
    return [_part(part) for part in content]


def _part(part: Json) -> Json:
    match part:
        case {"type": str(kind), "text": str(), **more} if kind in _TEXTS:
            return {"type": "text", **more, "text": part["text"]}
        case {"type": "input_image", "image_url": str(url), **more}:
            detail = {"detail": more.pop("detail")} if more.get("detail") is not None else {}
            return {"type": "image_url", "image_url": {"url": url, **detail}, **more}
        case _:
            return part


# --- and back ---------------------------------------------------------------------------------------------------------


def written(messages: Sequence[Message], custom: frozenset[str]) -> bytes:
    """Returns messages as the elements of an input, joined by commas: the client's own items, and of messages that were
    changed, or come from elsewhere, items that say the same."""
    free = {call.id for said in messages for call in said.tool_calls if call.name in custom}
    spans = [said.span or b",".join(map(_encode, _items(said, free))) for said in messages]
    return b",".join(filter(None, spans))  # of reasoning of ours alone nothing is left


def _items(said: Message, free: Collection[str]) -> Iterator[Json]:
    """Yields the items of a message. `free`: ids of calls whose input is free text."""
    if said.role == "tool":
        content = said.data.get("content")
        output = content if isinstance(content, str) else [_input_part(part) for part in _list(content)]
        kind = "custom_tool_call_output" if said.tool_call_id in free else "function_call_output"
        yield {"type": kind, "call_id": said.tool_call_id, "output": output}
        return
    if said.role != "assistant":
        content = said.data.get("content")
        inputs = content if isinstance(content, str) else [_input_part(part) for part in _list(content)]
        yield {"type": "message", "role": said.role, "content": inputs}
        return
    if said.text:
        yield {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": said.text}]}
    for call in said.tool_calls:
        if call.id in free:
            yield {
                "type": "custom_tool_call",
                "call_id": call.id,
                "name": call.name,
                "input": free_text(call.arguments),
            }
        else:
            yield {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.arguments or "{}"}


def _input_part(part: Json) -> Json:
    match part:
        case {"type": "text", "text": str(), **more}:
            return {"type": "input_text", **more, "text": part["text"]}
        case {"type": "image_url", "image_url": {"url": str(url), **how}, **more}:
            return {"type": "input_image", "image_url": url, **how, **more}
        case _:
            return part


def free_text(arguments: str | None) -> str:
    """Returns the input of a custom tool from the arguments of the function that stands for it: its only string, else
    all of it."""
    try:
        match msgspec.json.decode(arguments or ""):
            case {"input": str(text)}:
                return text
    except msgspec.DecodeError:
        pass
    return arguments or ""
