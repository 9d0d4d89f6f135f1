"""A store of desks in memory, as `DeskStore` says."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace

from proxy.storage.base import StorageError
from proxy.storage.desk import OLDER_VERSIONS, DeskStore
from proxy.types.desk import DeskCard, DeskEvent, DeskNews, Document, EditedBy, TapeLine


class MemoryDesks:
    """Keeps desks as long as it lives. `fails`: methods that raise StorageError."""

    keeps = True

    def __init__(self) -> None:
        self.lines: defaultdict[tuple[str, str], list[TapeLine]] = defaultdict(list)
        self.all_events: defaultdict[tuple[str, str], list[DeskEvent]] = defaultdict(list)
        self.folder: defaultdict[str, dict[str, list[Document]]] = defaultdict(dict)
        self.fails: set[str] = set()
        self.calls: list[str] = []
        self.told: list[Callable[[str], object]] = []

    def _called(self, name: str) -> None:
        self.calls.append(name)
        if name in self.fails:
            raise StorageError(name)

    async def since(self, scope: str, session: str, event: int, line: int) -> DeskNews:
        self._called("since")
        events, lines = self.all_events[scope, session], self.lines[scope, session]
        bare = tuple(replace(each, content=None) for each in lines if each.id > line)
        return DeskNews(tuple(each for each in events if each.number > event), bare)

    async def write(
        self, scope: str, session: str, lines: Sequence[TapeLine], events: Sequence[DeskEvent] = ()
    ) -> DeskNews:
        self._called("write")
        tape, log = self.lines[scope, session], self.all_events[scope, session]
        told = []
        for each in lines:
            known = next((line for line in tape if line.link == each.link), None)
            if known is None:
                known = replace(each, id=len(tape) + 1)
                tape.append(known)
                told.append(known)
            else:
                told.append(replace(known, content=None))
        numbered = [replace(each, number=len(log) + at) for at, each in enumerate(events, start=1)]
        log.extend(numbered)
        return DeskNews(tuple(numbered), tuple(told))

    async def tape(
        self, scope: str, session: str, *, after: int = 0, limit: int = 500, links: Sequence[bytes] | None = None
    ) -> list[TapeLine]:
        found = [each for each in self.lines[scope, session] if each.id > after]
        return [each for each in found if links is None or each.link in links][:limit]

    async def events(
        self, scope: str, session: str, *, before: int | None = None, limit: int = 100, request: str | None = None
    ) -> list[DeskEvent]:
        found = [each for each in self.all_events[scope, session] if before is None or each.number < before]
        return [each for each in found[::-1] if request in (None, each.request_id)][:limit]

    async def sessions(self, scope: str, limit: int = 100) -> list[DeskCard]:
        return [
            DeskCard(session, max(line.at for line in lines), len(lines), len(self.all_events[scope, session]))
            for (whose, session), lines in list(self.lines.items())
            if whose == scope and lines
        ][:limit]

    async def documents(self, scope: str) -> list[Document]:
        self._called("documents")
        newest = (versions[-1] for _, versions in sorted(self.folder[scope].items()))
        return [each for each in newest if not each.is_removed]

    async def folders(self) -> dict[str, int]:
        return {scope: sum(map(len, names.values())) for scope, names in self.folder.items() if names}

    def on_change(self, told: Callable[[str], object]) -> None:
        self.told.append(told)

    async def document(self, scope: str, name: str) -> Document | None:
        versions = self.folder[scope].get(name)
        return versions[-1] if versions else None

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
        versions = self.folder[scope].setdefault(name, [])
        if version != len(versions):
            return None
        versions.append(Document(name, text or "", version + 1, at, by, is_removed=text is None))
        await self.write(scope, session, (), events)
        for told in self.told:
            told(scope)
        return versions[-1]

    async def older(self, scope: str, name: str, limit: int = OLDER_VERSIONS) -> list[Document]:
        return self.folder[scope].get(name, [])[:-1][::-1][:limit]

    async def unwritten(self, scope: str, after: int, limit: int = 500) -> list[tuple[int, str, TapeLine]]:
        every = [(session, line) for (whose, session), lines in self.lines.items() if whose == scope for line in lines]
        return [(at, *each) for at, each in enumerate(every, start=1) if at > after][:limit]

    async def scrub(self, scope: str, values: Sequence[str]) -> None:
        for name, versions in self.folder[scope].items():
            kept = [replace(each, text="") if any(said in each.text for said in values) else each for each in versions]
            self.folder[scope][name] = kept


def is_a_store(store: MemoryDesks) -> DeskStore:
    """The store by its interface."""
    return store
