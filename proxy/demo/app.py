"""The demonstration's upstream as an application: chat completions, streamed or not, and the list of models.

The scripted answer takes the protocol's form: one `chat.completion` object, or the chunks that add up to it. Tokens of
prompts and answers are counted, and a prefix cache holds some of them.
"""

import hashlib
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, takewhile, zip_longest
from time import monotonic
from typing import Any, TypeAlias

import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from proxy.config.upstreams import prefix_cache
from proxy.demo import agent, remembering
from proxy.demo.script import NOTHING, Scripted, ToolCall, script
from proxy.lru import Lru
from proxy.types import PrefixCache

Json: TypeAlias = dict[str, Any]
Encode: TypeAlias = Callable[[str], Sequence[int]]  # text to token ids

CHAT_MODELS = (
    "demo-chat",
    "demo-reasoner",
    remembering.MODEL,
    agent.MODEL,
    "gpt-4o-mini",
    "gpt-6-luna",
    "kimi-k2.6",
    "deepseek-v4-flash",
    "mistral-small-latest",
)
THINKING_MODELS = frozenset({"demo-reasoner", "kimi-k2.6", "deepseek-v4-flash"})
CACHE = prefix_cache("kimi", "")
CACHE_BLOCKS = 100_000  # the least recently used leave
CHUNKS = 8  # content deltas of a streamed answer

_EPOCH = 1_700_000_000  # `created` is this plus something derived from the request
# These change how an answer is delivered, not what it is.
_DELIVERY = frozenset({"stream", "stream_options", "messages", "user", "metadata", "store", "prompt_cache_key"})


class PromptCache:
    """Blocks of tokens under the hash of everything before them, per API key and model."""

    def __init__(self, spec: PrefixCache, clock: Callable[[], float], bound: int) -> None:
        self._spec = spec
        self._clock = clock
        self._expiry: Lru[bytes, float] = Lru(bound)

    def __len__(self) -> int:
        return len(self._expiry)

    def admit(self, api_key: str, model: str, tokens: Sequence[int]) -> int:
        """Adds a prompt; returns how many tokens of its beginning were cached before, in whole blocks."""
        if self._spec.ttl <= 0 or len(tokens) < max(self._spec.minimum, self._spec.block):
            return 0
        now = self._clock()
        links = list(self._links(api_key, model, tokens))
        cached = sum(1 for _ in takewhile(lambda link: self._expiry.get(link, 0.0) > now, links))
        for link in links:
            self._expiry.put(link, now + self._spec.ttl)
        return cached * self._spec.block

    def _links(self, api_key: str, model: str, tokens: Sequence[int]) -> Iterator[bytes]:
        link = hashlib.blake2b(f"{api_key}\n{model}".encode(), digest_size=16).digest()
        for start in range(0, len(tokens) - self._spec.block + 1, self._spec.block):
            block = array("Q", tokens[start : start + self._spec.block]).tobytes()
            link = hashlib.blake2b(link + block, digest_size=16).digest()
            yield link


@dataclass(frozen=True, slots=True)
class Choice:
    """A scripted answer, cut to `stop` and `max_tokens`."""

    said: Scripted
    finish_reason: str
    call_ids: tuple[str, ...] = ()

    def logprobs(self) -> Json | None:
        """Log-probabilities of the answer; None if none were asked for, as always here."""
        return None

    def content_deltas(self, count: int) -> Iterator[Json]:
        """Fields of the chunks that hold the text, in `count` pieces."""
        for piece in slices(self.said.content or "", count):
            yield {"delta": {"content": piece}, "logprobs": None}


@dataclass(frozen=True, slots=True)
class Completion:
    """An answer with all its choices, before it takes the form of a body or of chunks."""

    id: str
    created: int  # unix seconds, derived from the request
    model: str
    choices: tuple[Choice, ...]
    usage: Json


