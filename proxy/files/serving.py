"""Memory as files in a process that serves: what happens to the memory of people goes into their folders, and what
people do there goes to memory.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from proxy.config.model import MemoryFiles
from proxy.conversation.whole_commands import before_end
from proxy.files.last_turns import last_turns
from proxy.files.remembering import Remembering
from proxy.files.syncing import Syncs
from proxy.files.watching import Watcher
from proxy.memory.commands import mark
from proxy.memory.library import Library
from proxy.storage.opening import Storage
from proxy.storage.recollection import Archive
from proxy.tasks import Tasks
from proxy.types import ArchivedTurn, Fact


@dataclass(slots=True)
class LibraryMemory:
    """Memory as the library has it: what a file says the very next prompt sees."""

    library: Library = field(init=False)

    async def facts(self, scope: str) -> list[Fact]:
        """Returns all facts of a scope, as of now."""
        return await self.library.facts.all(scope)

    async def forgotten(self, scope: str, values: Sequence[str]) -> set[str]:
        """Returns which of these values were forgotten."""
        return await forgotten(self.library.archive, scope, values)

    async def write(self, scope: str, rows: Sequence[Fact]) -> None:
        """Writes facts; they are durable once it returns. History that was forgotten meanwhile does not come back."""
        shelf = await self.library.shelf(scope)
        left = [row for row in rows if row.superseded_by is None or mark(row.value) not in shelf.forgotten]
        self.library.learn(scope, shelf, left)
        await self.library.facts.flush()


async def forgotten(archive: Archive, scope: str, values: Sequence[str]) -> set[str]:
    """Returns which of these values were forgotten."""
    marks = {mark(value): value for value in values}
    return {marks[each] for each in await archive.forgotten_at(scope, tuple(marks))}


class Files:
    """The folders of all people: a `MemoryWatch`. For the event loop."""

    def __init__(
        self,
        settings: MemoryFiles,
        storage: Storage,
        tasks: Tasks,
        on_failure: Callable[[str, str], None],
    ) -> None:
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="sync")  # a network share may hold it up
        self._memory = LibraryMemory()
        self._keeper = Remembering(settings.path, self._said, tasks, on_failure)
        self.beside = self._keeper.beside
        self.watcher = Watcher(
            Syncs(settings.path, self._memory, self._executor),
            scopes=storage.facts.scopes,
            version=lambda scope: storage.database.foreign_writes(scope, "facts"),
            tasks=tasks,
            scan=settings.scan,
            is_watching=settings.watch,
            on_scanned=self._keeper.tidy,
            on_failure=on_failure,
        )

    def serve(self, library: Library) -> None:
        """Makes this the library whose memory the files are."""
        self._memory.library = library

    def start(self) -> None:
        """Begins to watch. Raises OSError if the root folder cannot be made."""
        self.watcher.start()

    def stop(self) -> None:
        """Ends watching, after the sync that is under way."""
        self.watcher.stop()

    def close(self) -> None:
        """Ends the threads, without waiting for a disk that hangs."""
        self._keeper.close()
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

    def wiped(self, scope: str, at: float, until: float) -> None:
        """All that was there is put aside until then."""
        self._keeper.wiped(scope, at, until)

    def restored(self, scope: str, until: float) -> None:
        """That wipe was undone."""
        self._keeper.restored(scope, until)
        self.watcher.changed(scope)

    def drop(self, scope: str) -> None:
        """Removes the folder of a person who was erased."""
        self.watcher.drop(scope)
        self._keeper.erased(scope)

    async def ended(self, scope: str, session: str, why: str) -> None:
        """Writes the snapshot of a conversation that has ended."""
        await self._keeper.ended(scope, session, why)

    async def _said(self, scope: str, session: str) -> Sequence[ArchivedTurn]:
        return before_end(await last_turns(self._memory.library, self._executor, scope, session))
