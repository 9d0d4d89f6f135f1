"""The neutral request and message, read from a `/v1/chat/completions` body. The names of its fields are known here, in
`fields.py` and in the other modules of this folder, and nowhere else."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from proxy.protocol import fields as known
from proxy.types import Json, Message, Part, ResponseFormat, Sampling, SessionSource, Tool, ToolCall

# What a message may have and still be its text alone. Reasoning that a client sends back is the model's, not the
# conversation's; `cache_control` is about its price.
_OF_SOLE_TEXT = frozenset({"role", "content", "reasoning_content", "reasoning", "reasoning_details", "cache_control"})
_OF_TEXT_PART = frozenset({"type", "text", "cache_control"})
_OF_BARE = frozenset({"role", "content", "tool_call_id"})
_TEXT_TYPES = frozenset({"text", "input_text", "output_text", "refusal", "thinking", "reasoning"})
_encode = msgspec.json.Encoder(order="deterministic").encode


class ChatCompletionMessage(msgspec.Struct, frozen=True):
    """One element of `messages`. A msgspec struct, since there are many to a request: it is made in a tenth of a frozen
    dataclass's time. Role and text are read often, so they are read once."""

    raw: bytes
    data: Mapping[str, Json]
    role: str
    text: str
    is_plain: bool

    @property
    def is_bare(self) -> bool:
        """True if nothing but the role and one string costs tokens."""
        return self.is_plain and _OF_BARE.issuperset(self.data)

    @property
    def texts(self) -> Sequence[str]:
        """The text parts, each by itself."""
        return (self.text,) if self.is_plain else _texts(self.data.get("content"))

    @property
    def has_only_text(self) -> bool:
        """True if the content is nothing but text: one string, or text parts."""
        content = self.data.get("content")
        return self.is_plain or (
            isinstance(content, list) and bool(content) and all(_text(part) is not None for part in content)
        )

    @property
    def sole_text(self) -> str | None:
        """The text; None if the message carries anything else, or an unknown field."""
        if any(value for name, value in self.data.items() if name not in _OF_SOLE_TEXT):
            return None
        content = self.data.get("content")
        if self.is_plain:
            return self.text
        if not isinstance(content, list) or not all(map(_is_nothing_but_text, content)):
            return None
        return "\n".join(part["text"] for part in content)

    @property
    def written(self) -> str:
        """The text of all parts, those in another API's form included."""
        if self.is_plain:
            return self.text
        return "\n".join(str(part.get("text") or "") for part in self.data.get("content") or ())

    @property
    def is_multimodal(self) -> bool:
        """True if the message has an image, sound, a file, or a part of unknown type."""
        content = self.data.get("content")
        if self.data.get("audio") is not None:
            return True
        if self.is_plain or content is None:
            return False
        return not isinstance(content, list) or not all(
            isinstance(part, dict) and part.get("type") in _TEXT_TYPES for part in content
        )

    @property
    def parts(self) -> Sequence[Part]:
        """The elements of a content that is a list; empty for any other content."""
        content = self.data.get("content")
        return tuple(map(_part, content)) if isinstance(content, list) else ()

    @property
    def beside(self) -> Sequence[Json]:
        """Texts and JSON values beside the content that cost tokens: reasoning, a refusal, calls."""
        data = self.data
        said = [said for name in ("reasoning_content", "refusal") if isinstance(said := data.get(name), str)]
        return said + [calls for name in ("tool_calls", "function_call") if (calls := data.get(name))]

    @property
    def name(self) -> str | None:
        """The `name` of the speaker; None if absent."""
        return name if isinstance(name := self.data.get("name"), str) else None

    @property
    def reasoning(self) -> str:
        """The reasoning text of an assistant message, from each provider's own field; "" if there is none."""
        data = self.data
        plain = [value for name in ("reasoning_content", "reasoning") if isinstance(value := data.get(name), str)]
        lists = [data.get(name) for name in ("reasoning_details", "thinking_blocks")]
        parts = [part for each in lists if isinstance(each, list) for part in each if isinstance(part, dict)]
        names = ("text", "thinking", "summary")
        blocks = [value for part in parts for name in names if isinstance(value := part.get(name), str)]
        return max(*plain, "\n".join(blocks), "", key=len)  # some say it twice

    @property
    def calls_tools(self) -> bool:
        """True if the message calls a tool or a function."""
        return bool(self.data.get("tool_calls") or self.data.get("function_call"))

    @property
    def tool_calls(self) -> Sequence[ToolCall]:
        """The tool calls of an assistant message."""
        calls = self.data.get("tool_calls")
        return [_call(call) for call in calls] if calls and isinstance(calls, list) else ()

    @property
    def tool_call_id(self) -> str:
        """The id of the call that a tool's result answers; "" if absent."""
        return "" if (id_ := self.data.get("tool_call_id")) is None else str(id_)


