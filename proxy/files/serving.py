"""Memory as files in a process that serves: what a sync needs of its library, and who tells the watcher."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from proxy.config.model import MemoryFiles
from proxy.files.syncing import Synced, Syncs
from proxy.files.watching import Watcher
from proxy.memory.commands import mark
from proxy.memory.library import Library
from proxy.storage.base import ForeignWrites
from proxy.tasks import Tasks
from proxy.types import Fact


@dataclass(frozen=True, slots=True)
class LibraryMemory:
    """Memory as the library has it: what a file says the very next prompt sees."""

    library: Library

    async def facts(self, scope: str) -> list[Fact]:
        """Returns all facts of a scope, as of now."""
        return await self.library.facts.all(scope)

    async def forgotten(self, scope: str, values: Sequence[str]) -> set[str]:
        """Returns which of these values were forgotten."""
        marks = {mark(value): value for value in values}
        gone = await self.library.archive.forgotten_at(scope, tuple(marks))
        return {marks[each] for each in gone}

    async def write(self, scope: str, rows: Sequence[Fact]) -> None:
        """Writes facts; they are durable once it returns."""
        self.library.learn(scope, await self.library.shelf(scope), rows)
        await self.library.facts.flush()


def watcher(
    settings: MemoryFiles,
    library: Library,
    tasks: Tasks,
    *,
    foreign_writes: ForeignWrites,
    on_synced: Callable[[Synced], object],
    on_failure: Callable[[str, str], object],
) -> Watcher:
    """Returns the watcher of the configured folder, not started. Its file system has a thread of its own, which a
    network share may hold up."""
    executor = ThreadPoolExecutor(1, thread_name_prefix="files")
    return Watcher(
        Syncs(settings.path, LibraryMemory(library), executor),
        scopes=library.facts.scopes,
        version=lambda scope: foreign_writes(scope, "facts"),
        tasks=tasks,
        scan=settings.scan,
        is_watching=settings.watch,
        on_synced=on_synced,
        on_failure=on_failure,
    )
