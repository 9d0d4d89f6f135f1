"""A PostgreSQL database, opened by a process that serves."""

import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from proxy.config.storage import Storage
from proxy.storage.base import DatabaseCorrupt, DatabaseTooNew, DatabaseTooOld, StorageError
from proxy.storage.folder import SECRET, tenant_secret
from proxy.storage.postgres import health
from proxy.storage.postgres.connection import connect
from proxy.storage.postgres.database import PostgresDatabase
from proxy.storage.postgres.opening import SPOOL, open_postgres
from proxy.tasks import Tasks
from tests import postgres
from tests.storage.postgres.test_health import until


def settings(url: str, folder: Path) -> Storage:
    return Storage.model_validate({"kind": "postgres", "url": url, "path": folder, "pool": 3})


async def opened(url: str, folder: Path) -> tuple[PostgresDatabase, bytes]:
    return await open_postgres(settings(url, folder), Tasks())


@pytest.fixture
def refusing() -> Iterator[str]:
    """The address of a server that is not there."""
    with closing(socket.socket()) as bound:
        bound.bind(("127.0.0.1", 0))
        yield f"postgresql://me:hidden@127.0.0.1:{bound.getsockname()[1]}/name"


async def test_all_machines_have_the_secret_of_the_first(tmp_path: Path) -> None:
    url = postgres.database(template="template1")
    own = tenant_secret(tmp_path / "a")
    secrets = []
    for machine in ("a", "b", "a"):
        database, secret = await opened(url, tmp_path / machine)
        secrets.append(secret)
        await database.close()
    assert secrets == [own] * 3
    assert not (tmp_path / "b" / SECRET).exists()


async def test_a_machine_that_has_served_starts_while_the_database_is_away(tmp_path: Path, refusing: str) -> None:
    database, secret = await opened(postgres.database(), tmp_path)
    await database.close()
    database, known = await opened(refusing, tmp_path)
    assert known == secret
    assert "refused" in (database.trouble or "")
    with pytest.raises(StorageError, match="refused"):
        await database.has_scope("a/")
    await database.close()


async def test_one_that_has_not_says_why_it_cannot(tmp_path: Path, refusing: str) -> None:
    with pytest.raises(StorageError, match="refused"):
        await opened(refusing, tmp_path)
    assert list((tmp_path / SPOOL).iterdir()) == []


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ("UPDATE migrations SET name = '0000_made_up' WHERE name = '0001_schema'", DatabaseTooNew),
        ("INSERT INTO migrations VALUES ('9999_newer', 0)", DatabaseTooNew),
        ("DELETE FROM migrations", DatabaseCorrupt),
        ("DELETE FROM migrations WHERE name = (SELECT max(name) FROM migrations)", DatabaseTooOld),
    ],
)
async def test_another_schema_is_refused_also_where_the_machine_has_served(
    tmp_path: Path, change: str, error: type[StorageError]
) -> None:
    url = postgres.database()
    database, _ = await opened(url, tmp_path)
    await database.close()
    with connect(url) as connection:
        connection.execute(change.encode())
    with pytest.raises(error):
        await opened(url, tmp_path)


async def test_a_database_that_is_another_when_it_is_back_stays_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "PROBE_SECONDS", 0.001)
    url = postgres.database()
    database, secret = await opened(url, tmp_path)
    with connect(url) as connection:
        connection.execute("UPDATE tenant_secret SET secret = %s::bytea", (b"x" * 32,))
    database.health.fail("gone")
    await until(lambda: "another database than before" in (database.health.why or ""))
    with connect(url) as connection:
        connection.execute("UPDATE tenant_secret SET secret = %s::bytea", (secret,))
    await until(lambda: database.health.why is None)
    await database.close()


@pytest.mark.parametrize(
    ("user", "name", "text"),
    [
        ("guarded:hidden", "postgres", 'password authentication failed for user "guarded"'),
        ("guarded:secret", "missing", 'database "missing" does not exist'),
        ("guarded:secret", "narrow", "permission denied for schema public"),
        ("postgres", "replica", "takes no writes"),
    ],
)
async def test_what_is_wrong_is_told_without_the_password(
    server: postgres.Server, tmp_path: Path, user: str, name: str, text: str
) -> None:
    if name in {"narrow", "replica"}:
        server.execute(f"CREATE DATABASE {name}")
    if name == "replica":
        server.execute("ALTER DATABASE replica SET default_transaction_read_only = on")
    url = server.url.replace("postgres:@/postgres?", f"{user}@/{name}?")
    with pytest.raises(StorageError) as raised:
        await opened(url, tmp_path)
    assert text in str(raised.value)
    assert "hidden" not in str(raised.value)
    assert "secret" not in str(raised.value)
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(f"{url}x")
