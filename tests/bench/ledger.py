"""How fast the page's numbers are read from a large ledger, and what keeping them costs.

    python -m tests.bench.ledger [--rows 1000000] [--contents 2000]

Requests of 90 days in 50 scopes, to three models, answered by an upstream, exactly or by intent; every conversation has
20 of them. They are written by the writer's own statements, sums included. Fails if any query's p99 is above 100 ms.
"""

import argparse
import asyncio
import random
import sqlite3
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import get_args

from proxy.admin.finding import SCANNED
from proxy.config.storage import Keep
from proxy.storage.accounts import Accounts, Dimension, Width
from proxy.storage.base import ContentStore
from proxy.storage.pending import LEDGER, Write
from proxy.storage.postgres.contents import PostgresContents
from proxy.storage.retention import Pace, Retention
from proxy.storage.sqlite.accounts import SqliteAccounts
from proxy.storage.sqlite.archive import SqliteArchive
from proxy.storage.sqlite.contents import SqliteContents
from proxy.storage.sqlite.database import Database
from proxy.storage.sqlite.expiry import Expiry
from proxy.storage.sqlite.ledger import add_rows
from proxy.tasks import Tasks
from proxy.types import ArchivedTurn, Contents, LedgerRow, RowFilter, Utterance
from tests.builders import ledger_row

DAYS, SCOPES, MODELS, SESSION_ROWS = 90, 50, 3, 20
MINUTE: Width = 60
HOUR: Width = 3_600
DAY: Width = 86_400
BATCH = 10_000
TURNS = 2_000  # of one conversation
BODY = 6 * 1024
ASKED = 200
KEPT_MINUTES = 3 * DAY
OLD_MINUTES = "DELETE FROM rollups WHERE width = 60 AND at < ?"  # as retention does, day by day
LIMIT = 0.1  # seconds: p99 of every query
STAGES = ("identify", "resume", "exact", "intent", "plan", "assemble")


def written(rows: int, now: float, dice: random.Random) -> Iterator[LedgerRow]:
    """In the order of time, ending now."""
    conversations = [(f"c-{dice.randrange(16**32):032x}", 0) for _ in range(SCOPES * 5)]
    for number in range(rows):
        place = dice.randrange(len(conversations))
        session, had = conversations[place]
        if had == SESSION_ROWS:
            session, had = f"c-{dice.randrange(16**32):032x}", 0
        conversations[place] = (session, had + 1)
        source = dice.choices(("upstream", "exact", "intent"), (8, 1, 1))[0]
        is_managed = source == "upstream" and dice.random() < 0.7
        yield ledger_row(
            request_id=f"req_0a1b2c3d{number:08x}",
            at=now - DAYS * DAY * (1 - (number + 1) / rows),
            scope=f"{place % SCOPES:032x}/",
            session=session,
            model=f"kimi-k{dice.randrange(MODELS)}",
            source=source,
            plan="managed" if is_managed else "untouched",
            tokens_sent=0 if source != "upstream" else dice.randrange(200, 4_000),
            cost_saved=dice.random() / 100,
            mechanisms={"window": 900, "summaries": 50, "facts": 20, "recall": 300} if is_managed else {},
            stage_seconds=dict.fromkeys(STAGES, 0.0002),
        )


async def fill(database: Database, rows: int, now: float) -> tuple[float, float]:
    """Seconds that it took, without making the rows up; and how many of these the CPU was at it."""
    dice, batch = random.Random(1), []
    spent: list[tuple[float, float]] = []

    def add(connection: sqlite3.Connection, batches: Sequence[list[LedgerRow]]) -> None:
        started, busy = time.perf_counter(), time.thread_time()
        for each in batches:
            add_rows(connection, each)
        spent.append((time.perf_counter() - started, time.thread_time() - busy))
        connection.execute(OLD_MINUTES, (batches[-1][-1].at - KEPT_MINUTES,))

    for number, row in enumerate(written(rows, now, dice), 1):
        batch.append(row)
        if len(batch) == BATCH or number == rows:
            database.writer.put(Write(1, add, batch, kind=LEDGER, scope=""))
            await database.writer.flush()
            batch = []
    return sum(each for each, _ in spent), sum(busy for _, busy in spent)


