"""Writes by scope: a reader waits for what is queued of its own scope, and for nothing else."""

import functools
import sqlite3
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from proxy.storage.writer import Write, Writer

Apply: TypeAlias = Callable[[sqlite3.Connection, Sequence[Any]], None]

SCOPE_ID = "(SELECT id FROM scopes WHERE name = :scope)"


class ScopedWrites:
    def __init__(self, writer: Writer, apply: Apply) -> None:
        self._writer = writer
        self._apply = apply
        self._unsettled: Counter[str] = Counter()

    def put(self, scope: str, what: object, rows: int = 1, *, erases: bool = False, in_order: bool = False) -> None:
        settled = functools.partial(self._settle, scope)
        write = Write(rows=rows, apply=self._apply, what=what, settled=settled, erases=erases, in_order=in_order)
        if self._writer.put(write):
            self._unsettled[scope] += 1

    async def settled(self, scope: str | None = None) -> None:
        """Returns when what is queued of this scope is durable; None: of all scopes. Where nothing is queued it costs
        nothing, so that readers don't cut the writer's batches short."""
        if self._unsettled if scope is None else scope in self._unsettled:
            await self._writer.flush()

    async def flush(self) -> None:
        await self._writer.flush()

    def _settle(self, scope: str) -> None:
        self._unsettled[scope] -= 1
        if not self._unsettled[scope]:
            del self._unsettled[scope]
