"""Writes by scope: a reader waits for what is queued of its own scope, and for nothing else."""

import functools
import sqlite3
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from proxy.storage.base import StorageError
from proxy.storage.shares import DELETIONS, Kind
from proxy.storage.writer import Write, Writer

Apply: TypeAlias = Callable[[sqlite3.Connection, Sequence[Any]], None]

SCOPE_ID = "(SELECT id FROM scopes WHERE name = :scope)"


class ScopedWrites:
    def __init__(self, writer: Writer, kind: Kind, apply: Apply) -> None:
        self._writer = writer
        self._kind = kind
        self._apply = apply
        self._unsettled: Counter[str] = Counter()

    def put(self, scope: str, what: object, rows: int = 1) -> None:
        self._put(self._kind, scope, what, rows, erases=False)

    def delete(self, scope: str, what: object, rows: int = 1, *, erases: bool = True) -> None:
        """`erases`: shall it be gone from the log as well, at once?"""
        self._put(DELETIONS, scope, what, rows, erases=erases)

    async def settled(self, scope: str | None = None) -> None:
        """Returns when what is queued of this scope is durable; None: of all scopes. Where nothing is queued it costs
        nothing, so that readers don't cut the writer's batches short. Raises StorageError while it cannot be written:
        what is on disk is older than what was promised."""
        if self._is_unsettled(scope):
            await self._writer.flush()
            if self._writer.failing is not None and self._is_unsettled(scope):
                raise StorageError(f"the database cannot be written: {self._writer.failing}")

    async def flush(self) -> None:
        await self._writer.flush()

    def _is_unsettled(self, scope: str | None) -> bool:
        return bool(self._unsettled) if scope is None else scope in self._unsettled

    def _put(self, kind: Kind, scope: str, what: object, rows: int, *, erases: bool) -> None:
        settled = functools.partial(self._settle, scope)
        write = Write(rows, self._apply, what, settled, erases=erases, kind=kind, scope=scope)
        if self._writer.put(write):
            self._unsettled[scope] += 1

    def _settle(self, scope: str) -> None:
        self._unsettled[scope] -= 1
        if not self._unsettled[scope]:
            del self._unsettled[scope]
