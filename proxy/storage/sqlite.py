"""Sessions and ledger in one SQLite file: WAL, one writer, reads in threads of their own. Several processes may share
the file.

A running conversation is recognised with no SQLite at all: its links are kept in memory (`Recent`), and so is
what is queued and not yet committed (`Pending`), which the next request must already see.
"""

import asyncio
import functools
import logging
import sqlite3
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import msgspec

from proxy.storage.base import KnownPrefix, StorageError
from proxy.storage.ledger_rows import add_rows, recent_rows
from proxy.storage.memory import Key, Link, Pending, Recent, passage
from proxy.storage.migrations import drop_vectors_of_others, migrate, storage_errors
from proxy.storage.secret import private_file, private_folder
from proxy.storage.shares import CUT_LINKS, LEDGER, LINKS
from proxy.storage.statements import (
    ADD_SCOPES,
    ADD_SESSIONS,
    GO_ON,
    LONGEST_PREFIX,
    MERGE_LINKS,
)
from proxy.storage.writer import Write, Writer, WriterLimits
from proxy.tasks import Tasks
from proxy.types import LedgerRow
from proxy.wire.turns import LINK_BYTES

log = logging.getLogger(__name__)

T = TypeVar("T")
Observed = Callable[[str, float], object]  # "read" or "write", and how many seconds it took; called in any thread

READERS = 2
MAX_LOOKED_UP = 1_000  # requests between their look-up and their end
# Of one request, the last ones: by them the next request is recognised. A longer history is recognised where it goes on
# or is edited within as many messages of its end.
MOST_LINKS = 2_000
LOCK_SECONDS = 2.0  # how long a statement waits for another process


HAS_SCOPE = "SELECT 1 FROM scopes WHERE name = ?"


class Database:
    """One file and everything that is open on it. `sessions` and `ledger` share it; whoever opened it closes it."""

    def __init__(
        self,
        path: Path,
        tasks: Tasks,
        limits: WriterLimits | None = None,
        *,
        lock_seconds: float = LOCK_SECONDS,
        embedding: str = "",
        observed: Observed = lambda _operation, _seconds: None,
    ) -> None:
        self.path = path
        self._observed = observed
        self._lock_seconds = lock_seconds
        with storage_errors(path):
            connection = _open(path, lock_seconds)
            if embedding:
                drop_vectors_of_others(connection, embedding)
        self._threads = ThreadPoolExecutor(READERS, thread_name_prefix="storage-reader")
        self._local = threading.local()
        self._readers: list[sqlite3.Connection] = []
        self._closed = False
        self.sessions = SqliteSessions(self)
        self.writer = Writer(
            connection,
            tasks,
            limits,
            on_foreign_write=self.sessions.distrust,
            observed=functools.partial(observed, "write"),
        )
        self.ledger = SqliteLedger(self)

    async def read(self, query: Callable[[sqlite3.Connection], T]) -> T:
        """Run `query` in a reader's thread. Raises `StorageError`."""
        if self._closed:
            raise StorageError(f"{self.path} is closed")
        with storage_errors(self.path):
            return await asyncio.get_running_loop().run_in_executor(self._threads, self._query, query)

    async def has_scope(self, scope: str) -> bool:
        """Is anything written of it? Raises `StorageError`."""
        return await self.read(lambda connection: connection.execute(HAS_SCOPE, (scope,)).fetchone()) is not None

    async def close(self) -> None:
        """Write what is queued, then let go of the file. A second call does nothing."""
        if self._closed:
            return
        self._closed = True
        await self.writer.close()
        await asyncio.to_thread(self._threads.shutdown)
        for connection in self._readers:
            connection.close()

    def _query(self, query: Callable[[sqlite3.Connection], T]) -> T:
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = _connect(self.path, self._lock_seconds)
            connection.execute("PRAGMA query_only = ON")
            self._readers.append(connection)
        started = time.perf_counter()
        try:
            return query(connection)
        finally:
            self._observed("read", time.perf_counter() - started)


