"""The archive in PostgreSQL: what other processes see, what many writers do to each other and to a reader, and what is
left of a row that took another's place."""

import asyncio
from dataclasses import replace

import numpy as np
import pytest

from proxy.storage.postgres.archive import CHANGES, PostgresArchive
from proxy.storage.postgres.connection import Connection
from proxy.storage.recollection import ArchiveChanges
from proxy.storage.stores.archive import PRUNED
from proxy.types import ArchivedTurn, Utterance
from tests.postgres import plan, processes
from tests.storage.sqlite.test_archive import turn

pytestmark = pytest.mark.long

TTL = 1000.0
VECTORS = np.array([[0.0, 1.0], [0.5, 0.5]], np.float32)


def said_by(who: int, number: int) -> ArchivedTurn:
    own = turn(1_000 * who + number + 1)
    return replace(own, session=f"s-{who}", parent=b"")


async def numbers(archive: PostgresArchive, scope: str = "a/") -> list[int]:
    await archive.flush()
    return [each.number for each, _ in (await archive.changes(scope, 0, 0.0, limit=10_000)).entries]


async def test_another_process_sees_what_was_added_embedded_and_forgotten() -> None:
    async with processes(2) as databases:
        here, there = (PostgresArchive(database, TTL) for database in databases)
        for archive in (here, there):  # of one conversation, at the same time
            archive.add("a/", turn(1), None)
            archive.add("a/", turn(2), None)
            await archive.flush()
        seen = await there.changes("a/", 0, 0.0)
        assert [each for each, _ in seen.entries] == [turn(1), turn(2)]
        here.add("a/", turn(1), VECTORS)
        here.forget("a/", [turn(2).utterances[0].link])
        await here.flush()
        there.add("a/", turn(2), VECTORS)
        await there.flush()
        news = await there.changes("a/", seen.upto, 0.0)
        ((found, vectors),) = news.entries
        assert found == turn(1)
        assert vectors is not None
        assert vectors.tolist() == VECTORS.tolist()
        assert set(news.gone) == {turn(2).link, turn(2).utterances[0].link}
        assert await here.path("a/", turn(2).link, 9) == [turn(1)]


class Follower:
    """A reader that makes of changes, page by page, what there is."""

    def __init__(self) -> None:
        self.upto = 0
        self.known: dict[bytes, tuple[int, bool]] = {}  # number of each turn, and whether it has vectors
        self.gone: set[bytes] = set()

    def take(self, changes: ArchiveChanges) -> None:
        self.gone -= set(changes.back)
        for each, vectors in changes.entries:
            self.known[each.link] = (each.number, vectors is not None)
        self.gone |= set(changes.gone)
        for link in changes.gone:
            self.known.pop(link, None)
        assert changes.upto >= self.upto
        self.upto = changes.upto


@pytest.mark.note("v2 Resumen/2")
async def test_who_follows_while_many_write_misses_nothing() -> None:
    writers, rounds = 10, 8
    async with processes(writers + 1) as databases:
        reader, followers = PostgresArchive(databases[-1], TTL), {scope: Follower() for scope in ("a/", "b/")}

        async def write(who: int) -> None:
            archive = PostgresArchive(databases[who], TTL)
            for number in range(rounds):
                for scope in ("a/", "b/") if who % 2 else ("b/", "a/"):
                    own = said_by(who, number)
                    archive.add(scope, own, None)
                    archive.add(scope, turn(900_000 + number), VECTORS if who % 3 else None)  # by all of them
                    archive.add(scope, said_by(who, number // 2), VECTORS)
                    archive.forget(scope, [said_by((who + 1) % writers, number // 3).utterances[0].link])
                    if number % 4 == 3:
                        archive.lift(scope, [own.link, own.utterances[0].link, said_by(who, 0).utterances[0].link])
                await archive.flush()

        async def follow() -> None:
            for scope, follower in followers.items():
                follower.take(await reader.changes(scope, follower.upto, 0.0, limit=7))

        async with asyncio.timeout(60):
            writing = asyncio.gather(*map(write, range(writers)))
            while not writing.done():
                await follow()
            await writing
        for scope, follower in followers.items():
            more = True
            while more:
                changes = await reader.changes(scope, follower.upto, 0.0, limit=7)
                follower.take(changes)
                more = changes.more
            afterwards = Follower()
            afterwards.take(await reader.changes(scope, 0, 0.0, limit=100_000))
            assert (follower.known, follower.gone) == (afterwards.known, afterwards.gone)
            assert {900_000 + number for number in range(rounds)} <= {number for number, _ in follower.known.values()}
            assert len(follower.gone) > writers
        assert [database.writer.dropped.total() for database in databases] == [0] * (writers + 1)


async def test_links_of_a_row_that_another_took_the_place_of_are_not_left() -> None:
    def links(connection: Connection) -> list[tuple[bytes, int]]:
        return connection.execute("SELECT link, change FROM archive_links ORDER BY link").fetchall()

    first, again = turn(1), replace(turn(1), utterances=(Utterance("user", "else", b"else"),))
    async with processes(1) as (database,):
        archive = PostgresArchive(database, TTL)
        archive.add("a/", first, None)
        await archive.flush()
        ((link, change),) = await database.read(links)
        assert link == first.utterances[0].link
        archive.add("a/", again, VECTORS)
        await archive.flush()
        ((link, later),) = await database.read(links)
        assert (link, later > change) == (b"else", True)
        archive.forget("a/", [first.link])
        await archive.flush()
        assert await database.read(links) == []


async def test_turns_leave_a_bounded_number_at_a_time_the_oldest_first() -> None:
    async with processes(1) as (database,):
        archive = PostgresArchive(database, TTL)
        for number in reversed(range(1, PRUNED + 51)):
            archive.add("a/", turn(number), None)
        archive.prune(100_000.0)
        assert await numbers(archive) == list(reversed(range(PRUNED + 1, PRUNED + 51)))
        archive.prune(100_000.0)
        assert await numbers(archive) == []
        assert (
            await database.read(lambda connection: connection.execute("SELECT * FROM archive_links").fetchall()) == []
        )


async def test_what_the_database_refuses_takes_nothing_else_with_it() -> None:
    async with processes(1) as (database,):
        archive = PostgresArchive(database, TTL)
        archive.add("a/", replace(turn(1), at=float("nan")), None)
        archive.add("a/", turn(2), None)
        archive.add("a/", replace(turn(3), session="half a character \ud800"), None)
        assert await numbers(archive) == [2]
        assert database.writer.dropped.total() == 2


@pytest.mark.parametrize("after", [0, 2_500])
async def test_changes_are_a_range_of_an_index(after: int) -> None:
    def filled(connection: Connection) -> str:
        connection.execute("INSERT INTO scopes (name) SELECT 's-' || number FROM generate_series(1, 10) AS number")
        connection.execute(
            "INSERT INTO archive (scope_id, link, forgotten_at)"
            " SELECT scopes.id, decode(md5(number::text), 'hex'), 1 FROM generate_series(1, 3000) AS number, scopes"
        )
        connection.execute("ANALYZE")
        return plan(connection, CHANGES, {"scope": "s-3", "after": after, "since": 0.0, "limit": 64})

    async with processes(1) as (database,):
        told = await database.read(filled, 10.0)
    assert "Index Scan using archive_changes on archive" in told
    assert f"(ROW(scope_id, change) > ROW($0, '{after}'::bigint))" in told
    assert "(ROW(scope_id, change) <= ROW($1, " in told
    assert "Sort" not in told
