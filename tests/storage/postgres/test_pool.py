"""The pool of connections."""

import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing

import psycopg
import pytest

from proxy.storage.base import StorageError, Unavailable
from proxy.storage.postgres import pool as pools
from proxy.storage.postgres.connection import Connection, connect
from proxy.storage.postgres.pool import Pool
from tests import postgres

pytestmark = pytest.mark.long

ENDED = b"SELECT pg_terminate_backend(pg_backend_pid())"


@pytest.fixture
def pool() -> Iterator[Pool]:
    with closing(Pool(postgres.server(), 3)) as opened:
        yield opened


def terminate(*connections: Connection) -> None:
    with psycopg.connect(postgres.server(), autocommit=True) as other:
        for each in connections:
            other.execute("SELECT pg_terminate_backend(%s, 5000)", (each.info.backend_pid,))


def test_a_connection_is_used_again(pool: Pool) -> None:
    with pool.one(5) as first:
        assert first.execute("SELECT 1").fetchone() == (1,)
    with pool.one(5) as second:
        assert second is first
        assert second.until is not None
    assert first.until is None


def test_when_all_are_in_use_it_says_so_after_the_deadline(pool: Pool) -> None:
    with ExitStack() as stack:
        for _ in range(3):
            stack.enter_context(pool.one(60))
        with pytest.raises(Unavailable, match="all 3 connections of this process are in use"), pool.one(0.01):
            pass
    assert pool.waits == 1
    with pool.one(5) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)


def test_whoever_waits_gets_the_next_that_is_free() -> None:
    with closing(Pool(postgres.server(), 1)) as pool, ThreadPoolExecutor(8) as threads:

        def use(number: int) -> int:
            with pool.one(60) as connection:
                (found,) = connection.execute("SELECT %s::int", (number,)).fetchone() or (None,)
                return int(found)

        assert list(threads.map(use, range(50))) == list(range(50))


def test_connections_that_the_server_has_ended_are_not_handed_out(pool: Pool) -> None:
    with pool.one(5) as one, pool.one(5) as two, pool.one(5) as three:
        pass
    terminate(one, two, three)
    with pool.one(5) as connection:
        assert connection not in (one, two, three)
        assert connection.execute("SELECT 1").fetchone() == (1,)
    assert one.closed
    assert two.closed
    assert three.closed


def test_one_that_fails_in_the_middle_is_not_kept(pool: Pool) -> None:
    with pytest.raises(Unavailable, match="terminating"), pool.one(5) as first:
        first.execute(ENDED)
    with pytest.raises(Unavailable, match="no answer in time"), pool.one(0.3) as second:
        second.execute("SELECT pg_sleep(60)")
    with pool.one(5) as third:
        third.execute("BEGIN")
    with pool.one(5) as fourth:
        assert fourth.execute("SELECT 1").fetchone() == (1,)
    assert len({first, second, third, fourth}) == 4
    assert third.closed


def test_an_error_of_a_statement_leaves_it_as_it_is(pool: Pool) -> None:
    with pytest.raises(StorageError, match="DivisionByZero"), pool.one(5) as first, first.transaction():
        first.execute("SELECT 1 / 0")
    with pool.one(5) as second:
        assert second is first


def test_a_server_that_refuses_is_told_with_its_reason() -> None:
    with closing(socket.socket()) as bound:  # and does not listen
        bound.bind(("127.0.0.1", 0))
        url = f"postgresql://me:hidden@127.0.0.1:{bound.getsockname()[1]}/name"
        with closing(Pool(url, 2)) as pool:
            for _ in range(3):
                with pytest.raises(Unavailable, match=r"[Cc]onnection refused"), pool.one(60):
                    pass


def test_a_server_that_never_answers_costs_the_deadline() -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as silent:
        url = f"postgresql://me:hidden@127.0.0.1:{silent.getsockname()[1]}/name"
        with closing(Pool(url, 2)) as pool:
            with pytest.raises(Unavailable, match="no connection was made in time"), pool.one(0.05):
                pass
            with pytest.raises(Unavailable, match="timeout"), pool.one(60):  # that of connecting
                pass


def test_a_connection_that_comes_too_late_is_kept_for_the_next(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    is_late = threading.Event()

    def slowly(url: str) -> Connection:
        is_late.wait(60)
        return connect(url)

    monkeypatch.setattr(pools, "connect", slowly)
    with pytest.raises(Unavailable, match="in time"), pool.one(0.0):
        pass
    is_late.set()
    pool._connecting.shutdown()  # the connection has been made  # noqa: SLF001 (nothing else tells)
    with pool.one(5) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)


def test_what_is_dropped_is_broken_off_and_its_place_is_free(pool: Pool) -> None:
    with pool.one(5) as idle, pool.one(60) as used:
        pass
    threading.Timer(0.1, pool.drop).start()
    with pytest.raises(Unavailable, match="no answer in time"), pool.one(60) as used:
        used.execute("SELECT pg_sleep(60)")
    assert used.closed
    assert idle.closed
    with ExitStack() as stack:
        for _ in range(3):
            assert stack.enter_context(pool.one(5)).execute("SELECT 1").fetchone() == (1,)


def test_a_closed_pool_closes_what_is_in_use_when_it_comes_back(pool: Pool) -> None:
    with pool.one(5) as used:
        pool.close()
        assert used.execute("SELECT 1").fetchone() == (1,)
    assert used.closed
    pool.close()
    with pytest.raises(Unavailable, match="closed"), pool.one(5):
        pass


def test_what_is_no_url_is_told_at_once() -> None:
    with pytest.raises(StorageError, match=r"storage\.url"):
        Pool("postgresql://me:a%zz@host/name", 2)
