"""The demonstration's upstream as an application: chat completions, streamed or not, and the list of models.

Tokens of prompts and answers are counted (counting.py), a prefix cache holds some of them (prompt_cache.py), and the
scripted answer takes the protocol's form (forms.py).
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from time import monotonic
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from proxy.config.upstreams import prefix_cache
from proxy.demo import agent, remembering
from proxy.demo.counting import Encode, completion_tokens, cut, prompt_tokens
from proxy.demo.forms import Choice, Completion, Json, body, chunks
from proxy.demo.prompt_cache import PromptCache
from proxy.demo.script import NOTHING, Scripted, script

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
