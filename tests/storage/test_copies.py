"""Over every copy: no table, store, kind of key or setting is forgotten by those who erase, export, or document."""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from proxy.cli import exporting
from proxy.config import json_schema
from proxy.storage import erasing
from proxy.storage.copies import COPIES, NOBODYS
from proxy.storage.copying import TABLES
from proxy.storage.opening import Storage
from proxy.storage.sqlite.connection import MEMORY, open_database
from tests.every_table import fill

ROOT = Path(__file__).parents[2]
# Fields of `Storage` that are no stores.
_NO_STORES = {"database", "nothing", "secret", "retention", "hot", "shared", "failures"}
_KEY = re.compile(r"connection\.names\.key\(\s*(?:\"([^\"]+)\"|self\._part\b)")
_PARTS = {"open_turns", "last_served"}  # kinds that a class of sessions.py is made with


def columns() -> dict[str, dict[str, str]]:
    """Columns of each table of the newest schema, with their types."""
    connection = open_database(MEMORY, 1.0)
    try:
        return {
            table: {name: kind for _, name, kind, *_ in connection.execute(f"PRAGMA table_info({table})")}
            for table in TABLES
        }
    finally:
        connection.close()


SCHEMA = columns()
PERSONAL = {table for table, of in SCHEMA.items() if "scope_id" in of}
LISTED = [table for copy in COPIES for table in copy.tables]
PARTS = [table for copy in COPIES for table in copy.parts]


def test_every_table_of_the_schema_is_a_copys_or_nobodys() -> None:
    known = [*LISTED, *PARTS, *(name for name in NOBODYS if name in SCHEMA)]
    assert sorted(known) == sorted(TABLES)


def test_every_table_with_a_scope_is_erased() -> None:
    assert set(LISTED) == PERSONAL == set(erasing.TABLES)


def test_every_table_with_a_scope_is_exported_or_says_why_not() -> None:
    for copy in COPIES:
        if copy.tables and copy.not_exported:
            assert len(copy.not_exported) > 20
    exported = {table for copy in COPIES if not copy.not_exported for table in copy.tables}
    assert PERSONAL - exported == {"shelves"}


def test_rows_that_go_with_others_are_deleted_with_them() -> None:
    connection = open_database(MEMORY, 1.0)
    try:
        for table in PARTS:
            actions = [row[6] for row in connection.execute(f"PRAGMA foreign_key_list({table})")]
            assert actions == ["CASCADE"]
    finally:
        connection.close()


@pytest.mark.parametrize("table", sorted(PERSONAL))
def test_every_column_of_bytes_is_read_or_says_why_not(table: str) -> None:
    copy = next((each for each in COPIES if table in each.tables), None)
    assert copy is not None
    if copy.not_exported:
        return
    unread = [
        column
        for column, kind in SCHEMA[table].items()
        if kind == "BLOB" and (table, column) not in exporting.BYTES and (table, column) not in exporting.LEFT_OUT
    ]
    assert unread == []


def test_nothing_is_read_or_left_out_that_is_not_there() -> None:
    for table, column in (*exporting.BYTES, *exporting.LEFT_OUT, *exporting.JSON_TEXT):
        assert column in SCHEMA[table], (table, column)


def test_every_store_of_a_process_is_a_copys_or_nobodys() -> None:
    stores = {field.name for field in fields(Storage)} - _NO_STORES
    known = {name for copy in COPIES for name in copy.stores} | (set(NOBODYS) & stores)
    assert known == stores


def test_every_kind_of_key_in_redis_is_a_copys_or_nobodys() -> None:
    found = set(_PARTS)
    for path in (ROOT / "proxy" / "storage" / "redis").glob("*.py"):
        text = path.read_text(encoding="utf-8")
        found |= {kind for kind in _KEY.findall(text) if kind}
    assert all(f'"{part}"' in (ROOT / "proxy/storage/redis/sessions.py").read_text() for part in _PARTS)
    known = {kind for copy in COPIES for kind in copy.keys} | set(NOBODYS)
    assert found - known == set()
    assert len(found) > 8


def settings(schema: dict[str, Any]) -> Iterator[str]:
    definitions = schema["$defs"]

    def below(node: dict[str, Any], path: str) -> Iterator[str]:
        for option in (node, *node.get("anyOf", ())):
            resolved = definitions[option["$ref"].rsplit("/", 1)[1]] if "$ref" in option else option
            for name, each in resolved.get("properties", {}).items():
                yield f"{path}{name}"
                yield from below(each, f"{path}{name}.")

    yield from below(schema, "")


def test_every_setting_that_limits_a_copy_is_one() -> None:
    every = set(settings(json_schema()))
    assert {setting for copy in COPIES for setting in copy.settings} - every == set()


def test_every_copy_says_for_how_long_it_is_kept() -> None:
    for copy in COPIES:
        assert copy.settings or copy.kept, copy.name
    assert len({copy.name for copy in COPIES}) == len(COPIES)


def test_an_erasure_leaves_no_row_of_a_person_in_any_table(tmp_path: Path) -> None:
    path = tmp_path / "olvido.db"
    filled = fill(path, ["t/ana", "t/beto", "t/ana~s"])
    assert filled == PERSONAL
    found = erasing.erase_sqlite(path, lambda scope: scope == "t/ana")
    assert all(found.rows[table] == 2 for table in PERSONAL)
    with closing(sqlite3.connect(path)) as connection:
        for table in sorted(PERSONAL):
            left = {number for (number,) in connection.execute(f"SELECT scope_id FROM {table}")}
            assert left == ({2, 0} if table == "spending" else {2}), table
        assert connection.execute("SELECT name FROM scopes").fetchall() == [("t/beto",)]
    assert b"said by t/ana" not in path.read_bytes()
