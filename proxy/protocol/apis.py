"""The APIs for conversations, each an adapter to the neutral request: how a request of it is read, and written for an
upstream; where it is sent; how its events are read along.

An upstream that has the client's API gets the request in that, with the client's own items or blocks. Any other gets a
chat completion, and its answer is told in the client's API.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Protocol

import msgspec

from proxy.errors import OlvidoError
from proxy.protocol import sse
from proxy.protocol.accumulate import Accumulator
from proxy.protocol.chat import ChatCompletionRequest
from proxy.protocol.fitting import fitted
from proxy.protocol.messages import bodies as messages_bodies
from proxy.protocol.messages import output as messages_output
from proxy.protocol.messages import request as messages_request
from proxy.protocol.messages.blocks import has_broken_seal
from proxy.protocol.messages.reading import MessageReader
from proxy.protocol.origin import Origin
from proxy.protocol.request import with_changes, without
from proxy.protocol.responses import bodies as responses_bodies
from proxy.protocol.responses import output as responses_output
from proxy.protocol.responses import request as responses_request
from proxy.protocol.responses.reading import ResponseReader
from proxy.types import Answer, ApiName, ChatRequest, Json, Message, Repeats, RequestOrigin, Usage

_MAX_TOKENS = MappingProxyType({"max_tokens": "max_completion_tokens"})  # as OpenAI's newer models want it

# Fields that say nothing to the model, and that not every upstream takes.
_LABELS = ("user", "safety_identifier", "metadata", "prompt_cache_key")

_decode = msgspec.json.Decoder(dict[str, Any]).decode
_encode = msgspec.json.Encoder().encode


class Reader(Protocol):
    """An answer's events, read along: `accumulate.Accumulator` documents it."""

    @property
    def usage(self) -> Usage | None: ...  # noqa: D102 (Accumulator's)
    @property
    def error(self) -> Json: ...  # noqa: D102 (its name says it)
    @property
    def garbage(self) -> int: ...  # noqa: D102 (its name says it)
    @property
    def done(self) -> bool: ...  # noqa: D102 (its name says it)
    @property
    def model(self) -> str | None: ...  # noqa: D102 (its name says it)
    @property
    def started(self) -> bool: ...  # noqa: D102 (its name says it)
    @property
    def finished(self) -> bool: ...  # noqa: D102 (its name says it)
    @property
    def complete(self) -> bool: ...  # noqa: D102 (its name says it)
    def feed_all(self, datas: Sequence[bytes]) -> bool: ...  # noqa: D102 (its name says it)
    def completion(self) -> dict[str, Any]: ...  # noqa: D102 (its name says it)


Writer = Callable[[Origin, Sequence[Message] | None, str | None, Repeats | None], bytes]


@dataclass(frozen=True, slots=True)
class Api:
    """The adapter of an API that is not chat completions."""

    path: str  # behind /v1
    parse: Callable[[bytes], ChatCompletionRequest]
    written: Writer
    reader: Callable[[], Reader]
    completion_of: Callable[[Mapping[str, Json]], dict[str, Any]]  # of a whole answer


APIS: Mapping[ApiName, Api] = MappingProxyType(
    {
        "responses": Api(
            "/responses",
            responses_request.parse,
            responses_request.written,
            ResponseReader,
            responses_output.completion_of,
        ),
        "messages": Api(
            "/messages", messages_request.parse, messages_request.written, MessageReader, messages_output.completion_of
        ),
    }
)


def path_of(api: ApiName) -> str:
    """Returns the path of an API, behind /v1."""
    return "/chat/completions" if api == "chat" else APIS[api].path


def reader_of(api: ApiName) -> Reader:
    """Returns a reader of the events of one answer."""
    return Accumulator() if api == "chat" else APIS[api].reader()


def as_completion(api: ApiName, whole: bytes) -> bytes | None:
    """Returns a whole answer of another API as a chat completion; None if it cannot be read."""
    if api == "chat":
        return whole
    try:
        return _encode(APIS[api].completion_of(_decode(whole)))
    except (ValueError, RecursionError, TypeError, AttributeError):
        return None


