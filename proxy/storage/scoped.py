"""Writes by scope: a reader waits for what is queued of its own scope, and for nothing else."""

import functools
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from proxy.storage.base import StorageError
from proxy.storage.shares import DELETIONS, Kind
from proxy.storage.write_queue import Write, WriteQueue

Apply: TypeAlias = Callable[[Any, Sequence[Any]], None]  # connection, and the `what` of writes


class ScopedWrites:
    """The writes of one store, which its readers can wait for by scope."""

    def __init__(self, writer: WriteQueue, kind: Kind, apply: Apply) -> None:
        self._writer = writer
        self._kind = kind
        self._apply = apply
        self._unsettled: Counter[str] = Counter()

    def put(self, scope: str, what: object, rows: int = 1) -> None:
        """Queues a change of the scope, which takes the room of `rows`."""
        self._put(self._kind, scope, what, rows)

    def delete(self, scope: str, what: object, rows: int = 1, *, erases: bool = True, in_order: bool = False) -> None:
        """Queues a deletion, which the queue never refuses. `erases`, `in_order`: see Write."""
        self._put(DELETIONS, scope, what, rows, erases=erases, in_order=in_order)

    async def settled(self, scope: str | None = None, *, strictly: bool = False) -> None:
        """Returns when the store's writes of this scope, and any store's erasures of it, are durable; None: of all
        scopes. Where nothing is queued it returns at once: readers don't cut the writer's batches short. Raises
        StorageError while erasures cannot be written; `strictly`: while any of these cannot."""
        if _has(self._unsettled, scope):
            await self._writer.flush()
            if strictly and _has(self._unsettled, scope):
                self._raise_if_failing()
        await self.erased(scope)

    async def erased(self, scope: str | None = None) -> None:
        """Returns when any store's queued erasures of this scope are durable. Raises StorageError while they cannot be
        written."""
        if _has(self._writer.erasing, scope):
            await self._writer.flush()
            if _has(self._writer.erasing, scope):
                self._raise_if_failing()

    async def flush(self) -> None:
        """Returns when everything queued so far is durable, or dropped."""
        await self._writer.flush()

    def _put(
        self, kind: Kind, scope: str, what: object, rows: int, *, erases: bool = False, in_order: bool = False
    ) -> None:
        settled = functools.partial(self._settle, scope)
        write = Write(rows, self._apply, what, settled, erases=erases, in_order=in_order, kind=kind, scope=scope)
        if self._writer.put(write):
            self._unsettled[scope] += 1

    def _raise_if_failing(self) -> None:
        if self._writer.failing is not None:
            raise StorageError(f"the database cannot be written: {self._writer.failing}")

    def _settle(self, scope: str) -> None:
        self._unsettled[scope] -= 1
        if not self._unsettled[scope]:
            del self._unsettled[scope]


def _has(counter: Counter[str], scope: str | None) -> bool:
    return bool(counter) if scope is None else scope in counter
