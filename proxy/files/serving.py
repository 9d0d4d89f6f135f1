"""Memory as files in a process that serves: what happens to the memory of people goes into their folders, and what
people do there goes to memory.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from time import time

from proxy.config.memory import MemoryFiles
from proxy.conversation.whole_commands import before_end
from proxy.files.desk_syncing import DeskSyncing
from proxy.files.last_turns import last_turns
from proxy.files.remembering import Remembering
from proxy.files.syncing import Syncs
from proxy.files.taping import Taping
from proxy.files.watching import Watcher
from proxy.memory.commands import mark
from proxy.memory.library import Library
from proxy.memory.shelf import Shelf
from proxy.storage.base import StorageError
from proxy.storage.opening import Storage
from proxy.storage.recollection import Archive
from proxy.tasks import Tasks
from proxy.types import ArchivedTurn, Fact
from proxy.types.curation import Digest, MemoryEvent

SKEW = 2.0  # seconds by which clocks of machines differ


@dataclass(slots=True)
class LibraryMemory:
    """Memory as the library has it: what a file says the very next prompt sees."""

    library: Library = field(init=False)

    async def facts(self, scope: str) -> list[Fact]:
        """Returns all facts of a scope, as of now."""
        return await self.library.facts.all(scope)

    async def forgotten(self, scope: str, values: Sequence[str]) -> set[str]:
        """Returns which of these values were forgotten."""
        shelf = await self.library.shelf(scope)
        here = {value for value in values if mark(value) in shelf.forgotten}  # also where no turns are kept
        return here | await forgotten(self.library.archive, scope, values)

    async def write(self, scope: str, rows: Sequence[Fact], known: Collection[str]) -> None:
        """Writes facts; they are durable once it returns. What was forgotten meanwhile does not come back. Raises
        StorageError, also where storage has refused them."""
        shelf, store, began = await self.library.shelf(scope), self.library.facts, time() - SKEW
        there = {fact.id for fact in await store.all(scope)}
        left = [row for row in rows if row.id in there or row.id not in known]
        self.library.learn(scope, shelf, left)
        await store.flush()
        written = {fact.id: fact for fact in await store.all(scope)}
        if any(row.id not in written for row in left):
            raise StorageError("what a file says could not be stored")
        old = {row.id: mark(row.value) for row in left if row.id in known}
        gone = await self.library.archive.forgotten_at(scope, tuple(old.values()))
        if ids := [name for name, each in old.items() if gone.get(each, 0.0) >= began]:  # by another process, just then
            self._erase(scope, shelf, ids)
            await store.flush()

    def _erase(self, scope: str, shelf: Shelf, ids: Sequence[str]) -> None:
        for name in ids:
            shelf.facts.pop(name, None)
        shelf.changes += 1
        self.library.facts.forget(scope, ids)


async def forgotten(archive: Archive, scope: str, values: Sequence[str]) -> set[str]:
    """Returns which of these values were forgotten."""
    marks = {mark(value): value for value in values}
    return {marks[each] for each in await archive.forgotten_at(scope, tuple(marks))}


class Files:
    """The folders of all people: a `MemoryWatch` and a `CurationWatch`. For the event loop."""

    def __init__(
        self,
        settings: MemoryFiles,
        storage: Storage,
        tasks: Tasks,
        on_failure: Callable[[str, str], None],
        desk: DeskSyncing | None = None,
        *,
        tape_mb: int,
    ) -> None:
        """`desk`: syncs the documents of people's desks; None: they are no files. `tape_mb`: MiB from which on a tape
        begins a new file."""
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="sync")  # a network share may hold it up
        self._memory = LibraryMemory()
        self._keeper = Remembering(settings.path, self._said, tasks, on_failure)
        self.beside = self._keeper.beside
        self.tapes = Taping(
            settings.path,
            storage.desks,
            self._executor,
            tasks,
            most=tape_mb * 1024 * 1024,
            scan=settings.scan,
            on_failure=on_failure,
        )
        self._storage = storage
        self._desk = desk
        self._documents: dict[str, int] = {}  # versions by scope, as of the last scan
        self.watcher = Watcher(
            Syncs(settings.path, self._memory, self._executor, desk),
            scopes=self._scopes,
            version=self._version,
            tasks=tasks,
            scan=settings.scan,
            is_watching=settings.watch,
            on_scanned=self._keeper.tidy,
            on_failure=on_failure,
        )

        if desk is not None:
            desk.store.on_change(self.watcher.changed)

    async def _scopes(self) -> list[str]:
        known = await self._storage.facts.scopes()
        if self._desk is None:
            return known
        self._documents = await self._desk.store.folders()
        return sorted({*known, *self._documents})

    async def _version(self, scope: str) -> tuple[int, int]:
        return await self._storage.database.foreign_writes(scope, "facts"), self._documents.get(scope, 0)

    def serve(self, library: Library) -> None:
        """Makes this the library whose memory the files are."""
        self._memory.library = library

    def start(self) -> None:
        """Begins to watch. Raises OSError if the root folder cannot be made."""
        self.watcher.start()
        self.tapes.start()

    def stop(self) -> None:
        """Ends watching, after the sync that is under way."""
        self.watcher.stop()
        self.tapes.stop()

    def close(self) -> None:
        """Ends the threads, without waiting for a disk that hangs."""
        self._keeper.work.close()
        self._executor.shutdown(wait=False, cancel_futures=True)

    # --- what happens to memory ---

    def learnt(self, scope: str, facts: Sequence[Fact], before: Mapping[str, Fact], at: float) -> None:
        """Facts are new, or have changed."""
        self._keeper.learnt(scope, facts, before, at)
        self.watcher.changed(scope)

    def forgotten(self, scope: str, ids: Collection[str], links: Collection[bytes], values: Collection[str]) -> None:
        """Facts, messages and what these said are gone."""
        self._keeper.forgotten(scope, ids, links, values)
        self.watcher.changed(scope)
        self.tapes.changed(scope)

    def wiped(self, scope: str, at: float, until: float) -> None:
        """All that was there is put aside until then."""
        self._keeper.wiped(scope, at, until)
        self.tapes.changed(scope)

    def restored(self, scope: str, until: float) -> None:
        """That wipe was undone."""
        self._keeper.restored(scope, until)
        self.watcher.changed(scope)
        self.tapes.changed(scope)

    def drop(self, scope: str) -> None:
        """Leaves the work on the folder of a person who was erased. `olvido erase` removes it: by the time that this
        process hears of it, they may have come back."""
        self.watcher.drop(scope)
        self.tapes.drop(scope)
        self._keeper.erased(scope)

    def taped(self, scope: str) -> None:
        """The tapes of a scope have new lines."""
        self.tapes.changed(scope)

    def happened(self, scope: str, events: Sequence[MemoryEvent]) -> None:
        """A model has found events in a conversation."""
        self._keeper.happened(scope, events)

    def digested(self, scope: str, digest: Digest) -> None:
        """A digest was made; it takes the place of an earlier one of its span and beginning."""
        self._keeper.digested(scope, digest)

    def named(self, scope: str, session: str, slug: str) -> None:
        """A model has found a name for a conversation."""
        self._keeper.named(scope, session, slug)

    async def ended(self, scope: str, session: str, why: str) -> None:
        """Writes the snapshot of a conversation that has ended."""
        await self._keeper.ended(scope, session, why)

    async def _said(self, scope: str, session: str) -> Sequence[ArchivedTurn]:
        return before_end(await last_turns(self._memory.library, self._executor, scope, session))
