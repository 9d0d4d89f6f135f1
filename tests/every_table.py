"""A database in which given scopes have a row in every table that has rows of a scope."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from proxy.storage.copying import TABLES
from proxy.storage.sqlite.connection import open_database

_NUMBERS = ("session_id", "other_session_id", "desk", "job", "model", "upstream", "source", "plan", "route")


def fill(path: Path, scopes: Sequence[str]) -> set[str]:
    """Fills the file; each row says whose it is. Returns the names of the tables that were filled."""
    open_database(path, 5.0).close()  # with the schema
    filled = set()
    with closing(sqlite3.connect(path)) as connection, connection:
        columns = {table: connection.execute(f"PRAGMA table_info({table})").fetchall() for table in TABLES}
        for number, scope in enumerate(scopes, 1):
            connection.execute("INSERT INTO scopes (id, name) VALUES (?, ?)", (number, scope))
            for table, of in columns.items():
                if any(name == "scope_id" for _, name, *_ in of):
                    row = {name: _value(table, name, kind, number, scope) for _, name, kind, *_ in of}
                    marks = ", ".join("?" * len(row))
                    names = ", ".join(f'"{name}"' for name in row)
                    connection.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", list(row.values()))
                    filled.add(table)
    return filled


def _value(table: str, column: str, kind: str, number: int, scope: str) -> Any:
    said = f'"said by {scope}"'
    if column == "scope_id" or column in ("id", "number", "change"):
        return number if kind == "INTEGER" else f"{scope}-{number}"
    if table == "spending" and column == "owner":
        return "a process"  # what is spent stays, and is nobody's
    if table != "jobs" and column in _NUMBERS and kind == "INTEGER":
        return number
    return {"INTEGER": number, "REAL": 1.5, "BLOB": said.encode()}.get(kind, said)
