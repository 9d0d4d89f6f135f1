"""Traces that sessions and addresses leave for their next request, whichever process gets it: open turns, last reuses,
wrong tokens, admin cookies that have ended.

While Redis answers it is the truth: what it does not have has ended, or was taken elsewhere. What it did not confirm
that it has been told is this process's own, and counts here (`Mirror`). With Redis gone each process knows its own.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, time
from typing import Generic, TypeVar

import msgspec

from proxy.lru import Lru
from proxy.protocol.message import packed, unpacked
from proxy.storage.base import SharedUnavailable
from proxy.storage.erasures import base_of
from proxy.storage.folder import REREAD, FileLogouts
from proxy.storage.redis.connection import Connection
from proxy.storage.redis.records import Codec
from proxy.storage.shared.learnt import MOST_OPEN, MOST_OPEN_BYTES, MOST_SESSIONS
from proxy.storage.shared.local import MOST_WRONG, WRONG_SECONDS, LocalThrottle
from proxy.types import OpenTurn, Served

T = TypeVar("T")

OPEN_SECONDS = 86_400.0  # that an open turn is kept: its tool may wait for a person
LARGEST_OPEN = 4 * 2**20  # bytes; a larger one stays in its process
SERVED_SECONDS = 86_400.0  # that the last reuse of a session is kept
KEPT_LOGOUTS = 30 * 86_400.0  # seconds that their list is kept at least
_RECORD = 256  # bytes of a record beside its value


@dataclass(slots=True)
class _Kept:
    value: bytes | None  # packed; None: it has ended
    is_passed_on: bool
    is_private: bool = False  # too large for others

    @property
    def size(self) -> int:
        return _RECORD + len(self.value or b"")


class Mirror(Generic[T]):
    """Records of one kind in Redis, by scope and name, and in this process those that it has set itself."""

    def __init__(
        self, connection: Connection, part: str, codec: Codec[T], *, seconds: float, most: int, most_bytes: int
    ) -> None:
        self._connection = connection
        self._part = part
        self._codec = codec
        self._milliseconds = round(seconds * 1_000)
        self._here: Lru[tuple[str, str], _Kept] = Lru(most, cost=_size, most_cost=most_bytes)

    def set(self, scope: str, name: str, record: T | None, *, here_alone: bool = False) -> None:
        """Sets a record; None: there is none any more. `here_alone`: others are told that there is none."""
        value = None if record is None else self._codec.pack(scope, record)
        kept = _Kept(value, is_passed_on=not here_alone, is_private=here_alone)
        self._here.put((scope, name), kept)
        self._pass_on(scope, name, kept, None if here_alone else value)

    async def get(self, scope: str, name: str) -> T | None:
        """Returns the record, or None."""
        return await self._read(scope, name, "GET")

    def set_here(self, scope: str, name: str) -> T | None:
        """Returns the record that this process has set last, or None."""
        kept = self._here.get((scope, name))
        return None if kept is None else self._codec.unpack(scope, kept.value)

    async def take(self, scope: str, name: str) -> T | None:
        """Returns and removes the record, or None. One process gets it."""
        record = await self._read(scope, name, "GETDEL")
        if (kept := self._here.drop((scope, name))) is not None and not kept.is_passed_on:
            self.set(scope, name, None)
        return record

    async def _read(self, scope: str, name: str, command: str) -> T | None:
        kept = self._here.get((scope, name))
        if kept is not None and not kept.is_passed_on:
            return self._codec.unpack(scope, kept.value)
        try:
            value = await self._connection.ask(self._part, command, self._connection.names.key(self._part, scope, name))
        except SharedUnavailable:
            kept = self._here.get((scope, name))
            value = None if kept is None else kept.value
        return self._codec.unpack(scope, value)

    def _pass_on(self, scope: str, name: str, kept: _Kept, value: bytes | None) -> None:
        def lost() -> None:
            kept.is_passed_on = False

        key = self._connection.names.key(self._part, scope, name)
        if value is None:
            self._connection.tell(self._part, "DEL", key, lost=lost)
        else:
            self._connection.tell(self._part, "SET", key, value, "PX", self._milliseconds, lost=lost)

    def drop(self, scope: str) -> None:
        """Removes what this process has of a scope, and of its single conversations."""
        for key in [key for key in self._here if base_of(key[0]) == scope]:
            self._here.drop(key)

    async def pass_on_again(self) -> None:
        """Passes on what Redis has not confirmed. An older record there is replaced; so is a newer one that another
        process has set meanwhile, which could not know of this one either."""
        for (scope, name), kept in list(self._here.items()):
            if not kept.is_passed_on and not kept.is_private:
                kept.is_passed_on = True
                self._pass_on(scope, name, kept, kept.value)


def _size(kept: _Kept) -> int:
    return kept.size


@dataclass(frozen=True, slots=True)
class _Open:
    messages: bytes  # a JSON array
    parent: bytes


class RedisOpenTurns:
    """Open turns."""

    def __init__(self, connection: Connection) -> None:
        self._turns = Mirror(
            connection,
            "open_turns",
            Codec(_Open),
            seconds=OPEN_SECONDS,
            most=MOST_OPEN,
            most_bytes=MOST_OPEN_BYTES,
        )
        connection.on_ready(self._turns.pass_on_again)

    async def get(self, scope: str, session: str) -> OpenTurn | None:
        found = await self._turns.get(scope, session)
        if found is None:
            return None
        is_elsewhere = found != self._turns.set_here(scope, session)
        if not (found.messages or is_elsewhere):
            return None
        try:
            return OpenTurn(unpacked(found.messages) if found.messages else (), found.parent, is_elsewhere)
        except msgspec.DecodeError:  # planted
            return None

    def put(self, scope: str, session: str, turn: OpenTurn | None) -> None:
        record = None if turn is None else _Open(packed(turn.messages) if turn.messages else b"", turn.parent)
        self._turns.set(scope, session, record, here_alone=turn is not None and turn.size > LARGEST_OPEN)

    def drop(self, scope: str) -> None:
        self._turns.drop(scope)


class RedisLastServed:
    """Last reuses by intent."""

    def __init__(self, connection: Connection) -> None:
        self._served = Mirror(
            connection,
            "last_served",
            Codec(Served),
            seconds=SERVED_SECONDS,
            most=MOST_SESSIONS,
            most_bytes=MOST_OPEN_BYTES,
        )
        connection.on_ready(self._served.pass_on_again)

    def note(self, scope: str, session: str, served: Served) -> None:
        self._served.set(scope, session, served)

    async def take(self, scope: str, session: str) -> Served | None:
        return await self._served.take(scope, session)

    def drop(self, scope: str) -> None:
        self._served.drop(scope)


class RedisThrottle:
    """Wrong tokens that any process was sent, by address."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._here = LocalThrottle()

    async def wait(self, client: str, now: float) -> float:
        here = await self._here.wait(client, now)
        try:
            told = await self._connection.ask("throttle", "LRANGE", self._key(client), -MOST_WRONG, -1)
            lately = [at for at in map(float, told) if now - at < WRONG_SECONDS]
        except (SharedUnavailable, TypeError, ValueError):
            return here
        return max(here, lately[-MOST_WRONG] + WRONG_SECONDS - now if len(lately) >= MOST_WRONG else 0.0)

    async def note(self, client: str, now: float) -> None:
        await self._here.note(client, now)
        key = self._key(client)
        self._connection.tell("throttle", "RPUSH", key, repr(now))
        self._connection.tell("throttle", "LTRIM", key, -MOST_WRONG, -1)
        self._connection.tell("throttle", "EXPIRE", key, round(WRONG_SECONDS))

    def _key(self, client: str) -> str:
        return self._connection.names.key("throttle", client)


