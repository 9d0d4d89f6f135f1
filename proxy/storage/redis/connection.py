"""The connection of this process to the Redis that processes share: what asks it, what hears from it, and its breaker.

No request waits for a connection: `ask` and `tell` fail at once while there is none, and one task (`_keep`) begins it
anew, in the background. So Redis that is gone or slow costs the requests under way one time-out, then nothing. That
is its breaker: open while there is no connection, half-open while the task tries, closed after a command that writes
has been carried out. A change of state is one line in the log.

Keys and channels have their names from names.py; values are msgpack of typed records (records.py).
"""

import asyncio
import logging
import os
import random
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from hashlib import sha1
from time import time
from typing import Any, Literal

import msgspec
from redis.exceptions import RedisError

from proxy.config.shared import Shared
from proxy.storage.base import SharedUnavailable
from proxy.storage.redis import checks
from proxy.storage.redis.errors import Refused, Trouble, of_connecting
from proxy.storage.redis.links import call, clock_ahead, connect, link_to
from proxy.storage.redis.names import Names
from proxy.storage.redis.news import News
from proxy.storage.redis.records import decode_news, encode_news
from proxy.storage.redis.wire import Argument, Lost, Reply, Wire
from proxy.tasks import Tasks

log = logging.getLogger(__name__)

Status = Literal["connecting", "ready", "down"]
Failed = Callable[[str, str], None]  # is called with the part that goes without Redis, and the reason
Changed = Callable[[Status], None]
Heard = Callable[[Any], None]

OPENING = 1.0  # seconds that the start waits for it
BEGINNING = 10.0  # times as long as a reply may take, to begin a connection: no request waits for that
LEAST_BEGINNING = 0.5  # seconds
PAUSES = (0.1, 2.0)  # seconds before the next try: at first, at most; doubled each time
STEADY = 5.0  # seconds after which a connection that breaks is no repeated failure
PULSE = 5.0  # seconds between two signs of life
# What a value raises where it is planted, or of another version.
UNREADABLE = (ValueError, TypeError, LookupError, msgspec.DecodeError)


