"""The reading of a scope's index: from a stored shelf, from the archive's changes since then, from what only files
have; in the background, once it takes longer than a request may wait. And the storing of a shelf that has grown."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from functools import partial
from time import monotonic, time
from typing import TypeVar

from proxy.lru import Lru
from proxy.memory import beside, shelving
from proxy.memory.shelf import Shelf
from proxy.memory.watching import Beside
from proxy.storage.base import ForeignWrites
from proxy.storage.erasures import base_of
from proxy.storage.recollection import Archive, ArchiveChanges, StoredShelf
from proxy.tasks import Attempts, FairQueue, Tasks, in_slices

T = TypeVar("T")

PATIENCE = 0.3  # seconds that a request waits for the index of a scope to be read
READING_DEADLINE = 60.0  # seconds; the next request continues the reading
MOST_BYTES = 256 * 2**20  # of all shelves; the one in use may be larger


class Indexes:
    """The indexes of all shelves. `shelves`: those that are in memory, of which the largest leave."""

    def __init__(  # noqa: PLR0913 (collaborators, by name)
        self,
        shelves: Lru[str, Shelf],
        archive: Archive,
        executor: Executor,
        tasks: Tasks,
        *,
        foreign_writes: ForeignWrites,
        on_fail_open: Callable[[str, str], None],
        beside: Beside | None,
        most_bytes: int = MOST_BYTES,
        patience: float = 1.0,
    ) -> None:
        self._shelves = shelves
        self._archive = archive
        self._executor = executor
        self._tasks = tasks
        self._foreign_writes = foreign_writes
        self._on_fail_open = on_fail_open
        self._beside = beside  # brings turns that only files have
        self._most_bytes = most_bytes
        self._patience = patience  # factor of the deadlines
        self._slices = FairQueue()

    async def read(self, scope: str, shelf: Shelf, *, seconds: float = PATIENCE) -> None:
        """Updates the shelf's index from the archive, waiting `seconds`; the rest is read in the
        background."""
        if shelf.is_complete:
            return
        is_read = shelf.read_as_of == await self._foreign_writes(scope, "turns")
        if is_read and not self._is_beside_due(scope, shelf):
            return
        knows_files = is_read and shelf.beside_at > float("-inf")  # they are looked at again in the background
        if shelf.reading is None or shelf.reading.done():
            reading = self._look_beside(scope, shelf) if is_read else self._read(scope, shelf)
            attempts = Attempts(self._on_fail_open, self._patience)
            attempt = attempts.run("archive", reading, fallback=None, deadline=READING_DEADLINE)
            shelf.reading = self._tasks.spawn(attempt, name="read archive")
        await asyncio.wait({shelf.reading}, timeout=0 if knows_files else seconds * self._patience)

    async def _read(self, scope: str, shelf: Shelf) -> None:
        foreign = await self._foreign_writes(scope, "turns")
        stored = None if shelf.upto else await self._archive.shelf(scope, time())
        changes = await (self._unpacked(scope, shelf, stored) if stored else self._changes(scope, shelf))
        while True:
            shelf.forgotten = (shelf.forgotten | frozenset(changes.gone)) - frozenset(changes.back)
            if changes.entries or changes.gone:
                await self.in_thread(partial(shelf.take, changes))
            shelf.upto = changes.upto
            if not changes.more:
                break
            changes = await self._changes(scope, shelf)
        shelf.read_as_of = foreign
        self._shrink()
        self.keep(scope, shelf)
        if self._is_beside_due(scope, shelf):
            await self._look_beside(scope, shelf)

    def _is_beside_due(self, scope: str, shelf: Shelf) -> bool:
        return self._beside is not None and base_of(scope) == scope and beside.is_due(shelf)

    async def _look_beside(self, scope: str, shelf: Shelf) -> None:
        """Takes what only files have of a scope."""
        if self._beside is not None:
            shelf.beside_at = monotonic()
            version = shelf.beside_version
            found = await self._beside(scope, version, partial(beside.knows, shelf), shelf.is_forgotten)
            if found is not None:
                await self.in_thread(partial(beside.place, shelf, found.turns))
                if shelf.beside_version == version and shelf.beside_at > float("-inf"):
                    shelf.beside_version = found.version

    async def _changes(self, scope: str, shelf: Shelf) -> ArchiveChanges:
        return await self._archive.changes(scope, shelf.upto, time())

    async def _unpacked(self, scope: str, shelf: Shelf, stored: StoredShelf) -> ArchiveChanges:
        """Fills a shelf with what was stored; returns the changes since then, which are read meanwhile."""
        since = self._tasks.spawn(self._archive.changes(scope, stored.upto, time()), name="read archive")
        try:
            gone = await self.in_thread(partial(shelving.unpack, shelf, stored))
            shelf.forgotten |= gone or frozenset()
            changes: ArchiveChanges = await since
            return changes if shelf.upto == stored.upto else await self._changes(scope, shelf)
        finally:
            since.cancel()

    def keep(self, scope: str, shelf: Shelf) -> None:
        """Begins to store the shelf of a large scope that has grown, for processes that have not served it yet."""
        is_whole = shelf.read_as_of is not None and self._shelves.get(scope) is shelf
        if is_whole and shelf.wiped_at == float("-inf") and shelving.is_due(shelf):
            shelf.unstored = 0.0
            self._tasks.spawn(self._store(scope, shelf), name="store shelf")

    async def _store(self, scope: str, shelf: Shelf) -> None:
        shelf.read_as_of = None  # what this process has written is read, too, or the others would have to
        await self.read(scope, shelf, seconds=READING_DEADLINE)
        steps = shelving.packing(shelf, shelf.upto, time() - self._archive.ttl * (1 - shelving.EARLY))
        packed = await in_slices(self._executor, steps, self._slices, scope)
        shelf.look_beside()  # it was packed without what files have
        if packed is not None and self._shelves.get(scope) is shelf:  # else it was wiped meanwhile
            self._archive.keep_shelf(scope, packed)

    async def in_thread(self, work: Callable[[], T]) -> T:
        """Returns the result of work on a shelf, done in a worker thread."""
        return await asyncio.get_running_loop().run_in_executor(self._executor, work)

    def _shrink(self) -> None:
        held = sum(shelf.size for shelf in self._shelves.values())
        while held > self._most_bytes and len(self._shelves) > 1:
            _, shelf = self._shelves.popitem(last=False)
            held -= shelf.size
