"""The spool: writes that wait on this machine's disk for a database that cannot take them, in the order they were
queued. Each process has a file of its own, which is locked while the process lives; what an ended one has left is taken
over by the next, since a write may be applied twice but not lost.

A write is stored as the name of its function and its plain data: another process, or another version, can apply it.
"""

import fcntl
import logging
import os
import secrets
import sqlite3
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from proxy.storage.base import StorageError
from proxy.storage.folder import private_file, private_folder
from proxy.storage.pending import KINDS, Apply, Write

log = logging.getLogger(__name__)

MOST_BYTES = 256 * 2**20  # of a file
_TABLE = """
    CREATE TABLE IF NOT EXISTS waiting (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        at REAL NOT NULL,
        name TEXT NOT NULL,
        kind TEXT NOT NULL,
        scope TEXT NOT NULL,
        rows INTEGER NOT NULL,
        erases INTEGER NOT NULL,
        in_order INTEGER NOT NULL,
        begun INTEGER,
        what BLOB NOT NULL
    )
"""
_PUT = """
    INSERT INTO waiting (at, name, kind, scope, rows, erases, in_order, begun, what)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
    RETURNING id
"""
_WAITING = "SELECT id, name, kind, scope, rows, erases, in_order, begun FROM waiting ORDER BY id"
_ADOPT = """
    INSERT INTO waiting (at, name, kind, scope, rows, erases, in_order, begun, what)
    SELECT at, name, kind, scope, rows, erases, in_order, begun, what FROM other.waiting ORDER BY id
"""
_SIZE = """
    SELECT (page_count - freelist_count) * page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size
"""
_KINDS = {kind.name: kind for kind in KINDS}


@dataclass(frozen=True, slots=True)
class Operation:
    """A function that applies writes, and the type of what one of them carries."""

    apply: Apply
    of: Any


