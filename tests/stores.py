"""The stores as they are, in memory, for tests of what stands on them: what is put is there at once, and nothing has to
be closed. How the stores behave over time: tests/contract and tests/storage."""

import asyncio
import atexit
import functools
import shutil
import sqlite3
import tempfile
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from proxy.storage.answers import MemoryAnswers
from proxy.storage.base import Part
from proxy.storage.folder import SECRET_BYTES
from proxy.storage.opening import Storage
from proxy.storage.pending import Write, WriterLimits
from proxy.storage.sqlite.accounts import SqliteAccounts
from proxy.storage.sqlite.aliases import SqliteAliases
from proxy.storage.sqlite.archive import SqliteArchive
from proxy.storage.sqlite.connection import open_database
from proxy.storage.sqlite.contents import SqliteContents
from proxy.storage.sqlite.database import Database, NoDatabase
from proxy.storage.sqlite.desk import SqliteDesks
from proxy.storage.sqlite.facts import SqliteFacts
from proxy.storage.sqlite.jobs import SqliteJobs
from proxy.storage.sqlite.keys import SqliteKeys
from proxy.storage.sqlite.ledger import SqliteLedger
from proxy.storage.sqlite.quality import SqliteQuality
from proxy.storage.sqlite.returns import SqliteReturns
from proxy.storage.sqlite.reuse import SqliteReuse
from proxy.storage.sqlite.sessions import SqliteSessions, SqliteStates
from proxy.storage.sqlite.wipes import SqliteWipes
from proxy.storage.sqlite.writer import Writer
from proxy.storage.stores.contents import ContentLimits
from proxy.tasks import Tasks

T = TypeVar("T")

FOR_EVER = 1e12  # seconds


async def nothing_on_record(scope: str) -> bool:
    return False


class _AtOnce(Writer):
    def put(self, write: Write) -> bool:
        self._apply([write])
        if write.settled is not None:
            asyncio.get_running_loop().call_soon(write.settled)
        return True

    async def flush(self) -> None:
        await asyncio.sleep(0)  # what is written at once has settled

    async def read(self, query: Callable[[sqlite3.Connection], T]) -> T:
        return query(self._connection)


class AtOnce(Database):
    """Without threads and tasks; it closes itself when nobody has it any more."""

    def __init__(self) -> None:
        super().__init__(None, Tasks())

    def _writing(self, connection: sqlite3.Connection, tasks: Tasks, limits: WriterLimits | None) -> Writer:
        weakref.finalize(self, connection.close)
        return _AtOnce(connection, tasks, limits)


@functools.cache
def _empty_file() -> Path:
    path = Path(tempfile.mkdtemp(prefix="olvido-empty-")) / "olvido.db"
    open_database(path, 0.0).close()
    atexit.register(shutil.rmtree, path.parent, ignore_errors=True)
    return path


def begun(path: Path) -> Path:
    """Makes an empty database at a path, unless there is one, for tests of what is done with it: to copy a file takes
    1 ms, the steps of its schema 13. How a new file is made: tests/storage/sqlite."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(_empty_file(), path)
    return path


@functools.cache
def nothing() -> NoDatabase:
    """Keeps nothing; one for all tests of a process."""
    return NoDatabase()


def storage(**parts: Any) -> Storage:
    """All of it in one database, but for `parts`."""
    database = AtOnce()
    built: dict[str, Any] = {
        "sessions": SqliteSessions(database),
        "ledger": SqliteLedger(database),
        "answers": MemoryAnswers(),
        "reuse": SqliteReuse(database),
        "jobs": SqliteJobs(database),
        "desks": SqliteDesks(database),
        "keys": SqliteKeys(database),
        "returns": SqliteReturns(database),
        "quality": SqliteQuality(database),
        "aliases": SqliteAliases(database),
        "accounts": SqliteAccounts(database),
        "contents": SqliteContents(nothing(), ContentLimits(0, 0, 0)),
    }
    secret = bytes(SECRET_BYTES)
    return Storage(**built | remembering() | parts, database=database, nothing=nothing(), secret=secret)


def remembering() -> dict[str, Any]:
    """What memory needs, in one database, as `composed` and `Library` take it."""
    database = AtOnce()
    return {
        "facts": facts(database),
        "archive": archive(database),
        "states": states(database),
        "wipes": wipes(database),
    }


def facts(database: Database | None = None) -> SqliteFacts:
    return SqliteFacts(database or AtOnce())


def archive(database: Database | None = None, ttl: float = FOR_EVER) -> SqliteArchive:
    return SqliteArchive(database or AtOnce(), ttl)


def states(database: Database | None = None) -> SqliteStates:
    return SqliteStates(database or AtOnce())


def wipes(database: Database | None = None) -> SqliteWipes:
    return SqliteWipes(database or nothing())


def sessions(database: Database | None = None) -> SqliteSessions:
    return SqliteSessions(database or AtOnce())


def ledger(database: Database | None = None) -> SqliteLedger:
    return SqliteLedger(database or AtOnce())


def reuse(database: Database | None = None) -> SqliteReuse:
    return SqliteReuse(database or AtOnce())


def contents(database: Database | None = None) -> SqliteContents:
    """Of whatever time."""
    return SqliteContents(database or AtOnce(), ContentLimits(seconds=0))


def jobs(database: Database | None = None) -> SqliteJobs:
    return SqliteJobs(database or AtOnce())


def desks(database: Database | None = None) -> SqliteDesks:
    return SqliteDesks(database or AtOnce())


class ForeignWriter:
    """Another process that never stops writing."""

    def __init__(self) -> None:
        self.writes = 0

    async def __call__(self, scope: str, part: Part) -> int:
        self.writes += 1
        return self.writes