class SqliteSessions:
    def __init__(self, database: Database, max_recent: int = 50_000) -> None:
        self._database = database
        self._pending = Pending()
        self._recent = Recent(max_recent)
        self._looked_up: OrderedDict[Key, int] = OrderedDict()  # last link of a chain → how much of it was known

    async def longest_prefix(self, scope: str, chain: Sequence[bytes]) -> KnownPrefix | None:
        if not chain:
            return None
        if (known := self._recent.find(scope, chain)) is not None:
            self._found((scope, chain[-1]), known.length)
            return known
        # Pending first, then the database: what leaves the one in between is in the other.
        settlements = self._pending.settlements
        queued = {n: waiting for n, digest in enumerate(chain, 1) if (waiting := self._pending.get((scope, digest)))}
        stored, link = await self._database.read(functools.partial(_longest_prefix, scope, chain))
        length = max(stored, max((n for n, waiting in queued.items() if waiting.sessions), default=0))
        if settlements == self._pending.settlements:
            self._found((scope, chain[-1]), length)
        if length == 0:
            return None
        key = (scope, chain[length - 1])
        link = link if stored == length else Link()
        for later in (queued.get(length), self._pending.get(key)):
            link = link.merged(later) if later else link
        if settlements == self._pending.settlements:
            self._recent.add(key, link)
        return link.as_prefix(length)

    def remember(self, scope: str, session: str, chain: Sequence[bytes], start: int, at: float) -> None:
        if start >= len(chain):
            return
        if (first := len(chain) - MOST_LINKS) > start:
            self._database.writer.drop(CUT_LINKS, first - start)
            start = first
        changes = [((scope, digest), link) for digest, link in passage(session, chain, start, at)]
        keys = [key for key, _ in changes]
        if self._recent.holds(changes):
            return
        passed = _Passage(scope, session, at, changes)
        settled = functools.partial(self._pending.settle, keys)
        write = Write(len(changes), _merge_links, passed, settled, kind=LINKS, scope=scope)
        self._recent.follow(changes, new=self._is_new(scope, chain, start))
        if self._database.writer.put(write):
            for key, link in changes:
                self._pending.add(key, link)

    def distrust(self) -> None:
        """Another process has written: it may know of our links what we do not."""
        self._recent.clear()
        self._looked_up.clear()

    def _found(self, key: Key, length: int) -> None:
        self._looked_up[key] = length
        if len(self._looked_up) > MAX_LOOKED_UP:
            self._looked_up.popitem(last=False)

    def _is_new(self, scope: str, chain: Sequence[bytes], start: int) -> bool:
        """Was it looked up that nothing of `chain[start:]` is known? The request's chain is this one, or all of it but
        the answer's link."""
        lengths = [self._looked_up.pop((scope, link), None) for link in chain[-2:]]
        return any(known is not None and known <= start for known in lengths)

    async def flush(self) -> None:
        await self._database.writer.flush()

    async def close(self) -> None:
        await self.flush()


class SqliteLedger:
    def __init__(self, database: Database) -> None:
        self._database = database

    def append(self, row: LedgerRow) -> None:
        self._database.writer.put(Write(1, add_rows, row, kind=LEDGER, scope=row.scope))

    async def recent(self, scope: str, limit: int = 100) -> list[LedgerRow]:
        return await self._database.read(functools.partial(recent_rows, scope, limit))

    async def flush(self) -> None:
        await self._database.writer.flush()

    async def close(self) -> None:
        await self.flush()


def _open(path: Path, lock_seconds: float) -> sqlite3.Connection:
    private_folder(path.parent)
    private_file(path)
    connection = _connect(path, lock_seconds)
    try:
        # Only a file with nothing in it takes this: from now on freed pages can be given back in small steps.
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        _use_wal(connection, lock_seconds)
        migrate(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _connect(path: Path, lock_seconds: float) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=lock_seconds, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA synchronous = NORMAL")
    # What is forgotten is overwritten. Some builds of SQLite do so by default. It can't be done for a DELETE alone: a
    # page that was split without it keeps copies (of 300 deleted rows among 3,000 that was so for 49).
    connection.execute("PRAGMA secure_delete = ON")
    return connection


def _use_wal(connection: sqlite3.Connection, lock_seconds: float) -> None:
    deadline = time.monotonic() + lock_seconds
    while True:
        try:
            (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        except sqlite3.OperationalError:
            # Another process is switching the same new file: SQLite answers "locked" without waiting.
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            if mode != "wal":
                log.warning("no WAL on this file system: readers will wait for the writer", extra={"mode": mode})
            return


def _longest_prefix(scope: str, chain: Sequence[bytes], connection: sqlite3.Connection) -> tuple[int, Link]:
    """Length and link, or 0 and an empty link."""
    parameters = {"scope": scope, "length": len(chain), "chain": b"".join(chain), "width": len(chain[0])}
    row = connection.execute(LONGEST_PREFIX, parameters).fetchone()
    if row is None:
        return 0, Link()
    length, went_on, lead, at, other, other_at = row
    sessions = ((lead, at),) if other is None else ((lead, at), (other, other_at))
    return length, Link(sessions, bool(went_on))


@dataclass(frozen=True, slots=True)
class _Passage:
    """One `remember`, as it is written."""

    scope: str
    session: str
    at: float
    changes: Sequence[tuple[Key, Link]]


def _merge_links(connection: sqlite3.Connection, passages: Sequence[_Passage]) -> None:
    merged, went_on = [], []
    digests, gone = bytearray(), bytearray()
    for passed in passages:
        for (_, digest), link in passed.changes:
            if link.sessions:
                merged.append((passed.scope, passed.session, passed.at, link.went_on))
                digests += digest
            else:
                went_on.append((passed.scope,))
                gone += digest
    rows = {"rows": msgspec.json.encode(merged), "digests": bytes(digests), "width": LINK_BYTES}
    connection.execute(ADD_SCOPES, rows)
    connection.execute(ADD_SESSIONS, rows)
    connection.execute(MERGE_LINKS, rows)
    if went_on:
        rows = {"rows": msgspec.json.encode(went_on), "digests": bytes(gone), "width": LINK_BYTES}
        connection.execute(GO_ON, rows)
