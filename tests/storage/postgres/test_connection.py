"""One connection: its deadline, checks of the server, errors in our words."""

import threading
import time
from contextlib import closing

import psycopg
import pytest

from proxy.storage.base import StorageError, Unavailable, Unfit
from proxy.storage.postgres import connection as module
from proxy.storage.postgres.connection import (
    Connection,
    check_server,
    connect,
    conninfo_of,
    has_vectors,
    storage_errors,
)
from tests import postgres

_RANDOM = "gen_random_uuid()::text"
_TABLE = "CREATE TEMP TABLE kept (name TEXT PRIMARY KEY, number INT NOT NULL CHECK (number < 9))"


@pytest.mark.parametrize(
    ("statement", "kind", "text"),
    [
        ("SELECT 'words of a user'::int", StorageError, "InvalidTextRepresentation"),
        ("SELECT '{words of a user'::json", StorageError, "InvalidTextRepresentation"),
        ("INSERT INTO kept VALUES ('words of a user', NULL)", StorageError, "NotNullViolation kept.number"),
        ("INSERT INTO kept VALUES ('words of a user', 9)", StorageError, "CheckViolation kept.kept_number_check"),
        (f"INSERT INTO kept SELECT string_agg({_RANDOM}, ''), 1 FROM generate_series(1, 900)", StorageError, "index"),
        ("SELECT missing()", StorageError, "missing() does not exist"),
        ("SELECT * FROM missing", Unfit, 'relation "missing" does not exist'),
        ("SELECT missing FROM kept", Unfit, 'column "missing" does not exist'),
        ("SELECT pg_terminate_backend(pg_backend_pid())", Unavailable, "terminating connection"),
        ("SET statement_timeout = 1; SELECT pg_sleep(9)", Unavailable, "statement timeout"),
        ("BEGIN READ ONLY; CREATE TABLE t (x int)", Unfit, "read-only transaction"),
    ],
)  # fmt: skip
def test_an_error_is_of_the_server_or_of_the_statement_and_quotes_no_values(
    statement: str, kind: type[StorageError], text: str
) -> None:
    with closing(connect(postgres.server())) as connection:
        connection.execute(_TABLE.encode())
        with pytest.raises(StorageError) as raised, storage_errors():
            connection.execute(statement.encode())
    assert type(raised.value) is kind
    assert text in str(raised.value)
    assert "words of a user" not in str(raised.value)
    assert raised.value.__suppress_context__


def test_after_its_deadline_a_connection_raises_and_is_closed() -> None:
    with closing(connect(postgres.server())) as connection:
        connection.until = time.monotonic() + 0.05
        with pytest.raises(Unavailable, match="no answer in time"), storage_errors(), connection.transaction():
            connection.execute("SELECT pg_sleep(60)")
        assert connection.closed


def test_another_thread_can_break_it_off() -> None:
    with closing(connect(postgres.server())) as connection:
        connection.until = time.monotonic() + 3_600

        def break_off() -> None:
            connection.until = 0.0

        timer = threading.Timer(0.05, break_off)
        timer.start()
        with pytest.raises(Unavailable, match="no answer in time"), storage_errors():
            connection.execute("SELECT pg_sleep(60)")
        assert connection.closed
        timer.join()


def test_a_long_deadline_leaves_results_as_they_are() -> None:
    with closing(connect(postgres.server())) as connection:
        connection.until = time.monotonic() + 3_600
        with connection.transaction(), connection.cursor() as cursor:
            cursor.execute(_TABLE.encode())
            cursor.executemany(b"INSERT INTO kept VALUES (%s, %s)", [(str(number), number) for number in range(9)])
        assert connection.execute("SELECT count(*), sum(number) FROM kept").fetchone() == (9, 36)


def test_a_connection_that_the_server_has_ended_is_stale() -> None:
    with closing(connect(postgres.server())) as connection, closing(connect(postgres.server())) as other:
        before = connection.is_stale
        other.execute("SELECT pg_terminate_backend(%s, 5000)", (connection.info.backend_pid,))
        assert (before, connection.is_stale) == (False, True)
        other.close()
        assert other.is_stale


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:hidden%zz1@localhost/name",
        "postgresql://me:hidden@localhost:x/name?connect=hidden",
        "postgresql://me:hidden@[localhost/name",
    ],
)
def test_what_is_no_url_is_not_quoted(url: str) -> None:
    with pytest.raises(StorageError) as raised:
        conninfo_of(url)
    assert "storage.url" in str(raised.value)
    assert "hidden" not in str(raised.value)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:hid/den@localhost/name",  # its host is `me`, its port `hid`
        "postgresql://me:hid@den@localhost/name",
        "postgresql://me:hid%40den@localhost:1/name",
    ],
)
def test_no_part_of_a_password_is_told(url: str) -> None:
    with pytest.raises(StorageError) as raised:
        connect(url)
    assert "PostgreSQL" in str(raised.value)
    assert "hid" not in str(raised.value)
    assert "den@" not in str(raised.value)


def test_a_server_that_is_too_old_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(connect(postgres.server())) as connection:
        check_server(connection)
        monkeypatch.setattr(module, "OLDEST_SERVER", 990_000)
        with pytest.raises(StorageError, match="is too old: 13 or newer"):
            check_server(connection)


def test_a_server_that_takes_no_writes_is_refused() -> None:
    with closing(connect(postgres.server())) as connection:
        connection.execute("SET default_transaction_read_only = on")
        with pytest.raises(StorageError, match="name the primary"):
            check_server(connection)


def test_a_clock_that_differs_is_told(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    with closing(connect(postgres.server())) as connection:
        check_server(connection)
        assert not caplog.records
        monkeypatch.setattr(module, "MOST_SKEW", -1.0)
        check_server(connection)
    assert [record.message for record in caplog.records] == ["clocks differ: this machine against PostgreSQL"]


def test_it_tells_whether_vectors_can_be_searched() -> None:
    with closing(connect(postgres.database())) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        assert has_vectors(connection)
        connection.execute("DROP EXTENSION vector CASCADE")
        assert not has_vectors(connection)


def test_values_come_back_as_sqlite_gives_them() -> None:
    with closing(connect(postgres.server())) as connection:
        texts = ["a\0b", "\ufdd0", "\ufdd0\ufdd1\0", "ñ"]
        found = connection.execute("SELECT %s::text[], %s::int, %s::float8", (texts, True, float("nan"))).fetchone()
        assert found == (texts, 1, None)
        assert connection.execute("SELECT %s::text", ("\0\ufdd0",)).fetchone() == ("\0\ufdd0",)


def test_a_connection_is_one_of_psycopg() -> None:
    with closing(connect(postgres.server())) as connection:
        assert isinstance(connection, Connection)
        assert isinstance(connection, psycopg.Connection)
        assert connection.prepare_threshold is None
