"""A database as its stores use it, whichever kind it is; and what the stores have in common."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol, TypeVar

from proxy.storage.base import Part
from proxy.storage.erasures import Erasures
from proxy.storage.write_queue import WriteQueue

T = TypeVar("T")
Values = Mapping[str, Any] | Sequence[Any]  # of a statement, by name or in order
Observed = Callable[[str, float], object]  # gets "read", "write" or "wait", and its seconds; called in any thread

READ_SECONDS = 0.25  # that a request waits for a read, where a database may be far away or busy
LONG_SECONDS = 10.0  # the same for what no request waits for


DatabaseState = Literal["ready", "unreachable"]


@dataclass(frozen=True, slots=True)
class Shared:
    """The present state of a database that machines share, for metrics."""

    state: DatabaseState
    used: int  # connections at work
    idle: int  # open connections without work
    spooled: int  # rows that wait on this machine's disk
    spooled_since: float | None  # Unix seconds: the oldest of them; None: none waits


class Database(Protocol):
    """The database that the stores of a process share: one writer, and readers. What a query gets is a connection of
    its kind. Its opener closes it."""

    keeps: bool  # False: what is put is not stored

    @property
    def writer(self) -> WriteQueue:
        """The queue of all writes."""

    @property
    def folder(self) -> Path | None:
        """The folder of its files, which other processes may share; None: there are none."""

    @property
    def trouble(self) -> str | None:
        """The reason why it cannot do its work now; None if it can."""

    @property
    def losing(self) -> str | None:
        """The reason why rows may be lost now; None if they are written, or wait in a spool."""

    @property
    def is_away(self) -> bool:
        """True while it cannot be reached."""

    @property
    def shared(self) -> Shared | None:
        """Its present state, if machines share it."""

    @property
    def erasures(self) -> Erasures:
        """The erasures of end users that this process knows. A look for foreign writes finds new ones."""

    async def read(self, query: Callable[[Any], T], seconds: float = READ_SECONDS) -> T:
        """Runs `query` with a connection that only reads, in a thread, and returns its result, or gives it up after so
        many seconds if it is remote. Raises StorageError."""

    async def rows(
        self, statement: str, values: Values, of: Callable[[Sequence[Any]], T], seconds: float = READ_SECONDS
    ) -> list[T]:
        """Returns what `of` makes, in the reader's thread, of each row of a statement. Raises StorageError."""

    async def row(
        self, statement: str, values: Values, of: Callable[[Sequence[Any]], T], seconds: float = READ_SECONDS
    ) -> T | None:
        """Returns what `of` makes of the first row; None if there is none. Raises StorageError."""

    async def foreign_writes(self, scope: str, part: Part) -> int:
        """Returns how often another process was seen to have written: see `ForeignWrites`."""

    async def has_scope(self, scope: str) -> bool:
        """Returns True if a row of the scope has been written. Raises StorageError."""

    async def close(self) -> None:
        """Writes what is queued, then closes it. A second call does nothing."""


class Watchful(ABC):
    """The part that databases of every kind share: looks for what other processes have written."""

    writer: WriteQueue

    @property
    def erasures(self) -> Erasures:
        """The erasures of end users that this process knows."""
        return self.writer.erasures

    async def foreign_writes(self, scope: str, part: Part) -> int:
        """Returns how often another process was seen to have written this part of a scope: see `ForeignWrites`."""
        number = await self._foreign(scope, part)
        erasures = self.erasures
        if erasures.seen and erasures.settle(scope):
            await self.writer.flush()  # what is queued of it is refused
        if part == "paths":  # which a request asks for first
            erasures.begin()
        return number

    @abstractmethod
    async def _foreign(self, scope: str, part: Part) -> int:
        """Returns the same, as this kind of database tells it."""


class Store:
    """A store in a database: it queues its writes."""

    def __init__(self, database: Database) -> None:
        self.keeps = database.keeps
        self._database = database

    async def flush(self) -> None:
        """Returns when what is queued is durable, or dropped."""
        await self._database.writer.flush()
