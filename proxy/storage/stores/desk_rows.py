"""Rows of desks in the SQL of every kind of database, and as the records of `types/desk.py`. Values stand in statements
as `:name`; a kind of database says them in its own way (`DeskDialect`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from proxy.storage.stores.desk_payloads import kind_of, packed, unpacked
from proxy.storage.stores.job_rows import Dialect
from proxy.types.desk import DeskCard, DeskEvent, Document, TapeLine

Values = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class DeskDialect:
    """The differences between kinds of databases, beside those that jobs know too."""

    known: Dialect
    # Returns rows of LINE of a desk, of those among these links that it has; the last: whether content is wanted.
    lines_with: Callable[[Any, int, Sequence[bytes], bool], list[Sequence[Any]]]
    # Gives lines new change numbers and a `{content}`: those that `{which}` tells.
    rewrite: str

    def run(self, connection: Any, statement: str, values: Values) -> Any:
        """Runs a statement; returns its cursor."""
        return self.known.run(connection, statement, values)

    def many(self, connection: Any, statement: str, values: Sequence[Values]) -> None:
        """Runs a statement for each of these."""
        self.known.many(connection, statement, values)


SCOPE_ID = "(SELECT id FROM scopes WHERE name = :scope)"
OWN = f"scope_id = {SCOPE_ID}"
ADD_SCOPE = "INSERT INTO scopes (name) VALUES (:scope) ON CONFLICT DO NOTHING"
WIPED_AT = "SELECT wiped_at FROM scopes WHERE name = :scope"

# --- tapes and events -------------------------------------------------------------------------------------------------

DESK = f"SELECT id, line, event FROM desks WHERE {OWN} AND session = :session"  # noqa: S608 (our own text)
OPEN = f"""
    INSERT INTO desks (scope_id, session, last_at) VALUES ({SCOPE_ID}, :session, :at)
    ON CONFLICT (scope_id, session) DO UPDATE
    SET last_at = CASE WHEN desks.last_at < excluded.last_at THEN excluded.last_at ELSE desks.last_at END
    RETURNING id, line, event
"""  # noqa: S608 (same)
NUMBERED = "UPDATE desks SET line = :line, event = :event WHERE id = :desk"
LINE = "id, link, at, role, tokens, hidden"  # and the content, or NULL
WRITE_LINE = f"""
    INSERT INTO desk_lines (scope_id, desk, {LINE}, content)
    VALUES ({SCOPE_ID}, :desk, :id, :link, :at, :role, :tokens, :hidden, :content)
"""  # noqa: S608 (same)
WRITE_EVENT = f"""
    INSERT INTO desk_events (scope_id, desk, number, batch, at, request_id, kind, payload)
    VALUES ({SCOPE_ID}, :desk, :number, :batch, :at, :request_id, :kind, :payload)
"""  # noqa: S608 (same)
LINES = f"SELECT {LINE}, NULL FROM desk_lines WHERE desk = :desk AND id > :line ORDER BY id"  # noqa: S608 (same)
TAPE = f"SELECT {LINE}, content FROM desk_lines WHERE desk = :desk AND id > :after ORDER BY id LIMIT :limit"  # noqa: S608 (same)
EVENT = "number, at, request_id, payload"
EVENTS = f"SELECT {EVENT} FROM desk_events WHERE desk = :desk AND number > :event ORDER BY number"  # noqa: S608 (same)
NEWEST_EVENTS = f"""
    SELECT {EVENT} FROM desk_events WHERE desk = :desk AND number < :before ORDER BY number DESC LIMIT :limit
"""  # noqa: S608 (same)
REQUEST_EVENTS = f"""
    SELECT {EVENT} FROM desk_events WHERE desk = :desk AND number < :before AND request_id = :request
    ORDER BY number DESC LIMIT :limit
"""  # noqa: S608 (same)
BATCH = f"SELECT {EVENT} FROM desk_events WHERE desk = :desk AND batch = :batch ORDER BY number"  # noqa: S608 (same)
# Of the newest message of the user before a line: whether it is forgotten.
ASKED = """
    SELECT CASE WHEN content IS NULL THEN 1 ELSE 0 END FROM desk_lines
    WHERE desk = :desk AND id <= :id AND role = 'user' ORDER BY id DESC LIMIT 1
"""
SESSIONS = f"""
    SELECT session, last_at, (SELECT count(*) FROM desk_lines WHERE desk = desks.id),
        (SELECT count(*) FROM desk_events WHERE desk = desks.id)
    FROM desks WHERE {OWN} AND (
        EXISTS (SELECT 1 FROM desk_lines WHERE desk = desks.id)
        OR EXISTS (SELECT 1 FROM desk_events WHERE desk = desks.id)
    )
    ORDER BY last_at DESC, id DESC LIMIT :limit
