"""Forgetting, as it reaches the desks and documents of a scope: in the transaction in which a message leaves the
archive, a fact its store, or the whole scope its memory. The store of each calls it before it deletes.

By link where there are links: the lines of the messages and of their turns, since answers repeat what they answer, and
the events about them. By the words of a fact where there are texts: what was hidden from the client, events, documents
and their older versions. What quotes a forgotten message at length, as a recalled original does, goes with it. A line
keeps its place and its id; documents keep their other lines.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from proxy.language.values import Values as Said
from proxy.storage.stores import desk_rows as rows
from proxy.storage.stores.desk_changes import DeskChanges
from proxy.storage.stores.desk_payloads import TELLING, Gone, is_about, left_of, lines_of, packed, unpacked
from proxy.storage.stores.desk_rows import OWN, SCOPE_ID, DeskDialect
from proxy.types import Fact
from proxy.types.desk import Document

_ALL = 2**62  # above every id

# The links of a turn in the archive that has this one.
_TURNS = f"""
    SELECT change FROM archive WHERE {OWN} AND link = :link AND at IS NOT NULL
    UNION
    SELECT archive.change FROM archive_links JOIN archive ON archive.change = archive_links.change
    WHERE archive_links.link = :link AND archive.scope_id = {SCOPE_ID}
"""  # noqa: S608 (our own text)
_MATES = f"""
    SELECT link FROM archive WHERE change IN ({_TURNS})
    UNION SELECT link FROM archive_links WHERE change IN ({_TURNS})
"""  # noqa: S608 (same)
_PLACES = f"SELECT desk, id FROM desk_lines WHERE {OWN} AND link = :link"  # noqa: S608 (same)
_FIRST = "SELECT max(id) FROM desk_lines WHERE desk = :desk AND id <= :id AND role = 'user'"
_END = "SELECT min(id) FROM desk_lines WHERE desk = :desk AND id > :id AND role = 'user'"
_TURN = "SELECT link, content FROM desk_lines WHERE desk = :desk AND id >= :first AND id < :end"
_OF_TURN = "desk = :desk AND id >= :first AND id < :end AND content IS NOT NULL"
_ONE = "desk = :desk AND id = :id"
_HIDDEN = f"SELECT desk, id, content FROM desk_lines WHERE {OWN} AND hidden = 1 AND content IS NOT NULL"  # noqa: S608 (same)
_TELLING = f"kind IN ({', '.join(map(repr, TELLING))})"
_EVENTS = f"SELECT id, request_id, payload FROM desk_events WHERE {OWN} AND {_TELLING}"  # noqa: S608 (same)
_DROP_EVENT = "DELETE FROM desk_events WHERE id = :id"
_LEAVE = "UPDATE desk_events SET payload = :payload WHERE id = :id"

# --- wipes ------------------------------------------------------------------------------------------------------------

_RESTORABLE = f"{OWN} AND until > :now AND until >= :since"
_SOON_OVER = f"{OWN} AND until >= :since"
_LINES_ASIDE = f"""
    INSERT INTO wiped_desk_lines (until, scope_id, desk, id, content)
    SELECT :until, scope_id, desk, id, content FROM desk_lines WHERE {OWN} AND at <= :at AND content IS NOT NULL
    ON CONFLICT (desk, id) DO UPDATE SET until = excluded.until, content = excluded.content
"""  # noqa: S608 (same)
_WIPED_LINES = f"{OWN} AND at <= :at AND content IS NOT NULL"
_EVENTS_BEFORE = f"{_EVENTS} AND at <= :at"
_EVENT_ASIDE = """
    INSERT INTO wiped_desk_events (until, scope_id, desk, event, at, request_id, kind, payload)
    SELECT :until, scope_id, desk, number, at, request_id, kind, payload FROM desk_events WHERE id = :id
    ON CONFLICT (desk, event) DO UPDATE SET until = excluded.until, payload = excluded.payload
"""
_DOCUMENT_ASIDE = f"""
    INSERT INTO wiped_desk_documents (until, scope_id, name, version, at, edited_by, present, text)
    VALUES (:until, {SCOPE_ID}, :name, :version, :at, :edited_by, :present, :text)
    ON CONFLICT (scope_id, name, version) DO UPDATE SET until = excluded.until, present = excluded.present,
        at = excluded.at, edited_by = excluded.edited_by, text = excluded.text