async def fill_turns(database: Database, scope: str, session: str, now: float) -> None:
    archive = SqliteArchive(database, 10 * DAYS * DAY)
    for number in range(TURNS):
        link = number.to_bytes(16)
        said = Utterance("user", "what was it that we said about this? " * 8, b"u" + link[1:])
        answered = Utterance("assistant", "that it was to be done, in so many words. " * 20, link)
        parent = (number - 1).to_bytes(16) if number else b""
        archive.add(scope, ArchivedTurn(link, parent, session, number + 1, now, b"[]", (said, answered)), None)
    await archive.flush()


async def fill_contents(contents: SqliteContents | PostgresContents, entries: int, now: float) -> None:
    dice = random.Random(2)
    for number in range(entries):
        body, scope = dice.randbytes(BODY), f"{dice.randrange(SCOPES):032x}/"
        contents.put(Contents(scope, f"req_c{number:08x}", f"c-{number // 20}", now, body, headers={"a": "b"}))
        if number % 50 == 49:
            await contents.flush()
    await contents.flush()


Query = Callable[[], Awaitable[object]]


def queries(
    accounts: Accounts, contents: ContentStore, rows: list[LedgerRow], last: int, now: float
) -> dict[str, Query]:
    dice = random.Random(3)

    def span(seconds: float, width: Width, within: float, by: Dimension = "") -> Query:
        def ask() -> Awaitable[object]:
            end = now - dice.random() * max(0.0, within - seconds)
            scope = dice.choice((None, f"{dice.randrange(SCOPES):032x}/"))
            return accounts.buckets(end - seconds, end, width, scope, by)

        return ask

    def scope() -> str:
        return f"{dice.randrange(SCOPES):032x}/"

    def some() -> LedgerRow:
        return dice.choice(rows)

    def time_of() -> float:
        return now - dice.random() * DAYS * DAY

    def rows_of(session_only: bool) -> Awaitable[object]:
        row = some()
        return accounts.rows(scope=None if session_only else row.scope, session=row.session, limit=500)

    def filtered(like: RowFilter) -> Awaitable[object]:
        before = dice.randrange(1, last)
        return accounts.rows(before=before, first=before - SCANNED, like=like, limit=25)

    def row_of() -> Awaitable[object]:
        row = some()
        return accounts.row(row.request_id, row.scope)

    every: dict[str, Query] = {}
    for by in get_args(Dimension):
        told = f" by {by}" if by else ""
        every[f"sums of 1 h{told}"] = span(HOUR, MINUTE, KEPT_MINUTES, by)
        every[f"sums of 6 h{told}"] = span(6 * HOUR, MINUTE, KEPT_MINUTES, by)
        every[f"sums of 14 d{told}"] = span(14 * DAY, HOUR, DAYS * DAY, by)
        every[f"sums of 90 d{told}"] = span(90 * DAY, DAY, DAYS * DAY, by)
    return every | {
        "scopes": accounts.scopes,
        "number of the last row": accounts.last,
        "rows": lambda: accounts.rows(before=dice.randrange(1, last)),
        "rows of a scope": lambda: accounts.rows(scope=scope(), before=dice.randrange(1, last)),
        "rows of a conversation": lambda: rows_of(session_only=False),
        "rows of a conversation, scope unknown": lambda: rows_of(session_only=True),
        f"25 of {SCANNED} rows, of a model": lambda: filtered(RowFilter(model="kimi-k1")),
        f"25 of {SCANNED} rows, none of which failed": lambda: filtered(RowFilter(failed=True)),
        "the number of a moment": lambda: accounts.number_at(time_of()),
        "first questions of 50 conversations": lambda: accounts.questions(
            [(row.scope, row.session) for row in dice.sample(rows, 50)]
        ),
        "a row": row_of,
        "a row, scope unknown": lambda: accounts.row(some().request_id),
        "conversations": lambda: accounts.sessions(before=time_of()),
        "conversations of a scope": lambda: accounts.sessions(scope=scope(), before=time_of()),
        f"{TURNS} turns of a conversation": lambda: accounts.turns(rows[0].scope, rows[0].session),
        "contents of a request": lambda: contents.get(scope(), f"req_c{dice.randrange(1_000):08x}"),
        "contents of 25 requests": lambda: contents.several(
            [(scope(), f"req_c{dice.randrange(1_000):08x}") for _ in range(25)]
        ),
        "contents of the last 50 requests": lambda: contents.recent(50),
        "contents of the last 50 of a scope": lambda: contents.recent(50, scope=scope()),
    }


