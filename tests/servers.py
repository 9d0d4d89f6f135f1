"""Real servers for tests: an ASGI application in a thread, or a command in its own process, on a port of its own."""

import asyncio
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.types import ASGIApp, Receive, Scope, Send

from proxy import server as proxy_server
from proxy.app import create_app
from proxy.config import Config
from tests.scripted.server import listen, server

PATIENCE = 20.0  # factor of the deadlines of all stages: none runs out of time where the machine is busy


class Prompt(uvicorn.Server):
    """uvicorn, but for its looking ten times a second whether it is to end: hundreds of tests have a server of their
    own, and would wait for that."""

    _loop: asyncio.AbstractEventLoop | None = None
    _end: asyncio.Event

    async def main_loop(self) -> None:
        """Returns when it is to end."""
        await self.on_tick(0)
        self._end, self._loop = asyncio.Event(), asyncio.get_running_loop()
        if not self.should_exit:
            await self._end.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Ends at once if nobody is connected any more; else as uvicorn does."""
        await asyncio.sleep(0)  # who has left by now is noticed
        if self.server_state.connections or self.server_state.tasks:
            await super().shutdown(sockets)
            return
        for listening in (*self.servers, *(sockets or ())):
            listening.close()
        await self.lifespan.shutdown()

    def end(self) -> None:
        """Says so, from any thread."""
        self.should_exit = True
        if self._loop is not None:
            with suppress(RuntimeError):  # it has ended
                self._loop.call_soon_threadsafe(self._end.set)


@contextmanager
def run_app(app: ASGIApp) -> Iterator[str]:
    """Serves `app` by uvicorn in a thread; gives its address, like `http://127.0.0.1:40001`, once it listens. For the
    OpenAI SDK, add `/v1`."""
    bound = listen()
    with _running(server(app, graceful_seconds=1, kind=Prompt), bound):
        host, port = bound.getsockname()
        yield f"http://{host}:{port}"


def proxy_app(config: Config) -> Starlette:
    """The proxy's application, with time for whatever it does."""
    return create_app(config, patience=PATIENCE)


@contextmanager
def run_proxy(config: Config, app: ASGIApp | None = None) -> Iterator[str]:
    """Serves the proxy (or another `app`) as `olvido serve` does, in a thread; gives its address."""
    bound = proxy_server.listen(config)
    with _running(proxy_server.server(config, app or proxy_app(config), kind=Prompt), bound):
        yield proxy_server.base_url(bound).removesuffix("/v1")


async def body_of(receive: Receive) -> bytes:
    """The body of a request, whole."""
    raw = b""
    while (message := await receive())["type"] == "http.request":
        raw += message["body"]
        if not message.get("more_body"):
            break
    return raw


class Inside:
    """The proxy's application, in whose event loop a test may work from its own thread: its parts belong to that."""

    def __init__(self, app: Starlette) -> None:
        self._app = app
        self._loop: asyncio.AbstractEventLoop | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._loop = asyncio.get_running_loop()
        await self._app(scope, receive, send)

    def do(self, work: Callable[[], Any]) -> Any:
        """What it returns, awaited if it can be, once all that was put can be read."""

        async def doing() -> Any:
            done = work()
            done = await done if hasattr(done, "__await__") else done
            await self._app.state.services.storage.flush()
            return done

        assert self._loop is not None, "it does not run yet"
        return asyncio.run_coroutine_threadsafe(doing(), self._loop).result(timeout=120)


@contextmanager
def _running(running: uvicorn.Server, bound: socket.socket) -> Iterator[None]:
    assert isinstance(running, Prompt)
    thread = threading.Thread(target=running.run, kwargs={"sockets": [bound]}, name="uvicorn", daemon=True)
    thread.start()
    try:
        eventually(lambda: running.started or not thread.is_alive())
        assert running.started, "the server died while starting"
        yield
    finally:
        running.end()
        thread.join(timeout=120)
        bound.close()
        assert not thread.is_alive(), "the server did not stop"


@contextmanager
def run_command(*arguments: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Runs `python ARGUMENTS`, whose first line of output is its port; gives its address and its process, once it
    listens there."""
    process = subprocess.Popen([sys.executable, *arguments], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        port = int(process.stdout.readline())
        eventually(lambda: _listens(port) or process.poll() is not None)
        yield f"http://127.0.0.1:{port}", process
    finally:
        process.terminate()
        process.wait(timeout=120)
        if process.stdout is not None:
            process.stdout.close()


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def eventually(condition: Callable[[], object], seconds: float = 30.0) -> None:
    """Returns once `condition` holds; fails if it still doesn't after `seconds`."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.002)