"""  # noqa: S608 (same)
_WIPE_OLDER = f"DELETE FROM desk_older WHERE {OWN} AND name = :name AND version = :version"  # noqa: S608 (same)
_RESTORED_LINES = f"""{OWN} AND content IS NULL AND EXISTS (
    SELECT 1 FROM wiped_desk_lines AS aside
    WHERE aside.desk = desk_lines.desk AND aside.id = desk_lines.id AND until > :now AND until >= :since
)"""  # noqa: S608 (same)
_RESTORED_CONTENT = """(
    SELECT aside.content FROM wiped_desk_lines AS aside
    WHERE aside.desk = desk_lines.desk AND aside.id = desk_lines.id
)"""
_RESTORED_OVER = f"""
    DELETE FROM desk_events WHERE {OWN} AND EXISTS (
        SELECT 1 FROM wiped_desk_events AS aside
        WHERE aside.desk = desk_events.desk AND aside.event = desk_events.number AND until > :now AND until >= :since
    )
"""  # noqa: S608 (same)
_RESTORED_EVENTS = f"""
    INSERT INTO desk_events (scope_id, desk, number, batch, at, request_id, kind, payload)
    SELECT scope_id, desk, event, 0, at, request_id, kind, payload FROM wiped_desk_events WHERE {_RESTORABLE}
"""  # noqa: S608 (same)
_RESTORED_DOCUMENTS = f"""
    SELECT present, name, text, version, at, edited_by, 0 FROM wiped_desk_documents
    WHERE {_RESTORABLE} ORDER BY name, version
"""  # noqa: S608 (same)
_LIFTED = tuple(
    f"DELETE FROM {table} WHERE {_SOON_OVER}"  # noqa: S608 (same)
    for table in ("wiped_desk_lines", "wiped_desk_events", "wiped_desk_documents")
)
_DROP_ASIDE = "DELETE FROM wiped_desk_lines WHERE desk = :desk AND id >= :first AND id < :end"
_HIDDEN_ASIDE = f"""
    SELECT aside.desk, aside.id, aside.content
    FROM wiped_desk_lines AS aside JOIN desk_lines ON desk_lines.desk = aside.desk AND desk_lines.id = aside.id
    WHERE aside.scope_id = {SCOPE_ID} AND desk_lines.hidden = 1
"""  # noqa: S608 (same)
_CONTENT_ASIDE = """
    SELECT desk_lines.link, aside.content
    FROM desk_lines LEFT JOIN wiped_desk_lines AS aside ON aside.desk = desk_lines.desk AND aside.id = desk_lines.id
    WHERE desk_lines.desk = :desk AND desk_lines.id >= :first AND desk_lines.id < :end
