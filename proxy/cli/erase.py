"""The command `olvido erase`: an end user erased from everything that this deployment keeps, with one report.

Proxies may be serving meanwhile: they drop what they have in memory, and refuse what was said before (`erasures.py`).
Exit status 0: nothing is left; 1: a place could not be reached, and the command is to be run again; 2: it was not clear
whom it means, or nobody agreed.
"""

import argparse
import asyncio
import os
import sqlite3
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import diskcache
import msgspec

from proxy import config as configuration
from proxy.cli import memory_files, whom
from proxy.cli.remembered import agreed, tell
from proxy.config import Config
from proxy.errors import Unauthorized
from proxy.memory.showing import plain
from proxy.storage import erasing
from proxy.storage.base import StorageError
from proxy.storage.copies import COPIES
from proxy.storage.erasing import Scopes, Wanted
from proxy.storage.erasures import MARKS, Found, base_of, mark_of
from proxy.storage.opening import ANSWERS, DATABASE
from proxy.storage.restoring import asides
from proxy.storage.sqlite.connection import storage_errors

NOTICED = 1.5  # seconds after which every process that shares a folder has seen an erasure, and trusts no older answer
DRAINED = 5.0  # seconds that rows in the spools of running processes are waited for

# What no command reaches.
ELSEWHERE = "Not here: backups and exports that somebody made, and what your upstreams keep."

State = Literal["erased", "nothing", "not reached"]
_VACUUMED = "; vacuumed; its log (WAL), replicas and backups are the server's"


@dataclass(frozen=True, slots=True)
class Line:
    """A place of the report. `text`: what was erased there, or why it could not be reached."""

    place: str
    state: State
    text: str = ""


@dataclass(slots=True)
class Erasure:
    """An erasure under way: whom it means, and what was found of them."""

    config: Config
    wanted: Wanted
    named: tuple[str, ...]  # scopes that are named whole, and marked even if nothing is there
    scopes: Scopes = field(default_factory=Scopes)
    marks: Found = ()

    @property
    def has_postgres(self) -> bool:
        """True if the database is a PostgreSQL."""
        return self.config.storage.kind == "postgres"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options of `olvido erase` to `parser`."""
    whom.add_options(parser)
    parser.add_argument("--json", action="store_true", help="the report as one JSON object; needs --yes")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Runs the command; returns its exit status."""
    config = configuration.load(options.config, os.environ)
    try:
        wanted, named = whom.meant(options, config)
    except (StorageError, Unauthorized, ValueError) as error:
        sys.stderr.write(f"olvido erase: {error}\n")
        return 2
    if options.json and not options.yes:
        sys.stderr.write("olvido erase: --json asks nothing, so it needs --yes\n")
        return 2
    erasure = Erasure(config, wanted, named)
    trouble = _look(erasure)
    found = erasure.scopes
    counted = _counted(found)
    if not options.json:
        tell(
            trouble or f"In the database: {whom.counted(len(found.ids))}{': ' if counted else ''}{counted}",
            *(f"  {plain(scope)}" for scope in sorted(found.ids)),
            *([] if trouble or found.ids else whom.unknown(options, config)),
        )
    if not options.yes and not agreed("Erase all of it, and answers, hot contexts, what waits, for good? [y/N] "):
        sys.stderr.write("olvido erase: nothing was erased (--yes erases without asking)\n")
        return 2
    lines = asyncio.run(_erase(erasure))
    is_whole = all(line.state != "not reached" for line in lines)
    if options.json:
        tell(_as_json(erasure, lines, is_whole=is_whole))
        return 0 if is_whole else 1
    width = max(len(line.place) for line in lines)
    tell(*(f"{line.place:<{width}}  {line.state:<11}  {line.text}".rstrip() for line in lines), ELSEWHERE)
    if is_whole:
        return 0
    tell("Not all of it could be reached: run the command again.")
    return 1


def _as_json(erasure: Erasure, lines: Sequence[Line], *, is_whole: bool) -> str:
    """Returns the report for programs."""
    told = {
        "scopes": sorted({*erasure.scopes.ids, *erasure.named}),
        "rows": _by_copy(erasure.scopes),
        "places": [asdict(line) for line in lines],
        "is_whole": is_whole,
        "elsewhere": ELSEWHERE,
    }
    return msgspec.json.format(msgspec.json.encode(told), indent=2).decode()


def _look(erasure: Erasure) -> str | None:
    """Counts what the database has; returns why it cannot, or None."""
    path = erasure.config.storage.path / DATABASE
    try:
        if erasure.has_postgres:
            with whom.connected(erasure.config) as connection:
                erasure.scopes = erasing.find(connection, erasure.wanted)
        elif path.is_file():
            with storage_errors(path), closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as reading:
                erasure.scopes = erasing.find(reading, erasure.wanted)
    except StorageError as error:
        return f"The database could not be looked at: {error}"
    return None


async def _erase(erasure: Erasure) -> list[Line]:
    """Erases place by place: the database first, so that processes notice."""
    lines = [_line("PostgreSQL" if erasure.has_postgres else "SQLite", lambda: _from_database(erasure))]
    if erasure.config.shared is not None:
        lines.append(await _from_redis(erasure))
    await asyncio.sleep(NOTICED)
    lines.append(_line("answers", lambda: _from_answers(erasure)))
    if erasure.config.shared is not None and lines[1].state != "not reached":
        lines[1] = await _from_redis(erasure, lines[1])  # what was on its way there
    if erasure.has_postgres:
        lines.append(await _from_spools(erasure))
    if erasure.config.memory.files is not None:
        lines.append(_line("files", lambda: _from_files(erasure)))
    if _asides(erasure.config):
        lines.append(_line("aside", lambda: _from_asides(erasure)))
    return lines