class Chat:
    """A scripted chat model. `encode` counts its tokens; `written` has its answers to some messages."""

    def __init__(
        self, encode: Encode, cache: PromptCache | None = None, *, seed: int = 0, written: Mapping[str, str] = NOTHING
    ) -> None:
        self.cache = cache or PromptCache(CACHE, monotonic, CACHE_BLOCKS)
        self._encode = encode
        self._seed = seed
        self._written = written

    def complete(self, body: Mapping[str, Any], messages: Sequence[Mapping[str, Any]], api_key: str) -> Completion:
        """The answer to a request that is well-formed. Its prompt is in the prefix cache of `api_key` afterwards."""
        digest = _digest(body, messages, self._seed)
        stop = body.get("stop") or ()
        limit = body.get("max_completion_tokens") or body.get("max_tokens")
        seeds = range(self._seed, self._seed + (body.get("n") or 1))
        if body["model"] == agent.MODEL:
            scripted = [agent.scripted(body, messages)]
        else:
            thinking = thinks(body)
            scripted = [script(body, messages, seed=seed, thinking=thinking, written=self._written) for seed in seeds]
        ended = [cut(said, [stop] if isinstance(stop, str) else stop, limit, self._encode) for said in scripted]
        tokens = prompt_tokens(body, messages, self._encode)
        cached = self.cache.admit(api_key, body["model"], tokens)
        return Completion(
            id=f"chatcmpl-{digest[:24]}",
            created=_EPOCH + int(digest[:6], 16),
            model=body["model"],
            choices=tuple(self.choice(body, said, reason, f"{digest}{at}.") for at, (said, reason) in enumerate(ended)),
            usage=self.usage(len(tokens), cached, *completion_tokens([said for said, _ in ended], self._encode)),
        )

    def choice(self, body: Mapping[str, Any], said: Scripted, reason: str, seed: str) -> Choice:  # noqa: ARG002 (models that number their calls otherwise take the body and the seed)
        """A choice with the ids of its tool calls, which are Kimi's: a name and a number."""
        return Choice(said, reason, tuple(f"{call.name}:{number}" for number, call in enumerate(said.calls)))

    def usage(self, prompt: int, cached: int, reasoning: int, answered: int) -> Json:
        """The `usage` object, in tokens, with Kimi's `cached_tokens`."""
        completion = reasoning + answered
        told = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
        return {**told, "cached_tokens": cached}


def create_app(encode: Encode, written: Mapping[str, str] = NOTHING) -> Starlette:
    """Builds the upstream, with a prefix cache of its own. `encode` counts tokens; `written`: answers by message."""
    model = Chat(encode, written=written)

    async def chat(request: Request) -> Response:
        try:
            asked: Any = msgspec.json.decode(await request.body())
            messages = asked["messages"]
            completion = model.complete(asked, messages, request.headers.get("authorization", ""))
        except (msgspec.DecodeError, UnicodeDecodeError, KeyError, TypeError, AttributeError) as error:
            return _refused(400, f"This is no chat completion request ({type(error).__name__}).", None)
        if completion.model not in CHAT_MODELS:
            return _refused(404, f"The model `{completion.model}` does not exist.", "model_not_found")
        if asked.get("stream") is not True:
            return JSONResponse(body(completion))
        include_usage = (asked.get("stream_options") or {}).get("include_usage") is True
        return StreamingResponse(_events(completion, include_usage=include_usage), media_type="text/event-stream")

    async def models(_request: Request) -> Response:
        about = {"object": "model", "created": _EPOCH, "owned_by": "olvido-demo"}
        return JSONResponse({"object": "list", "data": [{"id": name, **about} for name in CHAT_MODELS]})

    return Starlette(
        routes=[Route("/v1/chat/completions", chat, methods=["POST"]), Route("/v1/models", models, methods=["GET"])]
    )


def _events(completion: Completion, *, include_usage: bool) -> Iterator[bytes]:
    for event in chunks(completion, CHUNKS, include_usage=include_usage):
        yield b"data: " + msgspec.json.encode(event) + b"\n\n"
    yield b"data: [DONE]\n\n"


def _refused(status: int, message: str, code: str | None) -> Response:
    error = {"message": message, "type": "invalid_request_error", "param": None, "code": code}
    return JSONResponse({"error": error}, status)


# --- tokens ---


def render(message: Mapping[str, Any]) -> str:
    """Renders a message as a chat template would: the text, what was called, and little around it."""
    content = message.get("content")
    said = content if isinstance(content, str) else _json(content or "")
    names = ("reasoning_content", "refusal", "name", "tool_call_id")
    more = [str(message[name]) for name in names if message.get(name)]
    calls = [_json(message["tool_calls"])] if message.get("tool_calls") else []
    return "\n".join([f"<|{message.get('role', '')}|>", said, *more, *calls])


def prompt_tokens(fields: Mapping[str, Any], messages: Sequence[Mapping[str, Any]], encode: Encode) -> list[int]:
    """The prompt as tokens: tools and format first, as providers do, so that changing them loses the whole prefix.
    Encoded piece by piece: an array that begins with another one begins with its tokens."""
    framing = [_json(fields[name]) for name in ("tools", "functions", "response_format") if fields.get(name)]
    return [token for piece in chain(framing, map(render, messages)) for token in encode(piece)]


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def cut(said: Scripted, stop: Sequence[str], max_tokens: int | None, encode: Encode) -> tuple[Scripted, str]:
    """Cuts an answer to its limits; returns it and the finish reason. Thinking counts too, and comes first."""
    if said.calls:
        return said, "tool_calls"
    reason, content, reasoning = "stop", said.content, said.reasoning
    ends = [at for word in stop if content and (at := content.find(word)) >= 0]
    if content is not None and ends:
        content = content[: min(ends)]
    if max_tokens is not None:
        spent = 0
        if reasoning is not None:
            reasoning, reason = _take(reasoning, max_tokens, encode, reason)
            spent = len(encode(reasoning))
        if content is not None:
            content, reason = _take(content, max(0, max_tokens - spent), encode, reason)
    return Scripted(content=content, refusal=said.refusal, reasoning=reasoning), reason


