"""The changes of desks, each inside a transaction of whatever kind of database. A step may be run twice: a connection
that broke off may have committed the first time.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Literal

from proxy.storage.desk import MOST_DOCUMENTS, OLDER_VERSIONS
from proxy.storage.recollection import WIPE_REACHES
from proxy.storage.stores import desk_rows as rows
from proxy.storage.stores.desk_payloads import Gone, left_of
from proxy.storage.stores.desk_rows import DeskDialect
from proxy.types.desk import Board, DeskEvent, DeskNews, Document, Hidden, Mark, TapeLine

FULL: Literal["full"] = "full"  # there are as many documents as there may be

_ALL = 2**62  # as a LIMIT


class DeskChanges:
    """The changes of desks in one kind of database. Each method takes a connection within a transaction."""

    def __init__(self, dialect: DeskDialect) -> None:
        self._dialect = dialect
        self._run = dialect.run
        self._many = dialect.many

    def write(
        self, connection: Any, scope: str, session: str, lines: Sequence[TapeLine], events: Sequence[DeskEvent],
        batch: int, *, is_again: bool
    ) -> DeskNews:  # fmt: skip
        """Appends lines and events, as `DeskStore.write` says. What is forgotten is not kept again: its lines have no
        content. `batch`: a number of this call; `is_again`: it was run before."""
        if not lines and not events:
            return DeskNews()
        self._run(connection, rows.ADD_SCOPE, {"scope": scope})
        at = max([*(line.at for line in lines), *(event.at for event in events)])
        opened = self._run(connection, rows.OPEN, {"scope": scope, "session": session, "at": at}).fetchone()
        desk, line, event = opened
        told = self._write_lines(connection, scope, desk, line, lines)
        known = self._run(connection, rows.BATCH, {"desk": desk, "batch": batch}).fetchall() if is_again else []
        if known:
            return DeskNews(tuple(rows.events_of(known)), tuple(told))
        kept = self._kept(connection, scope, desk, events)
        numbered = [replace(each, number=number) for number, each in enumerate(kept, start=event + 1)]
        values = {"scope": scope, "desk": desk, "batch": batch}
        self._many(connection, rows.WRITE_EVENT, [{**values, **rows.event_row(each)} for each in numbered])
        last = max([line, *(each.id for each in told)])
        self._run(connection, rows.NUMBERED, {"desk": desk, "line": last, "event": event + len(numbered)})
        return DeskNews(tuple(numbered), tuple(told))

    def _write_lines(
        self, connection: Any, scope: str, desk: int, last: int, lines: Sequence[TapeLine]
    ) -> list[TapeLine]:
        links = list(dict.fromkeys(each.link for each in lines))
        found = self._dialect.lines_with(connection, desk, links, False)
        told = {line.link: line for line in map(rows.line_of, found)}
        new: dict[bytes, TapeLine] = {}
        for each in lines:
            if each.link not in told and each.link not in new:
                new[each.link] = replace(each, id=last + len(new) + 1)
        kept = self._without_forgotten(connection, scope, desk, list(new.values()))
        values = {"scope": scope, "desk": desk}
        self._many(connection, rows.WRITE_LINE, [{**values, **rows.line_row(each)} for each in kept])
        told.update((each.link, each) for each in kept)
        return [told[link] for link in links]

    def _without_forgotten(
        self, connection: Any, scope: str, desk: int, lines: Sequence[TapeLine]
    ) -> Sequence[TapeLine]:
        """Returns new lines, those of forgotten turns without content: what follows a forgotten message of the user
        answers it."""
        if not lines:
            return lines
        forgotten = self._dialect.known.forgotten(connection, scope, [each.link for each in lines])
        (wiped_at,) = self._run(connection, rows.WIPED_AT, {"scope": scope}).fetchone()
        before = self._run(connection, rows.ASKED, {"desk": desk, "id": lines[0].id}).fetchone()
        is_gone = before == (1,)
        kept = []
        for each in lines:
            is_own = each.link in forgotten or wiped_at - WIPE_REACHES < each.at <= wiped_at
            is_gone = is_own if each.role == "user" else is_gone
            kept.append(replace(each, content=None) if is_own or is_gone else each)
        return kept

    def _kept(self, connection: Any, scope: str, desk: int, events: Sequence[DeskEvent]) -> Iterable[DeskEvent]:
        """Returns what is kept of new events: nothing that says what a forgotten message said."""
        told = [(each, frozenset(_links_of(each))) for each in events]
        asked = sorted(frozenset().union(*(links for _, links in told)))
        if not asked:
            return events
        lines = map(rows.line_of, self._dialect.lines_with(connection, desk, asked, True))
        empty = {line.link for line in lines if line.content is None}
        gone = empty | self._dialect.known.forgotten(connection, scope, asked)
        if not gone:
            return events
        requests = {event.request_id for event, links in told if not gone.isdisjoint(links)} - {""}
        means = Gone(links=frozenset(gone), requests=frozenset(requests))
        left = ((each, left_of(each.payload, each.request_id, means)) for each in events)
        return [replace(each, payload=payload) for each, payload in left if payload is not None]

    # --- documents ----------------------------------------------------------------------------------------------------

    def put(self, connection: Any, scope: str, document: Document) -> Document | Literal["full"] | None:
        """Writes a document whose version is one above that of the present one, which becomes an earlier one. None if
        the present one has another version."""
        self._run(connection, rows.ADD_SCOPE, {"scope": scope})
        known = self.present(connection, scope, document.name)
        if known == document:
            return document  # it is the second time
        if (known.version if known is not None else 0) != document.version - 1:
            return None
        if known is None or known.is_removed:
            if document.is_removed:
                return known
            values = {"scope": scope, "removed": 0}
            if self._run(connection, rows.COUNT, values).fetchone()[0] >= MOST_DOCUMENTS:
                return FULL
        self.replace(connection, scope, known, document)
        if document.is_removed:
            self._drop_former(connection, scope)
        return document

    def present(self, connection: Any, scope: str, name: str) -> Document | None:
        """Returns a document as it is."""
        row = self._run(connection, rows.ONE_DOCUMENT, {"scope": scope, "name": name}).fetchone()
        return None if row is None else rows.document_of(row)

    def replace(self, connection: Any, scope: str, known: Document | None, document: Document) -> None:
        """Puts a document in the place of the one that is `known`, which becomes an earlier one."""
        named = {"scope": scope, "name": document.name}
        if known is not None:
            self._run(connection, rows.WRITE_OLDER, {"scope": scope, **rows.document_row(known)})
            self._run(connection, rows.DROP_OLDER, {**named, "upto": document.version - 1 - OLDER_VERSIONS})
        self._run(connection, rows.DROP, named)
        self._run(connection, rows.WRITE, {"scope": scope, **rows.document_row(document)})

    def _drop_former(self, connection: Any, scope: str) -> None:
        values = {"scope": scope, "most": MOST_DOCUMENTS, "limit": _ALL}
        for (name,) in self._run(connection, rows.FORMER, values).fetchall():
            named = {"scope": scope, "name": name}
            self._run(connection, rows.DROP_OLDER, {**named, "upto": _ALL})
            self._run(connection, rows.DROP, named)


def _links_of(event: DeskEvent) -> Iterable[bytes]:
    """Returns the links of the messages that an event repeats."""
    match event.payload:
        case Hidden(link=link, answer=answer):
            return (link, answer)
        case Board(link=link):
            return (link,)
        case Mark(links=links, text=text) if text:
            return links
    return ()
