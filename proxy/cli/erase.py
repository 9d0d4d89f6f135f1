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
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

import diskcache

from proxy import config as configuration
from proxy.cli import memory_files
from proxy.cli.opened import opened
from proxy.cli.remembered import agreed, tell
from proxy.config import Config
from proxy.conversation.identify import end_user, is_scope
from proxy.errors import Unauthorized
from proxy.http.access import Authenticator
from proxy.keys.book import KeyBook
from proxy.memory.edits import plain
from proxy.storage import erasing
from proxy.storage.base import StorageError
from proxy.storage.erasing import Scopes, Wanted
from proxy.storage.erasures import MARKS, Found, base_of, mark_of
from proxy.storage.folder import SECRET, kept_secret, tenant_secret
from proxy.storage.opening import ANSWERS, DATABASE
from proxy.storage.sqlite.connection import storage_errors

NOTICED = 1.5  # seconds after which every process that shares a folder has seen an erasure, and trusts no older answer
DRAINED = 5.0  # seconds that rows in the spools of running processes are waited for

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
    parser.add_argument("--user", metavar="NAME", help="the end user, under all keys unless one is named")
    whose = parser.add_mutually_exclusive_group()
    whose.add_argument("--key", metavar="sk-…", help="of this API key alone; without --user: who has no name")
    whose.add_argument("--tenant", metavar="HASH", help="the same, by the 32 hex digits before the slash of a scope")
    whose.add_argument("--scope", metavar="S", help="this scope, as lists of scopes and the API name it")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Runs the command; returns its exit status."""
    config = configuration.load(options.config, os.environ)
    try:
        wanted, named = _meant(options, config)
    except (StorageError, Unauthorized, ValueError) as error:
        sys.stderr.write(f"olvido erase: {error}\n")
        return 2
    erasure = Erasure(config, wanted, named)
    trouble = _look(erasure)
    found = erasure.scopes
    counted = ", ".join(f"{rows} {table}" for table, rows in found.rows.items() if rows)
    tell(
        trouble or f"In the database: {len(found.ids)} scopes{': ' if counted else ''}{counted}",
        *(f"  {plain(scope)}" for scope in sorted(found.ids)),
    )
    if not options.yes and not agreed("Erase all of it, and answers, hot contexts, what waits, for good? [y/N] "):
        sys.stderr.write("olvido erase: nothing was erased (--yes erases without asking)\n")
        return 2
    lines = asyncio.run(_erase(erasure))
    width = max(len(line.place) for line in lines)
    tell(*(f"{line.place:<{width}}  {line.state:<11}  {line.text}".rstrip() for line in lines))
    if all(line.state != "not reached" for line in lines):
        return 0
    tell("Not all of it could be reached: run the command again.")
    return 1


def _meant(options: argparse.Namespace, config: Config) -> tuple[Wanted, tuple[str, ...]]:
    """Returns the test for scopes that are meant, and those that are named whole. Raises ValueError."""
    if options.scope is not None:
        if options.user is not None:
            raise ValueError("--scope names the end user already")
        if not is_scope(options.scope) or base_of(options.scope) != options.scope:
            raise ValueError("--scope is 32 hex digits, a slash, and the end user's name or nothing")
        return (lambda scope: scope == options.scope), (options.scope,)
    tenant = options.tenant
    if options.key is not None:
        gate = Authenticator(config, _secret(config), asyncio.run(_keys(config)))
        tenant = gate.tenant((("authorization", f"Bearer {options.key}"),))
    if tenant is not None:
        scope = f"{tenant}/{end_user(options.user) if options.user else ''}"
        if not is_scope(scope):
            raise ValueError("--tenant is 32 hex digits")
        return (lambda each: each == scope), (scope,)
    if not options.user:
        raise ValueError("say whom: --user NAME, with --key, --tenant or without; or --scope")
    user = end_user(options.user)
    return (lambda each: each.partition("/")[2] == user), ()


async def _keys(config: Config) -> KeyBook | None:
    """Returns the keys that this proxy gives out; None if those in the database cannot be read."""
    try:
        async with opened(config) as database:
            return await database.keys(config)
    except StorageError:
        return None


def _secret(config: Config) -> bytes:
    """Returns the secret of the tenants; that of a shared database as this machine knows it, if it is away. Raises
    StorageError."""
    if config.storage.kind != "postgres":
        if not (config.storage.path / SECRET).exists():
            raise StorageError(f"{config.storage.path}: no proxy has kept anything here")
        return tenant_secret(config.storage.path)
    from proxy.storage.postgres.opening import shared_secret  # noqa: PLC0415 (the driver is an extra)

    try:
        with _connected(config) as connection:
            return shared_secret(connection, config.storage.path)
    except StorageError:
        if (known := kept_secret(config.storage.path)) is None:
            raise
        return known


@contextmanager
def _connected(config: Config) -> Iterator[Any]:
    from proxy.storage.postgres import connection, migrating  # noqa: PLC0415 (the driver is an extra)

    assert config.storage.url is not None
    url = config.storage.url.get_secret_value()
    with connection.storage_errors(url), connection.connect(url) as opened:
        connection.check_server(opened)
        migrating.ready(opened)
        yield opened


def _look(erasure: Erasure) -> str | None:
    """Counts what the database has; returns why it cannot, or None."""
    path = erasure.config.storage.path / DATABASE
    try:
        if erasure.has_postgres:
            with _connected(erasure.config) as connection:
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
        with _connected(config) as connection:
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
    return ", ".join([f"{len(found.ids)} scopes", *(f"{rows} {table}" for table, rows in found.rows.items() if rows)])


def _from_answers(erasure: Erasure) -> str:
    path = erasure.config.storage.path / ANSWERS / diskcache.core.DBNAME
    gone = erasing.erase_answers(path, erasure.wanted) if path.is_file() else 0
    return f"{gone} stored on this machine" if gone else ""


def _from_files(erasure: Erasure) -> str:
    assert erasure.config.memory.files is not None
    gone = memory_files.erased(erasure.config.memory.files.path, erasure.wanted)
    return f"{gone} folder{'' if gone == 1 else 's'}" if gone else ""


async def _from_redis(erasure: Erasure, before: Line | None = None) -> Line:
    from proxy.storage.redis import erasing as redis  # noqa: PLC0415 (the client library is an extra)

    assert erasure.config.shared is not None
    try:
        gone = await redis.erase(
            erasure.config.shared,
            _secret(erasure.config),
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
