"""The demonstration's upstream as an application: chat completions, streamed or not, and the list of models."""

from collections.abc import Iterator
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from proxy.demo.chat import CHAT_MODELS, CHUNKS, Chat
from proxy.demo.completions import Completion, Encode, body, chunks

_CREATED = 1_700_000_000


def create_app(encode: Encode) -> Starlette:
    """A fresh upstream with a prefix cache of its own. `encode` counts its tokens."""
    model = Chat(encode)

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
        events = _events(completion, include_usage=include_usage)
        return StreamingResponse(events, media_type="text/event-stream")

    async def models(_request: Request) -> Response:
        listed = [
            {"id": name, "object": "model", "created": _CREATED, "owned_by": "olvido-demo"} for name in CHAT_MODELS
        ]
        return JSONResponse({"object": "list", "data": listed})

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
