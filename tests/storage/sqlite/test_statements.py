"""Every statement of the stores finds its rows by an index."""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import fields, is_dataclass

import pytest

from proxy.storage.sqlite import accounts, archive, contents, expiry, facts, ledger, sessions, wipes
from proxy.storage.sqlite.connection import migrate


def texts(value: object, name: str) -> Iterator[tuple[str, str]]:
    """A constant that is a statement, or a table of them."""
    if is_dataclass(value):
        value = {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, dict):
        for key, below in value.items():
            yield from texts(below, f"{name} {key}")
    elif isinstance(value, str) and re.match(r"\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b", value):
        yield name, value


MODULES = (accounts, archive, contents, facts, ledger, expiry, sessions, wipes)
STATEMENTS = {
    name: text
    for module in MODULES
    for constant, value in vars(module).items()
    if not constant.startswith("_")
    for name, text in texts(value, f"{module.__name__}.{constant}")
}
TABLES = "archive|archive_links|contents|facts|known|ledger|links|path_states|rollups|scopes|session_sums|sessions"
# The first ones by number are all that is looked at; of a tenant, until there are enough.
LIMITED = {
    "proxy.storage.sqlite.contents.RECENT tenant", "proxy.storage.sqlite.contents.STATEMENTS recent tenant",
    "proxy.storage.sqlite.contents.FIRST", "proxy.storage.sqlite.contents.RECENT everybody",
    "proxy.storage.sqlite.contents.STATEMENTS recent everybody", "proxy.storage.sqlite.expiry.EXPIRED_ROWS",
    "proxy.storage.sqlite.accounts.ROWS everybody", "proxy.storage.sqlite.accounts.STATEMENTS rows everybody",
    "proxy.storage.sqlite.accounts.SESSIONS", "proxy.storage.sqlite.accounts.STATEMENTS sessions",
}  # fmt: skip


@pytest.fixture(scope="module")
def connection() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as opened:
        migrate(opened)
        yield opened


def test_the_statements_are_found() -> None:
    wanted = {
        "facts.STATEMENTS all",
        "sessions.GET_STATE",
        "archive.PATH",
        "ledger.ADD_ROLLUPS",
        "accounts.BUCKETS model",
    }
    assert {f"proxy.storage.sqlite.{name}" for name in wanted} <= set(STATEMENTS)


@pytest.mark.parametrize("name", STATEMENTS)
def test_rows_are_found_by_an_index(name: str, connection: sqlite3.Connection) -> None:
    text = STATEMENTS[name]
    if (told := re.search(r"WITH told \((.*?)\) AS \(\{rows\}\)", text)) is not None:
        text = text.format(rows=f"VALUES ({', '.join('?' * len(told[1].split(',')))})")
    places = set(re.findall(r":(\w+)", text))
    numbered = [int(number) for number in re.findall(r"\?(\d+)", text)]
    values = dict.fromkeys(places, 0) if places else (0,) * max(numbered, default=text.count("?"))
    plan = [detail for *_, detail in connection.execute(f"EXPLAIN QUERY PLAN {text}", values)]
    scans = [step for step in plan if re.match(rf"SCAN ({TABLES})\b", step)]
    if name in LIMITED:
        assert "LIMIT" in text
        assert [step for step in plan if "TEMP B-TREE" in step] == []
        assert len(scans) <= 1
    else:
        assert scans == []


PAGES = [f"ROWS {whose}" for whose in ("everybody", "scope", "scope's session")]


@pytest.mark.parametrize("name", [*PAGES, "SESSIONS", "SESSIONS_OF_SCOPE"])
def test_a_page_of_a_list_is_read_in_its_order(name: str, connection: sqlite3.Connection) -> None:
    text = STATEMENTS[f"proxy.storage.sqlite.accounts.{name}"]
    values = dict.fromkeys(re.findall(r":(\w+)", text), 0)
    plan = [detail for *_, detail in connection.execute(f"EXPLAIN QUERY PLAN {text}", values)]
    assert [step for step in plan if "TEMP B-TREE" in step] == []
