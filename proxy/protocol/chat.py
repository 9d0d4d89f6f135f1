"""The neutral request, read from a `/v1/chat/completions` body. The names of its fields are known here, in `fields.py`
and in the other modules of this folder, and nowhere else."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

from proxy.protocol import fields as known
from proxy.types import Json, Message, ResponseFormat, Sampling, SessionSource, Tool

_encode = msgspec.json.Encoder(order="deterministic").encode


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


def tool(definition: Json) -> Tool:
    """Reads an element of `tools`; its name is "" if it is no function with a name."""
    match definition:
        case {"function": {"name": str(name), **function}}:
            return Tool(name, function.get("parameters") or {}, definition)
        case _:
            return Tool("", {}, definition)


def _list(value: Json) -> list[Json]:
    return [] if value is None else value if isinstance(value, list) else [value]


def _function_name(tool: Json) -> str | None:
    is_function = isinstance(tool, dict) and tool.get("type", "function") == "function"
    return _name(tool.get("function")) if is_function else None


def _name(function: Json) -> str | None:
    name = function.get("name") if isinstance(function, dict) else None
    return name if isinstance(name, str) else None
