"""Versions of scopes in PostgreSQL."""

from contextlib import closing

from proxy.storage.base import PARTS
from proxy.storage.postgres import versions
from proxy.storage.postgres.connection import connect
from proxy.storage.versions import NONE, Numbers
from tests import postgres


def test_a_batch_counts_each_part_once_and_knows_the_new_versions() -> None:
    def numbers(scope: str) -> Numbers:
        ((*found, newest),) = connection.execute(versions.READ.encode(), {"scope": scope}).fetchall()
        assert newest == 0  # nobody was erased
        return tuple(found)

    with closing(connect(postgres.database())) as connection:
        parts = {"b/": frozenset(PARTS), "a/": frozenset({PARTS[0], PARTS[2]})}
        assert versions.count(connection, {**parts, "c/": frozenset()}) == {"a/": (1, 0, 1, 0), "b/": (1, 1, 1, 1)}
        assert versions.count(connection, {"a/": frozenset({PARTS[2]})}) == {"a/": (1, 0, 2, 0)}
        assert versions.count(connection, {}) == {}
        assert (numbers("a/"), numbers("b/"), numbers("c/")) == ((1, 0, 2, 0), (1, 1, 1, 1), NONE)
        assert numbers("d/") == NONE
