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
        self._deleting: Counter[str] = Counter()  # of these, deletions

    def put(self, scope: str, what: object, rows: int = 1) -> None:
        self._put(self._kind, scope, what, rows, erases=False)

    def delete(self, scope: str, what: object, rows: int = 1, *, erases: bool = True) -> None:
        """`erases`: shall it be gone from the log as well, at once?"""
        self._put(DELETIONS, scope, what, rows, erases=erases)

    async def settled(self, scope: str | None = None, *, strictly: bool = False) -> None:
        """Returns when what is queued of this scope is durable; None: of all scopes. Where nothing is queued it costs
        nothing, so that readers don't cut the writer's batches short. While it cannot be written, raises StorageError
        if something would be read that is to be forgotten; `strictly`: or anything that is older than what was put."""
        if _has(self._unsettled, scope):
            await self._writer.flush()
            if self._writer.failing is not None and _has(self._unsettled if strictly else self._deleting, scope):
                raise StorageError(f"the database cannot be written: {self._writer.failing}")

    async def flush(self) -> None:
        await self._writer.flush()

    def _put(self, kind: Kind, scope: str, what: object, rows: int, *, erases: bool) -> None:
        counters = [self._unsettled, *([self._deleting] if kind is DELETIONS else [])]
        settled = functools.partial(_settle, counters, scope)
        write = Write(rows, self._apply, what, settled, erases=erases, kind=kind, scope=scope)
        if self._writer.put(write):
            for counter in counters:
                counter[scope] += 1


def _has(counter: Counter[str], scope: str | None) -> bool:
    return bool(counter) if scope is None else scope in counter


def _settle(counters: Sequence[Counter[str]], scope: str) -> None:
    for counter in counters:
        counter[scope] -= 1
        if not counter[scope]:
            del counter[scope]