def _line(place: str, work: Callable[[], str]) -> Line:
    """`work` returns what was erased; "": nothing was there."""
    try:
        text = work()
    except (StorageError, OSError, sqlite3.Error) as error:
        return Line(place, "not reached", str(error))
    return Line(place, "erased" if text else "nothing", text)


def _from_database(erasure: Erasure) -> str:
    config, marks = erasure.config, [mark_of(scope) for scope in (*erasure.scopes.ids, *erasure.named)]
    if erasure.has_postgres:
        with whom.connected(config) as connection:
            erasure.scopes = found = erasing.erase_postgres(connection, erasure.wanted, erasure.named)
            erasure.marks = _marks(connection, "%s", [*marks, *map(mark_of, found.ids)])
        return f"{_told(found)}{_VACUUMED}" if found.ids else ""
    path = config.storage.path / DATABASE
    if not path.is_file():
        return ""
    with storage_errors(path):
        found = erasing.erase_sqlite(path, erasure.wanted, erasure.named)
        erasure.scopes = found
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as reading:
            erasure.marks = _marks(reading, "?", [*marks, *map(mark_of, found.ids)])
    return f"{_told(found)}; overwritten" if found.ids else ""


def _marks(connection: Any, parameter: str, marks: Sequence[bytes]) -> Found:
    found = connection.execute(MARKS.format(parameter), (0,)).fetchall()
    return [(number, bytes(mark)) for number, mark in found if bytes(mark) in marks]


def _told(found: Scopes) -> str:
    counted = _counted(found)
    return f"{whom.counted(len(found.ids))}{', ' if counted else ''}{counted}"


def _by_copy(found: Scopes) -> dict[str, int]:
    """Returns how many rows of each copy there are, in the order of the copies."""
    counts = {copy.name: sum(found.rows.get(table, 0) for table in copy.tables) for copy in COPIES}
    return {name: rows for name, rows in counts.items() if rows}


def _counted(found: Scopes) -> str:
    return ", ".join(f"{name} {rows}" for name, rows in _by_copy(found).items())


def _from_answers(erasure: Erasure) -> str:
    path = erasure.config.storage.path / ANSWERS / diskcache.core.DBNAME
    gone = erasing.erase_answers(path, erasure.wanted) if path.is_file() else 0
    return f"{gone} stored on this machine" if gone else ""


def _from_files(erasure: Erasure) -> str:
    assert erasure.config.memory.files is not None
    root = erasure.config.memory.files.path
    held = memory_files.held(root, erasure.wanted)
    gone = memory_files.erased(root, erasure.wanted)
    kinds = ", ".join(f"{count} {kind}" for kind, count in held.items())
    return f"{gone} folder{'' if gone == 1 else 's'}{': ' if kinds else ''}{kinds}" if gone else ""


def _asides(config: Config) -> list[Path]:
    """Returns the folders that restores of backups have put aside."""
    files = config.memory.files
    return [*asides(config.storage.path), *([] if files is None else asides(files.path))]


def _from_asides(erasure: Erasure) -> str:
    gone = 0
    for folder in _asides(erasure.config):
        if (path := folder / DATABASE).is_file():
            with storage_errors(path):
                gone += len(erasing.erase_sqlite(path, erasure.wanted).ids)
        if (path := folder / ANSWERS / diskcache.core.DBNAME).is_file():
            gone += erasing.erase_answers(path, erasure.wanted)
        gone += memory_files.erased(folder, erasure.wanted)
    return f"{gone} scopes, answers and folders in what restores put aside" if gone else ""


async def _from_redis(erasure: Erasure, before: Line | None = None) -> Line:
    from proxy.storage.redis import erasing as redis  # noqa: PLC0415 (the client library is an extra)

    assert erasure.config.shared is not None
    try:
        gone = await redis.erase(
            erasure.config.shared,
            whom.secret(erasure.config),
            erasure.wanted,
            found=erasure.marks,
            scopes=[base_of(scope) for scope in (*erasure.scopes.ids, *erasure.named)],
            partitions=erasure.scopes.partitions,
        )
    except StorageError as error:
        return Line("Redis", "not reached", str(error))
    if before is not None and not gone:
        return before
    return Line("Redis", "erased" if gone else "nothing", f"{gone} keys" if gone else "")


async def _from_spools(erasure: Erasure) -> Line:
    from proxy.storage.postgres.opening import SPOOL  # noqa: PLC0415 (the driver is an extra)

    folder, until, erased = erasure.config.storage.path / SPOOL, time.monotonic() + DRAINED, 0
    while True:
        try:
            waiting = erasing.erase_spools(folder, erasure.wanted)
        except (OSError, sqlite3.Error) as error:
            return Line("spool", "not reached", str(error))
        erased += waiting.erased
        if not waiting.left or time.monotonic() > until:
            break
        await asyncio.sleep(0.1)
    if waiting.left:
        return Line("spool", "not reached", f"{waiting.left} rows wait in running processes, which will refuse them")
    others = "those of other machines are refused when they come"
    return Line("spool", "erased" if erased else "nothing", f"{erased} rows of this machine; {others}")
