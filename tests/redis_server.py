"""A real redis-server for tests: one for all tests of a process, on a Unix socket, emptied for each; or one of its own,
which a test may stop, kill and start again."""

import asyncio
import atexit
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from time import time
from typing import Any

import pytest
from pydantic import SecretStr

from proxy.config.shared import Shared
from proxy.storage.redis.connection import Connection
from tests.servers import eventually

SECRET = b"s" * 32
PATIENT_MS = 5_000  # that no busy machine makes a reply late; tests of time-outs have their own


class RedisServer:
    """A redis-server in a folder of its own. `options`: of its command line, like `("--maxmemory", "2mb")`."""

    def __init__(self, folder: Path, *options: str) -> None:
        self._socket = folder / "redis.sock"
        self._command = (
            *("redis-server", "--port", "0", "--unixsocket", str(self._socket), "--dir", str(folder)),
            *("--save", "", "--appendonly", "no", "--loglevel", "warning", *options),
        )
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"unix://{self._socket}"

    def start(self) -> None:
        self._process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        eventually(self._listens)

    def _listens(self) -> bool:
        with socket.socket(socket.AF_UNIX) as probe:
            return probe.connect_ex(str(self._socket)) == 0

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def signal(self, number: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(number)

    def kill(self) -> None:
        """Ends it at once; what it had is gone."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
        self._socket.unlink(missing_ok=True)

    def do(self, *command: str | bytes) -> bytes:
        """The raw reply to a command, up to 64 KiB."""
        packed = b"*%d\r\n" % len(command)
        for word in command:
            raw = word.encode() if isinstance(word, str) else word
            packed += b"$%d\r\n%b\r\n" % (len(raw), raw)
        with socket.socket(socket.AF_UNIX) as link:
            link.connect(str(self._socket))
            link.sendall(packed)
            return link.recv(2**16)


@contextmanager
def run_redis(*options: str) -> Iterator[RedisServer]:
    """A server of one's own."""
    _needs_redis()
    with tempfile.TemporaryDirectory(prefix="olvido-redis-") as folder:
        server = RedisServer(Path(folder), *options)
        server.start()
        try:
            yield server
        finally:
            server.kill()


def _needs_redis() -> None:
    if shutil.which("redis-server") is None:
        pytest.skip("redis-server is not installed")


@cache
def _of_all_tests() -> RedisServer:
    running = run_redis()
    atexit.register(running.__exit__, None, None, None)
    return running.__enter__()


def redis_here() -> RedisServer:
    """The server of all tests of this process, with what a test has put there."""
    _needs_redis()
    return _of_all_tests()


def fresh_redis() -> RedisServer:
    """The same, emptied."""
    server = redis_here()
    server.do("FLUSHALL")
    return server


def settings(url: str, **given: Any) -> Shared:
    return Shared(**{"url": SecretStr(url), "timeout_ms": PATIENT_MS, **given})


@asynccontextmanager
async def connected(
    url: str, build: Callable[[Connection], Any] = lambda _connection: None, **given: Any
) -> AsyncIterator[tuple[Connection, Any]]:
    """A connection as a process has it, and what `build` makes over it, once it has tried to connect."""
    secret = given.pop("secret", SECRET)
    failed, changed = given.pop("failed", lambda _part, _reason: None), given.pop("changed", lambda _status: None)
    clock = given.pop("clock", time)
    connection = Connection(settings(url, **given), secret, failed=failed, changed=changed, clock=clock)
    built = build(connection)
    await connection.open(10.0)
    try:
        yield connection, built
    finally:
        await connection.close()


@asynccontextmanager
async def stub(replies: Mapping[str, bytes], otherwise: bytes = b"+OK\r\n") -> AsyncIterator[str]:
    """A server that gives these raw replies to these commands, for errors that a real one is hard to bring to; its
    URL."""

    writers: list[asyncio.StreamWriter] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        with suppress(asyncio.IncompleteReadError, ConnectionError, ValueError):
            while True:
                words = []
                for _ in range(int((await reader.readuntil(b"\r\n"))[1:])):
                    length = int((await reader.readuntil(b"\r\n"))[1:])
                    words.append((await reader.readexactly(length + 2))[:-2])
                writer.write(replies.get(words[0].decode(), otherwise))
        writer.close()

    with tempfile.TemporaryDirectory(prefix="olvido-stub-") as folder:
        path = f"{folder}/stub.sock"
        server = await asyncio.start_unix_server(serve, path)
        try:
            yield f"unix://{path}"
        finally:
            server.close()
            for writer in writers:
                writer.close()
                with suppress(OSError):
                    await writer.wait_closed()


def bulk(text: str) -> bytes:
    """A text as a reply."""
    return b"$%d\r\n%b\r\n" % (len(text), text.encode())


async def until(condition: Callable[[], object], seconds: float = 10.0) -> None:
    """Returns once `condition` holds; fails if it still doesn't after `seconds`."""
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110 (what it looks at may be in another process)
            await asyncio.sleep(0.001)


def _is_idle(connection: Connection) -> bool:
    return connection.is_idle


async def all_told(*connections: Connection) -> None:
    """Returns when what these have told is done, and what they have published has been heard."""
    for connection in connections:
        await until(partial(_is_idle, connection))
    for _ in range(3):
        await asyncio.sleep(0.002)