"""
_EVENTS_ASIDE = f"SELECT number, request_id, payload FROM wiped_desk_events WHERE {OWN}"  # noqa: S608 (same)
_DROP_EVENT_ASIDE = "DELETE FROM wiped_desk_events WHERE number = :id"
_DOCUMENTS_ASIDE = f"SELECT number, text FROM wiped_desk_documents WHERE {OWN}"  # noqa: S608 (same)
_LEAVE_DOCUMENT_ASIDE = "UPDATE wiped_desk_documents SET text = :text WHERE number = :id"

Turn = tuple[int, int, int]  # desk, the first id, the id of the next turn's first


class DeskForgetting:
    """The forgetting of one kind of database. Each method takes a connection within a transaction, and a scope."""

    def __init__(self, dialect: DeskDialect) -> None:
        self._dialect = dialect
        self._run = dialect.run
        self._changes = DeskChanges(dialect)

    def messages(self, connection: Any, scope: str, links: Sequence[bytes]) -> None:
        """Forgets messages, with the turns that they belong to."""
        self._forget(connection, scope, links)

    def facts(self, connection: Any, scope: str, facts: Sequence[tuple[str, str]], links: Sequence[bytes]) -> None:
        """Forgets facts, ids and values, and the messages that said them."""
        self._forget(connection, scope, links, facts)

    def _forget(
        self, connection: Any, scope: str, links: Sequence[bytes], facts: Sequence[tuple[str, str]] = ()
    ) -> None:
        mates = {link for (link,) in self._each(connection, _MATES, scope, links)}
        turns = self._turns(connection, scope, {*links, *mates})
        said = [row for turn in turns for row in self._run(connection, _TURN, _of_turn(turn)).fetchall()]
        gone = _gone({*links, *mates}, said, facts)
        for turn in turns:
            self._empty(connection, _OF_TURN, _of_turn(turn))
        if gone.repeats:
            hidden = self._run(connection, _HIDDEN, {"scope": scope}).fetchall()
            for desk, number, content in hidden:
                if gone.is_in(bytes(content)):
                    self._empty(connection, _ONE, {"desk": desk, "id": number})
        found = self._run(connection, _EVENTS, {"scope": scope}).fetchall()
        self._leave_events(connection, found, _with_requests(gone, found))
        if gone.values.texts:
            self._leave_documents(connection, scope, gone.values)

    def _turns(self, connection: Any, scope: str, links: Iterable[bytes]) -> list[Turn]:
        """Returns the turns of messages, each once: from a message of the user to the one before the next."""
        found: set[Turn] = set()
        for desk, number in self._each(connection, _PLACES, scope, links):
            place = {"desk": desk, "id": number}
            (first,) = self._run(connection, _FIRST, place).fetchone()
            (end,) = self._run(connection, _END, place).fetchone()
            # Before the first message of the user nothing belongs to a turn.
            found.add((desk, number, number + 1) if first is None else (desk, first, _ALL if end is None else end))
        return sorted(found)

    def _each(self, connection: Any, statement: str, scope: str, links: Iterable[bytes]) -> list[Sequence[Any]]:
        return [
            row
            for link in sorted(set(links))
            for row in self._run(connection, statement, {"scope": scope, "link": link}).fetchall()
        ]

    def _empty(self, connection: Any, which: str, values: rows.Values) -> None:
        self._run(connection, self._dialect.rewrite.format(content="NULL", which=which), values)

    def _leave_events(self, connection: Any, found: Sequence[Sequence[Any]], gone: Gone) -> None:
        """Leaves of events what says nothing of it."""
        for number, request, stored in found:
            payload = unpacked(bytes(stored))
            left = None if payload is None else left_of(payload, request, gone)
            if left is None:
                self._run(connection, _DROP_EVENT, {"id": number})
            elif left is not payload:
                self._run(connection, _LEAVE, {"id": number, "payload": packed(left)})

    def _leave_documents(self, connection: Any, scope: str, values: Said) -> None:
        """Takes values out of documents: what follows them sees a change, and whoever has read one before is told that
        it has another version now."""
        for older in map(rows.document_of, self._run(connection, rows.ALL_OLDER, {"scope": scope}).fetchall()):
            if (text := values.without(older.text)) != older.text:
                named = {"scope": scope, "name": older.name, "version": older.version}
                self._run(connection, rows.REWRITE_OLDER, {**named, "text": rows.packed_text(text)})
        for known in map(rows.document_of, self._run(connection, rows.ALL_DOCUMENTS, {"scope": scope}).fetchall()):
            if (text := values.without(known.text)) != known.text:
                before = Document(known.name, text, known.version, known.at, known.by)
                after = Document(known.name, text, known.version + 1, known.at, known.by)
                self._changes.replace(connection, scope, before, after)

    # --- all of a scope -----------------------------------------------------------------------------------------------

    def wipe(self, connection: Any, scope: str, at: float, until: float) -> None:
        """Puts aside what was said and written at `at` or before, until `until`."""
        values = {"scope": scope, "at": at, "until": until}
        self._run(connection, _LINES_ASIDE, values)
        self._empty(connection, _WIPED_LINES, values)
        found = self._run(connection, _EVENTS_BEFORE, values).fetchall()
        for number, request, stored in found:
            payload = unpacked(bytes(stored))
            if payload is None or left_of(payload, request, _EVERYTHING) is not payload:
                self._run(connection, _EVENT_ASIDE, {"id": number, "until": until})
        self._leave_events(connection, found, _EVERYTHING)
        self._wipe_documents(connection, scope, at, until)

    def _wipe_documents(self, connection: Any, scope: str, at: float, until: float) -> None:
        for older in map(rows.document_of, self._run(connection, rows.ALL_OLDER, {"scope": scope}).fetchall()):
            if older.at <= at:
                values = {"scope": scope, **rows.document_row(older)}
                self._run(connection, _DOCUMENT_ASIDE, {**values, "until": until, "present": 0})
                self._run(connection, _WIPE_OLDER, values)
        for known in map(rows.document_of, self._run(connection, rows.ALL_DOCUMENTS, {"scope": scope}).fetchall()):
            if known.at <= at and not known.is_removed:
                aside = {"scope": scope, **rows.document_row(known), "until": until, "present": 1}
                self._run(connection, _DOCUMENT_ASIDE, aside)
                removed = Document(known.name, "", known.version + 1, at, "person", is_removed=True)
                self._changes.replace(connection, scope, None, removed)

    def restore(self, connection: Any, scope: str, now: float, since: float) -> None:
        """Brings back what the wipes have put aside that end after `now`, and at `since` or later. What was written
        after them stays; a document that is there again keeps its text, and has the other one among its earlier
        versions."""
        values = {"scope": scope, "now": now, "since": since}
        rewrite = self._dialect.rewrite.format(content=_RESTORED_CONTENT, which=_RESTORED_LINES)
        self._run(connection, rewrite, values)
        self._run(connection, _RESTORED_OVER, values)
        self._run(connection, _RESTORED_EVENTS, values)
        for was_present, *row in self._run(connection, _RESTORED_DOCUMENTS, values).fetchall():
            document = rows.document_of(row)
            known = self._changes.present(connection, scope, document.name)
            self._run(connection, rows.WRITE_OLDER, {"scope": scope, **rows.document_row(document)})
            if was_present and (known is None or known.is_removed):
                version = 1 + (document.version if known is None else known.version)
                again = Document(document.name, document.text, version, document.at, document.by)
                self._changes.replace(connection, scope, known, again)
        for statement in _LIFTED:
            self._run(connection, statement, values)

    def aside(self, connection: Any, scope: str, facts: Sequence[Fact]) -> None:
        """Forgets facts, and what says them, in what wipes have put aside."""
        links = {link for fact in facts for link in fact.links}
        turns = self._turns(connection, scope, links)
        said = [row for turn in turns for row in self._run(connection, _CONTENT_ASIDE, _of_turn(turn)).fetchall()]
        gone = _gone(links, said, [(fact.id, fact.value) for fact in facts])
        for turn in turns:
            self._run(connection, _DROP_ASIDE, _of_turn(turn))
        for desk, number, content in self._run(connection, _HIDDEN_ASIDE, {"scope": scope}).fetchall():
            if gone.is_in(bytes(content)):
                self._run(connection, _DROP_ASIDE, _of_turn((desk, number, number + 1)))
        found = self._run(connection, _EVENTS_ASIDE, {"scope": scope}).fetchall()
        gone = _with_requests(gone, found)
        for number, request, stored in found:
            payload = unpacked(bytes(stored))
            if payload is None or left_of(payload, request, gone) is not payload:
                self._run(connection, _DROP_EVENT_ASIDE, {"id": number})
        for number, stored in self._run(connection, _DOCUMENTS_ASIDE, {"scope": scope}).fetchall():
            text = rows.unpacked_text(stored)
            if (left := gone.values.without(text)) != text:
                self._run(connection, _LEAVE_DOCUMENT_ASIDE, {"id": number, "text": rows.packed_text(left)})


_EVERYTHING = Gone(is_all=True)


def _with_requests(gone: Gone, found: Sequence[Sequence[Any]]) -> Gone:
    """Returns the same, with the requests whose hidden exchanges are about these messages: what else they did repeats
    them. `found`: numbers, requests and payloads of events."""
    told = ((request, unpacked(bytes(stored))) for _, request, stored in found)
    return replace(gone, requests=frozenset(request for request, each in told if is_about(each, gone.links)))


def _of_turn(turn: Turn) -> rows.Values:
    desk, first, end = turn
    return {"desk": desk, "first": first, "end": end}


def _gone(links: Iterable[bytes], said: Sequence[Sequence[Any]], facts: Sequence[tuple[str, str]]) -> Gone:
    """Returns what is gone with messages and their turns. `said`: links and contents of the turns' lines."""
    raws = [bytes(content) for _, content in said if content is not None]
    return Gone(
        links=frozenset({*links, *(bytes(link) for link, _ in said)}),
        facts=frozenset(fact for fact, _ in facts if fact),
        values=Said(frozenset(value for _, value in facts)),
        quotes=frozenset(line for raw in raws for line in lines_of(raw)),
    )
