"""Connections to PostgreSQL: their pool, checks of the server, its errors in our words.

A URL may name several hosts. Defaults that a URL does not give itself notice a peer that has gone: 2 s to connect, TCP
keep-alives, and 5 s for bytes that nobody acknowledges.
"""

import contextlib
import logging
import os
import socket
import time
from collections.abc import Iterator
from typing import Any, TypeAlias

import psycopg
from psycopg import conninfo, errors
from psycopg.abc import Buffer
from psycopg.adapt import Loader
from psycopg.rows import TupleRow
from psycopg.types.numeric import FloatDumper, Int8Dumper
from psycopg.types.string import StrDumper
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout, TooManyRequests

from proxy.storage.base import StorageError

log = logging.getLogger(__name__)

Connection: TypeAlias = psycopg.Connection[TupleRow]
Pool: TypeAlias = ConnectionPool[Connection]

OLDEST_SERVER = 130_000  # PostgreSQL 13, as `server_version_num` says it
MOST_SKEW = 5.0  # seconds that the clocks of two machines may differ
_DEFAULTS = {
    "application_name": "olvido",
    "connect_timeout": "2",
    "keepalives_idle": "15",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "5000",
}

# Errors of the server, the way to it, or its present state; any other is an error of the statement.
CANNOT_WRITE = (
    errors.OperationalError,
    errors.InterfaceError,
    errors.ReadOnlySqlTransaction,
    errors.InsufficientPrivilege,
    errors.UndefinedTable,
    errors.UndefinedColumn,
    PoolTimeout,
    PoolClosed,
    TooManyRequests,
)


class _Flag(Int8Dumper):
    """Writes a bool as 0 or 1: our columns are numbers, as in SQLite."""

    def dump(self, obj: Any) -> bytes:
        return b"1" if obj else b"0"


class _Number(FloatDumper):
    """Writes what is no number as NULL, as SQLite does: our columns refuse it, and no sum is spoilt by it."""

    def dump(self, obj: Any) -> Buffer | None:
        return None if obj != obj else super().dump(obj)  # noqa: PLR0124 (NaN)


# PostgreSQL's texts hold no NUL, people's do: it stands there as two characters that Unicode has set aside.
_MARK, _NUL, _ITSELF = "\ufdd0", "\ufdd0\ufdd1", "\ufdd0\ufdd2"
_MARK_BYTES = _MARK.encode()


class _TextDumper(StrDumper):
    """Writes a text that may hold a NUL."""

    def dump(self, obj: str) -> bytes:
        if "\0" in obj or _MARK in obj:
            obj = obj.replace(_MARK, _ITSELF).replace("\0", _NUL)
        return obj.encode()


class _TextLoader(Loader):
    """Reads it."""

    def load(self, data: Buffer) -> str:
        raw = bytes(data)
        if _MARK_BYTES in raw:
            return raw.decode().replace(_NUL, "\0").replace(_ITSELF, _MARK)
        return raw.decode()


def open_pool(url: str, size: int) -> Pool:
    """Returns a pool of at most `size` connections, which are made in the background: the server may be away. Raises
    StorageError for a URL that cannot be one."""
    try:
        given = {name: value for name, value in conninfo.conninfo_to_dict(url).items() if value is not None}
    except psycopg.Error as error:
        raise StorageError(f"storage.url is no PostgreSQL URL: {_without_secrets(str(error), url)}") from None
    pool: Pool = ConnectionPool(
        conninfo.make_conninfo("", **{**_DEFAULTS, **given}),
        connection_class=psycopg.Connection[TupleRow],
        kwargs={"autocommit": True, "prepare_threshold": None},
        configure=_configure,
        min_size=1,
        max_size=size,
        max_idle=300.0,
        reconnect_timeout=0.0,  # it never stops trying: see `health.py`, which asks again and again
        name="olvido",
        open=False,
    )
    logging.getLogger("psycopg.pool").setLevel(
        logging.ERROR
    )  # each failed attempt would be a line: `health.py` logs one
    pool.open(wait=False)
    return pool


def connect(url: str) -> Connection:
    """Returns one connection, for a command. Raises StorageError."""
    with storage_errors(url):
        given = {name: value for name, value in conninfo.conninfo_to_dict(url).items() if value is not None}
        made = conninfo.make_conninfo("", **{**_DEFAULTS, **given})
        connection: Connection = psycopg.connect(made, autocommit=True, prepare_threshold=None)
    _configure(connection)
    return connection


def _configure(connection: Connection) -> None:
    connection.adapters.register_dumper(bool, _Flag)
    connection.adapters.register_dumper(float, _Number)
    connection.adapters.register_dumper(str, _TextDumper)
    connection.adapters.register_loader("text", _TextLoader)


def break_off(connection: Connection) -> None:
    """Ends whatever a connection waits for in another thread: its socket is shut down, so that nothing waits for a
    server that is silent."""
    with contextlib.suppress(OSError, psycopg.Error), socket.socket(fileno=os.dup(connection.fileno())) as its:
        its.shutdown(socket.SHUT_RDWR)


def check_server(connection: Connection) -> None:
    """Raises StorageError for a server that cannot be the truth: too old, or a replica that takes no writes. Warns
    about a clock that differs."""
    version, is_replica, is_read_only, at = connection.execute(
        "SELECT current_setting('server_version_num')::int, pg_is_in_recovery(),"
        " current_setting('transaction_read_only') = 'on', extract(epoch FROM clock_timestamp())::float8"
    ).fetchone() or (0, False, False, 0.0)
    if version < OLDEST_SERVER:
        raise StorageError(f"PostgreSQL {version // 10_000} is too old: 13 or newer is needed")
    if is_replica or is_read_only:
        raise StorageError("the PostgreSQL server takes no writes (a replica, or read-only): name the primary")
    if abs(skew := time.time() - at) > MOST_SKEW:
        log.warning("clocks differ: this machine against PostgreSQL", extra={"seconds": round(skew, 1)})


def has_vectors(connection: Connection) -> bool:
    """Tells whether the extension pgvector is installed in the database."""
    return connection.execute("SELECT 1 FROM pg_extension WHERE extname = 'vector'").fetchone() is not None


@contextlib.contextmanager
def storage_errors(url: str = "") -> Iterator[None]:
    """Turns errors of psycopg and its pool into StorageError, without the password that they may quote."""
    try:
        yield
    except PoolTimeout as error:
        raise StorageError("PostgreSQL: no connection is free, or none can be made") from error
    except (psycopg.Error, PoolClosed, TooManyRequests) as error:
        raise StorageError(f"PostgreSQL: {explained(error, url)}") from error


def explained(error: Exception, url: str = "") -> str:
    """Returns the first line of an error's text, without secrets."""
    if isinstance(error, PoolTimeout):
        return "no connection is free, or none can be made"
    text = (str(error).strip().splitlines() or [type(error).__name__])[0]
    return _without_secrets(text, url)


def place(url: str) -> str:
    """Returns host and database of a URL, for people."""
    try:
        given = conninfo.conninfo_to_dict(url)
    except psycopg.Error:
        return "an address that is none"
    return f"{given.get('host') or 'localhost'}/{given.get('dbname') or ''}"


def _without_secrets(text: str, url: str) -> str:
    with contextlib.suppress(psycopg.Error):
        if secret := conninfo.conninfo_to_dict(url).get("password"):
            text = text.replace(str(secret), "…")
    return text.replace(url, "…") if url else text
