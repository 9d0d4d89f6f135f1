"""How fast a large PostgreSQL database is read: the page's numbers, and the turns of a scope of 10,000.

    python -m tests.bench.postgres [--rows 1000000] [--turns 1000000] [--contents 2000]

The ledger is that of `tests.bench.ledger`, written by the writer's own statements, sums included; turns are copied in:
a scope of 10,000, the others of 200. The server is the tests' own, on this machine. CPU is that of this process and of
the server: what a query takes where nothing else runs. Fails if a query of the page has a p99 above 100 ms, or reading
turns one above 50 ms, by the clock.
"""

import argparse
import asyncio
import random
import sys
import time
from collections.abc import Awaitable, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from proxy.bench.processes import cpu_seconds
from proxy.storage.base import PAGE
from proxy.storage.database import LONG_SECONDS
from proxy.storage.postgres.accounts import PostgresAccounts
from proxy.storage.postgres.connection import Connection, connect
from proxy.storage.postgres.contents import PostgresContents
from proxy.storage.postgres.database import PostgresDatabase
from proxy.storage.postgres.ledger import add_rows
from proxy.storage.postgres.names import SCOPE_ID
from proxy.storage.vectors import packed
from proxy.tasks import Tasks
from proxy.types import LedgerRow, Utterance
from tests.bench.ledger import ASKED, BATCH, KEPT_MINUTES, LIMIT, TURNS, Query, fill_contents, p50_p99, queries, written
from tests.postgres import database

LARGE, USUAL = 10_000, 200  # turns of a scope
DIMENSIONS, PASSAGES = 384, 4
RECALL = 0.05  # seconds: p99 of what a request waits for
OLD_MINUTES = "DELETE FROM rollups WHERE width = 60 AND at < %s"  # as retention does, day by day
COPY = (
    "COPY archive (scope_id, link, parent, session_id, turn, at, dimensions, vectors, utterances, messages) FROM STDIN"
)
CHANGES = f"""
    SELECT change, link, parent, turn, at, dimensions, vectors, utterances FROM archive
    WHERE scope_id = {SCOPE_ID} AND change > %(after)s ORDER BY change LIMIT %(limit)s
"""
SOME = f"SELECT messages FROM archive WHERE scope_id = {SCOPE_ID} AND link = ANY(%(links)s::bytea[])"
NEWEST = f"SELECT max(change) FROM archive WHERE scope_id = {SCOPE_ID}"


def fill(connection: Connection, rows: int, now: float) -> float:
    """Returns the seconds that it took, without making the rows up."""
    spent, batch = 0.0, list[LedgerRow]()
    for number, row in enumerate(written(rows, now, random.Random(1)), 1):
        batch.append(row)
        if len(batch) == BATCH or number == rows:
            started = time.perf_counter()
            with connection.transaction():
                add_rows(connection, batch)
            spent += time.perf_counter() - started
            connection.execute(OLD_MINUTES, (batch[-1].at - KEPT_MINUTES,))
            batch = []
    return spent


