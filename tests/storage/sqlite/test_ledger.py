"""A batch of rows and what it adds up to. That rows come back as they were: tests/contract/test_ledger.py."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest

from proxy.storage.sqlite import ledger as module
from proxy.storage.sqlite.ledger import add_rows, recent_rows
from proxy.storage.sqlite.migrations import migrate
from proxy.types import UNANSWERED
from tests.builders import ledger_row


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as opened:
        migrate(opened)
        yield opened


def requests(connection: sqlite3.Connection) -> int:
    (count,) = connection.execute("SELECT coalesce(sum(requests), 0) FROM session_sums").fetchone()
    return int(count)


def test_what_is_known_already_is_in_the_sums_once(connection: sqlite3.Connection) -> None:
    rows = [ledger_row(request_id=f"r{number}", scope="a/") for number in range(3)]
    for batch in (rows[:2], rows, [rows[0], rows[0]]):
        add_rows(connection, batch)
        assert requests(connection) == len(recent_rows("a/", 99, connection))
    assert requests(connection) == 3


def test_a_batch_that_fails_leaves_neither_rows_nor_sums(connection: sqlite3.Connection) -> None:
    connection.execute("BEGIN")
    with pytest.raises(sqlite3.IntegrityError):
        add_rows(connection, [ledger_row(scope="a/"), ledger_row(scope="a/", request_id="r2", cost=float("nan"))])
    connection.execute("ROLLBACK")
    assert (requests(connection), recent_rows("a/", 99, connection)) == (0, [])


def test_a_conversation_is_known_to_its_rows_whoever_met_it_first(connection: sqlite3.Connection) -> None:
    connection.execute("INSERT INTO scopes VALUES (7, 'a/')")
    connection.execute("INSERT INTO sessions VALUES (8, 7, 's')")
    add_rows(connection, [ledger_row(scope="a/"), ledger_row(scope="b/")])
    found = connection.execute("SELECT scope_id, session_id FROM ledger ORDER BY id").fetchall()
    assert found[0] == (7, 8)
    assert found[1][0] != 7
    assert found[1][1] != 8


def test_of_requests_that_nobody_answered_the_newest_rows_are_kept_and_the_sums_of_all(
    connection: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "UNANSWERED_ROWS", 5)
    theirs = [ledger_row(request_id=f"r{number}", scope=UNANSWERED, session=UNANSWERED) for number in range(20)]
    mine = [ledger_row(request_id=f"r{number}", scope="a/") for number in range(20)]
    for pair in zip(theirs, mine, strict=True):
        add_rows(connection, pair)
    assert recent_rows(UNANSWERED, 99, connection) == theirs[:-6:-1]
    assert len(recent_rows("a/", 99, connection)) == 20
    assert requests(connection) == 40
