"""The command `olvido export`: everything that is kept of an end user, from every place, as files that other programs
read: a JSONL file for each copy (`storage/copies.py`), their folder of memory as it is, and a manifest.

Proxies may be serving meanwhile; the database is read as it was at one moment. Exit status 0: all of it is there; 1: a
place could not be reached, which the manifest says too; 2: it was not clear whom it means, or where to.
"""

import argparse
import asyncio
import os
import sqlite3
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import diskcache
import msgspec

from proxy import config as configuration
from proxy.cli import exporting, memory_files, whom
from proxy.cli.bundle import Bundle, writing
from proxy.cli.remembered import tell
from proxy.config import Config
from proxy.errors import Unauthorized
from proxy.files.layout import SESSIONS
from proxy.memory.showing import plain
from proxy.storage import erasing
from proxy.storage import exporting as outside
from proxy.storage.answers import Entry
from proxy.storage.base import StorageError
from proxy.storage.copies import COPIES, NOBODYS, Copy
from proxy.storage.erasing import Wanted
from proxy.storage.opening import ANSWERS, DATABASE
from proxy.storage.sqlite.connection import storage_errors
from proxy.types import Json

FORMAT = 1  # of the bundle; a released one is never changed, only added to

Records = Callable[[], Iterator[Json]]


@dataclass(slots=True)
class Export:
    """An export under way."""

    config: Config
    wanted: Wanted
    bundle: Bundle
    scopes: dict[str, int] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)  # records by copy
    unreached: dict[str, str] = field(default_factory=dict)  # why, by copy

    @property
    def has_postgres(self) -> bool:
        """True if the database is a PostgreSQL."""
        return self.config.storage.kind == "postgres"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options of `olvido export` to `parser`."""
    whom.add_options(parser)
    parser.add_argument(
        "--to", type=Path, required=True, metavar="DIR|FILE.zip", help="a folder that is not there yet, or a ZIP file"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Runs the command; returns its exit status."""
    config = configuration.load(options.config, os.environ)
    try:
        if config.storage.kind in ("memory", "off"):
            raise ValueError(f"storage.kind is {config.storage.kind}: nothing outlives the process")  # noqa: TRY301 (told as all others)
        wanted, named = whom.meant(options, config)
        with writing(options.to) as bundle:
            export = Export(config, wanted, bundle)
            _write(export, named)
    except (StorageError, Unauthorized, ValueError, OSError, sqlite3.Error) as error:
        sys.stderr.write(f"olvido export: {error}\n")
        return 2
    width = max(len(name) for name in (*export.counts, *export.unreached))
    tell(
        whom.counted(len(export.scopes)) if export.scopes else "In the database nothing is kept of them.",
        *(f"  {plain(scope)}" for scope in sorted(export.scopes)),
        *([] if export.scopes or export.unreached else whom.unknown(options, config)),
        *(f"{name:<{width}}  {count}" for name, count in export.counts.items() if count),
        *(f"{name:<{width}}  not reached  {why}" for name, why in export.unreached.items()),
        f"Written to {options.to}, for its owner's eyes: it holds what was said.",
    )
    return 1 if export.unreached else 0


def _write(export: Export, named: tuple[str, ...]) -> None:
    by_name = {copy.name: copy for copy in COPIES}
    try:
        with _snapshot(export) as connection:
            if connection is not None:
                export.scopes = erasing.find(connection, export.wanted).ids
            for copy in COPIES:
                if copy.place == "database" and not copy.not_exported:
                    _collect(export, copy, lambda copy=copy: _from_database(connection, copy, export.scopes))  # type: ignore[misc]  # read at once
    except StorageError as error:
        for copy in COPIES:
            if copy.place == "database" and not copy.not_exported:
                export.unreached[copy.name] = str(error)
    _collect(export, by_name["answers"], lambda: _answers(export))
    if export.has_postgres:
        _collect(export, by_name["waiting"], lambda: _waiting(export))
    if export.config.memory.files is not None:
        _files(export, export.config.memory.files.path)
    export.bundle.manifest(_head(export, named))


def _collect(export: Export, copy: Copy, records: Records) -> None:
    try:
        export.counts[copy.name] = export.bundle.records(f"{copy.name}.jsonl", records())
    except (StorageError, sqlite3.Error) as error:
        export.unreached[copy.name] = str(error)


@contextmanager
def _snapshot(export: Export) -> Iterator[Any]:
    """Gives a connection that sees the database as it is now; None if there is none yet. Raises StorageError."""
    if export.has_postgres:
        with whom.connected(export.config) as connection, connection.transaction():
            connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            yield connection
        return
    path = export.config.storage.path / DATABASE
    if not path.is_file():
        yield None
        return
    with storage_errors(path), closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as reading:
        reading.execute("BEGIN")
        yield reading


def _from_database(connection: Any, copy: Copy, scopes: Mapping[str, int]) -> Iterator[Json]:
    return iter(()) if connection is None else exporting.records(connection, copy, scopes)


def _answers(export: Export) -> Iterator[Json]:
    path = export.config.storage.path / ANSWERS / diskcache.core.DBNAME
    if path.is_file():
        yield from (_answer(key, entry) for key, entry in outside.answers(path, export.wanted))
    if (shared := export.config.shared) is not None:
        from proxy.storage.redis import exporting as redis  # noqa: PLC0415 (the client library is an extra)

        found = asyncio.run(redis.answers(shared, whom.secret(export.config), export.wanted))
        yield from (_answer(key, entry) for key, entry in found)


def _answer(key: str, entry: Entry) -> Json:
    told = msgspec.to_builtins(entry.answer, builtin_types=(bytes,))
    completion = msgspec.json.decode(entry.answer.completion)
    return {"scope": entry.scope, "key": key, "expires_at": entry.expires_at, **told, "completion": completion}


def _waiting(export: Export) -> Iterator[Json]:
    from proxy.storage.postgres.opening import SPOOL  # noqa: PLC0415 (the driver is an extra)

    for row in outside.waiting(export.config.storage.path / SPOOL, export.wanted):
        yield {"scope": row.scope, "at": row.at, "operation": row.operation, "what": exporting.readable(row.what)}


def _files(export: Export, root: Path) -> None:
    counts = {"files": 0, "tapes": 0}
    try:
        for folder, name, path in memory_files.files_of(root, export.wanted):
            written = f"files/{folder}/{name}".encode("utf-8", "replace").decode()
            export.bundle.file(written, path.read_bytes())
            counts["tapes" if name.startswith(f"{SESSIONS}/") else "files"] += 1
    except OSError as error:
        export.unreached["files"] = str(error)
    export.counts |= counts


def _head(export: Export, named: tuple[str, ...]) -> dict[str, Json]:
    left_out = {copy.name: copy.not_exported for copy in COPIES if copy.not_exported}
    columns = {f"{table}.{column}": why for (table, column), why in exporting.LEFT_OUT.items()}
    return {
        "format": FORMAT,
        "made_by": f"olvido {version('olvido')}",
        "made_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "scopes": sorted({*export.scopes, *named}),
        "what": {copy.name: copy.what for copy in COPIES if export.counts.get(copy.name)},
        "counts": {name: count for name, count in export.counts.items() if count},
        "not_reached": export.unreached,
        "left_out": {**left_out, **columns},
        "nobodys": NOBODYS,
        "times": "Unix seconds, but where they are written out",
    }
