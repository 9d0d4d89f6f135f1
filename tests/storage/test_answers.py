import asyncio
import os
import pickle
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from threading import Event

import pytest

from proxy.storage.answers import TRUST_SECONDS, DiskAnswers, Entry, MemoryAnswers
from proxy.storage.base import AnswersUnavailable
from proxy.tasks import Tasks
from proxy.types import StoredAnswer

ANSWER = StoredAnswer(b"{}", created_at=1000.0, upstream="u", model="m", streamed=False)
NEWER = replace(ANSWER, completion=b'{"new": 1}')
MODE_RAW, MODE_BINARY, MODE_PICKLE = 1, 2, 4


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "answers"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def answers(folder: Path, clock: Clock) -> AsyncIterator[DiskAnswers]:
    opened = DiskAnswers(folder, clock=clock)
    yield opened
    await opened.close()


def plant(folder: Path, key: str, mode: int, value: object, filename: str | None = None) -> None:
    with closing(sqlite3.connect(folder / "cache.db", isolation_level=None)) as connection:
        connection.execute(
            "INSERT INTO Cache (key, raw, store_time, expire_time, mode, filename, value) VALUES (?, 1, ?, ?, ?, ?, ?)",
            (key, time.time(), time.time() + 1000, mode, filename, value),
        )


async def store_one(folder: Path) -> None:
    answers = DiskAnswers(folder)
    await answers.put("a/", "k", ANSWER, ttl=60)
    await answers.close()


def modes(folder: Path) -> dict[str, int]:
    return {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}


class Bomb:
    def __init__(self, crater: Path) -> None:
        self.crater = crater

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (str(self.crater),)


async def test_a_planted_pickle_is_a_miss_and_is_not_executed(answers: DiskAnswers, folder: Path) -> None:
    crater = folder / "crater"
    bomb = pickle.dumps(Bomb(crater))
    plant(folder, "in the row", MODE_PICKLE, bomb)
    (folder / "bomb.val").write_bytes(bomb)
    plant(folder, "in a file", MODE_PICKLE, None, "bomb.val")
    plant(folder, "as bytes", MODE_RAW, bomb)
    for key in ("in the row", "in a file", "as bytes"):
        assert await answers.get("a/", key, now=1000) is None
        assert await answers.delete("a/", key) is False
        await answers.put("a/", key, ANSWER, ttl=60)
        assert await answers.get("a/", key, now=1000) == ANSWER
    assert not crater.exists()
    pickle.loads(bomb)
    assert crater.exists()  # it would have gone off


async def test_a_planted_file_name_neither_reads_nor_removes_the_file(
    answers: DiskAnswers, folder: Path, tmp_path: Path
) -> None:
    precious = tmp_path / "precious"
    precious.write_bytes(b"keep me")
    plant(folder, "k", MODE_BINARY, None, "../precious")
    assert await answers.get("a/", "k", now=1000) is None
    await answers.put("a/", "k", ANSWER, ttl=60)
    assert precious.read_bytes() == b"keep me"


@pytest.mark.parametrize("value", [b"", b"\xc1", b"\x93\x01\x02\x03", "text", 7, None])
async def test_a_value_that_is_not_ours_is_a_miss(answers: DiskAnswers, folder: Path, value: object) -> None:
    plant(folder, "k", MODE_RAW, value)
    assert await answers.get("a/", "k", now=1000) is None


async def test_only_its_owner_can_look_into_the_folder(answers: DiskAnswers, folder: Path) -> None:
    await answers.put("a/", "k", ANSWER, ttl=60)
    assert modes(folder.parent)[folder.name] == 0o700
    assert set(modes(folder).values()) == {0o600}
    assert "cache.db" in modes(folder)


async def test_large_answers_make_no_files_of_their_own(answers: DiskAnswers, folder: Path) -> None:
    large = replace(ANSWER, completion=os.urandom(1_000_000))
    await answers.put("a/", "k", large, ttl=60)
    assert set(modes(folder)) <= {"cache.db", "cache.db-wal", "cache.db-shm"}
    assert await answers.get("a/", "k", now=1000) == large


async def test_what_another_process_deletes_is_gone_when_the_trust_ends(
    answers: DiskAnswers, folder: Path, clock: Clock
) -> None:
    other = DiskAnswers(folder, clock=clock)
    await answers.put("a/", "k", ANSWER, ttl=60)
    assert await other.get("a/", "k", now=1000) == ANSWER
    assert await answers.delete("a/", "k") is True
    assert await answers.get("a/", "k", now=1000) is None
    clock.now = TRUST_SECONDS
    assert await other.get("a/", "k", now=1000) is None
    await other.close()


async def test_what_another_process_refreshes_is_seen_when_the_trust_ends(
    answers: DiskAnswers, folder: Path, clock: Clock
) -> None:
    other = DiskAnswers(folder, clock=clock)
    await answers.put("a/", "k", ANSWER, ttl=60)
    await other.put("a/", "k", NEWER, ttl=60)
    assert await other.get("a/", "k", now=1000) == NEWER
    clock.now = TRUST_SECONDS
    assert await answers.get("a/", "k", now=1000) == NEWER
    await other.close()