"""  # noqa: S608 (same)
UNWRITTEN = f"""
    SELECT change, session, {", ".join(f"desk_lines.{each}" for each in LINE.split(", "))}, content
    FROM desk_lines JOIN desks ON desks.id = desk_lines.desk
    WHERE desk_lines.scope_id = {SCOPE_ID} AND change > :after ORDER BY change LIMIT :limit
"""  # noqa: S608 (same)

# --- documents --------------------------------------------------------------------------------------------------------

DOCUMENT = "name, text, version, at, edited_by, removed"
DOCUMENTS = f"SELECT {DOCUMENT} FROM desk_documents WHERE {OWN} AND removed = 0 ORDER BY name"  # noqa: S608 (same)
FOLDERS = """
    SELECT scopes.name, CAST(sum(version) AS BIGINT) FROM desk_documents JOIN scopes ON scopes.id = scope_id
    GROUP BY scopes.name
"""
ONE_DOCUMENT = f"SELECT {DOCUMENT} FROM desk_documents WHERE {OWN} AND name = :name"  # noqa: S608 (same)
OLDER = f"""
    SELECT {DOCUMENT} FROM desk_older WHERE {OWN} AND name = :name ORDER BY version DESC LIMIT :limit
"""  # noqa: S608 (same)
COUNT = f"SELECT count(*) FROM desk_documents WHERE {OWN} AND removed = :removed"  # noqa: S608 (same)
DROP = f"DELETE FROM desk_documents WHERE {OWN} AND name = :name"  # noqa: S608 (same)
WRITE = f"""
    INSERT INTO desk_documents (scope_id, {DOCUMENT})
    VALUES ({SCOPE_ID}, :name, :text, :version, :at, :edited_by, :removed)
"""  # noqa: S608 (same)
WRITE_OLDER = f"""
    INSERT INTO desk_older (scope_id, {DOCUMENT})
    VALUES ({SCOPE_ID}, :name, :text, :version, :at, :edited_by, :removed) ON CONFLICT DO NOTHING
"""  # noqa: S608 (same)
DROP_OLDER = f"DELETE FROM desk_older WHERE {OWN} AND name = :name AND version <= :upto"  # noqa: S608 (same)
# Those that are removed longest, beyond a number of them; their counts begin anew.
FORMER = f"""
    SELECT name FROM desk_documents WHERE {OWN} AND removed = 1 ORDER BY at DESC, name LIMIT :limit OFFSET :most
"""  # noqa: S608 (same)
ALL_DOCUMENTS = f"SELECT {DOCUMENT} FROM desk_documents WHERE {OWN}"  # noqa: S608 (same)
ALL_OLDER = f"SELECT {DOCUMENT} FROM desk_older WHERE {OWN} AND removed = 0"  # noqa: S608 (same)
REWRITE_OLDER = f"UPDATE desk_older SET text = :text WHERE {OWN} AND name = :name AND version = :version"  # noqa: S608 (same)


def line_of(row: Sequence[Any]) -> TapeLine:
    """Returns the line of a row of LINE and content."""
    number, link, at, role, tokens, hidden, content = row
    return TapeLine(number, bytes(link), at, role, tokens, None if content is None else bytes(content), bool(hidden))


def line_row(line: TapeLine) -> Values:
    """Returns the values of a line, by the names of its columns."""
    return {
        "id": line.id,
        "link": line.link,
        "at": line.at,
        "role": line.role,
        "tokens": line.tokens,
        "hidden": int(line.is_hidden),
        "content": line.content,
    }


def events_of(rows: Sequence[Sequence[Any]]) -> list[DeskEvent]:
    """Returns the events of rows of EVENT, without those that this version cannot read."""
    found = ((number, at, request, unpacked(bytes(payload))) for number, at, request, payload in rows)
    return [DeskEvent(at, request, payload, number) for number, at, request, payload in found if payload is not None]


def event_row(event: DeskEvent) -> Values:
    """Returns the values of an event, by the names of its columns."""
    return {
        "number": event.number,
        "at": event.at,
        "request_id": event.request_id,
        "kind": kind_of(event.payload),
        "payload": packed(event.payload),
    }


def document_of(row: Sequence[Any]) -> Document:
    """Returns the document of a row of DOCUMENT."""
    name, text, version, at, edited_by, removed = row
    return Document(name, unpacked_text(text), version, at, edited_by, bool(removed))


def document_row(document: Document) -> Values:
    """Returns the values of a document, by the names of its columns."""
    return {
        "name": document.name,
        "text": packed_text(document.text),
        "version": document.version,
        "at": document.at,
        "edited_by": document.by,
        "removed": int(document.is_removed),
    }


def packed_text(text: str) -> bytes:
    """Returns a text as it is stored, whatever it holds."""
    return text.encode("utf-8", "surrogatepass")


def unpacked_text(stored: bytes) -> str:
    """Returns the text of `packed_text`."""
    return bytes(stored).decode("utf-8", "surrogatepass")


def card_of(row: Sequence[Any]) -> DeskCard:
    """Returns the card of a row of SESSIONS."""
    return DeskCard(*row)
