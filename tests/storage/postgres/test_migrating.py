"""The schema of a PostgreSQL database, brought up to date."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import psycopg
import pytest

from proxy.storage.base import DatabaseCorrupt, DatabaseTooNew, DatabaseTooOld, Unfit
from proxy.storage.postgres import migrating
from proxy.storage.postgres.connection import Connection, connect
from proxy.storage.postgres.schema import MIGRATIONS
from tests import postgres

NAMES = tuple(MIGRATIONS)
OLD = {"0000_made_up": ("CREATE TABLE scopes (id INT)", "CREATE TABLE settings (name TEXT)")}
NEW = {**OLD, "0001_more": ("ALTER TABLE scopes ADD COLUMN name TEXT", "CREATE TABLE more (id INT)")}
AT_ONCE = 8


def empty() -> str:
    return postgres.database(template="template1")


def at_once(url: str, work: Callable[[Connection], object]) -> list[object]:
    def run(_: int) -> object:
        with closing(connect(url)) as connection:
            return work(connection)

    with ThreadPoolExecutor(AT_ONCE) as threads:
        return list(threads.map(run, range(AT_ONCE)))


def test_of_many_that_upgrade_an_empty_database_one_does_the_work() -> None:
    url = empty()
    assert sorted(map(str, at_once(url, migrating.upgrade))) == sorted(map(str, [NAMES] + [()] * (AT_ONCE - 1)))
    with closing(connect(url)) as connection:
        assert migrating.status(connection) == migrating.Status(NAMES, (), (), is_empty=False)


def test_of_many_that_start_with_an_empty_database_all_are_ready() -> None:
    url = empty()
    assert at_once(url, migrating.ready) == [None] * AT_ONCE
    with closing(connect(url)) as connection:
        assert migrating.status(connection).missing == ()


def test_a_start_with_an_older_schema_explains_and_many_upgrades_do_it_once() -> None:
    url = empty()
    with closing(connect(url)) as connection:
        assert migrating.upgrade(connection, OLD) == ("0000_made_up",)
        with pytest.raises(DatabaseTooOld, match=r"it lacks 0001_more.*olvido db upgrade"):
            migrating.ready(connection, NEW)
        assert migrating.status(connection, NEW).missing == ("0001_more",)
    done = at_once(url, lambda connection: migrating.upgrade(connection, NEW))
    assert sorted(map(str, done)) == sorted(map(str, [("0001_more",)] + [()] * (AT_ONCE - 1)))
    with closing(connect(url)) as connection:
        migrating.ready(connection, NEW)
        with pytest.raises(DatabaseTooNew, match="0000_made_up, 0001_more"):
            migrating.ready(connection)
        with pytest.raises(DatabaseTooNew, match="upgrade"):
            migrating.upgrade(connection)


def test_a_step_that_fails_leaves_nothing_behind() -> None:
    with closing(connect(empty())) as connection:
        with pytest.raises(psycopg.errors.SyntaxError):
            migrating.upgrade(connection, {**OLD, "0001_wrong": ("CREATE TABLE more (id INT)", "NONSENSE")})
        assert migrating.status(connection, OLD) == migrating.Status((), ("0000_made_up",), (), is_empty=True)


@pytest.mark.parametrize("change", ["DROP TABLE migrations", "DELETE FROM migrations"])
def test_tables_that_no_step_has_made_are_left_alone(change: str) -> None:
    with closing(connect(postgres.database())) as connection:
        connection.execute(change.encode())
        for work in (migrating.ready, migrating.upgrade):
            with pytest.raises(DatabaseCorrupt, match="no record of the steps"):
                work(connection)


def test_a_probe_makes_no_tables() -> None:
    with closing(connect(empty())) as connection:
        with pytest.raises(DatabaseTooOld):
            migrating.ready(connection, may_create=False)
        assert migrating.status(connection).is_empty


def test_a_role_without_rights_is_told() -> None:
    with closing(connect(postgres.database())) as connection:
        role = f"reader_{connection.info.backend_pid}"
        connection.execute(f"CREATE ROLE {role}; GRANT SELECT ON ALL TABLES IN SCHEMA public TO {role}".encode())
        connection.execute(f"SET ROLE {role}".encode())
        with pytest.raises(Unfit, match="lacks rights"):
            migrating.ready(connection)
        connection.execute(f"RESET ROLE; GRANT ALL ON ALL TABLES IN SCHEMA public TO {role}; SET ROLE {role}".encode())
        migrating.ready(connection)


def test_one_process_at_a_time_has_a_lock() -> None:
    url = postgres.database()
    with closing(connect(url)) as one, closing(connect(url)) as other:
        with one.transaction(), other.transaction():
            assert migrating.try_lock(one, migrating.RETENTION_LOCK)
            assert not migrating.try_lock(other, migrating.RETENTION_LOCK)
            assert migrating.try_lock(other, migrating.LEDGER_LOCK)
        with other.transaction():
            assert migrating.try_lock(other, migrating.RETENTION_LOCK)
