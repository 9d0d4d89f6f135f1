"""Libraries over stores that can be held up, and count what they are asked."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from proxy.memory.library import Library
from proxy.storage.recollection import ArchiveChanges
from proxy.storage.sqlite.archive import SqliteArchive
from proxy.storage.sqlite.facts import SqliteFacts
from proxy.storage.sqlite.sessions import SqliteStates
from proxy.tasks import Tasks
from proxy.types import Fact, PathState
from tests import stores
from tests.context.told import fact
from tests.memory.indexed import link
from tests.stores import AtOnce

TEA = fact("likes tea", link("1.0"), name="f-tea")
CHAIN = tuple(link(f"m{number}") for number in range(200))
STATE = PathState(3, 1.0, 4, 100, 200, 200, 200, 300.0, 300.0)


class SlowFacts(SqliteFacts):
    """Reads while `gate` is set; `asked` is how often it was."""

    def __init__(self) -> None:
        super().__init__(AtOnce())
        self.asked = 0
        self.reading = asyncio.Event()
        self.gate = asyncio.Event()
        self.gate.set()

    async def all(self, scope: str) -> list[Fact]:
        found = await super().all(scope)
        self.asked += 1
        self.reading.set()
        await self.gate.wait()
        return found


class SlowArchive(SqliteArchive):
    def __init__(self) -> None:
        super().__init__(AtOnce(), stores.FOR_EVER)
        self.asked: list[int] = []
        self.gate = asyncio.Event()
        self.gate.set()

    async def changes(self, scope: str, after: int, now: float, limit: int = 2) -> ArchiveChanges:
        self.asked.append(after)
        await self.gate.wait()
        return await super().changes(scope, after, now, min(limit, 2))


@dataclass
class House:
    facts: SlowFacts = field(default_factory=SlowFacts)
    archive: SlowArchive = field(default_factory=SlowArchive)
    states: SqliteStates = field(default_factory=stores.states)
    executor: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1))
    tasks: Tasks = field(default_factory=Tasks)

    def library(self, **bounds: Any) -> Library:
        """Another process's, as it were."""
        return Library(self.facts, self.archive, self.states, stores.wipes(), self.executor, self.tasks, **bounds)


async def read(library: Library, scope: str = "a") -> Any:
    shelf = await library.shelf(scope)
    await library.indexes.read(scope, shelf, seconds=5.0)
    return shelf