class Overtaken(DiskAnswers):
    """Its first look-up has read, and is slow to tell."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, clock=lambda: 0.0)  # the trust never ends
        self.has_read = Event()
        self.may_tell = Event()

    def _load(self, key: str) -> Entry | None:
        entry = super()._load(key)
        if not self.has_read.is_set():
            self.has_read.set()
            assert self.may_tell.wait(5)
        return entry


async def test_a_look_up_overtaken_by_a_write_does_not_bring_the_old_answer_back(folder: Path) -> None:
    await store_one(folder)
    cache = Overtaken(folder)
    looking = Tasks().spawn(cache.get("a/", "k", now=1000), name="look up")
    await asyncio.to_thread(cache.has_read.wait)
    await cache.put("a/", "k", NEWER, ttl=60)
    cache.may_tell.set()
    await looking
    assert await cache.get("a/", "k", now=1000) == NEWER
    await cache.close()


async def test_a_look_up_amid_a_write_gets_what_is_being_written(folder: Path) -> None:
    await store_one(folder)
    cache = DiskAnswers(folder)
    with closing(sqlite3.connect(folder / "cache.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")  # the write has begun, and waits
        writing = Tasks().spawn(cache.put("a/", "k", NEWER, ttl=60), name="write")
        await asyncio.sleep(0)
        assert await cache.get("a/", "k", now=1000) == NEWER
        assert await cache.get("b/", "k", now=1000) is None
        other.execute("ROLLBACK")
    await writing
    assert await cache.get("a/", "k", now=1000) == NEWER
    await cache.close()


async def test_what_could_not_be_written_is_not_given_any_more(folder: Path) -> None:
    await store_one(folder)
    cache = DiskAnswers(folder, lock_seconds=0.01)
    with closing(sqlite3.connect(folder / "cache.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(AnswersUnavailable):
            await cache.put("a/", "k", NEWER, ttl=60)
    assert await cache.get("a/", "k", now=1000) == ANSWER
    await cache.close()


@pytest.mark.parametrize("damage", [b"not a database" * 1000, b"SQLite format 3\x00" + b"\xff" * 5000])
def test_a_corrupt_cache_is_a_named_error(folder: Path, damage: bytes) -> None:
    folder.mkdir()
    (folder / "cache.db").write_bytes(damage)
    with pytest.raises(AnswersUnavailable, match=str(folder)):
        DiskAnswers(folder)


def test_a_folder_that_cannot_be_made_is_a_named_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(AnswersUnavailable):
        DiskAnswers(tmp_path / "file" / "answers")


async def test_a_cache_that_another_holds_is_a_named_error_for_writes_and_still_read(folder: Path) -> None:
    answers = DiskAnswers(folder, memory_bytes=0, lock_seconds=0.01)
    await answers.put("a/", "k", ANSWER, ttl=60)
    with closing(sqlite3.connect(folder / "cache.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(AnswersUnavailable, match="locked"):
            await answers.put("a/", "k", replace(ANSWER, completion=b"[]"), ttl=60)
        with pytest.raises(AnswersUnavailable, match="locked"):
            await answers.delete("a/", "k")
        assert await answers.get("a/", "k", now=1000) == ANSWER
    await answers.put("a/", "k", ANSWER, ttl=60)
    await answers.close()


async def test_a_closed_cache_is_a_named_error(folder: Path) -> None:
    answers = DiskAnswers(folder)
    await answers.close()
    await answers.close()
    with pytest.raises(AnswersUnavailable, match="closed"):
        await answers.get("a/", "k", now=1000)


FULL_DISK = """
import asyncio, resource, sys
from pathlib import Path
from proxy.storage.answers import DiskAnswers
from proxy.storage.base import AnswersUnavailable
from proxy.types import StoredAnswer

async def main() -> None:
    answers = DiskAnswers(Path(sys.argv[1]), memory_bytes=0)
    small, large = (StoredAnswer(b"x" * size, 1000.0, "u", "m", False) for size in (10, 1_000_000))
    await answers.put("a/", "small", small, ttl=60)
    resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, resource.RLIM_INFINITY))  # no file may grow above this
    try:
        await answers.put("a/", "large", large, ttl=60)
    except AnswersUnavailable:
        print("named")
    print(await answers.get("a/", "large", 1000) is None, await answers.get("a/", "small", 1000) == small)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    await answers.put("a/", "large", large, ttl=60)
    print(await answers.get("a/", "large", 1000) == large)
    await answers.close()

asyncio.run(main())
"""


def test_a_full_disk_is_a_named_error_and_room_brings_it_back(folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, folder], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.stdout.splitlines() == ["named", "True True", "True"], done.stderr


async def test_empty_answers_fill_the_cache_too() -> None:
    answers = MemoryAnswers(max_bytes=10_000)
    empty = StoredAnswer(b"", 0.0, "u", "m", streamed=False)
    for number in range(1000):
        await answers.put("a/", str(number), empty, ttl=60)
    assert await answers.get("a/", "0", now=1) is None
    assert await answers.get("a/", "999", now=1) == empty
