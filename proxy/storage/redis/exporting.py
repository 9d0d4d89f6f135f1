"""Stored answers of end users in Redis, for an export: every answer of this deployment is looked at."""

import asyncio

from redis.exceptions import RedisError

from proxy.config.shared import Shared
from proxy.storage.answers import Entry
from proxy.storage.base import StorageError
from proxy.storage.erasing import Wanted
from proxy.storage.exporting import entry_of
from proxy.storage.redis.erasing import SECONDS
from proxy.storage.redis.errors import of_connecting
from proxy.storage.redis.links import call, connected
from proxy.storage.redis.names import Names


async def answers(settings: Shared, secret: bytes, wanted: Wanted) -> list[tuple[str, Entry]]:
    """Returns the answers of scopes, each with its key. Raises StorageError."""
    prefix = f"{Names(secret).prefix}answer:"
    found: dict[str, Entry] = {}
    try:
        async with asyncio.timeout(SECONDS), connected(settings) as link:
            cursor = b"0"
            while True:
                cursor, keys = await call(link, "SCAN", cursor, "MATCH", f"{prefix}*", "COUNT", 500)
                for key in keys:
                    if (entry := entry_of(await call(link, "GET", key), wanted)) is not None:
                        found[key.decode().removeprefix(prefix)] = entry
                if cursor == b"0":
                    return list(found.items())
    except (RedisError, OSError, ValueError) as error:  # of OSError is TimeoutError, too
        raise StorageError(f"Redis {of_connecting(error).text}") from error
