"""Erasure of end users in Redis: every key of this deployment is looked at, and those of their scopes are deleted."""

import asyncio
from collections.abc import Iterable

from redis.asyncio.connection import AbstractConnection
from redis.exceptions import RedisError

from proxy.config.shared import Shared
from proxy.storage.base import StorageError
from proxy.storage.erasing import Wanted, whose
from proxy.storage.erasures import Found, base_of
from proxy.storage.redis.errors import of_connecting
from proxy.storage.redis.flights import KEPT
from proxy.storage.redis.links import call, connected
from proxy.storage.redis.names import Names
from proxy.storage.redis.records import encode_news

SECONDS = 300.0  # that all of it may take

NEWS = "erased"  # its kind: numbers and marks
_RECORDS = frozenset({b"answer", b"open_turns", b"last_served"})


async def erase(
    settings: Shared, secret: bytes, wanted: Wanted, *, found: Found, scopes: Iterable[str], partitions: Iterable[str]
) -> int:
    """Deletes what Redis has of the scopes that are meant, once all processes were told of their erasures. Returns how
    many keys. `scopes`, `partitions`: what the database had of them. Raises StorageError."""
    try:
        async with asyncio.timeout(SECONDS), connected(settings) as link:
            return await _erase(link, Names(secret), wanted, found, [*scopes], [*partitions])
    except (RedisError, OSError, ValueError) as error:  # of OSError is TimeoutError, too
        raise StorageError(f"Redis {of_connecting(error).text}") from error


async def _erase(
    link: AbstractConnection, names: Names, wanted: Wanted, found: Found, scopes: list[str], partitions: list[str]
) -> int:
    news = encode_news("", NEWS, [[number, mark] for number, mark in found])
    await call(link, "PUBLISH", names.news, news)
    prefix = names.prefix.encode()
    flights: list[bytes] = []
    gone = 0
    cursor = b"0"
    while True:
        cursor, keys = await call(link, "SCAN", cursor, "MATCH", prefix + b"*", "COUNT", 500)
        for key in keys:
            kind = key[len(prefix) :].partition(b":")[0]
            if kind == b"flight" and key.count(b":") > prefix.count(b":") + 1:
                flights.append(key)
            value = await _value(link, kind, key)
            if value is not None and (scope := whose(value)) is not None and wanted(base_of(scope)):
                gone += await call(link, "DEL", key)
                scopes.append(base_of(scope))
        if cursor == b"0":
            break
    for scope in {*scopes, *map(base_of, scopes)}:
        gone += await call(link, "DEL", names.key("hot keys", scope))
    for partition in partitions:
        gone += await call(link, "DEL", names.key("window", partition))
        await call(link, "HDEL", names.key("stopped"), partition)
    # What a flight brought does not say whose it is, and is kept for a moment.
    until = asyncio.get_running_loop().time() + KEPT + 1.0
    while flights and asyncio.get_running_loop().time() < until:
        flights = [key for key in flights if await call(link, "EXISTS", key)]
        await asyncio.sleep(0.1 if flights else 0)
    return gone


async def _value(link: AbstractConnection, kind: bytes, key: bytes) -> object:
    if kind in _RECORDS:
        return await call(link, "GET", key)
    return await call(link, "HGET", key, "context") if kind == b"hot" else None
