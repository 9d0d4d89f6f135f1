"""The writes of one store in the queue of its database, by scope: a reader waits for those of its scope, and for no
others."""

import functools
from collections import Counter

from proxy.storage.base import StorageError
from proxy.storage.pending import DELETIONS, Apply, Kind, Write, one_less
from proxy.storage.write_queue import WriteQueue


class ScopedWrites:
    """The writes of one store, which its readers can wait for by scope. They are applied in the order they were queued,
    those that follow each other with the same `apply` by one call."""

    def __init__(self, writer: WriteQueue, kind: Kind) -> None:
        self._writer = writer
        self._kind = kind
        self._unsettled: Counter[str] = Counter()

    def put(
        self,
        scope: str,
        apply: Apply,
        what: object,
        rows: int = 1,
        *,
        kind: Kind | None = None,
        erases: bool = False,
        in_order: bool = False,
    ) -> None:
        """Queues a change of the scope, which takes the room of `rows`. `erases`, `in_order`: see Write."""
        settled, kind = functools.partial(one_less, self._unsettled, scope), kind or self._kind
        write = Write(rows, apply, what, settled, erases=erases, in_order=in_order, kind=kind, scope=scope, store=self)
        if self._writer.put(write):
            self._unsettled[scope] += 1

    delete = functools.partialmethod(put, kind=DELETIONS, erases=True)  # the queue never refuses it

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

    def _raise_if_failing(self) -> None:
        if self._writer.failing is not None:
            raise StorageError(f"the database cannot be written: {self._writer.failing}")


def _has(counter: Counter[str], scope: str | None) -> bool:
    return bool(counter) if scope is None else scope in counter