def fill_turns(connection: Connection, turns: int, listed: tuple[str, str], now: float) -> None:
    """A scope of LARGE turns, others of USUAL; and the turns of a conversation that is listed."""
    sizes = [LARGE, *[USUAL] * ((turns - LARGE) // USUAL)]
    connection.execute("INSERT INTO scopes (name) SELECT 't' || n FROM generate_series(1, %s) AS n", (len(sizes),))
    connection.execute("INSERT INTO sessions (scope_id, name) SELECT id, 's' FROM scopes WHERE name LIKE 't%'")
    owners: Sequence[tuple[Any, ...]] = connection.execute(
        "SELECT scope_id, sessions.id FROM sessions JOIN scopes ON scopes.id = scope_id WHERE scopes.name LIKE 't%'"
        " ORDER BY scope_id"
    ).fetchall()
    own = connection.execute(
        "SELECT scope_id, sessions.id FROM sessions JOIN scopes ON scopes.id = scope_id"
        " WHERE scopes.name = %s AND sessions.name = %s",
        listed,
    ).fetchall()
    vectors = packed(np.random.default_rng(1).standard_normal((PASSAGES, DIMENSIONS)).astype(np.float32))
    said = Utterance("user", "what was it that we said about this? " * 8, b"u" * 16)
    answered = Utterance("assistant", "that it was to be done, in so many words. " * 20, b"a" * 16)
    utterances = msgspec.json.encode((said, answered)).decode()
    messages = b'[{"role":"user","content":"' + b"what was it? " * 100 + b'"}]'
    # The turns of scopes stand among each other, as they were said.
    places = [owner for owner, size in zip(owners, sizes, strict=True) for _ in range(size)]
    random.Random(2).shuffle(places)
    with connection.cursor().copy(COPY) as copied:
        for number, (scope, session) in enumerate(places + own * TURNS, 1):
            link = number.to_bytes(16)
            copied.write_row(
                (scope, link, link, session, number, now - number, DIMENSIONS, vectors, utterances, messages)
            )


def turn_queries(running: PostgresDatabase, links: list[bytes]) -> dict[str, Query]:
    dice = random.Random(5)

    def read(statement: str, **values: Any) -> Awaitable[list[Any]]:
        return running.rows(statement, {"scope": "t1", **values}, itemgetter(0), LONG_SECONDS)

    async def whole() -> None:
        after = 0
        while found := await read(CHANGES, after=after, limit=LARGE // 10):
            after = found[-1]

    async def last() -> None:
        (newest,) = await read(NEWEST)
        await read(CHANGES, after=newest - 1, limit=PAGE)

    return {
        "turns: what is new in the scope": last,
        "turns: ten that were found, whole": lambda: read(SOME, links=dice.sample(links, 10)),
        f"turns: a page of {PAGE}": lambda: read(CHANGES, after=dice.randrange(LARGE), limit=PAGE),
        f"turns: all {LARGE} with vectors (no limit)": whole,
    }


async def _timed(query: Query, server: int) -> tuple[list[float], list[float]]:
    """How long it took each time, and the CPU of both sides: seconds, sorted."""
    took, busy = [], []
    for _ in range(ASKED):
        started, used = time.perf_counter(), time.process_time() + cpu_seconds(server)
        await query()
        took.append(time.perf_counter() - started)
        busy.append(time.process_time() + cpu_seconds(server) - used)
    return sorted(took), sorted(busy)


async def run(rows: int, turns: int, entries: int) -> int:
    now, url = float(int(time.time())), database()
    with connect(url) as connection:
        seconds = fill(connection, rows, now)
        print(f"{rows} rows: {seconds:.0f} s, {seconds / rows * 1e6:.0f} µs a row in batches of {BATCH}", flush=True)
    running = PostgresDatabase(url, Tasks())
    accounts, contents = PostgresAccounts(running), PostgresContents(running)
    last, dice = await accounts.last(), random.Random(4)
    some = [row for _ in range(300) for _, row in await accounts.rows(before=dice.randrange(2, last), limit=1)]
    await fill_contents(contents, entries, now)
    with connect(url) as connection:
        started = time.perf_counter()
        fill_turns(connection, max(turns, LARGE), (some[0].scope, some[0].session), now)
        connection.execute("VACUUM ANALYZE")
        ((size,),) = connection.execute("SELECT pg_database_size(current_database())").fetchall()
        ((links,),) = connection.execute(
            f"SELECT array_agg(link) FROM archive WHERE scope_id = {SCOPE_ID}",
            {"scope": "t1"},
        ).fetchall()
        ((folder,),) = connection.execute("SHOW data_directory").fetchall()
        server = int((Path(folder) / "postmaster.pid").read_text().split()[0])
        print(f"{turns} turns: {time.perf_counter() - started:.0f} s; {size / 2**20:.0f} MiB in all")
    print(f"{'milliseconds, n = ' + str(ASKED):<42}{'p50':>9}{'p99':>9}{'CPU p50':>9}{'p99':>9}")
    missed = []
    asked = {name: (query, LIMIT) for name, query in queries(accounts, contents, some, last, now).items()}
    asked |= {name: (query, RECALL) for name, query in turn_queries(running, links).items()}
    for name, (query, limit) in asked.items():
        took, used = await _timed(query, server)
        print(f"{name:<42}{p50_p99(took)}{p50_p99(used)}", flush=True)
        if took[int(ASKED * 0.99)] > limit and "no limit" not in name:
            missed.append(name)
    await running.close()
    if missed:
        print(f"p99 above the limit: {', '.join(missed)}")
    return int(bool(missed))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--turns", type=int, default=1_000_000)
    parser.add_argument("--contents", type=int, default=2_000, help="requests whose contents are kept")
    options = parser.parse_args()
    return asyncio.run(run(options.rows, options.turns, options.contents))


if __name__ == "__main__":
    sys.exit(main())
