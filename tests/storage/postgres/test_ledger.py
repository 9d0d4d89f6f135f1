"""The ledger of many processes on one PostgreSQL: sums add up to it, and its numbers hide no row."""

import asyncio
import random
from dataclasses import replace
from typing import Any

import psycopg
import pytest

from proxy.admin.codec import total
from proxy.storage.pending import DELETIONS, LEDGER, LINKS, Write
from proxy.storage.postgres import ledger as module
from proxy.storage.postgres.accounts import PostgresAccounts
from proxy.storage.postgres.connection import connect
from proxy.storage.postgres.database import PostgresDatabase
from proxy.storage.postgres.ledger import PostgresLedger, add_rows, condense
from proxy.storage.postgres.writer import in_turn
from proxy.storage.stores.ledger import MECHANISMS
from proxy.types import UNANSWERED, LedgerRow
from tests.builders import ledger_row
from tests.postgres import database, processes
from tests.sums import sums_of

pytestmark = pytest.mark.long

DAY = 86_400
START = 1_700_006_400.0  # a day begins


def row(number: int, **differing: Any) -> LedgerRow:
    """What it costs adds up to the same in any order."""
    dice = random.Random(number)
    return ledger_row(
        request_id=f"r{number}",
        at=START + dice.choice((0, 59, 3_600, DAY - 1)),
        session=f"s{number % 7}",
        cost=dice.randrange(99) / 128,
        mechanisms=dict.fromkeys(dice.sample(MECHANISMS, number % 3), 7),
        **{
            "scope": f"{number % 3}/",
            "model": dice.choice(("m", "n", f"new {number}")),
            "source": dice.choice(("upstream", "exact")),
            **differing,
        },
    )


@pytest.mark.parametrize("count", [10])
async def test_processes_at_once_add_every_request_to_every_sum_once(
    count: int, caplog: pytest.LogCaptureFixture
) -> None:
    rows = [row(number) for number in range(300)]
    known: list[list[int]] = []

    async def write(place: int, database: PostgresDatabase) -> None:
        ledger, dice = PostgresLedger(database), random.Random(place)
        mine = rows[place::count] + dice.sample(rows, 90)  # and what others write too
        dice.shuffle(mine)
        for start in range(0, len(mine), 12):
            for each in mine[start : start + 12]:
                ledger.append(each)
            await ledger.flush()

    async def follow(accounts: PostgresAccounts) -> None:
        seen = 0
        while len(known) == 0 or sum(map(len, known)) < len(rows):
            page = [number for number, _ in await accounts.rows(limit=1_000) if number > seen]
            known.append(page)
            seen = max([seen, *page])

    async with processes(count) as writers:
        async with asyncio.timeout(60):
            await asyncio.gather(
                follow(PostgresAccounts(writers[0])),
                *(write(place, database) for place, database in enumerate(writers)),
            )
        accounts = PostgresAccounts(writers[0])
        written = [each for _, each in await accounts.rows(limit=1_000)]
        assert sorted(each.request_id for each in written) == sorted(each.request_id for each in rows)
        for scope in ("0/", "1/", "2/", None):
            theirs = total(sums_of(each) for each in rows if scope in (None, each.scope))
            assert total(each.sums for each in await accounts.buckets(START, START + DAY, 60, scope)) == theirs
            assert total(each.sums for each in await accounts.buckets(START, START + DAY, 86_400, scope)) == theirs
            assert total(each.sums for each in await accounts.sessions(scope=scope, limit=99)) == theirs
        assert [database.writer.dropped.total() for database in writers] == [0] * count
        assert caplog.messages == []  # no second attempt


async def test_a_batch_that_is_applied_again_changes_nothing() -> None:
    rows = [row(number) for number in range(20)]
    with connect(database()) as connection:
        for batch in (rows[:9], rows, rows + rows):
            add_rows(connection, batch)
        told = connection.execute("SELECT sum(requests) FROM session_sums").fetchone()
        assert told == (20,)
        assert connection.execute("SELECT count(*) FROM ledger").fetchone() == (20,)


async def test_a_batch_that_fails_leaves_neither_rows_nor_sums() -> None:
    with connect(database()) as connection:
        with pytest.raises(psycopg.errors.NotNullViolation), connection.transaction():
            add_rows(connection, [row(1), replace(row(2), cost=float("nan"))])
        for table in ("ledger", "rollups", "session_sums"):
            assert connection.execute(f"SELECT count(*) FROM {table}".encode()).fetchone() == (0,)


async def test_who_stops_with_the_lock_in_hand_is_waited_for_no_longer_than_a_batch_may_take() -> None:
    asked = "SELECT current_setting('idle_in_transaction_session_timeout')"
    with connect(database()) as connection:
        with connection.transaction():
            add_rows(connection, [row(1)])
            assert connection.execute(asked).fetchone() == ("10s",)
        assert connection.execute(asked).fetchone() == ("0",)


def test_the_ledger_comes_last_in_a_batch_and_then_the_job_in_the_background_unless_order_is_asked_for() -> None:
    step = Write(1, add_rows, kind=DELETIONS, scope="")
    ledger, links, forgotten = (Write(1, add_rows, kind=kind, scope="a/") for kind in (LEDGER, LINKS, DELETIONS))
    assert in_turn([step, ledger, links, ledger, forgotten]) == [links, forgotten, ledger, ledger, step]
    wipe = replace(forgotten, in_order=True)
    assert in_turn([ledger, wipe, links]) == [ledger, wipe, links]


async def test_of_requests_that_nobody_answered_the_newest_rows_are_kept_and_the_sums_of_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "UNANSWERED_ROWS", 5)
    with connect(database()) as connection:
        for number in range(12):
            add_rows(connection, [row(number, scope=UNANSWERED), row(number, scope="a/")])
        kept = connection.execute(
            "SELECT name, count(*), min(substr(request_id, 2)::int) FROM ledger JOIN scopes ON scopes.id = scope_id"
            " GROUP BY name ORDER BY name"
        ).fetchall()
        assert kept == [("a/", 12, 0), (UNANSWERED, 5, 7)]
        assert connection.execute("SELECT sum(requests) FROM session_sums").fetchone() == (24,)


async def test_minutes_are_condensed_one_after_the_other_and_once() -> None:
    with connect(database()) as connection:
        connection.execute("UPDATE rollup_progress SET condensed = 0")
        add_rows(connection, [replace(row(at), at=START + at) for at in (0, 5, 60, 3_600, 9_999)])

        def told(width: int) -> list[int]:
            summed = "SELECT sum(requests)::int FROM rollups WHERE width = %s AND scope_id = 0 GROUP BY at ORDER BY at"
            return [count for (count,) in connection.execute(summed, (width,))]

        assert (told(60), told(3_600), told(DAY)) == ([2, 1, 1, 1], [], [])
        assert condense(connection, START + 59) == 0
        assert [condense(connection, START + 3_660) for _ in range(5)] == [1, 1, 1, 0, 0]
        assert (told(3_600), told(DAY)) == ([3, 1], [4])
        assert [condense(connection, START + DAY) for _ in range(2)] == [1, 0]
        assert condense(connection, START) == 0  # another clock is behind
        add_rows(connection, [replace(row(6), at=START + 60)])
        assert condense(connection, START + DAY) == 0
        assert (told(60), told(3_600), told(DAY)) == ([2, 2, 1, 1], [4, 1, 1], [6])
