import asyncio
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import TypeVar

import pytest

from proxy.storage.base import KnownPrefix, StorageError
from proxy.storage.database import READ_SECONDS
from proxy.storage.recollection import STATE_SECONDS
from proxy.storage.sqlite.database import Database
from proxy.storage.sqlite.sessions import SqliteSessions, SqliteStates
from proxy.storage.stores.sessions import MOST_LINKS
from proxy.storage.stores.states import PRUNED
from proxy.tasks import Tasks
from tests.storage.sqlite.conftest import LAZY, chain_of

T = TypeVar("T")


async def test_a_running_conversation_is_recognised_without_a_look_into_the_database(database: Database) -> None:
    chain = chain_of(*range(20))
    sessions = SqliteSessions(database)
    sessions.remember("a/", "s", chain[:2], 0, 1.0)
    await sessions.longest_prefix("a/", chain[:4])
    sessions.remember("a/", "s", chain[:4], 2, 2.0)
    await database.close()  # whoever asks the database now gets an error
    for known in range(4, 18, 2):
        assert await sessions.longest_prefix("a/", chain[: known + 2]) == KnownPrefix(known, ("s",), is_tip=True)
        sessions.remember("a/", "s", chain[: known + 2], known, float(known))
    with pytest.raises(StorageError, match="closed"):
        await sessions.longest_prefix("b/", chain)


async def test_a_branch_of_what_is_only_queued_is_seen(database: Database) -> None:
    mine, yours = chain_of("hi", "hello", "me"), chain_of("hi", "hello", "you")
    sessions = SqliteSessions(database)
    sessions.remember("a/", "s", mine[:2], 0, 1.0)
    await sessions.flush()
    assert await sessions.longest_prefix("a/", mine) == KnownPrefix(2, ("s",), is_tip=True)
    sessions.remember("a/", "s", mine, 2, 2.0)  # not written: link 2 is no tip all the same
    assert await sessions.longest_prefix("a/", yours) == KnownPrefix(2, ("s",), is_tip=False)


async def test_what_another_process_has_written_is_seen_after_the_next_batch(path: Path, database: Database) -> None:
    chain = chain_of("hi", "hello", "bye", "bye then")
    others = Database(path, Tasks(), LAZY)
    here, other = SqliteSessions(database), SqliteSessions(others)
    here.remember("a/", "s", chain[:2], 0, 1.0)
    await here.flush()
    assert await here.longest_prefix("a/", chain[:2]) == KnownPrefix(2, ("s",), is_tip=True)
    assert await other.longest_prefix("a/", chain) == KnownPrefix(2, ("s",), is_tip=True)
    other.remember("a/", "s", chain, 2, 2.0)
    await others.close()
    here.remember("b/", "t", chain[:1], 0, 3.0)
    await here.flush()
    assert await here.longest_prefix("a/", chain) == KnownPrefix(4, ("s",), is_tip=True)
    assert await here.longest_prefix("a/", chain[:2]) == KnownPrefix(2, ("s",), is_tip=False)


class Meanwhile(Database):
    """Something happens between what a reader has read and what is made of it."""

    happens: Callable[[], Awaitable[object]] | None = None

    async def read(self, query: Callable[[sqlite3.Connection], T], seconds: float = READ_SECONDS) -> T:
        result = await super().read(query, seconds)
        if self.happens:
            await self.happens()
            self.happens = None
        return result


async def test_what_changes_during_a_look_up_is_not_lost(path: Path) -> None:
    chain = chain_of("hi", "hello", "bye")
    tip, passed = (KnownPrefix(2, ("s",), is_tip=is_tip) for is_tip in (True, False))

    async def queue() -> None:
        sessions.remember("a/", "s", chain, 2, 2.0)

    async def write() -> None:
        sessions.remember("a/", "s", chain, 2, 2.0)
        await sessions.flush()

    for number, (happens, queued_before, told) in enumerate(
        [(queue, False, passed), (write, False, tip), (write, True, passed)]
    ):
        opened = Meanwhile(path.with_name(str(number)), Tasks(), LAZY)
        sessions = SqliteSessions(opened)
        sessions.remember("a/", "s", chain[:2], 0, 1.0)
        await sessions.flush()
        if queued_before:
            await queue()
        opened.happens = happens
        assert await sessions.longest_prefix("a/", chain[:2]) == told
        assert await sessions.longest_prefix("a/", chain[:2]) == passed
        await opened.close()


async def test_many_readers_and_writers_at_once_lose_nothing(database: Database) -> None:
    sessions = SqliteSessions(database)

    async def talk(number: int) -> None:
        chain = chain_of("hi", *(f"{number}/{turn}" for turn in range(20)))
        for length in range(2, len(chain), 2):
            known = await sessions.longest_prefix("a/", chain[:length])
            start = known.length if known else 0
            assert start == length - 2 or (length == 2 and start == 1)  # "hi" may be known from another
            sessions.remember("a/", str(number), chain[:length], start, float(length))
            await sessions.flush()

    async with asyncio.timeout(30):
        await asyncio.gather(*(talk(number) for number in range(12)))
    sessions.invalidate()
    for number in range(12):
        chain = chain_of("hi", *(f"{number}/{turn}" for turn in range(20)))
        known = await sessions.longest_prefix("a/", chain)
        assert known == KnownPrefix(20, (str(number),), is_tip=True)