class Spool:
    """The spool of this process, a file in `folder`. Its methods run in the writer's thread. Raises StorageError if the
    folder cannot be used. `operations`: by the names under which they are stored."""

    def __init__(self, folder: Path, operations: Mapping[str, Operation], most_bytes: int = MOST_BYTES) -> None:
        self._operations = operations
        self._names = {operation.apply: name for name, operation in operations.items()}
        self._most_bytes = most_bytes
        self._folder = folder
        self._path = folder / f"{os.getpid()}-{secrets.token_hex(4)}.spool"
        try:
            private_folder(folder)
            private_file(self._path)
            self._lock = _locked(self._path)
            self._database = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False)
            self._database.execute("PRAGMA secure_delete = ON")
            self._database.execute(_TABLE)
        except (OSError, sqlite3.Error) as error:
            raise StorageError(f"spool {folder}: {error}") from error
        self._applied: set[int] = set()  # and not deleted yet
        self.rows = 0  # that wait
        self.oldest: float | None = None  # Unix seconds

    def put(self, writes: Sequence[Write]) -> list[Write]:
        """Stores writes durably, and returns them with their numbers in place of what they carry; unchanged if they are
        in it already, the spool is full, or what one carries cannot be stored. Raises sqlite3.Error."""
        stored: list[Write] = []
        full = self._size() > self._most_bytes
        with self._transaction():
            for write in writes:
                if full or write.spooled is not None or (name := self._names.get(write.apply)) is None:
                    stored.append(write)
                    continue
                try:
                    what = msgspec.msgpack.encode(write.what)
                except (TypeError, ValueError, OverflowError) as error:
                    log.error("a write cannot be spooled", extra={"write": name, "error": type(error).__name__})  # noqa: TRY400 (its text may quote what it carries)
                    stored.append(write)
                    continue
                of_it = (time.time(), name, write.kind.name, write.scope, write.rows, write.erases, write.in_order)
                (number,) = self._database.execute(_PUT, (*of_it, write.begun, what)).fetchone()
                stored.append(replace(write, what=None, spooled=number))
        self._count()
        return stored

    def loaded(self, writes: Sequence[Write]) -> list[Write]:
        """Returns the writes with what they carry, without those that were applied. Raises sqlite3.Error."""
        loaded = (write if write.spooled is None else self._loaded(write, write.spooled) for write in writes)
        return [write for write in loaded if write is not None]

    def remove(self, writes: Iterable[Write]) -> None:
        """Deletes writes that were applied, or refused. If the disk does not allow it now, they go with the next."""
        self._applied.update(write.spooled for write in writes if write.spooled is not None)
        if not self._applied:
            return
        try:
            with self._transaction():
                self._database.executemany("DELETE FROM waiting WHERE id = ?", [(each,) for each in self._applied])
            self._applied.clear()
            self._count()
        except sqlite3.Error as error:
            log.error("the spool cannot be written", extra={"error": str(error)})  # noqa: TRY400 (the text says it all)

    def adopt(self) -> list[Write]:
        """Takes over what processes that have ended left behind, and returns it in its order, as `put` does."""
        for path in sorted(self._folder.glob("*.spool"), key=_changed_at):
            if path == self._path or (lock := _tried(path)) is None:
                continue
            try:
                self._database.execute("ATTACH ? AS other", (str(path),))
                try:
                    with self._transaction():
                        self._database.execute(_ADOPT)
                finally:
                    self._database.execute("DETACH other")
                _delete(path)
            except sqlite3.Error as error:
                log.error("a spool cannot be read", extra={"file": path.name, "why": str(error)})  # noqa: TRY400 (the text says it all)
            finally:
                os.close(lock)
        self._count()
        return [write for row in self._database.execute(_WAITING) if (write := self._waiting(*row)) is not None]

    def _waiting(self, number: int, name: str, kind: str, scope: str, *rest: int) -> Write | None:
        if (operation := self._operations.get(name)) is None or kind not in _KINDS:
            log.error("the spool has a write of another version", extra={"write": name[:50]})
            return None
        rows, erases, in_order, begun = rest
        return Write(
            rows,
            operation.apply,
            kind=_KINDS[kind],
            scope=scope,
            erases=bool(erases),
            in_order=bool(in_order),
            store=self,  # in the order they were queued
            spooled=number,
            begun=begun,
        )

    def close(self) -> None:
        """Closes the file, and deletes it if nothing waits in it."""
        with suppress(sqlite3.Error):
            self._count()
            self._database.close()
            if not self.rows:
                _delete(self._path)
        os.close(self._lock)

    def _loaded(self, write: Write, number: int) -> Write | None:
        found = self._database.execute("SELECT what FROM waiting WHERE id = ?", (number,)).fetchone()
        if found is None or number in self._applied:
            return None
        operation = self._operations[self._names[write.apply]]
        return replace(write, what=msgspec.msgpack.decode(found[0], type=operation.of))

    def _transaction(self) -> sqlite3.Connection:
        self._database.execute("BEGIN IMMEDIATE")
        return self._database

    def _size(self) -> int:
        return int(self._database.execute(_SIZE).fetchone()[0])

    def _count(self) -> None:
        rows, self.oldest = self._database.execute("SELECT coalesce(sum(rows), 0), min(at) FROM waiting").fetchone()
        self.rows = int(rows)


def _locked(path: Path) -> int:
    descriptor = os.open(path, os.O_RDWR)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _tried(path: Path) -> int | None:
    """Returns the lock of a file whose process has ended; None if it lives, or the file has gone."""
    try:
        descriptor = _locked(path)
    except OSError:
        return None
    try:
        if os.path.samestat(path.stat(), os.fstat(descriptor)):
            return descriptor
    except OSError:
        pass
    os.close(descriptor)  # another process has just taken it over, and deleted it
    return None


def _changed_at(path: Path) -> float:
    with suppress(OSError):  # another process has just taken it over
        return path.stat().st_mtime
    return 0.0


def _delete(path: Path) -> None:
    for name in (path, path.with_name(f"{path.name}-journal")):
        name.unlink(missing_ok=True)
