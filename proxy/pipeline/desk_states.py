"""Desks of sessions as this process knows them: read once, then brought up to date, bounded by their size. Whatever is
forgotten in storage is dropped here, too."""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace

from proxy.desk.state import DeskState, after
from proxy.lru import Lru
from proxy.storage.base import ForeignWrites, none_foreign
from proxy.storage.desk import DeskStore
from proxy.storage.erasures import base_of
from proxy.tasks import Offload
from proxy.types.desk import DeskEvent, DeskNews, Document, Hidden, TapeLine

MOST_STATES = 2_000
MOST_BYTES = 64 * 2**20  # of all
MOST_OF_ONE = 8 * 2**20  # a larger one is read anew for each request
_ROW = 100  # bytes that a line or an event counts, beside its messages, where it is decided who reads it


@dataclass(frozen=True, slots=True)
class Read:
    """A session's desk as it was read."""

    state: DeskState
    foreign: int = 0  # the scope's `ForeignWrites` then
    generation: int = 0  # what had been forgotten here by then
    news: int = 0  # bytes that this reading has brought

    @property
    def size(self) -> int:
        """Bytes in memory, about."""
        return self.state.size


class DeskStates:
    """The desks of sessions over their store. Methods that read or write raise StorageError."""

    def __init__(
        self,
        store: DeskStore,
        executor: Executor,
        foreign_writes: ForeignWrites = none_foreign,
        on_written: Callable[[str], None] = lambda _scope: None,
    ) -> None:
        """`on_written`: told of a scope whose tapes have new lines."""
        self.store = store
        self._executor = executor
        self._foreign_writes = foreign_writes
        self._on_written = on_written
        self._known: Lru[tuple[str, str], Read] = Lru(MOST_STATES, cost=lambda each: each.size, most_cost=MOST_BYTES)
        self._generation = 0

    def drop(self, scope: str) -> None:
        """Removes a scope that was erased, and those of its single conversations, from memory."""
        self._generation += 1
        for key in [key for key in self._known if base_of(key[0]) == scope]:
            self._known.drop(key)

    def forget(self) -> None:
        """Removes everything from memory: something is forgotten in storage, and the rest is read again."""
        self._generation += 1
        for key in list(self._known):
            self._known.drop(key)

    async def read(self, scope: str, session: str) -> tuple[Read, list[Document]]:
        """Returns a session's desk as of now, and the documents of its scope."""
        generation = self._generation
        foreign = await self._foreign_writes(scope, "facts")  # grows with all that is forgotten elsewhere
        known = self._known.used((scope, session))
        if known is None or known.foreign != foreign:
            known = Read(DeskState(), foreign)
        reading = self.store.since(scope, session, known.state.event, known.state.line)
        news, documents = await asyncio.gather(reading, self.store.documents(scope))
        state = await self._after(known.state, news, is_whole=True)
        read = Read(state, foreign, generation, state.texts - known.state.texts)
        self._keep(scope, session, read)
        return read, documents

    async def write(
        self, scope: str, session: str, read: Read, lines: Sequence[TapeLine], events: Sequence[DeskEvent]
    ) -> Read:
        """Appends lines and events. Returns the desk with them."""
        news = await self.store.write(scope, session, lines, events)
        if lines:
            self._on_written(scope)
        read = replace(read, state=await self._after(read.state, news, is_whole=False))
        self._keep(scope, session, read)
        return read

    async def _after(self, state: DeskState, news: DeskNews, *, is_whole: bool) -> DeskState:
        size = _ROW * (len(news.lines) + len(news.events)) + sum(map(_size, news.events))
        return await Offload(self._executor, size)(lambda: after(state, news, is_whole=is_whole))

    def _keep(self, scope: str, session: str, read: Read) -> None:
        before = self._known.get((scope, session))
        is_newer = before is None or before.foreign != read.foreign or _is_after(read.state, before.state)
        if read.generation == self._generation and is_newer and read.size <= MOST_OF_ONE:
            self._known.put((scope, session), read)


def _is_after(state: DeskState, before: DeskState) -> bool:
    return state.event >= before.event and state.line >= before.line


def _size(event: DeskEvent) -> int:
    said = event.payload
    return sum(map(len, (*said.before, said.instead, *said.after))) if isinstance(said, Hidden) else 0
