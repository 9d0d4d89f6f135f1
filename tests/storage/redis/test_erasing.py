"""End users erased from a real Redis."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from proxy.storage.base import StorageError
from proxy.storage.erasures import mark_of
from proxy.storage.hot import HotContext
from proxy.storage.redis.answers import RedisAnswers
from proxy.storage.redis.erasing import NEWS, erase
from proxy.storage.redis.hot import RedisHotContexts
from proxy.storage.redis.learnt import RedisHitRates
from proxy.storage.redis.sessions import RedisLastServed, RedisOpenTurns
from proxy.types import OpenTurn, StoredAnswer
from tests.redis_server import SECRET, RedisServer, all_told, connected, fresh_redis, settings, until

ANA, BETO = "t/ana", "t/beto"
ANSWER = StoredAnswer(b'{"said": "secretly"}', 1.0, "kimi", "m", streamed=False)
MARKS = [(7, mark_of(ANA))]


def is_ana(scope: str) -> bool:
    return scope == ANA


def keys(server: RedisServer) -> set[bytes]:
    """All but the probe, which leaves by itself."""
    found = server.do("KEYS", "*").split(b"\r\n")
    return {line for line in found if line.startswith(b"olvido:") and not line.endswith(b":probe")}


def parts(connection: Any) -> tuple[Any, ...]:
    kinds = (RedisAnswers, RedisOpenTurns, RedisLastServed, RedisHitRates)
    return (*(kind(connection) for kind in kinds), RedisHotContexts(connection, 300.0))


async def test_every_key_of_one_end_user_leaves_and_those_of_others_stay() -> None:
    server = fresh_redis()
    heard: list[Any] = []
    async with connected(server.url, parts) as (connection, (answers, turns, _, rates, hot)):
        connection.on_news(NEWS, heard.append)
        for who, link in ((ANA, b"a" * 16), (BETO, b"b" * 16)):
            await answers.put(who, f"key of {who}", ANSWER, 60.0 + 1e12)
            turns.put(f"{who}~c-1", "s", OpenTurn((), b"p" * 16))
            hot.put(who, link, HotContext("s", who, link, b"state"), None)
            rates.note(f"partition of {who}", "what?", "r-1", 1.0)
        await all_told(connection)
        before = keys(server)
        asked: dict[str, Any] = {"found": MARKS, "scopes": [ANA], "partitions": [f"partition of {ANA}"]}
        gone = await erase(settings(server.url), SECRET, is_ana, **asked)
        after = keys(server)
        assert gone == len(before - after) == 5
        assert await answers.get(ANA, f"key of {ANA}", 2.0) is None
        assert await answers.get(BETO, f"key of {BETO}", 2.0) == ANSWER
        assert await hot.get(ANA, [b"a" * 16]) is None
        assert await hot.get(BETO, [b"b" * 16]) is not None
        await until(lambda: heard)
        assert heard == [[[7, mark_of(ANA)]]]
        assert await erase(settings(server.url), SECRET, is_ana, **asked) == 0


async def test_another_deployment_keeps_what_it_has() -> None:
    server = fresh_redis()
    async with connected(server.url, parts) as (_, (answers, *_)):
        await answers.put(ANA, "key", ANSWER, 1e12)
        other = await erase(settings(server.url), b"x" * 32, is_ana, found=[], scopes=[ANA], partitions=[])
        assert other == 0
        assert await answers.get(ANA, "key", 2.0) == ANSWER


async def test_a_redis_that_is_away_is_said(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="Redis cannot be reached"):
        async with asyncio.timeout(30):
            await erase(settings(f"unix://{tmp_path}/none"), SECRET, is_ana, found=[], scopes=[], partitions=[])
