"""News between the processes that share a Redis: what one of them tells all (a breaker that opened), or one (a flight
that it waits for has landed), by publish and subscribe over a connection of its own."""

import asyncio
import logging
import math
from collections.abc import Callable

from redis.asyncio.connection import AbstractConnection
from redis.exceptions import RedisError

from proxy.storage.redis.errors import Refused, Trouble, of_connecting
from proxy.tasks import Tasks

log = logging.getLogger(__name__)

Hear = Callable[[bytes, bytes], None]  # is called with the channel and the message


class News:
    """A subscription to some channels, over a connection that is open."""

    def __init__(self, link: AbstractConnection, hear: Hear) -> None:
        self._link = link
        self._hear = hear
        self._unanswered = 0
        self._reading: asyncio.Task[None] | None = None
        self.ended: asyncio.Future[Trouble] = asyncio.get_running_loop().create_future()

    async def begin(self, channels: tuple[str, ...], tasks: Tasks) -> None:
        """Subscribes; returns when every message from now on will be heard."""
        await self._link.send_command("SUBSCRIBE", *channels, check_health=False)
        for _ in channels:
            told = await self._link.read_response(timeout=math.inf, disconnect_on_error=False)
            if not isinstance(told, list) or told[0] != b"subscribe":
                raise Refused(Trouble("protocol", "does not speak the protocol of Redis"))
        self._reading = tasks.spawn(self._read(), name="redis news")

    async def _read(self) -> None:
        try:
            while True:
                told = await self._link.read_response(timeout=math.inf, disconnect_on_error=False)
                self._unanswered = 0
                if isinstance(told, list) and len(told) == 3 and told[0] == b"message":
                    self._hear(told[1], told[2])
        except (RedisError, OSError) as error:
            self.end(of_connecting(error))

    async def pulse(self) -> None:
        """Asks for a sign of life; ends the subscription if the last one but one did not come."""
        if self._unanswered > 1:
            self.end(Trouble("timeout", "does not answer in time"))
            return
        self._unanswered += 1
        try:
            await self._link.send_command("PING", check_health=False)
        except (RedisError, OSError) as error:
            self.end(of_connecting(error))

    def end(self, trouble: Trouble) -> None:
        """Ends the subscription."""
        if not self.ended.done():
            self.ended.set_result(trouble)

    async def close(self) -> None:
        """Ends it, and closes the connection at once."""
        self.end(Trouble("lost", "is no longer needed"))
        if self._reading is not None:
            self._reading.cancel()
        await self._link.disconnect(nowait=True)
