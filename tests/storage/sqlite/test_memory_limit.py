"""A database in memory that has too much lets go of what is oldest, and of nothing that cannot be brought back."""

import sqlite3
from dataclasses import replace

import numpy as np

from proxy.storage.sqlite.memory_limit import MOST_KEPT, SHARE, keep_within
from proxy.types import ArchivedTurn, Contents, Fact, ReuseDecision, ReuseEntry, Utterance
from tests import stores
from tests.builders import ledger_row
from tests.stores import AtOnce

FACT = Fact("f-1", "work", "team", "I lead the team", "high", "explicit", "s", 1, 1.0, 1.0)
ENTRY = ReuseEntry("r-1", "p" * 32, "how?", (), "key", 1.0, 1e12)
ROWS = 2 * SHARE  # of each kind: a step takes two
TABLES = ("ledger", "session_sums", "links", "archive", "path_states", "contents", "reuse_entries", "reuse_log")


def link(number: int) -> bytes:
    return number.to_bytes(16, "big")


async def filled() -> AtOnce:
    database = AtOnce()
    for number in range(1, ROWS + 1):
        at, session = float(number), f"s-{number}"
        stores.ledger(database).append(ledger_row(scope="a/", request_id=f"r{number}", at=at, session=session))
        stores.sessions(database).remember("a/", session, [link(number)], 0, at)
        said = (Utterance("user", "hi", link(10_000 + number)),)
        turn = ArchivedTurn(link(number), b"", session, number, at, b"[]", said)
        stores.archive(database).add("a/", turn, np.zeros((1, 4), np.float32))
        stores.states(database).put("a/", session, link(number), at, b"state")
        stores.contents(database).put(Contents("a/", f"r{number}", session, at, b"body"))
        stores.reuse(database).add("a/", replace(ENTRY, id=f"r-{number}"), np.ones(4, np.float32))
        stores.reuse(database).log("a/", ReuseDecision(f"r{number}", at, "hit", "r-1", 1.0, "how?", "how?"))
        stores.facts(database).put("a/", [replace(FACT, id=f"f-{number}")])
    return database


def counted(connection: sqlite3.Connection, table: str) -> int:
    return int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])


async def test_the_oldest_part_of_every_table_leaves_and_every_fact_stays() -> None:
    database = await filled()

    def shrunk(connection: sqlite3.Connection) -> dict[str, int]:
        assert keep_within(connection, most_bytes=0) > 0
        oldest = connection.execute("SELECT min(at) FROM ledger UNION ALL SELECT min(at) FROM links")
        assert oldest.fetchall() == [(3.0,), (3.0,)]
        (kept,) = connection.execute("SELECT bytes FROM contents_size").fetchone()
        assert kept == 4 * counted(connection, "contents")
        return {table: counted(connection, table) for table in (*TABLES, "sessions", "archive_links", "facts")}

    left = await database.read(shrunk)
    assert left == dict.fromkeys((*TABLES, "sessions", "archive_links"), ROWS - 2) | {"facts": ROWS}


async def test_step_by_step_nothing_is_left_but_facts_and_the_newest_entry() -> None:
    database = await filled()

    def emptied(connection: sqlite3.Connection) -> dict[str, int]:
        for _ in range(ROWS + SHARE):
            keep_within(connection, most_bytes=0)
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        return {table: counted(connection, table) for table in (*TABLES, "sessions", "facts")}

    left = await database.read(emptied)
    assert left.pop("facts") == ROWS
    assert 0 < left.pop("reuse_entries") < SHARE
    assert left == dict.fromkeys(left, 0)


async def test_within_the_limit_nothing_leaves() -> None:
    database = await filled()
    assert await database.read(lambda connection: keep_within(connection, most_bytes=2**30)) == 0


async def test_facts_and_forgotten_links_leave_for_their_own_number_alone() -> None:
    database = await filled()
    stores.archive(database).forget("a/", [link(20_000 + number) for number in range(5)], 1.0)

    def bounded(connection: sqlite3.Connection) -> tuple[int, list[tuple[bytes]]]:
        gone = keep_within(connection, most_bytes=2**30, most_kept=3)
        return gone, connection.execute("SELECT link FROM archive WHERE at IS NULL ORDER BY change").fetchall()

    assert await database.read(bounded) == (ROWS - 3 + 2, [(link(20_000 + number),) for number in (2, 3, 4)])
    assert [fact.id for fact in await stores.facts(database).all("a/")] == [f"f-{ROWS - n}" for n in (2, 1, 0)]


async def test_of_too_much_that_was_wiped_the_wipe_that_would_end_first_is_final() -> None:
    database = AtOnce()
    facts, wipes = stores.facts(database), stores.wipes(database)
    for number, scope in enumerate(("a/", "b/"), 1):
        facts.put(scope, [replace(FACT, id=f"f-{each}") for each in range(3)])
        wipes.wipe(scope, [], at=10.0, until=1_000.0 + number)
    assert await database.read(lambda connection: keep_within(connection, most_bytes=2**30, most_kept=5)) == 3
    assert [each.scope for each in await wipes.wiped(10.0)] == ["b/"]
    assert await database.read(lambda connection: keep_within(connection, most_bytes=2**30, most_kept=5)) == 0


async def test_a_fresh_database_has_nothing_to_let_go_of() -> None:
    assert await AtOnce().read(lambda connection: keep_within(connection, most_bytes=0, most_kept=MOST_KEPT)) == 0