class Script:
    """A script that Redis runs as one step, sent once and then named by its hash."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.sha = sha1(source.encode()).hexdigest()  # noqa: S324 (the name that Redis gives it)


class Connection:
    """The connection. `failed` is called for everything that had to do without Redis, `changed` with each state."""

    def __init__(
        self,
        settings: Shared,
        secret: bytes,
        *,
        failed: Failed = lambda _part, _reason: None,
        changed: Changed = lambda _status: None,
        clock: Callable[[], float] = time,
    ) -> None:
        self.settings = settings
        self.process = os.urandom(8).hex()  # names this process among those that share
        self.names = Names(secret)
        self._inbox = self.names.inbox(self.process)
        self._timeout = settings.timeout_ms / 1_000
        self._failed = failed
        self._changed = changed
        self._clock = clock
        self._tasks = Tasks()  # of its own: they end with it, and nothing waits for their end
        self._wire: Wire | None = None
        self._news: News | None = None
        self._down: Trouble | None = None
        self._warnings: dict[str, str] = {}
        self._status: Status = "connecting"
        self._tried = asyncio.Event()
        self._scripts: list[Script] = []
        self._on_ready: list[Callable[[], Awaitable[None]]] = []
        self._on_news: dict[str, Heard] = {}
        self._on_letter: Callable[[bytes], None] = lambda _letter: None

    # --- its state ----------------------------------------------------------------------------------------------------

    @property
    def status(self) -> Status:
        """The state in one word."""
        return self._status

    @property
    def state(self) -> str:
        """The state, and while it is down the reason: for /readyz."""
        return f"{self._status}: Redis {self._down.text}" if self._down is not None else self._status

    @property
    def troubles(self) -> Mapping[str, str]:
        """The troubles with it, by subject: that it is down, or what may go wrong though it is not."""
        down = {} if self._down is None else {"redis": f"Redis {self._down.text}"}
        return {**down, **{f"redis {subject}": f"Redis: {text}" for subject, text in self._warnings.items()}}

    @property
    def is_idle(self) -> bool:
        """True if no command is under way."""
        return self._wire is None or self._wire.is_idle

    def failed(self, part: str, reason: str) -> None:
        """Counts something of `part` that had to do without Redis."""
        self._failed(part, reason)

    # --- commands -----------------------------------------------------------------------------------------------------

    async def ask(self, part: str, *command: Argument) -> Reply:
        """Returns the reply to a command. Raises SharedUnavailable, also if it does not come in time; `part`: of the
        shared state, under which that is counted."""
        if self._wire is None:
            self._failed(part, "down")
            raise SharedUnavailable("down")
        try:
            return await self._wire.ask(*command)
        except SharedUnavailable as error:
            self._failed(part, error.reason)
            raise

    def tell(self, part: str, *command: Argument, lost: Callable[[], None] = lambda: None) -> None:
        """Sends a command, and does not wait: its order with others of this process is kept. `lost` is called if it
        comes to nothing, as far as is known."""

        def failed(reason: str) -> None:
            self._failed(part, reason)
            lost()

        if self._wire is None:
            failed("down")
        else:
            told: Lost = failed
            self._wire.tell(*command, lost=told)

    def script(self, source: str) -> Script:
        """Returns a script, which every connection makes known to Redis as it begins. To be called before `open`."""
        script = Script(source)
        self._scripts.append(script)
        return script

    async def run(self, part: str, script: Script, key: str, *arguments: Argument) -> Reply:
        """Returns the reply to a script on `key`; see `ask`."""
        return await self.ask(part, "EVALSHA", script.sha, 1, key, *arguments)

    def start(self, part: str, script: Script, key: str, *arguments: Argument) -> None:
        """Runs a script on `key`, and does not wait; see `tell`."""
        self.tell(part, "EVALSHA", script.sha, 1, key, *arguments)

    # --- news ---------------------------------------------------------------------------------------------------------

    def publish(self, part: str, kind: str, content: object) -> None:
        """Tells the other processes."""
        self.tell(part, "PUBLISH", self.names.news, encode_news(self.process, kind, content))

    def on_news(self, kind: str, heard: Heard) -> None:
        """Calls `heard` with the content of news of this kind, also of those that a script has published in the name of
        this process, not of its own `publish`."""
        self._on_news[kind] = heard

    def on_letter(self, heard: Callable[[bytes], None]) -> None:
        """Calls `heard` with each message that is meant for this process alone."""
        self._on_letter = heard

    def on_ready(self, work: Callable[[], Awaitable[None]]) -> None:
        """Runs `work` whenever a connection has begun: to read what has become of the shared state meanwhile."""
        self._on_ready.append(work)

    def _hear(self, channel: bytes, message: bytes) -> None:
        if channel == self._inbox.encode():
            self._on_letter(message)
        elif (told := decode_news(message)) is not None and told.sender != self.process:
            heard = self._on_news.get(told.kind)
            if heard is not None:
                with suppress(*UNREADABLE):
                    heard(told.content)

    # --- its life -----------------------------------------------------------------------------------------------------

    async def open(self, seconds: float = OPENING) -> None:
        """Begins to keep the connection. Returns after the first try, or after `seconds`."""
        self._tried.clear()
        self._tasks.spawn(self._keep(), name="redis connection")
        with suppress(TimeoutError):
            await asyncio.wait_for(self._tried.wait(), seconds)

    async def close(self) -> None:
        """Closes it, once what was told has been carried out, or after the time of one reply."""
        if self._wire is not None:
            with suppress(SharedUnavailable):
                await self._wire.ask("PING")
        await self._tasks.drain(0)
        await self._end()

    async def _keep(self) -> None:
        pause, loop = PAUSES[0], asyncio.get_running_loop()
        while True:
            began = loop.time()
            trouble = await self._once()
            await self._end()
            self._set("down", trouble)
            self._tried.set()
            if loop.time() - began > STEADY:
                pause = PAUSES[0]
            await asyncio.sleep(pause * random.uniform(0.5, 1.0))  # noqa: S311 (so that not all come at once)
            pause = min(2 * pause, PAUSES[1])

    async def _once(self) -> Trouble:
        """Begins a connection, and keeps it until it ends. Returns what ended it, or kept it from beginning."""
        try:
            async with asyncio.timeout(max(BEGINNING * self._timeout, LEAST_BEGINNING)):
                wire, news = await self._begin()
        except (Refused, RedisError, OSError, ValueError) as error:  # of OSError is TimeoutError, too
            return of_connecting(error)
        for work in self._on_ready:
            with suppress(SharedUnavailable, *UNREADABLE):
                await work()
        self._set("ready", None)
        self._tried.set()
        ends = {wire.ended, news.ended}
        while not (done := (await asyncio.wait(ends, timeout=PULSE, return_when=asyncio.FIRST_COMPLETED))[0]):
            await news.pulse()
            with suppress(SharedUnavailable):
                await self.ask("connection", "TIME")
        return done.pop().result()

    async def _begin(self) -> tuple[Wire, News]:
        """Opens both connections and tries the server: what it is, whether it can be written."""
        link, listening = link_to(self.settings), link_to(self.settings)
        try:
            await connect(link)
            info = checks.usable(checks.parsed(await call(link, "INFO")))
            await call(link, "SET", self.names.key("probe"), self.process, "PX", 1_000)
            for script in self._scripts:
                await call(link, "SCRIPT", "LOAD", script.source)
            ahead = await clock_ahead(link, self._clock)
            await connect(listening)
            news = News(listening, self._hear)
            await news.begin((self.names.news, self._inbox), self._tasks)
        except BaseException:
            await link.disconnect(nowait=True)
            await listening.disconnect(nowait=True)
            raise
        self._warn(checks.warnings(info, ahead))
        self._news, self._wire = news, Wire(link, self._timeout, self._tasks)
        return self._wire, news

    async def _end(self) -> None:
        wire, news, self._wire, self._news = self._wire, self._news, None, None
        for each in (wire, news):
            if each is not None:
                with suppress(RedisError, OSError):
                    await each.close()

    def _set(self, status: Status, down: Trouble | None) -> None:
        if (status, down) == (self._status, self._down):
            return
        self._status, self._down = status, down
        self._changed(status)
        if down is None:
            log.info("Redis is reached", extra={"at": self.settings.place})
        else:
            log.warning(
                "Redis is done without: this process answers by itself",
                extra={"at": self.settings.place, "reason": down.reason, "why": down.text},
            )

    def _warn(self, warnings: dict[str, str]) -> None:
        for subject, text in warnings.items():
            if subject not in self._warnings:
                log.warning("Redis may fail us", extra={"at": self.settings.place, "subject": subject, "why": text})
        self._warnings = warnings
