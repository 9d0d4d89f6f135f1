"""However large the tables are, no statement reads a whole one."""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest

from proxy.storage import facts, sqlite_archive, states
from proxy.storage.migrations import migrate

STATEMENTS = {
    f"{module.__name__}.{name}": text
    for module in (facts, sqlite_archive, states)
    for name, text in vars(module).items()
    if isinstance(text, str) and re.match(r"\s*(SELECT|INSERT|DELETE|WITH)\b", text)
}


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as opened:
        migrate(opened)
        yield opened


def test_the_statements_are_found() -> None:
    assert {"proxy.storage.facts.ALL", "proxy.storage.states.GET", "proxy.storage.sqlite_archive.PATH"} <= set(
        STATEMENTS
    )


@pytest.mark.parametrize("name", STATEMENTS)
def test_rows_are_found_by_an_index(name: str, connection: sqlite3.Connection) -> None:
    text = STATEMENTS[name]
    places = re.findall(r":(\w+)", text)
    values = dict.fromkeys(places, 0) if places else (0,) * text.count("?")
    plan = [detail for *_, detail in connection.execute(f"EXPLAIN QUERY PLAN {text}", values)]
    tables = "facts|archive|archive_links|known|path_states|scopes|sessions"
    assert [step for step in plan if re.match(rf"SCAN ({tables})\b", step)] == []
