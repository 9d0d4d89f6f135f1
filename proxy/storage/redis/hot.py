"""Hot contexts in Redis: the context of each conversation under its last link, and the keys of each scope, by which
they can be forgotten."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress

from proxy.storage.base import SharedUnavailable
from proxy.storage.hot import HotContext
from proxy.storage.redis.connection import Connection
from proxy.storage.redis.records import Codec

PART = "hot_context"

# Two conversations that end with one link: neither is told from the other any more.
_PUT = """
local before = redis.call('HGET', KEYS[1], 'session')
if before and before ~= ARGV[1] then
    redis.call('DEL', KEYS[1])
    redis.call('HSET', KEYS[1], 'session', '')
else
    redis.call('HSET', KEYS[1], 'session', ARGV[1], 'context', ARGV[2])
end
redis.call('PEXPIRE', KEYS[1], ARGV[3])
redis.call('SADD', ARGV[4], KEYS[1])
redis.call('PEXPIRE', ARGV[4], ARGV[3])
if ARGV[5] ~= '' then
    redis.call('DEL', ARGV[5])
    redis.call('SREM', ARGV[4], ARGV[5])
end
"""
_FORGET = """
for _, key in ipairs(redis.call('SMEMBERS', KEYS[1])) do redis.call('DEL', key) end
redis.call('DEL', KEYS[1])
"""
_GET = """
for place = #ARGV, 1, -1 do
    local context = redis.call('HGET', ARGV[place], 'context')
    if context then return {place, context} end
end
"""

_RELEASE = "if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end"

HELD_MS = 3_000  # that a scope is held at most: whoever holds it may be gone
LOOKS, PAUSE = 150, 0.01  # for a scope that is held: how many, seconds between them

_codec = Codec(HotContext)


class RedisHotContexts:
    """Hot contexts over `connection`, kept for `ttl` seconds."""

    def __init__(self, connection: Connection, ttl: float) -> None:
        self._connection = connection
        self._milliseconds = max(1, round(ttl * 1_000))
        sources = (_PUT, _FORGET, _GET, _RELEASE)
        self._put, self._forget, self._get, self._release = map(connection.script, sources)

    async def get(self, scope: str, links: Sequence[bytes]) -> tuple[int, HotContext] | None:
        keys = [self._key(scope, link) for link in links]
        try:
            found = await self._connection.run(PART, self._get, self._keys(scope), *keys)
        except SharedUnavailable:  # counted
            return None
        if not isinstance(found, list):
            return None
        place, packed = found
        context = _codec.unpack(scope, packed)
        return None if context is None else (int(place) - 1, context)

    async def has(self, scope: str) -> bool:
        try:
            return bool(await self._connection.ask(PART, "EXISTS", self._keys(scope)))
        except SharedUnavailable:  # counted
            return False

    def put(self, scope: str, link: bytes, context: HotContext, replaced: bytes | None) -> None:
        before = self._key(scope, replaced) if replaced is not None else ""
        arguments = (context.session, _codec.pack(scope, context), self._milliseconds, self._keys(scope), before)
        self._connection.start(PART, self._put, self._key(scope, link), *arguments)

    @asynccontextmanager
    async def alone(self, scope: str) -> AsyncIterator[None]:
        key = self._connection.names.key("learning", scope)
        with suppress(SharedUnavailable):  # counted
            for _ in range(LOOKS):
                if await self._connection.ask(PART, "SET", key, self._connection.process, "NX", "PX", HELD_MS):
                    break
                await asyncio.sleep(PAUSE)
            else:
                self._connection.failed(PART, "held")
        try:
            yield
        finally:
            self._connection.start(PART, self._release, key, self._connection.process)

    def forget(self, scope: str) -> None:
        self._connection.start(PART, self._forget, self._keys(scope))

    def _key(self, scope: str, link: bytes) -> str:
        return self._connection.names.key("hot", scope, link.hex())

    def _keys(self, scope: str) -> str:
        return self._connection.names.key("hot keys", scope)