@dataclass(frozen=True, slots=True)
class ChatCompletionRequest:
    """The body of a chat completion request. `model` and `stream` are read often, so they are read once."""

    raw: bytes
    fields: Mapping[str, Json]  # every top-level field but `messages`
    messages: tuple[Message, ...]
    model: str
    stream: bool

    @property
    def wants_usage_chunk(self) -> bool:
        """True if the client asks for `stream_options.include_usage`."""
        options = self.fields.get("stream_options")
        return isinstance(options, dict) and options.get("include_usage") is True

    @property
    def n(self) -> float:
        """The number of choices asked for, 1 by default; 0 if it is no number."""
        n = self.fields.get("n")
        return 1 if n is None else n if isinstance(n, int | float) else 0

    @property
    def sampling(self) -> Sampling:
        """The temperature and seed; None for one that is absent or no number."""
        temperature, seed = self.fields.get("temperature"), self.fields.get("seed")
        return Sampling(
            temperature if isinstance(temperature, int | float) and not isinstance(temperature, bool) else None,
            seed if isinstance(seed, int) and not isinstance(seed, bool) else None,
        )

    @property
    def has_tools(self) -> bool:
        """True if the request offers tools or functions."""
        return bool(self.fields.get("tools") or self.fields.get("functions"))

    @property
    def tools(self) -> Sequence[Tool]:
        """The tools that the request offers; legacy `functions` are not among them."""
        tools = self.fields.get("tools")
        return [tool(definition) for definition in tools] if isinstance(tools, list) else []

    @property
    def tool_names(self) -> Sequence[str | None]:
        """The name of each tool and function; None for one that the provider runs, or that cannot be read."""
        if not self.has_tools:
            return ()
        tools, functions = _list(self.fields.get("tools")), _list(self.fields.get("functions"))
        return (*map(_function_name, tools), *map(_name, functions))

    @property
    def tool_choice(self) -> str | None:
        """ "none", "auto" or "required" (also where a tool is named); None if absent."""
        choice = self.fields.get("tool_choice")
        return choice if choice is None or isinstance(choice, str) else "required"

    @property
    def response_format(self) -> ResponseFormat | None:
        """The form that the answer must have; None if absent."""
        match self.fields.get("response_format"):
            case None:
                return None
            case {"type": "json_schema", "json_schema": {"schema": schema}}:
                return ResponseFormat("json_schema", schema)
            case {"type": ("json_object" | "json_schema") as kind}:
                return ResponseFormat(kind, {"type": "object"})
            case {"type": str(kind)}:
                return ResponseFormat(kind)
            case _:
                return ResponseFormat("")

    @property
    def constrains_text(self) -> bool:
        """True if a provider's own field makes the answer follow a grammar, a schema or a choice."""
        return known.is_any_given(self.fields, known.CONSTRAINING)

    @property
    def wants_token_details(self) -> bool:
        """True if the request asks for the answer's tokens or their probabilities."""
        return known.is_any_given(self.fields, known.TOKEN_DETAILS)

    @property
    def wants_audio(self) -> bool:
        """True if the answer may have audio."""
        return self.fields.get("audio") is not None or self.fields.get("modalities") not in (None, ["text"])

    @property
    def wants_search(self) -> bool:
        """True if the provider shall search while it answers."""
        return known.is_any_given(self.fields, known.SEARCHING)

    @property
    def beside(self) -> Mapping[str, Json]:
        """The fields beside the messages that cost tokens, by name: tools, functions, response format."""
        return {name: value for name in known.BILLED if (value := self.fields.get(name))}

    @property
    def session_hint(self) -> tuple[str, SessionSource] | None:
        """The name of the conversation that the body gives, and the field that gives it; None if absent."""
        if isinstance(key := self.fields.get("prompt_cache_key"), str) and key:
            return key, "prompt_cache_key"
        metadata = self.fields.get("metadata")
        if isinstance(metadata, dict):
            for name in known.SESSION_METADATA:
                if isinstance(value := metadata.get(name), str) and value:
                    return value, "metadata"
        return None

    @property
    def user_hint(self) -> str:
        """The end user that the body names; "" if none."""
        for name in ("safety_identifier", "user"):
            if (named := self.fields.get(name)) is not None and named != "":
                # Some clients number their users: two numbers are two people, whatever the upstream says to it.
                return named if isinstance(named, str) else _encode(named).decode()
        return ""


