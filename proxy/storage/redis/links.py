"""Links to a Redis server that one task uses at a time: opened, asked command by command."""

import math
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from redis.asyncio import Connection as TcpLink
from redis.asyncio import SSLConnection, UnixDomainSocketConnection
from redis.asyncio.connection import AbstractConnection, parse_url
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from proxy.config.shared import Shared
from proxy.storage.redis.wire import Argument


def link_to(settings: Shared) -> AbstractConnection:
    """Returns a link to the server, which is not open yet."""
    given = settings.options
    kinds = {"rediss": SSLConnection, "unix": UnixDomainSocketConnection}
    options: dict[str, Any] = {**parse_url(given.url)} if given.url else {**given.parts}
    options.pop("connection_class", None)
    made: AbstractConnection = kinds.get(given.scheme, TcpLink)(
        **options,
        protocol=2,
        decode_responses=False,
        socket_timeout=None,  # the wire's own watch is one timer for all commands
        socket_connect_timeout=None,
        retry=Retry(NoBackoff(), 0),
        health_check_interval=0,
    )
    return made


async def connect(link: AbstractConnection) -> None:
    """Opens a link. Raises RedisError, OSError, ValueError."""
    await link.connect()  # type: ignore[no-untyped-call]  # the library's


@asynccontextmanager
async def connected(settings: Shared) -> AsyncIterator[AbstractConnection]:
    """Opens a link to the server, and closes it in the end. Raises as `connect` does."""
    link = link_to(settings)
    try:
        await connect(link)
        yield link
    finally:
        await link.disconnect(nowait=True)


async def call(link: AbstractConnection, *command: Argument) -> Any:
    """Returns the reply to a command, on a link that nothing else uses. Raises RedisError."""
    await link.send_command(*command, check_health=False)
    return await link.read_response(timeout=math.inf, disconnect_on_error=False)


async def clock_ahead(link: AbstractConnection, clock: Callable[[], float]) -> float:
    """Returns the seconds by which the server's clock is ahead of `clock`."""
    before = clock()
    seconds, micros = await call(link, "TIME")
    return int(seconds) + int(micros) / 1e6 - (before + clock()) / 2