def _take(text: str, tokens: int, encode: Encode, reason: str) -> tuple[str, str]:
    if len(encode(text)) <= tokens:
        return text, reason
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if len(encode(text[:middle])) <= tokens else (low, middle - 1)
    return text[:low], "length"


def completion_tokens(choices: Sequence[Scripted], encode: Encode) -> tuple[int, int]:
    """Tokens that were generated: for thinking, and for what was said or called."""
    thought = [said.reasoning for said in choices]
    told = [text for said in choices for text in (said.content, said.refusal)]
    called = [call.name + call.arguments for said in choices for call in said.calls]
    reasoning, answered = (sum(len(encode(text)) for text in texts if text) for texts in (thought, [*told, *called]))
    return reasoning, answered


# --- forms ---


def body(completion: Completion) -> Json:
    """The `chat.completion` object that answers a request without streaming."""
    choices = [
        {"index": at, "message": _message(choice), "logprobs": choice.logprobs(), "finish_reason": choice.finish_reason}
        for at, choice in enumerate(completion.choices)
    ]
    return {**_head(completion, "chat.completion"), "choices": choices, "usage": completion.usage}


def chunks(completion: Completion, count: int, *, include_usage: bool) -> Iterator[Json]:
    """The events of a streamed answer, without `[DONE]`: `count` deltas a text, choices in turns. As Kimi tells it,
    the usage is in the last choice, and once more in a chunk of its own if the client wants it."""
    head = _head(completion, "chat.completion.chunk") | ({"usage": None} if include_usage else {})
    streams = [_deltas(choice, count) for choice in completion.choices]
    for round_ in zip_longest(*streams):
        for at, delta in enumerate(round_):
            if delta is not None:
                yield {**head, "choices": [{"index": at, "finish_reason": None, **delta}]}
    for at, choice in enumerate(completion.choices):
        last: Json = {"index": at, "delta": {}, "logprobs": None, "finish_reason": choice.finish_reason}
        if at == len(completion.choices) - 1:
            last["usage"] = completion.usage
        yield {**head, "choices": [last]}
    if include_usage:
        yield {**head, "choices": [], "usage": completion.usage}


def _head(completion: Completion, kind: str) -> Json:
    about = {"id": completion.id, "object": kind, "created": completion.created, "model": completion.model}
    return {**about, "service_tier": "default", "system_fingerprint": "fp_demo"}


def _message(choice: Choice) -> Json:
    said = choice.said
    message: Json = {"role": "assistant", "content": said.content, "refusal": said.refusal, "annotations": []}
    if said.reasoning is not None:
        message["reasoning_content"] = said.reasoning
    if said.calls:
        calls = zip(choice.call_ids, said.calls, strict=True)
        message["tool_calls"] = [_call(id_, call, call.arguments) for id_, call in calls]
    return message


def _deltas(choice: Choice, count: int) -> Iterator[Json]:
    said = choice.said
    yield {"delta": {"role": "assistant", "content": "" if said.content is not None else None, "refusal": None}}
    for piece in slices(said.reasoning or "", max(1, count // 2)):
        yield {"delta": {"reasoning_content": piece}}
    for piece in slices(said.refusal or "", count):
        yield {"delta": {"refusal": piece}}
    yield from choice.content_deltas(count)
    for at, (id_, call) in enumerate(zip(choice.call_ids, said.calls, strict=True)):
        yield {"delta": {"tool_calls": [{"index": at, **_call(id_, call, "")}]}}
        for piece in slices(call.arguments, count):
            yield {"delta": {"tool_calls": [{"index": at, "function": {"arguments": piece}}]}}


def _call(id_: str, call: ToolCall, arguments: str) -> Json:
    return {"id": id_, "type": "function", "function": {"name": call.name, "arguments": arguments}}


def slices(text: str, count: int) -> list[str]:
    """`text` in `count` pieces of nearly equal length, none of them empty."""
    count = min(count, len(text))
    return [text[len(text) * at // count : len(text) * (at + 1) // count] for at in range(count)]


def thinks(body: Mapping[str, Any]) -> bool:
    """Tells whether the model thinks before it answers: what `thinking` says, else what is usual for the model."""
    match body.get("thinking"):
        case {"type": str(switch)}:
            return switch == "enabled"
        case _:
            return body["model"] in THINKING_MODELS


def _digest(body: Mapping[str, Any], messages: Sequence[Mapping[str, Any]], seed: int) -> str:
    fields = {name: value for name, value in sorted(body.items()) if name not in _DELIVERY}
    return hashlib.sha256(msgspec.json.encode([fields, messages, seed])).hexdigest()
