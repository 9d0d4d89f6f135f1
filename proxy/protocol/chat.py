"""The neutral request, read from a `/v1/chat/completions` body, and its canonical form. The names of request fields are
known in this folder and nowhere else.

Two requests of one canonical form ask the upstream the same thing. Everything in a request is part of that form except
the fields in `UNKEYED`; a field nobody has heard of is a part, so a new one can cost a miss and never a wrong answer.
Key order, whitespace and escapes make no difference, anything else does: 1, 1.0 and true are three values, null is not
absence, and no two strings are taken for the same.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import msgspec

from proxy.types import ChatRequest, Json, Message, RequestOrigin, ResponseFormat, Sampling, SessionSource, Tool

# Left out only if it differs between requests that are otherwise the same and cannot reach the model. Two that may look
# as if they belonged here are keyed: `store` (an answer made without it is not at the provider to be fetched again) and
# `service_tier` (the answer names the tier that made it). So is every field of a message.
UNKEYED: Mapping[str, str] = MappingProxyType(
    {
        "stream": "how the answer travels; a stored one is told both ways",
        "stream_options": "which extra events a stream has; they are made anew for each client",
        "user": "who asks: the scope holds the end user already",
        "safety_identifier": "who asks, for the provider's abuse checks; the scope holds it already",
        "metadata": "labels for the provider's dashboard; the model never sees them",
        "prompt_cache_key": "routes to a warm prefix cache: price and speed, not the answer",
        "prompt_cache_options": "where and how long the provider keeps the prefix: price, not the answer",
        "prompt_cache_retention": "how long the provider keeps the prefix: price, not the answer",
        "request_id": "names this one request (vLLM)",
    }
)
# Fields that make a provider search the web while it answers (OpenAI; xAI; DashScope, Perplexity, Z.ai; OpenRouter;
# Cohere). Such answers grow old.
SEARCHING = frozenset(
    {"web_search_options", "search_parameters", "enable_search", "search_options", "search_domain_filter"}
    | {"search_recency_filter", "plugins", "connectors"}
)
# Fields that ask for text of a certain form, where a disclaimer would break it (vLLM, SGLang, llama.cpp, Ollama).
CONSTRAINING = frozenset(
    {"guided_json", "guided_regex", "guided_choice", "guided_grammar", "structured_outputs", "structural_tag"}
    | {"json_schema", "grammar", "regex", "ebnf", "format"}
)
# Fields that ask for the tokens of an answer; the disclaimer has none.
TOKEN_DETAILS = frozenset(
    {"logprobs", "top_logprobs", "prompt_logprobs", "return_token_ids", "return_tokens_as_token_ids"}
)
BILLED = ("tools", "functions", "response_format")  # fields beside the messages that cost tokens
SESSION_METADATA = ("session_id", "conversation_id", "thread_id", "chat_id")

_encode = msgspec.json.Encoder(order="deterministic").encode


@dataclass(frozen=True, slots=True)
class ChatCompletionRequest:
    """The body of a chat completion request; `ChatRequest` documents its properties. `model` and `stream` are read
    often, so they are read once."""

    raw: bytes
    fields: Mapping[str, Json]  # every top-level field but `messages`
    messages: tuple[Message, ...]
    model: str
    stream: bool
    origin: RequestOrigin | None = None
    is_rewritten: bool = False  # its messages are not those that the client has sent

    @property
    def wants_usage_chunk(self) -> bool:
        options = self.fields.get("stream_options")
        return isinstance(options, dict) and options.get("include_usage") is True

    @property
    def n(self) -> float:
        n = self.fields.get("n")
        return 1 if n is None else n if isinstance(n, int | float) else 0

    @property
    def answer_limit(self) -> int | None:
        limits = (self.fields.get(name) for name in ("max_completion_tokens", "max_tokens"))
        return next((limit for limit in limits if isinstance(limit, int) and not isinstance(limit, bool)), None)

    @property
    def sampling(self) -> Sampling:
        temperature, seed = self.fields.get("temperature"), self.fields.get("seed")
        return Sampling(
            temperature if isinstance(temperature, int | float) and not isinstance(temperature, bool) else None,
            seed if isinstance(seed, int) and not isinstance(seed, bool) else None,
        )

    @property
    def has_tools(self) -> bool:
        return bool(self.fields.get("tools") or self.fields.get("functions"))

    @property
    def tools(self) -> Sequence[Tool]:
        tools = self.fields.get("tools")
        return [tool(definition) for definition in tools] if isinstance(tools, list) else []

    @property
    def tool_names(self) -> Sequence[str | None]:
        if not self.has_tools:
            return ()
        tools, functions = _list(self.fields.get("tools")), _list(self.fields.get("functions"))
        return (*map(_function_name, tools), *map(_name, functions))

    @property
    def tool_choice(self) -> str | None:
        choice = self.fields.get("tool_choice")
        return choice if choice is None or isinstance(choice, str) else "required"

    @property
    def response_format(self) -> ResponseFormat | None:
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
        return _is_any_given(self.fields, CONSTRAINING)

    @property
    def wants_token_details(self) -> bool:
        return _is_any_given(self.fields, TOKEN_DETAILS)

    @property
    def wants_audio(self) -> bool:
        return self.fields.get("audio") is not None or self.fields.get("modalities") not in (None, ["text"])

    @property
    def wants_search(self) -> bool:
        return _is_any_given(self.fields, SEARCHING)

    @property
    def beside(self) -> Mapping[str, Json]:
        return {name: value for name in BILLED if (value := self.fields.get(name))}

    @property
    def most_tokens(self) -> int | None:
        limits = (self.fields.get(name) for name in ("max_completion_tokens", "max_tokens"))
        return max((each for each in limits if type(each) is int and each > 0), default=None)

    @property
    def session_hint(self) -> tuple[str, SessionSource] | None:
        if isinstance(key := self.fields.get("prompt_cache_key"), str) and key:
            return key, "prompt_cache_key"
        metadata = self.fields.get("metadata")
        if isinstance(metadata, dict):
            for name in SESSION_METADATA:
                if isinstance(value := metadata.get(name), str) and value:
                    return value, "metadata"
        return None

    @property
    def user_hint(self) -> str:
        for name in ("safety_identifier", "user"):
            if (named := self.fields.get(name)) is not None and named != "":
                # Some clients number their users: two numbers are two people, whatever the upstream says to it.
                return named if isinstance(named, str) else _encode(named).decode()
        return ""


def keyed(request: ChatRequest) -> dict[str, Json]:
    """The fields of a request, beside its messages, that can make a difference to the answer."""
    return {name: value for name, value in request.fields.items() if name not in UNKEYED}


def canonical(request: ChatRequest) -> tuple[bytes, bool]:
    """Returns the canonical form of a request, and True if it is ambiguous: a name that stands twice in an object has
    two values, and which of them counts is the upstream's to say."""
    form = _encode(keyed(request) | {"messages": [message.data for message in request.messages]})
    # A parsed object keeps one of two equal names, so the client's bytes have more quotation marks than ours. A `"`
    # inside a string is `\"` in ours and may be `\u0022` in the client's; nothing else makes the counts differ.
    unkeyed = {name: value for name, value in request.fields.items() if name in UNKEYED}
    ours = form.count(b'"') + (_encode(unkeyed).count(b'"') if unkeyed else 0)
    return form, request.raw.count(b'"') + request.raw.count(rb"\u0022") != ours


def tool(definition: Json) -> Tool:
    """Reads an element of `tools`; its name is "" if it is no function with a name."""
    match definition:
        case {"function": {"name": str(name), **function}}:
            return Tool(name, function.get("parameters") or {}, definition)
        case _:
            return Tool("", {}, definition)


def function_tool(name: str, description: str, parameters: Json) -> Json:
    """Returns the definition of a function that the model may call, as an element of `tools`."""
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


def _list(value: Json) -> list[Json]:
    return [] if value is None else value if isinstance(value, list) else [value]


def _function_name(tool: Json) -> str | None:
    is_function = isinstance(tool, dict) and tool.get("type", "function") == "function"
    return _name(tool.get("function")) if is_function else None


def _name(function: Json) -> str | None:
    name = function.get("name") if isinstance(function, dict) else None
    return name if isinstance(name, str) else None


def _is_any_given(fields: Mapping[str, Json], names: frozenset[str]) -> bool:
    return any(fields[name] not in (None, False) for name in names.intersection(fields))
