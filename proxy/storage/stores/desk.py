"""Desks in a database. The statements are those of its kind."""

import secrets
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeVar

from proxy.storage.database import Database, Store
from proxy.storage.desk import MOST_BYTES, MOST_DOCUMENTS, OLDER_VERSIONS
from proxy.storage.pending import DELETIONS, DESKS
from proxy.storage.scoped_writes import ScopedWrites
from proxy.storage.stores import desk_rows as rows
from proxy.storage.stores.desk_changes import FULL, DeskChanges
from proxy.storage.stores.desk_forgetting import DeskForgetting
from proxy.storage.stores.desk_rows import DeskDialect
from proxy.storage.transactions import carried_out
from proxy.types.desk import DeskCard, DeskEvent, DeskNews, Document, EditedBy, TapeLine

T = TypeVar("T")

_ALL = 2**62  # above every number of a row


class DatabaseDesks(Store):
    """The `DeskStore` of a database."""

    def __init__(self, database: Database, dialect: DeskDialect) -> None:
        super().__init__(database)
        self._dialect = dialect
        self._changes = DeskChanges(dialect)
        self._forgetting = DeskForgetting(dialect)
        self._writes = ScopedWrites(database.writer, DESKS)
        self._told: list[Callable[[str], object]] = []

    async def since(self, scope: str, session: str, event: int, line: int) -> DeskNews:
        def read(connection: Any, desk: int) -> DeskNews:
            events = self._run(connection, rows.EVENTS, {"desk": desk, "event": event})
            lines = self._run(connection, rows.LINES, {"desk": desk, "line": line})
            return DeskNews(tuple(rows.events_of(events)), tuple(map(rows.line_of, lines)))

        return await self._of_desk(scope, session, read, DeskNews())

    async def write(
        self, scope: str, session: str, lines: Sequence[TapeLine], events: Sequence[DeskEvent] = ()
    ) -> DeskNews:
        if not self.keeps or not (lines or events):
            return DeskNews()
        batch = secrets.randbits(62) + 1
        runs: list[None] = []

        def step(connection: Any) -> DeskNews:
            runs.append(None)
            return self._changes.write(connection, scope, session, lines, events, batch, is_again=len(runs) > 1)

        return await self._carried_out(scope, step)

    async def tape(
        self, scope: str, session: str, *, after: int = 0, limit: int = 500, links: Sequence[bytes] | None = None
    ) -> list[TapeLine]:
        def read(connection: Any, desk: int) -> list[TapeLine]:
            if links is None:
                values = {"desk": desk, "after": after, "limit": max(0, limit)}
                return list(map(rows.line_of, self._run(connection, rows.TAPE, values)))
            wanted = list(dict.fromkeys(links))
            found = map(rows.line_of, self._dialect.lines_with(connection, desk, wanted, True))
            return sorted((line for line in found if line.id > after), key=lambda line: line.id)[: max(0, limit)]

        return await self._of_desk(scope, session, read, [])

    async def events(
        self, scope: str, session: str, *, before: int | None = None, limit: int = 100, request: str | None = None
    ) -> list[DeskEvent]:
        def read(connection: Any, desk: int) -> list[DeskEvent]:
            values = {"desk": desk, "before": _ALL if before is None else before, "limit": max(0, limit)}
            if request is None:
                return rows.events_of(self._run(connection, rows.NEWEST_EVENTS, values))
            return rows.events_of(self._run(connection, rows.REQUEST_EVENTS, {**values, "request": request}))

        return await self._of_desk(scope, session, read, [])

    async def sessions(self, scope: str, limit: int = 100) -> list[DeskCard]:
        return await self._rows(scope, rows.SESSIONS, rows.card_of, limit=max(0, limit))

    async def documents(self, scope: str) -> list[Document]:
        found = await self._rows(scope, rows.DOCUMENTS, rows.document_of)
        return sorted(found, key=lambda document: document.name)  # as every kind of database does

    async def folders(self) -> dict[str, int]:
        await self._writes.settled()
        said = self._dialect.known.said(rows.FOLDERS)
        return dict(await self._database.rows(said, {}, lambda row: (row[0], int(row[1]))))

    def on_change(self, told: Callable[[str], object]) -> None:
        self._told.append(told)

    async def document(self, scope: str, name: str) -> Document | None:
        return next(iter(await self._rows(scope, rows.ONE_DOCUMENT, rows.document_of, name=name)), None)

    async def put(
        self,
        scope: str,
        name: str,
        text: str | None,
        *,
        version: int,
        at: float,
        by: EditedBy,
        session: str = "",
        events: Sequence[DeskEvent] = (),
    ) -> Document | None:
        if text is not None and len(rows.packed_text(text)) > MOST_BYTES:
            raise ValueError(f"a document has {MOST_BYTES} bytes at most")
        if not self.keeps:
            return None
        document = Document(name, text or "", version + 1, at, by, is_removed=text is None)
        batch = secrets.randbits(62) + 1
        runs: list[None] = []

        def step(connection: Any) -> Document | Literal["full"] | None:
            runs.append(None)
            put = self._changes.put(connection, scope, document)
            if isinstance(put, Document):
                self._changes.write(connection, scope, session, (), events, batch, is_again=len(runs) > 1)
            return put

        wrote = await self._carried_out(scope, step)
        if wrote == FULL:
            raise ValueError(f"there are {MOST_DOCUMENTS} documents at most")
        for told in self._told if wrote is not None else ():
            told(scope)
        return wrote

    async def older(self, scope: str, name: str, limit: int = OLDER_VERSIONS) -> list[Document]:
        return await self._rows(scope, rows.OLDER, rows.document_of, name=name, limit=max(0, limit))

    async def unwritten(self, scope: str, after: int, limit: int = 500) -> list[tuple[int, str, TapeLine]]:
        def of(row: Sequence[Any]) -> tuple[int, str, TapeLine]:
            change, session, *line = row
            return change, session, rows.line_of(line)

        return await self._rows(scope, rows.UNWRITTEN, of, after=after, limit=max(0, limit))

    async def scrub(self, scope: str, values: Sequence[str]) -> None:
        if self.keeps and values:
            said = [("", value) for value in values]
            await self._carried_out(
                scope, lambda connection: self._forgetting.facts(connection, scope, said, ()), erases=True
            )

    async def _carried_out(self, scope: str, step: Callable[[Any], T], *, erases: bool = False) -> T:
        await self._writes.erased(scope)  # a batch has its own order among stores
        kind = DELETIONS if erases else DESKS
        return await carried_out(self._database.writer, step, kind=kind, scope=scope, erases=erases, store=self._writes)

    async def _of_desk(self, scope: str, session: str, read: Callable[[Any, int], T], otherwise: T) -> T:
        """Returns what `read` finds of a session's desk; `otherwise` if it has none."""

        def run(connection: Any) -> T:
            desk = self._run(connection, rows.DESK, {"scope": scope, "session": session}).fetchone()
            return otherwise if desk is None else read(connection, desk[0])

        await self._writes.settled(scope)
        return await self._database.read(run)

    async def _rows(self, scope: str, statement: str, of: Callable[[Sequence[Any]], T], **values: object) -> list[T]:
        await self._writes.settled(scope)
        return await self._database.rows(self._dialect.known.said(statement), {**values, "scope": scope}, of)

    def _run(self, connection: Any, statement: str, values: rows.Values) -> Any:
        return self._dialect.run(connection, statement, values)
