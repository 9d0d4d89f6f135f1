"""The least a Python gateway can cost: Starlette on uvicorn, aiohttp's client, bytes passed through.

python -m tests.bench.floor UPSTREAM_URL      prints its port
"""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from tests.scripted.server import listen, serve

_KEPT = ("content-type", "x-request-id", "openai-processing-ms")
_DROPPED = frozenset({"host", "content-length", "connection", "accept-encoding"})


def app(upstream: str) -> Starlette:
    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=60)
        async with aiohttp.ClientSession(connector=connector, auto_decompress=False) as session:
            app.state.session = session
            yield

    async def chat(request: Request) -> Response:
        body = await request.body()
        headers = {name: value for name, value in request.headers.items() if name not in _DROPPED}
        answer = await request.app.state.session.post(f"{upstream}/chat/completions", data=body, headers=headers)
        kept = {name: answer.headers[name] for name in _KEPT if name in answer.headers}
        if "event-stream" in kept["content-type"]:
            done = BackgroundTask(answer.release)
            return StreamingResponse(answer.content.iter_any(), answer.status, kept, background=done)
        return Response(await answer.read(), answer.status, kept)

    return Starlette(routes=[Route("/v1/chat/completions", chat, methods=["POST"])], lifespan=lifespan)


if __name__ == "__main__":
    bound = listen()
    print(bound.getsockname()[1], flush=True)
    bound.listen(4096)
    serve(app(sys.argv[1]), bound)