class RedisLogouts:
    """Ended cookies, in Redis for the processes of other machines, and in the folder's file, which outlives it."""

    def __init__(self, connection: Connection, folder: Path | None, clock: Callable[[], float] = time) -> None:
        self._connection = connection
        self._clock = clock
        self._key = connection.names.key("logouts")
        self._file = FileLogouts(folder, clock)
        self._elsewhere: frozenset[str] = frozenset()
        self._looked = float("-inf")  # monotonic

    def has(self, cookie_id: str) -> bool:
        return cookie_id in self._elsewhere or self._file.has(cookie_id)

    async def add(self, cookie_id: str, expires: int) -> None:
        await self._file.add(cookie_id, expires)
        self._connection.tell("logouts", "ZREMRANGEBYSCORE", self._key, "-inf", self._clock())
        self._connection.tell("logouts", "ZADD", self._key, expires, cookie_id)
        seconds = max(KEPT_LOGOUTS, expires - self._clock())
        self._connection.tell("logouts", "EXPIRE", self._key, round(seconds))

    async def refresh(self) -> None:
        await self._file.refresh()
        if monotonic() - self._looked < REREAD:
            return
        self._looked = monotonic()
        try:
            told = await self._connection.ask("logouts", "ZRANGEBYSCORE", self._key, self._clock(), "+inf")
        except SharedUnavailable:
            return
        self._elsewhere = frozenset(each.decode("ascii", "replace") for each in told)
