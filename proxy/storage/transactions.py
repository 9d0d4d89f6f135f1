"""A transaction that somebody waits for: it goes through the queue of all writes, and gives back what came of it."""

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from proxy.storage.base import ScopeErased, StorageError
from proxy.storage.pending import DELETIONS, Kind, Write
from proxy.storage.write_queue import WriteQueue

T = TypeVar("T")


async def carried_out(
    writer: WriteQueue,
    step: Callable[[Any], T],
    *,
    kind: Kind = DELETIONS,
    scope: str = "",
    erases: bool = False,
    store: object = None,
) -> T:
    """Runs `step` with the connection, in a transaction after what is queued (of `store`, if not of all), and returns
    its result once that is durable. Raises ScopeErased, and StorageError if it is not durable: then it is not done
    later either, but for one that was just on its way to a database far away, of which nobody knows. A step may be run
    twice."""
    if writer.failing is not None:
        raise StorageError(f"the database cannot be written: {writer.failing}")
    results: list[T] = []
    settled: list[None] = []
    left: list[None] = []  # not empty: nobody waits any more

    def apply(connection: Any, _: Sequence[None]) -> None:
        results.clear()  # of a transaction that was rolled back
        if not left:
            results.append(step(connection))

    told = functools.partial(settled.append, None)
    try:
        write = Write(1, apply, settled=told, erases=erases, kind=kind, scope=scope, store=store, waited=True)
        if writer.put(write):
            await writer.flush()
            if settled and results:
                return results[0]
            if settled and writer.erasures.is_over(scope):
                raise ScopeErased("the scope was erased")
    finally:
        left.append(None)
    raise StorageError(writer.failing or "a step was dropped")
