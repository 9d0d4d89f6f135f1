"""uvicorn with a protocol that lets the application break its own connection."""

import socket
from typing import Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from tests.scripted.delivery import TRANSPORT


class ScriptedProtocol(HttpToolsProtocol):
    """Leaves the transport where a reply that is to be cut or reset finds it."""

    def on_message_begin(self) -> None:
        super().on_message_begin()
        extensions: dict[str, Any] = {TRANSPORT: self.transport}
        self.scope["extensions"] = extensions


def server(app: ASGIApp, *, graceful_seconds: int = 1, kind: type[uvicorn.Server] = uvicorn.Server) -> uvicorn.Server:
    """Quiet, and no slower than it must be. Give `run` a socket of `listen`."""
    config = uvicorn.Config(
        app,
        http=ScriptedProtocol,
        loop="auto",
        lifespan="auto",
        access_log=False,
        log_level="error",
        timeout_keep_alive=300,  # however late the next request comes on a busy machine: this is no fault that is meant
        timeout_graceful_shutdown=graceful_seconds,
        server_header=False,
        date_header=False,
    )
    return kind(config)


def listen(host: str = "127.0.0.1", port: int = 0) -> socket.socket:
    """A bound socket; port 0 takes a free one."""
    bound = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    bound.bind((host, port))
    return bound


def serve(app: ASGIApp, bound: socket.socket) -> None:
    """Serve until a signal says otherwise."""
    server(app).run(sockets=[bound])
