"""Messages of the Messages API, made of blocks, as messages of a chat completion, and back.

A user's message with results of tools is several messages there: a result each, and then what the user says beside
them. Each knows the bytes of its blocks. A message is *sealed* where it holds thinking that is signed: nothing in it
may be rewritten, and it is written with its own bytes or not at all."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import msgspec

from proxy.errors import BadRequest
from proxy.protocol.message import ChatCompletionMessage, chat_message
from proxy.protocol.messages.parts import IS_ERROR, is_expressed, part, result_part
from proxy.protocol.origin import told_result
from proxy.types import Json, Message

# The signature under which a client is told thinking that was broken off: no provider has signed it, none is sent it.
UNFINISHED = "olvido:unfinished"

_encode = msgspec.json.Encoder().encode


class _Listed(msgspec.Struct):
    """A message whose content is a list."""

    content: list[msgspec.Raw]


_listed = msgspec.json.Decoder(_Listed)


@dataclass(frozen=True, slots=True)
class ReadMessages:
    """The messages of a request; the first block that is none of a conversation, and the first that is none of a chat
    completion: `messages[3].content[0]: server_tool_use`; "": there is none."""

    messages: tuple[ChatCompletionMessage, ...]
    opaque: str = ""
    foreign: str = ""
    has_own: bool = False  # thinking that the proxy has told as unfinished


class _Block(msgspec.Struct):
    """A block, decoded, in its own bytes, and its place. A struct, since there are many to a request."""

    data: Mapping[str, Json]
    raw: bytes
    message: int
    number: int | None = None  # None: the message's content is a text

    @property
    def kind(self) -> str:
        return str(self.data.get("type"))

    @property
    def place(self) -> str:
        return f"messages[{self.message}]" + ("" if self.number is None else f".content[{self.number}]")


def read(messages: Sequence[Mapping[str, Json]], raws: Sequence[bytes]) -> ReadMessages:
    """Reads the messages of a request. Raises BadRequest for a content that is neither a text nor blocks."""
    made: list[ChatCompletionMessage] = []
    opaque = foreign = ""
    has_own = False
    for at, (said, raw) in enumerate(zip(messages, raws, strict=True)):
        blocks = _blocks(said, raw, at)
        role = said.get("role")
        if role == "assistant":
            whole = [block for block in blocks if block.data.get("signature") != UNFINISHED]
            has_own = has_own or len(whole) < len(blocks)
            one, unknown = _assistant(whole)
            made.append(one)
        elif role in ("user", "system"):
            several, unknown, untold = _user(blocks, str(role))
            made += several
            foreign = foreign or untold
        else:
            raise BadRequest(f"messages.{at}.role: expected user or assistant.", param="messages")
        opaque = opaque or unknown
    return ReadMessages(tuple(made), opaque, opaque or foreign, has_own)


def _blocks(said: Mapping[str, Json], raw: bytes, at: int) -> list[_Block]:
    content = said.get("content")
    if isinstance(content, str):
        data = {"type": "text", "text": content}
        return [_Block(data, _encode(data), at)]
    if not isinstance(content, list) or not all(isinstance(block, dict) for block in content):
        raise BadRequest(f"messages.{at}.content: expected a string or an array of blocks.", param="messages")
    spans = _listed.decode(raw).content
    return [
        _Block(block, bytes(span), at, number) for number, (block, span) in enumerate(zip(content, spans, strict=True))
    ]


def _assistant(blocks: Sequence[_Block]) -> tuple[ChatCompletionMessage, str]:
    texts: list[str] = []
    thoughts: list[str] = []
    calls: list[Json] = []
    is_sealed = False
    opaque = ""
    for block in blocks:
        match block.data:
            case {"type": "text", "text": str(text)}:
                texts.append(text)
            case {"type": "thinking", "thinking": str(thought), **more}:
                thoughts.append(thought)
                is_sealed = is_sealed or bool(more.get("signature"))
            case {"type": "redacted_thinking"}:
                is_sealed = True
            case {"type": "tool_use", "id": str(id_), "name": str(name), **more} if isinstance(
                more.get("input", {}), dict
            ):
                arguments = _encode(more.get("input", {})).decode()
                calls.append({"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}})
            case _:
                opaque = opaque or f"{block.place}: {block.kind[:60]}"
    data: dict[str, Any] = {"role": "assistant", "content": "\n\n".join(texts) if texts else None}
    if thoughts:
        data["reasoning_content"] = "\n\n".join(thoughts)
    if calls:
        data["tool_calls"] = calls
    span = b",".join([block.raw for block in blocks])
    return chat_message(_encode(data), data, span=span, is_sealed=is_sealed), opaque


def _user(blocks: Sequence[_Block], role: str) -> tuple[list[ChatCompletionMessage], str, str]:
    made: list[ChatCompletionMessage] = []
    rest: list[_Block] = []
    opaque = foreign = ""
    for block in blocks:
        match block.data:
            case {"type": "tool_result", "tool_use_id": str(id_), **more} if isinstance(
                more.get("content"), str | list | None
            ):
                result, untold = _result(more, block.place)
                data = {"role": "tool", "tool_call_id": id_, "content": result}
                made.append(chat_message(_encode(data), data, span=block.raw))
                foreign = foreign or untold
            case {"type": "text", "text": str()}:
                rest.append(block)
            case {"type": "image"}:
                rest.append(block)
                foreign = foreign or ("" if is_expressed(part(block.data)) else f"{block.place}: image")
            case _:
                rest.append(block)
                opaque = opaque or f"{block.place}: {block.kind[:60]}"
    if rest or not made:
        content: Json = [part(block.data) for block in rest]
        if len(rest) == 1 and set(content[0]) == {"type", "text"}:
            content = content[0]["text"]
        data = {"role": role, "content": content}
        made.append(chat_message(_encode(data), data, span=b",".join([block.raw for block in rest])))
    return made, opaque, foreign


def _result(more: Mapping[str, Json], place: str) -> tuple[Json, str]:
    """Returns a tool's result as a chat completion has it, and the first part of it that none can have."""
    content, foreign = more.get("content") or "", ""
    if isinstance(content, list):
        parts = [result_part(each) for each in content]
        untold = next((at for at, each in enumerate(parts) if not is_expressed(each)), None)
        foreign = "" if untold is None else f"{place}.content[{untold}]: part of a result"
        content = told_result(parts)
    if more.get("is_error") is True:
        content = f"{IS_ERROR}{content}" if isinstance(content, str) else [{"type": "text", "text": IS_ERROR}, *content]
    return content, foreign


