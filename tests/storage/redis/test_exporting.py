"""Answers of end users in a real Redis, for an export."""

from typing import Any

import pytest

from proxy.storage.base import StorageError
from proxy.storage.redis.answers import RedisAnswers
from proxy.storage.redis.exporting import answers
from proxy.types import StoredAnswer
from tests.redis_server import SECRET, all_told, connected, fresh_redis, settings

ANSWER = StoredAnswer(b'{"said": "secretly"}', 1.0, "kimi", "m", streamed=False)


def parts(connection: Any) -> tuple[Any, ...]:
    return (RedisAnswers(connection),)


async def test_answers_of_those_who_are_meant_are_read_and_stay() -> None:
    server = fresh_redis()
    async with connected(server.url, parts) as (connection, (cache,)):
        for who in ("t/ana", "t/beto", "t/ana~s"):
            await cache.put(who, f"key of {who}", ANSWER, 60.0 + 1e12)
        await all_told(connection)
        found = await answers(settings(server.url), SECRET, lambda scope: scope == "t/ana")
        assert sorted(entry.scope for _, entry in found) == ["t/ana", "t/ana~s"]
        assert {entry.answer.completion for _, entry in found} == {ANSWER.completion}
        assert await cache.get("t/ana", "key of t/ana", 2.0) == ANSWER
        assert await answers(settings(server.url), b"another secret of 32 bytes......", lambda _: True) == []


async def test_a_redis_that_is_away_is_told() -> None:
    with pytest.raises(StorageError, match="Redis"):
        await answers(settings("unix:///nowhere/redis.sock"), SECRET, lambda _: True)
