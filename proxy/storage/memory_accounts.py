"""What the page reads where nothing is on disk: added up from the rows that memory has, each time, in a thread."""

import asyncio
import itertools
import operator
from collections.abc import Callable, Iterable
from typing import TypeVar

from proxy.storage.accounts import LONGEST_NAME, OTHER, Dimension, Width
from proxy.storage.archive import MemoryArchive
from proxy.storage.links import MemoryLedger
from proxy.storage.sqlite.accounts import BEGINNING
from proxy.storage.sqlite.rollups import SUMS, sums_of
from proxy.types import Bucket, LedgerRow, SessionCard, Sums, TurnCard

T = TypeVar("T")
K = TypeVar("K")

_numbers = operator.attrgetter(*SUMS)


class MemoryAccounts:
    def __init__(self, ledger: MemoryLedger, archive: MemoryArchive | None = None) -> None:
        self._ledger = ledger
        self._archive = archive

    async def buckets(
        self, start: float, end: float, width: Width, scope: str | None = None, by: Dimension = ""
    ) -> list[Bucket]:
        rows = self._rows(scope)
        named = _naming(by, rows)

        def work() -> list[Bucket]:
            begun = [(row.at // width * width, row) for row in rows]
            found = [((at, named(row)), row) for at, row in begun if start <= at < end]
            return [Bucket(at, name, _added(several)) for (at, name), several in sorted(_grouped(found).items())]

        return await asyncio.to_thread(work)

    async def scopes(self, limit: int = 200, before: float | None = None) -> list[tuple[str, float]]:
        found = _grouped((row.scope, row.at) for row in self._rows())
        latest = sorted(((name, max(times)) for name, times in found.items()), key=lambda each: (-each[1], each[0]))
        return [(name, at) for name, at in latest if before is None or at < before][: max(0, limit)]

    async def rows(
        self,
        *,
        scope: str | None = None,
        session: str | None = None,
        before: int | None = None,
        after: int | None = None,
        limit: int = 100,
    ) -> list[tuple[int, LedgerRow]]:
        rows = self._ledger.numbered()
        found = (
            (number, row)
            for number, row in (reversed(rows) if after is None else rows)
            if (scope is None or row.scope == scope)
            and (session is None or row.session == session)
            and (before is None or number < before)
            and (after is None or number > after)
        )
        return list(itertools.islice(found, max(0, limit)))

    async def row(self, request_id: str, scope: str | None = None) -> LedgerRow | None:
        return next((row for row in self._rows(scope) if row.request_id == request_id), None)

    async def last(self) -> int:
        return max((number for number, _ in self._ledger.numbered()[-1:]), default=0)

    async def sessions(
        self, *, scope: str | None = None, before: float | None = None, limit: int = 50
    ) -> list[SessionCard]:
        rows = self._rows(scope)

        def work() -> list[SessionCard]:
            found = _grouped(((row.scope, row.session), row) for row in rows)
            spans = {key: sorted(row.at for row in several) for key, several in found.items()}
            latest = sorted(
                (key for key in found if before is None or spans[key][-1] < before), key=lambda key: -spans[key][-1]
            )
            return [
                SessionCard(*key, spans[key][0], spans[key][-1], _added(found[key])) for key in latest[: max(0, limit)]
            ]

        return await asyncio.to_thread(work)

    async def turns(self, scope: str, session: str, limit: int = 2_000) -> list[TurnCard]:
        if self._archive is None or limit < 1:
            return []
        return [
            TurnCard(turn.link, turn.parent, turn.number, turn.at, said.text[:BEGINNING] if said else "")
            for turn in self._archive.of_session(scope, session)[-limit:]
            for said in [next((each for each in turn.utterances[:1] if each.role == "user"), None)]
        ]

    def _rows(self, scope: str | None = None) -> list[LedgerRow]:
        return [row for _, row in self._ledger.numbered() if scope is None or row.scope == scope]


def _grouped(found: Iterable[tuple[K, T]]) -> dict[K, list[T]]:
    groups: dict[K, list[T]] = {}
    for key, value in found:
        groups.setdefault(key, []).append(value)
    return groups


def _added(rows: Iterable[LedgerRow]) -> Sums:
    return Sums(*map(sum, zip(*(_numbers(sums_of(row)) for row in rows), strict=True)))


def _naming(by: Dimension, rows: Iterable[LedgerRow]) -> Callable[[LedgerRow], str]:
    if by == "":
        return lambda _: ""
    if by != "model":
        return operator.attrgetter(by)
    served = {row.model for row in rows if 200 <= row.status < 300 and len(row.model) <= LONGEST_NAME}
    return lambda row: row.model if row.model in served else OTHER
