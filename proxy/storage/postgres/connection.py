"""One connection to PostgreSQL: opened, with a deadline, its server checked, its errors in our words.

A URL may name several hosts. Defaults that a URL does not give itself notice a peer that has gone: 2 s to connect, TCP
keep-alives, and 5 s for bytes that nobody acknowledges.
"""

import contextlib
import logging
import re
import select
import time
from collections.abc import Generator, Iterator
from typing import Any, TypeVar

import psycopg
from psycopg import conninfo, errors
from psycopg.abc import Buffer
from psycopg.adapt import Loader
from psycopg.rows import TupleRow
from psycopg.types.numeric import FloatDumper, Int8Dumper
from psycopg.types.string import StrDumper

from proxy.storage.base import StorageError, Unavailable, Unfit

T = TypeVar("T")

log = logging.getLogger(__name__)

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

_AWAY = (errors.OperationalError, errors.InterfaceError)
_UNFIT = (
    errors.ReadOnlySqlTransaction,
    errors.InsufficientPrivilege,
    errors.UndefinedTable,
    errors.UndefinedColumn,
    errors.InvalidCatalogName,
    errors.InvalidSchemaName,
    errors.DataCorrupted,
    errors.IndexCorrupted,
)
# Errors of the statement that psycopg counts among those of the server: the same row fails for ever.
_TOO_LARGE = (
    errors.ProgramLimitExceeded,
    errors.StatementTooComplex,
    errors.TooManyColumns,
    errors.TooManyArguments,
)
_QUOTING = ("22", "23")  # classes of errors whose texts quote values


class Connection(psycopg.Connection[TupleRow]):
    """A connection that can have a deadline: what still waits for the server then raises, and the connection is closed,
    since nobody knows what it would answer next."""

    until: float | None = None  # monotonic seconds; whoever sets it to 0 from another thread breaks it off soon

    def wait(self, gen: Generator[Any, Any, T], interval: float = 0.1, timeout: float | None = None) -> T:
        if self.until is None:
            return super().wait(gen, interval, timeout)
        left = max(0.0, self.until - time.monotonic())
        try:
            return super().wait(self._watched(gen) if left > 1.0 else gen, interval, left)
        except psycopg.OperationalError:
            if time.monotonic() < self.until:
                raise
            self.close()
            raise psycopg.OperationalError("no answer in time") from None

    def _watched(self, gen: Generator[Any, Any, T]) -> Generator[Any, Any, T]:
        """Looks every `interval` whether the deadline is another one now."""
        try:
            wanted = next(gen)
            while True:
                found = yield wanted
                if not found and time.monotonic() >= (self.until or 0.0):
                    raise psycopg.OperationalError
                wanted = gen.send(found)
        except StopIteration as end:
            result: T = end.value
            return result

    @property
    def is_stale(self) -> bool:
        """True if an idle connection has something to read: the server has ended it, or said why it will."""
        if self.closed:
            return True
        look = select.poll()
        look.register(self.pgconn.socket, select.POLLIN)
        return bool(look.poll(0))


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


def conninfo_of(url: str) -> str:
    """Returns what a URL says, with our defaults. Raises StorageError if it is none; it is not quoted."""
    try:
        given = {name: value for name, value in conninfo.conninfo_to_dict(url).items() if value is not None}
    except psycopg.Error:
        raise StorageError(
            "storage.url is no PostgreSQL URL: postgresql://user:password@host:5432/name, "
            "special characters of the password as %40"
        ) from None
    return conninfo.make_conninfo("", **{**_DEFAULTS, **given})


def connect(url: str) -> Connection:
    """Returns one connection, without a deadline. Raises StorageError."""
    with storage_errors(url):
        connection = Connection.connect(conninfo_of(url), autocommit=True, prepare_threshold=None)
    _configure(connection)
    return connection


def _configure(connection: Connection) -> None:
    connection.adapters.register_dumper(bool, _Flag)
    connection.adapters.register_dumper(float, _Number)
    connection.adapters.register_dumper(str, _TextDumper)
    connection.adapters.register_loader("text", _TextLoader)


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
    """Turns errors of psycopg into ours. They hold neither the password nor values of a row, which psycopg's quote."""
    try:
        yield
    except psycopg.Error as error:
        raise _kind_of(error)(f"PostgreSQL: {_explained(error, url)}").with_traceback(error.__traceback__) from None


def _kind_of(error: psycopg.Error) -> type[StorageError]:
    if isinstance(error, _UNFIT):
        return Unfit
    return Unavailable if isinstance(error, _AWAY) and not isinstance(error, _TOO_LARGE) else StorageError


def place(url: str) -> str:
    """Returns host and database of a URL, for people."""
    try:
        given = conninfo.conninfo_to_dict(url)
    except psycopg.Error:
        return "an address that is none"
    return f"{given.get('host') or 'localhost'}/{given.get('dbname') or ''}"


def _explained(error: psycopg.Error, url: str) -> str:
    name, said = type(error).__name__, error.diag
    if (error.sqlstate or "").startswith(_QUOTING):
        where = ".".join(filter(None, (said.table_name, said.column_name or said.constraint_name)))
        return f"{name} {where}".strip()
    text = (said.message_primary or str(error)).strip()
    text = text.splitlines()[0] if text else name
    for secret in _secrets_of(url):
        text = text.replace(secret, "…")
    return text


def _secrets_of(url: str) -> list[str]:
    """Returns what of a URL must not be told, longest first: the password, and its parts where it is not escaped, and
    is taken for a host or a port."""
    with contextlib.suppress(psycopg.Error):
        password = str(conninfo.conninfo_to_dict(url).get("password") or "")
        raw = re.fullmatch(r"\w+://[^:/@]*:(.*)@.*", url)
        parts = re.split(r"[@:/?#]", raw[1]) if raw else []
        return sorted(filter(None, {url, password, *parts, raw[1] if raw else ""}), key=len, reverse=True)
    return [url]