def chat_message(raw: bytes, data: Mapping[str, Any]) -> ChatCompletionMessage:
    """Builds the message of the bytes `raw`, whose decoded JSON is `data`."""
    role, content = data.get("role"), data.get("content")
    role = role if isinstance(role, str) else ""
    if isinstance(content, str):
        return ChatCompletionMessage(raw, data, role, content, is_plain=True)
    return ChatCompletionMessage(raw, data, role, "\n".join(_texts(content)) if content else "", is_plain=False)


def tool(definition: Json) -> Tool:
    """Reads an element of `tools`; its name is "" if it is no function with a name."""
    match definition:
        case {"function": {"name": str(name), **function}}:
            return Tool(name, function.get("parameters") or {}, definition)
        case _:
            return Tool("", {}, definition)


def _texts(content: Json) -> Sequence[str]:
    return tuple(said for part in content if (said := _text(part))) if isinstance(content, list) else ()


def _text(part: Json) -> str | None:
    match part:
        case {"type": "text", "text": str(said)}:
            return said
        case _:
            return None


def _is_nothing_but_text(part: Json) -> bool:
    return _text(part) is not None and not any(value for name, value in part.items() if name not in _OF_TEXT_PART)


def _part(part: Json) -> Part:
    match part:
        case {"type": "image_url", **rest}:
            match rest:
                case {"image_url": {"detail": "low"}}:
                    return Part("image", "", is_low=True, definition=part)
            return Part("image", "", is_low=False, definition=part)
        case {"type": "input_audio" | "file" | "video_url"}:
            return Part("media", "", is_low=False, definition=part)
        case {"text": str(text)}:
            return Part("text", text, is_low=False, definition=part)
        case _:
            return Part("other", "", is_low=False, definition=part)


def _call(call: Json) -> ToolCall:
    if not isinstance(call, dict):
        return ToolCall("", "", None)
    function = call.get("function")
    name, arguments = (function.get("name"), function.get("arguments")) if isinstance(function, dict) else (None, None)
    return ToolCall(
        "" if (id_ := call.get("id")) is None else str(id_),
        name if isinstance(name, str) else "",
        arguments if isinstance(arguments, str) else None,
    )


def _list(value: Json) -> list[Json]:
    return [] if value is None else value if isinstance(value, list) else [value]


def _function_name(tool: Json) -> str | None:
    is_function = isinstance(tool, dict) and tool.get("type", "function") == "function"
    return _name(tool.get("function")) if is_function else None


def _name(function: Json) -> str | None:
    name = function.get("name") if isinstance(function, dict) else None
    return name if isinstance(name, str) else None
