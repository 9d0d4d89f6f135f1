"""Rows of an end user as records that other programs read: names instead of numbers, JSON and text instead of bytes.

Every column of bytes is listed here with what reads it; `tests/cli/test_exporting.py` holds that none is left out.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from proxy.context import layout
from proxy.conversation import progress
from proxy.protocol.chains import LINK_BYTES
from proxy.storage.copies import Copy
from proxy.storage.stores.desk_payloads import unpacked
from proxy.types import Json

PAGE = 500  # rows that are read at a time

_ARRAY_OF_NUMBERS = "vectors: numbers that a model has made of the text beside them"
# Columns that are left out of records, and why.
LEFT_OUT: Mapping[tuple[str, str], str] = {
    ("archive", "vectors"): _ARRAY_OF_NUMBERS,
    ("archive", "dimensions"): _ARRAY_OF_NUMBERS,
    ("wiped_archive", "vectors"): _ARRAY_OF_NUMBERS,
    ("wiped_archive", "dimensions"): _ARRAY_OF_NUMBERS,
    ("reuse_entries", "vector"): _ARRAY_OF_NUMBERS,
}
# Columns of text that hold JSON.
JSON_TEXT = frozenset(
    {
        *(("ledger", name) for name in ("mechanisms", "trail", "stage_seconds")),
        *(("contents", "headers"), ("facts", "links"), ("wiped_facts", "links")),
        *(("archive", "utterances"), ("wiped_archive", "utterances")),
        *(("reuse_entries", "context"), ("reuse_entries", "judged")),
        *(("job_lines", "ended"), ("summaries", "summary"), ("quality", "measures")),
    }
)
_LABELS = frozenset({"model", "upstream", "source", "plan", "route"})  # of rollups: numbers of rollup_labels


def _json(data: bytes) -> Json:
    if not data:
        return None
    try:
        return msgspec.json.decode(data)
    except ValueError:
        return text(data)


def text(data: bytes) -> str:
    """Returns bytes as text; what is none is replaced."""
    return data.decode("utf-8", "replace")


def _hex(data: bytes) -> str:
    return data.hex()


def readable(value: Any) -> Json:
    """Returns a value as JSON can say it: a link in hex, other bytes as text, if they are text."""
    if isinstance(value, bytes):
        try:
            return value.hex() if len(value) == LINK_BYTES else value.decode()
        except UnicodeDecodeError:
            return value.hex()
    if isinstance(value, dict):
        return {str(name): readable(each) for name, each in value.items()}
    return [readable(each) for each in value] if isinstance(value, list | tuple) else value


def _plain(value: Any) -> Json:
    """Returns a record as JSON can say it; arrays in it are vectors, and left out."""
    return readable(msgspec.to_builtins(value, builtin_types=(bytes,), enc_hook=lambda _: None))


def _fates(data: bytes) -> Json:
    return _plain(layout.unpack(data)) if data else None


def _state(data: bytes) -> Json:
    return _plain(progress.unpack(data))


def _payload(data: bytes) -> Json:
    return _plain(unpacked(data))


# Readers of columns of bytes.
BYTES: Mapping[tuple[str, str], Callable[[bytes], Json]] = {
    **{("contents", name): _json for name in ("body", "sent", "answer")},
    ("contents", "fates"): _fates,
    ("archive", "messages"): _json,
    ("wiped_archive", "messages"): _json,
    ("path_states", "state"): _state,
    ("jobs", "shown"): _json,
    ("jobs", "answer"): _json,
    ("desk_lines", "content"): _json,
    ("wiped_desk_lines", "content"): _json,
    ("desk_events", "payload"): _payload,
    ("wiped_desk_events", "payload"): _payload,
    **{(table, "text"): text for table in ("desk_documents", "desk_older", "wiped_desk_documents")},
    ("quality", "texts"): _json,
    **{(table, "link"): _hex for table in ("links", "archive", "wiped_archive", "wiped_links", "path_states")},
    **{(table, "link"): _hex for table in ("job_lines", "job_links", "events", "summaries", "desk_lines")},
    ("archive", "parent"): _hex,
    ("wiped_archive", "parent"): _hex,
    ("wiped_links", "turn"): _hex,
}


def records(connection: Any, copy: Copy, scopes: Mapping[str, int]) -> Iterator[Json]:
    """Yields the rows of a copy of these scopes (with their numbers), table by table. `connection`: in a transaction,
    so that all of them are of one moment."""
    labels = None
    for table in copy.tables:
        for scope, number in scopes.items():
            sessions = _names(connection, f"SELECT id, name FROM sessions WHERE scope_id = {number}")  # noqa: S608 (our own)
            if table == "rollups" and labels is None:
                labels = _names(connection, "SELECT id, name FROM rollup_labels")
            for columns, row in _rows(connection, table, number):
                yield {"table": table, "scope": scope, **_record(table, columns, row, sessions, labels or {})}


def _names(connection: Any, statement: str) -> dict[int, str]:
    return dict(connection.execute(statement).fetchall())


def _rows(connection: Any, table: str, number: int) -> Iterator[tuple[Sequence[str], Sequence[Any]]]:
    statement = f"SELECT * FROM {table} WHERE scope_id = {number}"  # noqa: S608 (our own)
    if hasattr(connection, "pgconn"):  # a cursor of the server: contents may be large
        cursor = connection.cursor("export")
        cursor.execute(statement.encode())
    else:
        cursor = connection.execute(statement)
    try:
        columns = [each[0] for each in cursor.description]
        while found := cursor.fetchmany(PAGE):
            for row in found:
                yield columns, row
    finally:
        cursor.close()


def _record(
    table: str, columns: Sequence[str], row: Sequence[Any], sessions: Mapping[int, str], labels: Mapping[int, str]
) -> dict[str, Json]:
    record: dict[str, Json] = {}
    for column, value in zip(columns, row, strict=True):
        if column == "scope_id" or (table, column) in LEFT_OUT:
            continue
        if column in ("session_id", "other_session_id"):
            record[column.removesuffix("_id")] = sessions.get(value)
        elif table == "rollups" and column in _LABELS:
            record[column] = labels.get(value, value)
        else:
            record[column] = _read(table, column, value)
    return record


def _read(table: str, column: str, value: Any) -> Json:
    if isinstance(value, bytes | memoryview):
        data = bytes(value)
        try:
            return BYTES.get((table, column), _hex)(data)
        except (ValueError, msgspec.MsgspecError):  # of another version, or damaged: what is there is told all the same
            return text(data)
    if isinstance(value, str) and (table, column) in JSON_TEXT:
        return _json(value.encode())
    return value