async def test_of_a_very_long_history_the_last_part_is_written_and_the_rest_counted(database: Database) -> None:
    chain, sessions = chain_of(*range(24_000)), SqliteSessions(database)
    assert await sessions.longest_prefix("a/", chain) is None
    sessions.remember("a/", "s", chain, 0, 1.0)
    assert database.writer.depth <= MOST_LINKS + 1
    assert database.writer.dropped == {"cut_links": 24_000 - MOST_LINKS}
    await sessions.flush()
    sessions.invalidate()
    goes_on = chain_of(*range(24_002))
    assert await sessions.longest_prefix("a/", goes_on) == KnownPrefix(24_000, ("s",), is_tip=True)
    edited = [*chain[:-5], *chain_of("else")]
    assert await sessions.longest_prefix("a/", edited) == KnownPrefix(23_995, ("s",), is_tip=False)


def link(number: int) -> bytes:
    return number.to_bytes(16, "big")


async def count(database: Database) -> int:
    await database.writer.flush()
    ((rows,),) = await database.read(
        lambda connection: connection.execute("SELECT count(*) FROM path_states").fetchall()
    )
    assert isinstance(rows, int)
    return rows


async def test_what_is_queued_is_found_without_writing_it(database: Database) -> None:
    states = SqliteStates(database)
    states.put("a/", "s", link(0), 1000.0, b"first")
    states.put("a/", "s", link(0), 1001.0, b"second")
    assert await states.get("a/", [link(0), link(1)]) == (link(0), b"second")
    assert database.writer.depth == 2


async def test_an_older_link_that_is_queued_yields_to_a_newer_one_that_is_written(database: Database) -> None:
    states = SqliteStates(database)
    states.put("a/", "s", link(1), 1000.0, b"written")
    await states.flush()
    states.put("a/", "s", link(2), 1000.0, b"queued")
    assert await states.get("a/", [link(0), link(1), link(2)]) == (link(1), b"written")
    assert await states.get("a/", [link(0), link(2), link(1)]) == (link(2), b"queued")


async def test_what_the_database_refuses_takes_nothing_else_with_it(database: Database) -> None:
    states = SqliteStates(database)
    states.put("a/", "s", link(0), float("nan"), b"refused")
    states.put("a/", "s", link(1), 1000.0, b"taken")
    await states.flush()
    assert await states.get("a/", [link(0), link(1)]) == (link(1), b"taken")
    assert database.writer.dropped.total() == 1


async def test_old_states_leave_a_few_at_a_time(database: Database) -> None:
    states = SqliteStates(database)
    old = PRUNED + 50
    for number in range(old):
        states.put("a/", f"s-{number}", link(number), 1000.0, b"")
    assert await count(database) == old
    states.put("b/", "s", link(0), 1000.0 + STATE_SECONDS, b"")
    assert await count(database) == 51
    states.put("b/", "s", link(0), 1000.0 + STATE_SECONDS, b"")
    assert await count(database) == 1


async def test_another_process_sees_what_was_put_and_what_was_forgotten(path: Path, database: Database) -> None:
    here, elsewhere = SqliteStates(database), Database(path, Tasks(), LAZY)
    there = SqliteStates(elsewhere)
    for number in range(3):
        here.put("a/", "s", link(number), 1000.0 + number, b"here")
        there.put("a/", "s", link(number + 3), 1000.0 + number, b"there")
    await here.flush()
    await there.flush()
    assert await count(database) == 4
    assert await there.get("a/", [link(2)]) == (link(2), b"here")
    there.forget("a/")
    await there.flush()
    assert await here.get("a/", [link(number) for number in range(6)]) is None
    await elsewhere.close()


async def test_it_is_there_when_it_is_opened_again(path: Path) -> None:
    first = Database(path, Tasks())
    SqliteStates(first).put("a/", "s", link(0), 1000.0, b"state")
    await first.close()
    again = Database(path, Tasks())
    assert await SqliteStates(again).get("a/", [link(0)]) == (link(0), b"state")
    await again.close()


async def test_nothing_is_left_in_any_file_of_what_was_forgotten(path: Path, database: Database) -> None:
    states = SqliteStates(database)
    for number in range(60):
        states.put("a/", f"s-{number % 20}", link(number), 1000.0 + number, b"the red team " * number * 10)
        await states.flush()
    states.forget("a/")
    await states.flush()
    assert [file for file in path.parent.iterdir() if b"the red team" in file.read_bytes()] == []
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT * FROM path_states").fetchall() == []
