"""What requests said, in PostgreSQL: its size is known to all processes, and its limit kept by one at a time."""

import asyncio
from typing import Any

import pytest

from proxy.storage.postgres.connection import Connection, connect
from proxy.storage.postgres.contents import MOST_PARTS, STATEMENTS, PostgresContents, remove_expired
from proxy.storage.postgres.migrating import CONTENTS_LOCK
from proxy.storage.stores.contents import MOST_GONE, ContentLimits
from proxy.types import Contents
from tests.postgres import database, processes


def entry(number: int, size: int = 10, scope: str = "a/", at: float | None = None) -> Contents:
    return Contents(scope, f"r{number}", "s", float(number if at is None else at), b"x" * size)


def put(connection: Connection, *entries: Contents, most: int = 10**9) -> None:
    with connection.transaction():
        STATEMENTS.put(connection, [(each, most) for each in entries])


def kept(connection: Connection) -> tuple[Any, ...]:
    """Entries, the sum of their sizes, and what the parts of it add up to."""
    return (
        connection.execute(
            "SELECT count(*), coalesce(sum(size), 0)::int, (SELECT sum(bytes)::int FROM contents_size) FROM contents"
        ).fetchone()
        or ()
    )


def test_the_size_of_all_is_known_whatever_happens_to_them() -> None:
    with connect(database()) as connection:
        put(connection, *map(entry, range(5)), entry(2), entry(9, scope="b/"))
        put(connection, entry(2, size=99))
        assert kept(connection) == (6, 60, 60)
        for _ in range(2):
            STATEMENTS.forget(connection, ["a/", "c/"])
            assert kept(connection) == (1, 10, 10)
        put(connection, entry(7, size=95), most=100)
        assert kept(connection) == (1, 95, 95)


def test_a_lower_limit_is_reached_a_part_at_a_time() -> None:
    size = MOST_GONE // 4
    with connect(database()) as connection:
        put(connection, *(entry(number, size=size) for number in range(10)))
        counts = []
        for number in range(10, 13):
            put(connection, entry(number, size=1), most=size)
            counts.append(kept(connection)[0])
        assert counts == [6, 2, 3]


@pytest.mark.parametrize(
    ("until", "limit", "left"),
    [
        (0.5, 99, [1, 2, 9, 3]), (1.0, 99, [2, 9, 3]), (3.0, 99, [9]), (3.0, 20, [9, 3]), (3.0, 1, [2, 9, 3]),
        (float("inf"), 99, []),
    ],
)  # fmt: skip
def test_what_is_old_leaves_a_part_at_a_time_wherever_it_stands(until: float, limit: int, left: list[int]) -> None:
    with connect(database()) as connection:
        put(connection, *map(entry, (1, 2, 9, 3)))
        assert remove_expired(connection, until, limit) == 4 - len(left)
        found = connection.execute("SELECT substr(request_id, 2)::int FROM contents ORDER BY id").fetchall()
        assert [number for (number,) in found] == left
        assert kept(connection) == (len(left), 10 * len(left), 10 * len(left))


def test_parts_of_the_size_become_one_when_there_are_many() -> None:
    with connect(database()) as connection:
        for number in range(MOST_PARTS + 2):
            put(connection, entry(number))
        (parts,) = connection.execute("SELECT count(*) FROM contents_size").fetchone() or (None,)
        assert parts < MOST_PARTS
        assert kept(connection) == (MOST_PARTS + 2, 10 * (MOST_PARTS + 2), 10 * (MOST_PARTS + 2))


def test_while_another_process_makes_room_nobody_waits_and_the_next_makes_it() -> None:
    url = database()
    with connect(url) as connection, connect(url) as other:
        with other.transaction():
            other.execute("SELECT pg_advisory_xact_lock(%s)", (CONTENTS_LOCK,))
            put(connection, *map(entry, range(20)), most=100)
            assert kept(connection)[0] == 20
        put(connection, entry(20), most=100)
        assert kept(connection) == (10, 100, 100)


async def test_processes_at_once_keep_the_size_right_and_the_limit() -> None:
    limits = ContentLimits(seconds=0, bytes=2_000)
    async with processes(6) as databases:
        stores = [PostgresContents(each, limits) for each in databases]

        async def write(place: int) -> None:
            for number in range(30):
                stores[place].put(entry(100 * (place % 3) + number, size=50, scope=f"{place % 2}/"))
                if number % 11 == 10:
                    stores[place].forget(f"{number % 2}/")
                if number % 3 == 0:
                    await stores[place].flush()
            await stores[place].flush()

        async with asyncio.timeout(60):
            await asyncio.gather(*map(write, range(len(stores))))
        stores[0].put(entry(999, size=50))
        await stores[0].flush()
        count, size, told = await databases[0].read(kept)
        assert count == size / 50
        assert size == told <= limits.bytes
