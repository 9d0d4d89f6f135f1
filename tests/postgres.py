"""A real PostgreSQL for tests, with pgvector, from a package: one server a test process, and an empty database with our
schema for whoever asks."""

import atexit
import functools
import itertools
import os
import shutil
import signal
import subprocess
import tempfile
import time
import warnings
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import psycopg
import pytest

from proxy.storage.postgres import migrating
from proxy.storage.postgres.connection import Connection, connect
from proxy.storage.postgres.database import PostgresDatabase
from proxy.tasks import Tasks

T = TypeVar("T")

_numbers = itertools.count(1)
_TEMPLATE = "olvido_template"


@functools.cache
def server() -> str:
    """Starts the server of this process, and returns the URL of its own database."""
    with warnings.catch_warnings(action="ignore"):  # about a folder for what we do not use
        import pgserver
    folder = Path(tempfile.mkdtemp(prefix="olvido-pg-"))
    running = pgserver.postgres_server.get_server(folder, cleanup_mode="delete")
    atexit.register(running.cleanup)
    url = str(running.get_uri())
    with psycopg.connect(url, autocommit=True) as connection:
        for setting in ("fsync", "full_page_writes", "synchronous_commit"):  # nothing outlives the tests
            connection.execute(f"ALTER SYSTEM SET {setting} = off".encode())
        connection.execute("SELECT pg_reload_conf()")
        connection.execute(f"CREATE DATABASE {_TEMPLATE}".encode())
    with connect(_url(url, _TEMPLATE)) as connection:
        migrating.upgrade(connection)
    return url


def database(*, template: str = _TEMPLATE) -> str:
    """Returns the URL of a new database with our schema; `template="template1"`: without any table."""
    url, name = server(), f"test_{next(_numbers)}"
    with psycopg.connect(url, autocommit=True) as connection:
        # As files: to write each page to the log takes twice as long.
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY file_copy".encode())
    return _url(url, name)


def _url(url: str, name: str) -> str:
    return url.replace("/postgres?", f"/{name}?")


class Patient(PostgresDatabase):
    """One whose readers wait long enough for a busy machine: their deadline has tests of its own."""

    async def read(self, query: Callable[[Connection], T], seconds: float = 0.0) -> T:
        return await super().read(query, max(seconds, 20.0))


@asynccontextmanager
async def processes(count: int, **settings: Any) -> AsyncIterator[list[PostgresDatabase]]:
    """Opens one new database as often as so many processes do. No lock was ever waited for in a circle."""
    url = database()
    async with AsyncExitStack() as stack:
        running: list[PostgresDatabase] = [Patient(url, Tasks(), size=3, **settings) for _ in range(count)]
        for each in running:
            stack.push_async_callback(each.close)
        yield running
    with connect(url) as connection:
        deadlocks = connection.execute("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
        assert deadlocks.fetchone() == (0,)


def plan(connection: Connection, statement: str | bytes, values: Any) -> str:
    """Returns how the server would run a statement."""
    text = statement if isinstance(statement, bytes) else statement.encode()
    return "\n".join(line for (line,) in connection.execute(b"EXPLAIN " + text, values))


_of_folders: dict[Path, str] = {}


def url_of(folder: Path) -> str:
    """Returns the URL of the database that belongs to a test's folder."""
    return _of_folders.get(folder) or _of_folders.setdefault(folder, database())


@asynccontextmanager
async def opened(folder: Path, **settings: Any) -> AsyncIterator[PostgresDatabase]:
    """Opens the database that belongs to a test's folder: the same one whenever it is asked for again."""
    running = Patient(url_of(folder), Tasks(), size=3, **settings)
    try:
        yield running
    finally:
        await running.close()


class Server:
    """A server of a test's own, which may be silenced, stopped and started again; role `guarded` needs its password,
    `secret`."""

    def __init__(self) -> None:
        with warnings.catch_warnings(action="ignore"):
            import pgserver
        self._folder = Path(tempfile.mkdtemp(prefix="olvido-pg-"))
        self._running = pgserver.postgres_server.get_server(self._folder, cleanup_mode="delete")
        self.close = self._running.cleanup
        self.url = str(self._running.get_uri())
        rules = self._folder / "pg_hba.conf"
        rules.write_text(f"local all guarded scram-sha-256\n{rules.read_text()}")
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute("SELECT pg_reload_conf()")
            connection.execute("CREATE ROLE guarded LOGIN PASSWORD 'secret'")
            for setting in ("fsync", "synchronous_commit"):
                connection.execute(f"ALTER SYSTEM SET {setting} = off".encode())

    @property
    def pid(self) -> int:
        """Of the process whose children serve the connections."""
        return int(self._running.get_pid() or 0)

    def stop(self) -> None:
        """Stops it as a crash does."""
        from pgserver._commands import pg_ctl  # type: ignore[attr-defined]  # it makes its functions by name

        pg_ctl(["-m", "immediate", "-w", "stop"], pgdata=self._folder, user=self._running.system_user)

    def start(self) -> None:
        """Starts it again."""
        self._running.ensure_postgres_running()

    @contextmanager
    def silent(self) -> Iterator[None]:
        """Suspends all its processes."""
        first = self.pid
        pids = [first, *map(int, Path(f"/proc/{first}/task/{first}/children").read_text().split())]
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            for pid in pids:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)

    def execute(self, statement: str) -> None:
        """Runs a statement."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(statement.encode())


@contextmanager
def pooler(folder: Path) -> Iterator[Callable[[str], str]]:
    """Runs PgBouncer in front of the server of this process, in transaction mode with two connections a database;
    yields what makes a database's URL one through it."""
    if (program := shutil.which("pgbouncer")) is None:
        pytest.skip("pgbouncer is not installed")
    folder.chmod(0o777)
    for above in folder.parents:
        if above.stat().st_uid == os.getuid() and above != Path("/"):
            above.chmod(above.stat().st_mode | 0o111)
    settings = folder / "pgbouncer.ini"
    host = server().partition("?host=")[2]
    settings.write_text(
        f"[databases]\n* = host={host} user=postgres\n[pgbouncer]\npool_mode = transaction\ndefault_pool_size = 2\n"
        f"auth_type = any\nunix_socket_dir = {folder}\nlisten_port = 6432\nlisten_addr =\n"
    )
    settings.chmod(0o644)
    user = ["-u", "pgserver"] if os.getuid() == 0 else []
    running = subprocess.Popen([program, "-q", *user, str(settings)])
    try:
        url = f"postgresql://postgres@/NAME?host={folder}&port=6432"
        _await_socket(folder / ".s.PGSQL.6432", running)
        yield lambda direct: url.replace("NAME", direct.rpartition("?")[0].rpartition("/")[2])
    finally:
        running.terminate()
        running.wait()


def _await_socket(path: Path, running: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + 10
    while not path.exists():
        if running.poll() is not None or time.monotonic() > until:
            raise RuntimeError(f"no {path}")
        time.sleep(0.01)
