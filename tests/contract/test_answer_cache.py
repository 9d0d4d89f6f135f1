"""What every AnswerCache does, whatever it keeps its answers in."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.storage.answers import DiskAnswers, MemoryAnswers
from proxy.storage.base import AnswerCache
from proxy.storage.redis.answers import RedisAnswers
from proxy.types import StoredAnswer
from tests.examples import examples
from tests.redis_server import connected, fresh_redis

MAX_BYTES = 512 * 1024
MAX_ENTRY_BYTES = 64 * 1024
ANSWER = StoredAnswer(b'{"choices": []}', created_at=1000.0, upstream="kimi", model="kimi-k3", streamed=True)


@asynccontextmanager
async def memory(folder: Path) -> AsyncIterator[AnswerCache]:
    yield MemoryAnswers(MAX_BYTES, MAX_ENTRY_BYTES)


@asynccontextmanager
async def disk(folder: Path) -> AsyncIterator[AnswerCache]:
    answers = DiskAnswers(folder / "answers", max_bytes=MAX_BYTES, max_entry_bytes=MAX_ENTRY_BYTES)
    try:
        yield answers
    finally:
        await answers.close()


@asynccontextmanager
async def disk_alone(folder: Path) -> AsyncIterator[AnswerCache]:
    answers = DiskAnswers(folder / "answers", max_bytes=MAX_BYTES, max_entry_bytes=MAX_ENTRY_BYTES, memory_bytes=0)
    try:
        yield answers
    finally:
        await answers.close()


@asynccontextmanager
async def redis(folder: Path) -> AsyncIterator[AnswerCache]:
    async with connected(fresh_redis().url, lambda over: RedisAnswers(over, max_entry_bytes=MAX_ENTRY_BYTES)) as (
        _,
        answers,
    ):
        yield answers


Backend = Callable[[Path], AbstractAsyncContextManager[AnswerCache]]
BACKENDS = {"memory": memory, "disk": disk, "disk-alone": disk_alone, "redis": redis}
BOUNDED = [name for name in BACKENDS if name != "redis"]  # whose server's own `maxmemory` bounds it


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> Backend:
    return BACKENDS[request.param]


@pytest.fixture
async def cache(backend: Backend, tmp_path: Path) -> AsyncIterator[AnswerCache]:
    async with backend(tmp_path) as opened:
        yield opened


class TestAnswerCache:
    @pytest.mark.note("9.3/1")
    async def test_an_answer_comes_back_as_it_was(self, cache: AnswerCache) -> None:
        plain = replace(ANSWER, streamed=False, completion=bytes(range(256)), created_at=1001.5)
        await cache.put("a/", "k1", ANSWER, ttl=60)
        await cache.put("a/", "k2", plain, ttl=60)
        assert await cache.get("a/", "k1", now=1002) == ANSWER
        assert await cache.get("a/", "k2", now=1002) == plain

    async def test_what_was_never_stored_is_absent(self, cache: AnswerCache) -> None:
        assert await cache.get("a/", "k", now=1000) is None
        assert await cache.delete("a/", "k") is False

    @pytest.mark.note("5.1/1")
    @pytest.mark.parametrize(("now", "there"), [(1000.0, True), (1059.9, True), (1060.0, False), (9999.0, False)])
    async def test_an_answer_expires_by_the_callers_clock(self, cache: AnswerCache, now: float, there: bool) -> None:
        await cache.put("a/", "k", ANSWER, ttl=60)
        assert (await cache.get("a/", "k", now) is not None) is there

    @pytest.mark.parametrize("ttl", [0, -1])
    async def test_a_ttl_of_nothing_stores_nothing(self, cache: AnswerCache, ttl: float) -> None:
        await cache.put("a/", "k", ANSWER, ttl)
        assert await cache.get("a/", "k", now=999) is None

    async def test_reading_does_not_prolong(self, cache: AnswerCache) -> None:
        await cache.put("a/", "k", ANSWER, ttl=60)
        assert await cache.get("a/", "k", now=1059) == ANSWER
        assert await cache.get("a/", "k", now=1061) is None

    async def test_another_scope_neither_reads_nor_deletes(self, cache: AnswerCache) -> None:
        await cache.put("a/", "k", ANSWER, ttl=60)
        assert await cache.get("b/", "k", now=1000) is None
        assert await cache.delete("b/", "k") is False
        assert await cache.get("a/", "k", now=1000) == ANSWER

    async def test_a_newer_answer_replaces(self, cache: AnswerCache) -> None:
        newer = replace(ANSWER, completion=b"{}", created_at=1030.0)
        await cache.put("a/", "k", ANSWER, ttl=60)
        await cache.put("a/", "k", newer, ttl=60)
        assert await cache.get("a/", "k", now=1080) == newer

    async def test_a_deleted_answer_is_gone(self, cache: AnswerCache) -> None:
        await cache.put("a/", "k", ANSWER, ttl=60)
        assert await cache.delete("a/", "k") is True
        assert await cache.get("a/", "k", now=1000) is None
        assert await cache.delete("a/", "k") is False

    async def test_an_answer_above_its_share_is_not_kept(self, cache: AnswerCache) -> None:
        await cache.put("a/", "fits", replace(ANSWER, completion=b"x" * MAX_ENTRY_BYTES), ttl=60)
        await cache.put("a/", "too large", replace(ANSWER, completion=b"x" * (MAX_ENTRY_BYTES + 1)), ttl=60)
        assert await cache.get("a/", "fits", now=1000) is not None
        assert await cache.get("a/", "too large", now=1000) is None

    @pytest.mark.parametrize("backend", BOUNDED, indirect=True)
    async def test_the_oldest_leave_when_it_is_full(self, cache: AnswerCache) -> None:
        large = replace(ANSWER, completion=b"x" * 30_000)
        for number in range(40):
            await cache.put("a/", str(number), large, ttl=60)
            await cache.get("a/", "0", now=1000)  # being read does not make it newer
        kept = [n for n in range(40) if await cache.get("a/", str(n), now=1000) is not None]
        assert kept == list(range(kept[0], 40))
        assert MAX_BYTES / 4 < len(kept) * 30_000 <= MAX_BYTES


@dataclass(frozen=True)
class Stored:
    scope: str
    key: str
    completion: bytes


names = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=4)
stored = st.builds(Stored, names, names, st.binary(max_size=40))


@pytest.mark.parametrize("name", BACKENDS)
@given(puts=st.lists(stored, max_size=8), asking=names)
@settings(max_examples=examples(10), deadline=None)
def test_nothing_crosses_a_scope(name: str, puts: list[Stored], asking: str) -> None:
    async def play(folder: Path) -> None:
        async with BACKENDS[name](folder) as cache:
            for put in puts:
                await cache.put(put.scope, put.key, replace(ANSWER, completion=put.completion), ttl=60)
            last = {put.key: put for put in puts}
            for scope in {asking, *(put.scope for put in puts)}:
                for key, put in last.items():
                    answer = await cache.get(scope, key, now=1000)
                    expected = put.completion if put.scope == scope else None
                    assert (answer and answer.completion) == expected

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(play(Path(folder)))


async def test_disk_keeps_its_answers_when_it_is_opened_again(tmp_path: Path) -> None:
    async with disk(tmp_path) as cache:
        await cache.put("a/", "k", ANSWER, ttl=60)
    async with disk(tmp_path) as cache:
        assert await cache.get("a/", "k", now=1000) == ANSWER


async def test_off_keeps_nothing() -> None:
    cache: AnswerCache = MemoryAnswers(max_bytes=0)
    await cache.put("a/", "k", ANSWER, ttl=60)
    assert await cache.get("a/", "k", now=1000) is None
    assert await cache.delete("a/", "k") is False
    await cache.close()
