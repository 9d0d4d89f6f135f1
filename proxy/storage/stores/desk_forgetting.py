"""Forgetting, as it reaches the desks of a scope: in the transaction in which a message leaves the archive, a fact its
store, or the whole scope its memory. The store of each calls it.

A line of the tape stays with its id, its content goes. All that may have been derived from a forgotten message goes
with it: hidden exchanges and summaries of its session, which the model wrote with the message before its eyes.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from proxy.language.words import terms
from proxy.storage.stores.desk_rows import SCOPE_ID, packed, unpacked
from proxy.types.desk import Called, Edit, Hidden, Mark, Payload

Run = Callable[[Any, str, Mapping[str, Any]], Any]

_OWN = f"scope_id = {SCOPE_ID}"
_SESSIONS_WITH = f"SELECT DISTINCT session FROM desk_lines WHERE {_OWN} AND link = :link"  # noqa: S608 (our own text)
_REDACT = f"""
    UPDATE desk_lines SET content = NULL, change = (SELECT max(change) + 1 FROM desk_lines WHERE {_OWN})
    WHERE {_OWN} AND link = :link AND content IS NOT NULL
"""  # noqa: S608 (same)
_HIDDEN = f"SELECT link FROM desk_lines WHERE {_OWN} AND session = :session AND hidden = 1 AND content IS NOT NULL"  # noqa: S608 (same)
# Numbers are never used again, so an event stays, without what it said.
_GONE = f"UPDATE desk_events SET kind = 'gone', payload = :nothing WHERE {_OWN} AND session = :session"  # noqa: S608 (same)
_DERIVED = f"{_GONE} AND kind IN ('hidden', 'called', 'board')"
_MARKS = f"SELECT session, number, payload FROM desk_events WHERE {_OWN} AND session = :session AND kind = 'mark'"  # noqa: S608 (same)
_WITH_TEXT = f"""
    SELECT session, number, payload FROM desk_events WHERE {_OWN} AND kind IN ('hidden', 'mark', 'edit', 'called')
"""  # noqa: S608 (same)
_DELETE = f"{_GONE} AND number = :number"
_REWRITE = f"UPDATE desk_events SET payload = :payload WHERE {_OWN} AND session = :session AND number = :number"  # noqa: S608 (same)
_LINES = f"SELECT link, content FROM desk_lines WHERE {_OWN} AND content IS NOT NULL AND hidden = 1"  # noqa: S608 (same)
_TEXTS = (
    (
        f"SELECT name, version, text FROM desk_documents WHERE {_OWN}",  # noqa: S608 (same)
        f"""
            UPDATE desk_documents SET text = :text, version = version + 1, edited_by = 'reset'
            WHERE {_OWN} AND name = :name AND version = :version
        """,  # noqa: S608 (same)
    ),
    (
        f"SELECT name, version, text FROM desk_older WHERE {_OWN}",  # noqa: S608 (same)
        f"UPDATE desk_older SET text = :text WHERE {_OWN} AND name = :name AND version = :version",  # noqa: S608 (same)
    ),
)
TABLES = ("desk_lines", "desk_events", "desk_documents", "desk_older")
WIPE = tuple(f"DELETE FROM {table} WHERE {_OWN}" for table in TABLES)  # noqa: S608 (same)


class DeskForgetting:
    """The forgetting of one kind of database."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def messages(self, connection: Any, scope: str, links: Sequence[bytes]) -> None:
        """Forgets these messages, and what was made of them."""
        sessions: set[str] = set()
        for link in links:
            found = self._run(connection, _SESSIONS_WITH, {"scope": scope, "link": link}).fetchall()
            sessions.update(session for (session,) in found)
            self._run(connection, _REDACT, {"scope": scope, "link": link})
        for session in sorted(sessions):
            of = {"scope": scope, "session": session}
            for (link,) in self._run(connection, _HIDDEN, of).fetchall():
                self._run(connection, _REDACT, {"scope": scope, "link": bytes(link)})
            self._run(connection, _DERIVED, {**of, "nothing": b""})
            for _, number, payload in self._run(connection, _MARKS, of).fetchall():
                read = unpacked(bytes(payload))
                if not isinstance(read, Mark) or (read.text and not set(links).isdisjoint(read.links)):
                    self._run(connection, _DELETE, {**of, "number": number, "nothing": b""})

    def values(self, connection: Any, scope: str, values: Sequence[str]) -> None:
        """Forgets texts that say one of these values: lines of documents, events, hidden messages."""
        wanted = [said for value in values if (said := frozenset(terms(value)))]
        if not wanted:
            return
        for session, number, payload in self._run(connection, _WITH_TEXT, {"scope": scope}).fetchall():
            read = unpacked(bytes(payload))
            of = {"scope": scope, "session": session, "number": number}
            if read is None or _says(_text(read), wanted):
                if isinstance(read, Edit):
                    name = read.name if read.version else ""  # the name of a document, not the key of a fact
                    bare = packed(Edit(read.tool, name, "", "", read.state, read.version, read.fact))
                    self._run(connection, _REWRITE, {**of, "payload": bare})
                else:
                    self._run(connection, _DELETE, {**of, "nothing": b""})
        for link, content in self._run(connection, _LINES, {"scope": scope}).fetchall():
            if _says(bytes(content).decode(errors="replace"), wanted):
                self._run(connection, _REDACT, {"scope": scope, "link": bytes(link)})
        for found, rewritten in _TEXTS:
            for name, version, text in self._run(connection, found, {"scope": scope}).fetchall():
                kept = [line for line in text.splitlines(keepends=True) if not _says(line, wanted)]
                if (left := "".join(kept)) != text:
                    told = {"scope": scope, "name": name, "version": version, "text": left}
                    self._run(connection, rewritten, told)

    def everything(self, connection: Any, scope: str) -> None:
        """Forgets all."""
        for statement in WIPE:
            self._run(connection, statement, {"scope": scope})


def _says(text: str, wanted: Sequence[frozenset[str]]) -> bool:
    said = frozenset(terms(text))
    return any(each <= said for each in wanted)


def _text(payload: Payload) -> str:
    match payload:
        case Hidden(before=before, instead=instead, after=after):
            return "\n".join(each.decode(errors="replace") for each in (*before, instead, *after))
        case Mark(text=text):
            return text
        case Edit(name=name, before=was, after=now):
            return f"{name}\n{was}\n{now}"
        case Called(arguments=arguments):
            return arguments
        case _:
            return ""
