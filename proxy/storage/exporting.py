"""Copies outside of the database, for the export of end users: stored answers, and rows that wait in spools. Whose
something is, is told by the scope that stands beside it. Nothing is changed.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import msgspec

from proxy.storage.answers import Entry
from proxy.storage.erasing import LOCK_SECONDS, Wanted
from proxy.storage.erasures import base_of
from proxy.types import Json

_entry = msgspec.msgpack.Decoder(Entry).decode
_anything = msgspec.msgpack.Decoder().decode


@dataclass(frozen=True, slots=True)
class Waiting:
    """A row that waits in a spool."""

    scope: str
    at: float
    operation: str
    what: Json  # msgpack, decoded


def entry_of(value: object, wanted: Wanted) -> Entry | None:
    """Returns the stored answer of a value, if it is one of a scope that is meant."""
    try:
        entry = _entry(value) if isinstance(value, bytes) else None
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    return entry if entry is not None and wanted(base_of(entry.scope)) else None


def answers(path: Path, wanted: Wanted) -> Iterator[tuple[str, Entry]]:
    """Yields the answers of scopes in a file of the answer cache, each with its key. Raises sqlite3.Error."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=LOCK_SECONDS)) as cache:
        if cache.execute("SELECT 1 FROM sqlite_master WHERE name = 'Cache'").fetchone() is None:
            return
        for key, value in cache.execute("SELECT key, value FROM Cache"):
            if (entry := entry_of(value, wanted)) is not None:
                yield str(key), entry


def waiting(folder: Path, wanted: Wanted) -> Iterator[Waiting]:
    """Yields the rows of scopes that wait in the spools of this machine. Raises sqlite3.Error."""
    for path in sorted(folder.glob("*.spool")):
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=LOCK_SECONDS)) as spool:
            if spool.execute("SELECT 1 FROM sqlite_master WHERE name = 'waiting'").fetchone() is None:
                continue
            for at, name, scope, what in spool.execute("SELECT at, name, scope, what FROM waiting ORDER BY id"):
                if wanted(base_of(scope)):
                    yield Waiting(scope, at, name, _anything(what))
