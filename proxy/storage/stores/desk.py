"""Desks in a database: tapes, events and documents of memory that the model manages itself. The statements are the same
in every kind of database, but for how values stand in them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from proxy.storage.database import LONG_SECONDS, Database, Store
from proxy.storage.desk import MOST_BYTES, MOST_DOCUMENTS, OLDER_VERSIONS
from proxy.storage.pending import DELETIONS, DESKS
from proxy.storage.scoped_writes import ScopedWrites
from proxy.storage.stores import desk_rows as rows
from proxy.storage.stores.desk_forgetting import DeskForgetting
from proxy.storage.transactions import carried_out
from proxy.types.desk import DeskCard, DeskEvent, DeskNews, Document, EditedBy, TapeLine

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class DeskStatements:
    """The differences between kinds of databases."""

    said: Callable[[str], str]  # a statement of `desk_rows.py`, as it is said there

    def run(self, connection: Any, statement: str, values: Mapping[str, Any]) -> Any:
        """Runs a statement; returns its cursor."""
        return connection.execute(self.said(statement), values)


class DatabaseDesks(Store):
    """The `DeskStore` of a database."""

    def __init__(self, database: Database, statements: DeskStatements) -> None:
        super().__init__(database)
        self._statements = statements
        self._run = statements.run
        self._forgetting = DeskForgetting(statements.run)
        self._writes = ScopedWrites(database.writer, DESKS)

    async def since(self, scope: str, session: str, event: int, line: int) -> DeskNews:
        await self._writes.settled(scope)
        of = {"scope": scope, "session": session}
        events = await self._rows(rows.EVENTS_AFTER, {**of, "number": event}, rows.event_of)
        lines = await self._rows(rows.LINES_AFTER, {**of, "id": line}, rows.line_of)
        return DeskNews(tuple(each for each in events if each is not None), tuple(lines))

    async def write(
        self, scope: str, session: str, lines: Sequence[TapeLine], events: Sequence[DeskEvent] = ()
    ) -> DeskNews:
        if not self.keeps or not (lines or events):
            return DeskNews()
        stored = [(each, rows.stored(each)) for each in events]
        of = (scope, session, lines, stored)
        return await self._carried_out(scope, lambda connection: self._written(connection, *of))

    async def tape(
        self, scope: str, session: str, *, after: int = 0, limit: int = 500, links: Sequence[bytes] | None = None
    ) -> list[TapeLine]:
        await self._writes.settled(scope)
        of = {"scope": scope, "session": session}
        if links is None:
            return await self._rows(rows.TAPE, {**of, "id": after, "limit": limit}, rows.whole_line_of)
        found: list[TapeLine] = []
        for link in dict.fromkeys(links):
            found += await self._rows(rows.LINE, {**of, "link": link}, rows.whole_line_of)
        found = [each for each in found if each.id > after]
        return sorted(found, key=lambda each: each.id)[:limit]

    async def events(self, scope: str, session: str, *, before: int | None = None, limit: int = 100) -> list[DeskEvent]:
        await self._writes.settled(scope)
        values = {"scope": scope, "session": session, "number": rows.ALL if before is None else before, "limit": limit}
        return [each for each in await self._rows(rows.EVENTS_BEFORE, values, rows.event_of) if each is not None]

    async def sessions(self, scope: str, limit: int = 100) -> list[DeskCard]:
        await self._writes.settled(scope)
        return await self._rows(rows.SESSIONS, {"scope": scope, "limit": limit}, lambda row: DeskCard(*row))

    async def documents(self, scope: str) -> list[Document]:
        await self._writes.settled(scope)
        return await self._rows(rows.DOCUMENTS, {"scope": scope}, rows.document_of)

    async def document(self, scope: str, name: str) -> Document | None:
        await self._writes.settled(scope)
        return next(iter(await self._rows(rows.DOCUMENT, {"scope": scope, "name": name}, rows.document_of)), None)

    async def put(
        self, scope: str, name: str, text: str | None, *, version: int, at: float, by: EditedBy
    ) -> Document | None:
        if text is not None and len(text.encode()) > MOST_BYTES:
            raise ValueError("the document is too large")
        if not self.keeps:
            return None
        written = Document(name, text or "", version + 1, at, by, is_removed=text is None)
        outcome = await self._carried_out(scope, lambda connection: self._put(connection, scope, written))
        if outcome == "too-many":
            raise ValueError("there are too many documents")
        return written if outcome == "written" else None

    async def older(self, scope: str, name: str, limit: int = OLDER_VERSIONS) -> list[Document]:
        await self._writes.settled(scope)
        return await self._rows(rows.OLDER, {"scope": scope, "name": name, "limit": limit}, rows.document_of)

    async def unwritten(self, scope: str, after: int, limit: int = 500) -> list[tuple[int, str, TapeLine]]:
        await self._writes.settled(scope)
        values = {"scope": scope, "change": after, "limit": limit}
        return await self._rows(rows.UNWRITTEN, values, lambda row: (row[0], row[1], rows.whole_line_of(row[2:])))

    async def scrub(self, scope: str, values: Sequence[str]) -> None:
        if self.keeps and values:
            await self._carried_out(
                scope, lambda connection: self._forgetting.values(connection, scope, values), deletes=True
            )

    # --- inside a transaction; a step may be run twice ----------------------------------------------------------------

    def _written(
        self,
        connection: Any,
        scope: str,
        session: str,
        lines: Sequence[TapeLine],
        events: Sequence[tuple[DeskEvent, Mapping[str, Any]]],
    ) -> DeskNews:
        of = {"scope": scope, "session": session}
        self._run(connection, rows.ADD_SCOPE, {"scope": scope})
        appended = []
        for each in lines:
            known = self._run(connection, rows.LINE, {**of, "link": each.link}).fetchone()
            if known is not None:
                appended.append(replace(rows.whole_line_of(known), content=None))
                continue
            (last,) = self._run(connection, rows.LAST_LINE, of).fetchone()
            (change,) = self._run(connection, rows.LAST_CHANGE, {"scope": scope}).fetchone()
            line = replace(each, id=last + 1)
            self._run(connection, rows.ADD_LINE, {**of, **rows.columns_of(line), "change": change + 1})
            appended.append(replace(line, content=None))
        numbered = []
        (number,) = self._run(connection, rows.LAST_EVENT, of).fetchone() if events else (0,)
        for event, stored in events:
            number += 1
            self._run(connection, rows.ADD_EVENT, {**of, **stored, "number": number})
            numbered.append(replace(event, number=number))
        return DeskNews(tuple(numbered), tuple(appended))

    def _put(self, connection: Any, scope: str, written: Document) -> str:
        self._run(connection, rows.ADD_SCOPE, {"scope": scope})
        of = {"scope": scope, "name": written.name}
        found = self._run(connection, rows.DOCUMENT, of).fetchone()
        before = rows.document_of(found) if found is not None else None
        values = {"scope": scope, **rows.document_columns(written)}
        if before == written:
            return "written"  # by this step, the first time
        if (before.version if before is not None else 0) != written.version - 1:
            return "changed"
        if before is None or before.is_removed:
            (count,) = self._run(connection, rows.COUNT_DOCUMENTS, {"scope": scope}).fetchone()
            if count >= MOST_DOCUMENTS and not written.is_removed:
                return "too-many"
        if before is not None:
            self._run(connection, rows.ADD_OLDER, {"scope": scope, **rows.document_columns(before)})
            self._run(connection, rows.TRIM_OLDER, {**of, "version": before.version - OLDER_VERSIONS})
        self._run(connection, rows.PUT_DOCUMENT, values)
        return "written"

    # --- queries ------------------------------------------------------------------------------------------------------

    async def _carried_out(self, scope: str, step: Callable[[Any], T], *, deletes: bool = False) -> T:
        await self._writes.erased(scope)
        kind = DELETIONS if deletes else DESKS
        return await carried_out(
            self._database.writer, step, kind=kind, scope=scope, erases=deletes, store=self._writes
        )

    async def _rows(self, statement: str, values: Mapping[str, Any], of: Callable[[Sequence[Any]], T]) -> list[T]:
        return await self._database.rows(self._statements.said(statement), values, of, LONG_SECONDS)
