"""The cache of exact answers in Redis, which lets them expire. Every look-up asks it: an answer that another process
has deleted or replaced is never served from here.

The size of all answers is limited by the server's `maxmemory`; with a `volatile-…` policy those that it chooses leave,
without one nothing is stored any more until some have expired.

With Redis gone nothing is found, which is no error: requests go upstream. What was to be deleted or replaced meanwhile
is remembered, and deleted before anything is read again.
"""

from collections.abc import Callable
from time import time

import msgspec

from proxy.lru import Lru
from proxy.storage.answers import Entry
from proxy.storage.base import SharedUnavailable
from proxy.storage.redis.connection import Connection
from proxy.types import StoredAnswer

PART = "answers"
MOST_OWED = 10_000  # keys that are to be deleted once Redis is back

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Entry).decode


class RedisAnswers:
    """The answer cache over `connection`, which others close."""

    def __init__(
        self, connection: Connection, *, max_entry_bytes: int = 4 * 2**20, clock: Callable[[], float] = time
    ) -> None:
        self._connection = connection
        self._max_entry_bytes = max_entry_bytes
        self._clock = clock
        # Keys whose answers are not to be served, until when: they may still be in Redis.
        self._owed: Lru[str, float] = Lru(MOST_OWED)
        connection.on_ready(self._pay)

    async def get(self, scope: str, key: str, now: float) -> StoredAnswer | None:
        if key in self._owed:
            return None
        try:
            entry = _opened(await self._connection.ask(PART, "GET", self._key(key)))
        except SharedUnavailable:  # counted
            return None
        return None if entry is None else entry.open(scope, now)

    async def put(self, scope: str, key: str, answer: StoredAnswer, ttl: float) -> None:
        if ttl <= 0 or len(answer.completion) > self._max_entry_bytes:
            return
        value = _encode(Entry.of(scope, answer, ttl))
        try:
            await self._connection.ask(PART, "SET", self._key(key), value, "PX", max(1, round(ttl * 1_000)))
        except SharedUnavailable:
            self._owe(key)  # the one that it replaces
        else:
            self._owed.drop(key)

    async def delete(self, scope: str, key: str) -> bool:
        name = self._key(key)
        try:
            entry = _opened(await self._connection.ask(PART, "GET", name))
            return entry is not None and entry.scope == scope and bool(await self._connection.ask(PART, "DEL", name))
        except SharedUnavailable:
            self._owe(key)
            return False

    async def close(self) -> None: ...

    def _key(self, key: str) -> str:
        return self._connection.names.key("answer", key)

    def _owe(self, key: str) -> None:
        self._owed.put(key, self._clock())

    async def _pay(self) -> None:
        """Deletes what could not be deleted or replaced when it was due."""
        for key in list(self._owed):
            await self._connection.ask(PART, "DEL", self._key(key))
            self._owed.drop(key)


def _opened(value: object) -> Entry | None:
    try:
        return _decode(value) if isinstance(value, bytes) else None
    except (msgspec.DecodeError, UnicodeDecodeError):  # planted, or of another version
        return None