async def timed(query: Query) -> tuple[list[float], list[float]]:
    """How long it took each time, and how much of the CPU that was: seconds, sorted."""
    took, busy = [], []
    for _ in range(ASKED):
        started, used = time.perf_counter(), time.process_time()
        await query()
        took.append(time.perf_counter() - started)
        busy.append(time.process_time() - used)
    return sorted(took), sorted(busy)


def p50_p99(sorted_seconds: list[float]) -> str:
    return "".join(f"{sorted_seconds[int(len(sorted_seconds) * share)] * 1e3:9.2f}" for share in (0.5, 0.99))


async def retained(database: Database, writes: list[float], now: float) -> None:
    """What lets go of three days' worth of requests at once; a day's is let go of in a day."""
    writes.clear()
    failures: list[str] = []
    keep = Keep(requests=(DAYS - 3) * DAY, minutes=KEPT_MINUTES - DAY, hours=(DAYS - 3) * DAY, contents=1)
    retention = Retention(
        database.writer,
        Expiry(keep, keeps_contents=True, turns=90 * 86_400.0).work,
        Tasks(),
        clock=lambda: now + 2,
        pace=Pace(pause=0),
        on_failure=lambda *why: failures.append(str(why)),
    )
    started, before = time.perf_counter(), database.path.stat().st_size
    done = await retention.run()
    print(f"retention: {done}, {failures or 'no failure'}, {time.perf_counter() - started:.1f} s")
    writes.sort()
    print(f"its writes: {len(writes)}, median {writes[len(writes) // 2] * 1e3:.1f} ms, ", end="")
    print(f"p99 {writes[int(len(writes) * 0.99)] * 1e3:.1f} ms, longest {writes[-1] * 1e3:.1f} ms; ", end="")
    print(f"{before / 2**20:.0f} MiB became {database.path.stat().st_size / 2**20:.0f} MiB")


async def run(folder: Path, rows: int, entries: int) -> int:
    now = float(int(time.time()))
    writes: list[float] = []
    database = Database(
        folder / "olvido.db",
        Tasks(),
        observed=lambda kind, seconds: writes.append(seconds) if kind == "write" else None,
    )
    seconds, busy = await fill(database, rows, now)
    size = database.path.stat().st_size
    print(f"{rows} rows: {seconds:.0f} s, {busy / rows * 1e6:.0f} µs of CPU a row; ", end="")
    print(f"{size / 2**20:.0f} MiB, {size / rows:.0f} bytes a row")
    accounts, contents = SqliteAccounts(database), SqliteContents(database)
    last = await accounts.last()
    dice = random.Random(4)
    some = [row for _ in range(300) for _, row in await accounts.rows(before=dice.randrange(2, last), limit=1)]
    await fill_turns(database, some[0].scope, some[0].session, now)
    await fill_contents(contents, entries, now)
    print(f"{'milliseconds':<42}{'p50':>9}{'p99':>9}{'CPU p50':>9}{'p99':>9}")
    missed = []
    for name, query in queries(accounts, contents, some, last, now).items():
        took, used = await timed(query)
        print(f"{name:<42}{p50_p99(took)}{p50_p99(used)}", flush=True)
        if took[int(ASKED * 0.99)] > LIMIT:
            missed.append(name)
    await retained(database, writes, now)
    await database.close()
    if missed:
        print(f"p99 above {LIMIT * 1e3:.0f} ms: {', '.join(missed)}")
    return int(bool(missed))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--contents", type=int, default=2_000, help="requests whose contents are kept")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(run(Path(folder), options.rows, options.contents))


if __name__ == "__main__":
    sys.exit(main())
