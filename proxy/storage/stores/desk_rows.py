"""Rows of desks, in the SQL of every kind of database, and as the records of `types/desk.py`. Values stand in
statements as `:name`; a kind of database says them in its own way."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from proxy.types.desk import KINDS, DeskEvent, Document, Payload, TapeLine

ALL = 2**62  # above every number of a row
VERSION = 1  # of a payload's bytes

SCOPE_ID = "(SELECT id FROM scopes WHERE name = :scope)"
_OWN = f"scope_id = {SCOPE_ID}"
_SESSION = f"{_OWN} AND session = :session"
ADD_SCOPE = "INSERT INTO scopes (name) VALUES (:scope) ON CONFLICT DO NOTHING"

_LINE = "id, link, at, role, tokens, hidden"
LINES_AFTER = f"SELECT {_LINE} FROM desk_lines WHERE {_SESSION} AND id > :id ORDER BY id"  # noqa: S608 (our own text)
TAPE = f"SELECT {_LINE}, content FROM desk_lines WHERE {_SESSION} AND id > :id ORDER BY id LIMIT :limit"  # noqa: S608 (same)
LINE = f"SELECT {_LINE}, content FROM desk_lines WHERE {_SESSION} AND link = :link"  # noqa: S608 (same)
UNWRITTEN = f"""
    SELECT change, session, {_LINE}, content FROM desk_lines
    WHERE {_OWN} AND change > :change ORDER BY change LIMIT :limit
"""  # noqa: S608 (same)
LAST_LINE = f"SELECT coalesce(max(id), 0) FROM desk_lines WHERE {_SESSION}"  # noqa: S608 (same)
LAST_CHANGE = f"SELECT coalesce(max(change), 0) FROM desk_lines WHERE {_OWN}"  # noqa: S608 (same)
ADD_LINE = f"""
    INSERT INTO desk_lines (scope_id, session, id, change, link, at, role, tokens, hidden, content)
    VALUES ({SCOPE_ID}, :session, :id, :change, :link, :at, :role, :tokens, :hidden, :content)
"""  # noqa: S608 (same)

_EVENT = "number, at, request_id, payload"
EVENTS_AFTER = f"SELECT {_EVENT} FROM desk_events WHERE {_SESSION} AND number > :number ORDER BY number"  # noqa: S608 (same)
EVENTS_BEFORE = f"""
    SELECT {_EVENT} FROM desk_events WHERE {_SESSION} AND number < :number ORDER BY number DESC LIMIT :limit
"""  # noqa: S608 (same)
LAST_EVENT = f"SELECT coalesce(max(number), 0) FROM desk_events WHERE {_SESSION}"  # noqa: S608 (same)
ADD_EVENT = f"""
    INSERT INTO desk_events (scope_id, session, number, at, request_id, kind, payload)
    VALUES ({SCOPE_ID}, :session, :number, :at, :request_id, :kind, :payload)
"""  # noqa: S608 (same)
SESSIONS = f"""
    SELECT session, max(at), sum(lines), sum(events) FROM (
        SELECT session, max(at) AS at, count(*) AS lines, 0 AS events FROM desk_lines WHERE {_OWN} GROUP BY session
        UNION ALL
        SELECT session, max(at) AS at, 0 AS lines, count(*) AS events FROM desk_events WHERE {_OWN} GROUP BY session
    ) AS both_of GROUP BY session ORDER BY max(at) DESC, session LIMIT :limit
"""  # noqa: S608 (same)

_DOCUMENT = "name, text, version, at, edited_by, removed"
DOCUMENTS = f"SELECT {_DOCUMENT} FROM desk_documents WHERE {_OWN} AND removed = 0 ORDER BY name"  # noqa: S608 (same)
DOCUMENT = f"SELECT {_DOCUMENT} FROM desk_documents WHERE {_OWN} AND name = :name"  # noqa: S608 (same)
COUNT_DOCUMENTS = f"SELECT count(*) FROM desk_documents WHERE {_OWN} AND removed = 0"  # noqa: S608 (same)
PUT_DOCUMENT = f"""
    INSERT INTO desk_documents (scope_id, name, text, version, at, edited_by, removed)
    VALUES ({SCOPE_ID}, :name, :text, :version, :at, :by, :removed)
    ON CONFLICT (scope_id, name) DO UPDATE SET text = excluded.text, version = excluded.version, at = excluded.at,
        edited_by = excluded.edited_by, removed = excluded.removed
"""  # noqa: S608 (same)
OLDER = f"""
    SELECT {_DOCUMENT} FROM desk_older WHERE {_OWN} AND name = :name ORDER BY version DESC LIMIT :limit
"""  # noqa: S608 (same)
ADD_OLDER = f"""
    INSERT INTO desk_older (scope_id, name, text, version, at, edited_by, removed)
    VALUES ({SCOPE_ID}, :name, :text, :version, :at, :by, :removed) ON CONFLICT DO NOTHING
"""  # noqa: S608 (same)
TRIM_OLDER = f"DELETE FROM desk_older WHERE {_OWN} AND name = :name AND version <= :version"  # noqa: S608 (same)

_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(Payload)


def packed(payload: Payload) -> bytes:
    """Encodes a payload."""
    return bytes([VERSION]) + _encoder.encode(payload)


def unpacked(stored: bytes) -> Payload | None:
    """Decodes a payload; None for another version, or damaged bytes."""
    if stored[:1] != bytes([VERSION]):
        return None
    try:
        payload: Payload = _decoder.decode(stored[1:])
    except ValueError:
        return None
    return payload


def stored(event: DeskEvent) -> Mapping[str, Any]:
    """Returns the columns of an event, but for its number."""
    kind = type(event.payload).__struct_config__.tag
    assert kind in KINDS, "a payload has a kind"
    return {"at": event.at, "request_id": event.request_id, "kind": kind, "payload": packed(event.payload)}


def event_of(row: Sequence[Any]) -> DeskEvent | None:
    """Returns an event of its columns; None if its payload cannot be read."""
    number, at, request_id, payload = row
    read = unpacked(bytes(payload))
    return None if read is None else DeskEvent(at, request_id, read, number)


def line_of(row: Sequence[Any]) -> TapeLine:
    """Returns a line of its columns, without content."""
    name, link, at, role, tokens, hidden = row[:6]
    return TapeLine(name, bytes(link), at, role, tokens, is_hidden=bool(hidden))


def whole_line_of(row: Sequence[Any]) -> TapeLine:
    """Returns a line of its columns, the last of which is its content."""
    name, link, at, role, tokens, hidden, content = row
    said = None if content is None else bytes(content)
    return TapeLine(name, bytes(link), at, role, tokens, said, is_hidden=bool(hidden))


def columns_of(line: TapeLine) -> Mapping[str, Any]:
    """Returns the columns of a line."""
    return {
        "id": line.id,
        "link": line.link,
        "at": line.at,
        "role": line.role,
        "tokens": line.tokens,
        "hidden": int(line.is_hidden),
        "content": line.content,
    }


def document_of(row: Sequence[Any]) -> Document:
    """Returns a document of its columns."""
    name, text, version, at, by, removed = row
    return Document(name, text, version, at, by, bool(removed))


def document_columns(document: Document) -> Mapping[str, Any]:
    """Returns the columns of a document."""
    return {
        "name": document.name,
        "text": document.text,
        "version": document.version,
        "at": document.at,
        "by": document.by,
        "removed": int(document.is_removed),
    }
