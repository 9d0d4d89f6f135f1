"""The least that a Python gateway can cost: Starlette on uvicorn, aiohttp's client, bytes passed through.

    python -m proxy.bench.floor UPSTREAM_URL      prints its port

Costs are told in multiples of this file's, so it is not changed: `measuring.FLOOR` is its hash.
"""

import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import uvicorn
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

_KEPT = ("content-type", "x-request-id", "openai-processing-ms")
_DROPPED = frozenset({"host", "content-length", "connection", "accept-encoding"})


def app(upstream: str) -> Starlette:
    """Returns the gateway as an ASGI application."""

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


def main() -> None:
    """Serves until a signal ends it."""
    bound = socket.create_server(("127.0.0.1", 0), backlog=4096)
    print(bound.getsockname()[1], flush=True)
    config = uvicorn.Config(
        app(sys.argv[1]),
        http="httptools",
        loop="uvloop",
        access_log=False,
        log_level="error",
        server_header=False,
        date_header=False,
    )
    uvicorn.Server(config).run(sockets=[bound])


if __name__ == "__main__":
    main()