def as_chat(body: bytes) -> bytes:
    """Returns the body of a request of any API as that of a chat completion: which API it is of shows in its fields.
    One that cannot be told is returned as it is. Raises BadRequest for one that no upstream would have taken."""
    try:
        top = _decode(body)
    except (ValueError, RecursionError):
        return body
    api: ApiName = "chat"
    if "messages" not in top and "input" in top:
        api = "responses"
    elif "system" in top or any(map(_is_of_messages, (*_listed(top.get("tools")), *_listed(top.get("messages"))))):
        api = "messages"
    return body if api == "chat" else APIS[api].parse(body).raw


def _listed(value: Json) -> Sequence[Json]:
    return value if isinstance(value, list) else ()


def _is_of_messages(value: Json) -> bool:
    """True for a tool or a message that only the Messages API has."""
    if not isinstance(value, dict):
        return False
    kinds = {block.get("type") for block in _listed(value.get("content")) if isinstance(block, dict)}
    return "input_schema" in value or bool(kinds & {"tool_use", "tool_result", "thinking"})


def completion_in(answer: Mapping[str, Json]) -> Mapping[str, Json]:
    """Returns a whole answer of any API as a chat completion; what is none, as it is."""
    match answer:
        case {"object": "response", "output": list()}:
            return APIS["responses"].completion_of(answer)
        case {"type": "message", "role": "assistant", "content": list()}:
            return APIS["messages"].completion_of(answer)
        case _:
            return answer


def told_error(api: ApiName, answer: Answer, request_id: str) -> Answer:
    """Returns an error answer in OpenAI's shape as one in that of an API."""
    return messages_output.told_error(answer, request_id) if api == "messages" else answer


def error_event(api: ApiName, error: OlvidoError, number: int = 0) -> bytes:
    """Returns the event by which a stream of an API says that it has broken off. `number`: of events before it."""
    if api == "messages":
        told = messages_output.error_of(error.status, error.message, "")
        return b"event: error\ndata: %s\n\n" % _encode(told)
    if api == "responses":
        told = {"type": "error", "code": error.code, "message": error.message, "param": None}
        return b"event: error\ndata: %s\n\n" % _encode({**told, "sequence_number": number})
    return sse.error_event(error.body())


def has_native(origin: RequestOrigin | None, apis: Sequence[ApiName]) -> bool:
    """True if an upstream with these APIs gets the request in the API that the client has used."""
    return origin is None or origin.api in apis


def native_body(
    request: ChatRequest,
    messages: Sequence[Message] | None,
    model: str | None,
    repeats: Repeats | None = None,
    *,
    tools: Sequence[Json] = (),
    has_memory: bool = False,
) -> bytes | None:
    """Returns the body in the API that the client has used, with these messages and this model (None: the request's
    own), and with breakpoints where it needs some. None where signed reasoning would be sent without the bytes that its
    signature is about. `repeats`: what later requests repeat of these messages. `tools`: of ours, behind the client's,
    as those of a chat completion. `has_memory`: the provider has a memory tool of its own."""
    assert isinstance(request, ChatCompletionRequest)
    origin = request.origin
    assert isinstance(origin, Origin)
    if not origin.values:
        return origin.raw
    if messages is not None and has_broken_seal(messages):
        return None
    if messages is None and (request.is_rewritten or origin.has_own):
        # With the history of a session, without commands, or without reasoning that no provider can read.
        messages = request.messages
    if messages is None and model is None and not (origin.chain or origin.is_unstored):
        return origin.raw
    body = APIS[origin.api].written(origin, messages, model, repeats)
    if not tools:
        return body
    if origin.api == "responses":
        return responses_bodies.with_tools(body, tools)
    return messages_bodies.with_tools(body, tools, has_built_in=has_memory)


def chat_body(
    request: ChatRequest,
    messages: Sequence[Message] | None,
    *,
    tools: Sequence[Json] | None,
    model: str | None,
    ask_usage: bool,
    dialect: str,
) -> bytes:
    """Returns the body of a chat completion for a request that came in another API, as the upstream's dialect takes it
    (fitting.py)."""
    continues = request.origin is not None and request.origin.api == "messages"
    said = fitted(request.messages if messages is None else messages, dialect, continues=continues)
    renamed = _MAX_TOKENS if dialect == "openai" else {}
    body = with_changes(request, messages=said, tools=tools, model=model, ask_usage=ask_usage, renamed=renamed)
    return without(body, _LABELS if ask_usage else (*_LABELS, "stream_options"))
