"""One connection to Redis that many commands share: each is sent at once, without waiting for the replies to those
before it, which come in the same order. So a process needs one connection however many requests it serves, and a
command never waits for a free one.

A command that has no reply in time fails; its reply, if it comes after all, is passed over. After `MOST_LATE` times in
a row the connection counts as dead. It ends too with an error reply that concerns the whole server (errors.py).
"""

import asyncio
import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from redis.asyncio.connection import AbstractConnection
from redis.exceptions import RedisError

from proxy.storage.base import SharedUnavailable
from proxy.storage.redis.errors import Reason, Trouble, is_reply, of_connecting, of_reply
from proxy.tasks import Tasks

Argument: TypeAlias = str | bytes | int | float
Reply: TypeAlias = Any  # bytes, int, None, or a list of these
Lost: TypeAlias = Callable[[Reason], None]

MOST_LATE = 3  # times in a row that replies did not come in time
MOST_WAITING = 5_000  # commands without a reply
STALLED = 0.005  # seconds that a timer may be late; beyond, it was this process that was not there


@dataclass(slots=True)
class _Sent:
    due: float
    reply: "asyncio.Future[Reply] | None"  # None: nobody waits for it
    lost: Lost | None  # is called instead

    def fail(self, reason: Reason) -> None:
        if self.reply is not None:
            if not self.reply.done():
                self.reply.set_exception(SharedUnavailable(reason))
        elif self.lost is not None:
            self.lost(reason)
        self.lost = None


class Wire:
    """Commands over a connection that is open. `timeout`: seconds for each reply."""

    def __init__(self, link: AbstractConnection, timeout: float, tasks: Tasks) -> None:
        self._link = link
        self._timeout = timeout
        self._loop = asyncio.get_running_loop()
        self._out: list[bytes] = []  # packed, not yet sent
        self._wake = asyncio.Event()
        self._waiting: deque[_Sent] = deque()
        self._watch: asyncio.TimerHandle | None = None
        self._late = 0
        self._late_again = 0.0  # before this time silence does not count once more
        self.ended: asyncio.Future[Trouble] = self._loop.create_future()
        self._tasks = tasks.spawn(self._sending(), name="redis sending"), tasks.spawn(self._reading(), name="redis")

    @property
    def is_idle(self) -> bool:
        """True if every command has its reply."""
        return not self._waiting

    def ask(self, *command: Argument) -> "asyncio.Future[Reply]":
        """Sends a command; its reply is the future's result, or the error SharedUnavailable."""
        reply: asyncio.Future[Reply] = self._loop.create_future()
        self._send(_Sent(0.0, reply, None), command)
        return reply

    def tell(self, *command: Argument, lost: Lost | None = None) -> None:
        """Sends a command whose reply nobody waits for. `lost` is called if it comes to nothing."""
        self._send(_Sent(0.0, None, lost), command)

    def _send(self, sent: _Sent, command: tuple[Argument, ...]) -> None:
        if self.ended.done() or len(self._waiting) >= MOST_WAITING:
            sent.fail("lost" if self.ended.done() else "overload")
            return
        sent.due = self._loop.time() + self._timeout
        self._waiting.append(sent)
        self._out += self._link.pack_command(*command)
        self._wake.set()
        if self._watch is None:
            self._watch = self._loop.call_at(sent.due, self._look, sent.due)

    async def _sending(self) -> None:
        try:
            while True:
                await self._wake.wait()
                self._wake.clear()
                out, self._out = self._out, []
                await self._link.send_packed_command(out, check_health=False)
        except (RedisError, OSError) as error:
            self.end(of_connecting(error))

    async def _reading(self) -> None:
        reply: Reply
        while not self.ended.done():
            try:
                reply = await self._link.read_response(timeout=math.inf, disconnect_on_error=False)
            except (RedisError, OSError) as error:
                if not is_reply(error):
                    self.end(of_connecting(error))
                    return
                reply = error
            if not self._waiting:  # nobody asked for it: not what we take it for
                self.end(Trouble("protocol", "sends what nobody asked for"))
                return
            self._late = 0
            self._take(self._waiting.popleft(), reply)

    def _take(self, sent: _Sent, reply: Reply) -> None:
        if not isinstance(reply, Exception):
            if sent.reply is not None and not sent.reply.done():
                sent.reply.set_result(reply)
            return
        trouble = of_reply(reply)
        sent.fail("error" if trouble is None else trouble.reason)
        if trouble is not None:
            self.end(trouble)

    def _look(self, due: float) -> None:
        """Fails the commands whose time is over. Those that nobody waits for count as well: a server that has fallen
        silent may be found out by them alone."""
        now = self._loop.time()
        self._watch = None
        if now - due <= STALLED:
            overdue = [sent for sent in self._waiting if sent.due <= now]
            for sent in overdue:
                sent.fail("timeout")
            if overdue and now >= self._late_again:
                self._late, self._late_again = self._late + 1, now + self._timeout
            if self._late >= MOST_LATE:
                self.end(Trouble("timeout", "does not answer in time"))
                return
            again = next((sent.due for sent in self._waiting if sent.due > now), now + self._timeout)
        else:
            again = now + self._timeout  # replies may lie unread: they get as long again
        if self._waiting:
            again = max(again, now + STALLED)
            self._watch = self._loop.call_at(again, self._look, again)

    def end(self, trouble: Trouble) -> None:
        """Ends the connection: whatever waits fails."""
        if self.ended.done():
            return
        self.ended.set_result(trouble)
        if self._watch is not None:
            self._watch.cancel()
        while self._waiting:
            self._waiting.popleft().fail(trouble.reason)
        for task in self._tasks:
            if task is not asyncio.current_task():
                task.cancel()

    async def close(self) -> None:
        """Ends it, and closes the connection at once."""
        self.end(Trouble("lost", "is no longer needed"))
        await self._link.disconnect(nowait=True)
