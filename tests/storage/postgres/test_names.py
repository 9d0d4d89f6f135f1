"""Names that several batches add at once."""

from concurrent.futures import ThreadPoolExecutor

from proxy.storage.postgres.connection import connect
from proxy.storage.postgres.names import add_names
from tests.postgres import database


def test_a_name_is_added_once_and_sessions_of_two_scopes_may_have_one_name() -> None:
    with connect(database()) as connection:
        for _ in range(2):
            add_names(connection, [("b/", "s"), ("a/", "t"), ("a/", "s"), ("a/", "s")])
        found = connection.execute(
            "SELECT scopes.name, sessions.name FROM sessions JOIN scopes ON scopes.id = scope_id ORDER BY 1, 2"
        )
        assert found.fetchall() == [("a/", "s"), ("a/", "t"), ("b/", "s")]


def test_transactions_that_add_the_same_names_in_other_orders_wait_for_each_other_in_no_circle() -> None:
    url, names = database(), [(f"{number % 5}/", f"s{number}") for number in range(200)]

    def add(order: int) -> None:
        with connect(url) as connection, connection.transaction():
            add_names(connection, names[::order])

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(add, (1, -1, 1, -1)))
    with connect(url) as connection:
        assert connection.execute("SELECT count(*) FROM sessions").fetchone() == (200,)
