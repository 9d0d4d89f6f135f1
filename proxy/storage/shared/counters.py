"""Counts of what is used by the minute, and of requests under way, in SQLite: in memory where one process serves, in a
file that the workers of a machine share otherwise. Nothing of it outlives them.

In memory a count takes some tens of microseconds, on the event loop; a file is written in a thread of its own, since
workers wait for each other there.
"""

import asyncio
import sqlite3
import weakref
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeVar

from proxy.types.keys import Counted, Use

T = TypeVar("T")

KEPT = 61  # seconds that a count by the second is kept
LEASE = 900.0  # seconds after which a request that nobody has ended counts no more
ENDED = 10.0  # seconds that one which has ended is kept: by then every sum has it
_LOCK_SECONDS = 1.0  # that workers wait for each other, at most

_SCHEMA = (
    """
    CREATE TABLE IF NOT EXISTS rates (
        owner TEXT NOT NULL, second INTEGER NOT NULL, requests INTEGER NOT NULL, tokens INTEGER NOT NULL,
        PRIMARY KEY (owner, second)
    ) WITHOUT ROWID
    """,
    "CREATE INDEX IF NOT EXISTS rates_oldest ON rates (second)",
    """
    CREATE TABLE IF NOT EXISTS under_way (
        owner TEXT NOT NULL, id TEXT NOT NULL, until REAL NOT NULL, tokens INTEGER NOT NULL, dollars REAL NOT NULL,
        ended_at REAL NOT NULL,
        PRIMARY KEY (owner, id)
    ) WITHOUT ROWID
    """,
    "CREATE INDEX IF NOT EXISTS under_way_oldest ON under_way (until)",
)
_FORGET = ("DELETE FROM rates WHERE second <= :second - :kept", "DELETE FROM under_way WHERE until <= :at")
_ADD = (
    """
    INSERT INTO rates VALUES (:owner, :second, :requests, :tokens) ON CONFLICT (owner, second) DO UPDATE SET
        requests = requests + excluded.requests, tokens = tokens + excluded.tokens
    """,
    """
    INSERT INTO under_way VALUES (:owner, :id, :until, :tokens, :dollars, 0) ON CONFLICT (owner, id) DO UPDATE SET
        tokens = tokens + excluded.tokens, dollars = dollars + excluded.dollars
    """,
)
_RATES = "SELECT second, requests, tokens FROM rates WHERE owner = :owner ORDER BY second"
_UNDER_WAY = """
    SELECT coalesce(sum(tokens), 0), coalesce(sum(dollars), 0.0) FROM under_way
    WHERE owner = :owner AND (ended_at = 0 OR (ended_at > :since AND ended_at <= :at + :ended))
"""
_SETTLE = (
    "UPDATE rates SET tokens = tokens + :more WHERE owner = :owner AND second = :second",
    """
    UPDATE under_way SET tokens = :tokens, dollars = :dollars, ended_at = :now, until = :now + :ended
    WHERE owner = :owner AND id = :id
    """,
)
_WITHDRAW = (
    """
    UPDATE rates SET requests = requests - :requests, tokens = tokens - :tokens
    WHERE owner = :owner AND second = :second
    """,
    "DELETE FROM under_way WHERE owner = :owner AND id = :id",
)


class SqliteCounters:
    """The counts of one process (`folder` is None), or of all workers that share a folder. It opens nothing until
    something is counted."""

    def __init__(self, folder: Path | None = None) -> None:
        self._path = None if folder is None else folder / "limits.db"
        self._connection: sqlite3.Connection | None = None
        self._thread = None if folder is None else ThreadPoolExecutor(1, thread_name_prefix="limits")

    async def add(self, owner: str, use: Use, since: float) -> Counted:
        values = {**_values(owner, use), "until": use.at + LEASE, "since": since, "ended": ENDED}

        def work(connection: sqlite3.Connection) -> Counted:
            for statement in (*_FORGET, *_ADD):
                connection.execute(statement, values)
            seconds = tuple(connection.execute(_RATES, values).fetchall())
            tokens, dollars = connection.execute(_UNDER_WAY, values).fetchone()
            return Counted(seconds, tokens, dollars)

        if self._thread is None:
            return self._done(work)
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._done, work)

    def settle(self, owner: str, use: Use, tokens: int, dollars: float, now: float) -> None:
        told = {"more": tokens - use.tokens, "tokens": tokens, "dollars": dollars, "now": now, "ended": ENDED}
        self._later(_SETTLE, {**_values(owner, use), **told})

    def withdraw(self, owner: str, use: Use) -> None:
        self._later(_WITHDRAW, _values(owner, use))

    def _later(self, statements: Sequence[str], values: Mapping[str, Any]) -> None:
        if self._thread is None and self._connection is None:
            return  # nothing was counted here

        def work(connection: sqlite3.Connection) -> None:
            for statement in statements:
                connection.execute(statement, values)

        if self._thread is None:
            self._done(work)
        else:
            self._thread.submit(self._done, work).add_done_callback(_looked_at)

    def _done(self, work: Callable[[sqlite3.Connection], T]) -> T:
        connection = self._connection
        if connection is None:
            connection = self._connection = _opened(self._path)
            weakref.finalize(self, connection.close)
        with connection:  # commits, or rolls back
            connection.execute("BEGIN IMMEDIATE")
            return work(connection)


def _opened(path: Path | None) -> sqlite3.Connection:
    where = ":memory:" if path is None else str(path)
    connection = sqlite3.connect(where, timeout=_LOCK_SECONDS, isolation_level=None, check_same_thread=False)
    for pragma in ("journal_mode = MEMORY", "synchronous = OFF", "temp_store = MEMORY"):  # it need not outlive a crash
        connection.execute(f"PRAGMA {pragma}")
    for statement in _SCHEMA:
        connection.execute(statement)
    return connection


def _values(owner: str, use: Use) -> dict[str, Any]:
    return {
        "owner": blake2b(owner.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest(),  # it may name people
        "id": use.id,
        "at": use.at,
        "second": int(use.at),
        "requests": use.requests,
        "tokens": use.tokens,
        "dollars": use.dollars,
        "kept": KEPT,
    }


def _looked_at(done: "Future[None]") -> None:
    """Takes note of an error: what is not settled ends with its lease."""
    done.exception()