# --- and back ---------------------------------------------------------------------------------------------------------


def spans(messages: Sequence[Message]) -> list[bytes]:
    """Returns the blocks of each message, as a JSON array without its brackets: the client's own, and of messages that
    were changed, or come from elsewhere, blocks that say the same."""
    return [said.span or b",".join(map(_encode, _made(said))) for said in messages]


def written(messages: Sequence[Message], of_each: Sequence[bytes] | None = None) -> bytes:
    """Returns messages as a JSON array of this API. Results of tools and what the user says beside them are one
    message. `of_each`: their blocks; None: as `spans` makes them."""
    parts: list[bytes] = []
    open_blocks: list[bytes] = []
    told = spans(messages) if of_each is None else of_each
    for (said, after), span in zip(pairwise([*messages, None]), told, strict=True):
        assert said is not None
        open_blocks.append(span)
        if said.role == "tool" and after is not None and after.role in ("tool", "user"):
            continue
        role = "user" if said.role == "tool" else said.role
        parts.append(b'{"role":"%s","content":[%s]}' % (role.encode(), b",".join(open_blocks)))
        open_blocks = []
    return b"[" + b",".join(parts) + b"]"


def _made(said: Message) -> Iterator[Json]:
    content = said.data.get("content")
    if said.role == "tool":
        told = content if isinstance(content, str) else [_block(part) for part in content or ()]
        yield {"type": "tool_result", "tool_use_id": said.tool_call_id, "content": told}
        return
    if isinstance(content, str):
        if content:
            yield {"type": "text", "text": content}
    else:
        yield from (_block(part) for part in content or ())
    for call in said.tool_calls:
        yield {"type": "tool_use", "id": call.id, "name": call.name, "input": arguments_of(call.arguments)}


def arguments_of(arguments: Json) -> Json:
    """Returns a call's arguments, which are JSON, as an object; {} where they are none."""
    try:
        decoded = msgspec.json.decode(arguments) if isinstance(arguments, str) else {}
    except (ValueError, RecursionError):
        return {}
    return decoded if isinstance(decoded, dict) else {}


def _block(part: Json) -> Json:
    match part:
        case {"type": "image_url", "image_url": {"url": str(url)}}:
            if url.startswith("data:") and ";base64," in url:
                kind, _, data = url.removeprefix("data:").partition(";base64,")
                return {"type": "image", "source": {"type": "base64", "media_type": kind, "data": data}}
            return {"type": "image", "source": {"type": "url", "url": url}}
        case _:
            return part


def has_broken_seal(messages: Sequence[Message]) -> bool:
    """True if a message holds reasoning that was signed, without the bytes that its signature is about."""
    return any(said.is_sealed and not said.span for said in messages)


def are_signed(blocks: Iterable[Mapping[str, Json]]) -> bool:
    """True if one of these blocks is thinking under a signature."""
    return any(each.get("type") == "redacted_thinking" or bool(each.get("signature")) for each in blocks)
