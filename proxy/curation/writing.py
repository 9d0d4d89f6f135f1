"""Carries out what memory's model has proposed: decides against the facts as they are at that moment, and writes them.

Where several processes learn, one at a time does so in a scope; in this process facts that change between the decision
and the write are decided about anew. Done twice it is done once: what is decided has the same ids, and rows that stand
already are not written. What is forgotten in the meantime does not come back.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from typing import TypeAlias

from proxy.curation.carrying import Carried
from proxy.curation.spending import Failed, Left
from proxy.memory.commands import mark
from proxy.memory.library import Library
from proxy.memory.shelf import Shelf
from proxy.storage.base import StorageError
from proxy.types import Fact

TRIES = 4  # decisions on facts that change meanwhile

WasForgotten: TypeAlias = Callable[[bytes], bool]  # of the link of a message, or the mark of a value
# Decides on all facts of a scope, by id. Pure: it is asked several times.
Decide: TypeAlias = Callable[[Mapping[str, Fact], WasForgotten], Carried]


@dataclass(frozen=True, slots=True)
class Written:
    """The result of an answer, whose facts are written."""

    carried: Carried
    gone: frozenset[bytes]  # of what its facts can be forgotten by: forgotten before they were written


@dataclass(frozen=True, slots=True, eq=False)
class FactWriter:
    """The writer of facts for jobs."""

    library: Library
    executor: Executor
    alone: Callable[[str], AbstractAsyncContextManager[None]] | None  # holds a scope, of several processes that learn

    async def carry_out(self, scope: str, decide: Decide, holds: Callable[[], Awaitable[bool]]) -> Written:
        """Decides and writes; returns what was decided. Its facts are durable then. `holds` tells whether this is
        still our work. Raises Left, Failed, StorageError."""
        async with nullcontext() if self.alone is None else self.alone(scope):
            for _ in range(TRIES):
                shelf = await self.library.renewed(scope)
                facts, changes = shelf.facts, shelf.changes
                carried = await self._decided(scope, shelf, decide)
                written = Written(carried, await self._forgotten(scope, carried.facts))
                if not await holds():
                    raise Left
                # What this process has learnt is counted; what others write may be heard of a second late.
                stored = {fact.id: fact for fact in await self.library.facts.all(scope)}
                stands = all(stored.get(row.id) == facts.get(row.id) for row in carried.facts)
                if not stands:
                    shelf.stated_as_of = None  # read anew
                elif await self.library.shelf(scope) is shelf and shelf.facts is facts and shelf.changes == changes:
                    break
            else:
                raise Failed("facts keep changing")
            rows = [row for row in carried.facts if shelf.facts.get(row.id) != row]
            await self._write(scope, shelf, rows)
        await self.spare(scope, written)
        return written

    async def spare(self, scope: str, written: Written) -> None:
        """Takes back those of these facts that were forgotten since they were decided about, or whose messages were.
        Raises StorageError."""
        rows = written.carried.facts
        gone = await self._forgotten(scope, rows) - written.gone
        if ids := [row.id for row in rows if not gone.isdisjoint(_names(row))]:
            shelf = await self.library.shelf(scope)
            for name in ids:
                shelf.facts.pop(name, None)
                shelf.fact_vectors.pop(name, None)
            shelf.changes += 1
            self.library.facts.forget(scope, ids)
            await self.library.facts.flush()

    async def _decided(self, scope: str, shelf: Shelf, decide: Decide) -> Carried:
        """Decides, once everything is known to be forgotten or not that the decision asks about."""
        facts, known, gone = dict(shelf.facts), set[bytes](), set(shelf.forgotten)
        while True:
            asked: set[bytes] = set()
            carried = await asyncio.get_running_loop().run_in_executor(
                self.executor, _deciding, decide, facts, gone, asked
            )
            if asked <= known:
                return carried
            known |= asked
            gone |= (await self.library.archive.forgotten_at(scope, tuple(asked))).keys()

    async def _forgotten(self, scope: str, rows: Sequence[Fact]) -> frozenset[bytes]:
        names = tuple({name for row in rows for name in _names(row)})
        return frozenset(await self.library.archive.forgotten_at(scope, names)) if names else frozenset()

    async def _write(self, scope: str, shelf: Shelf, rows: Sequence[Fact]) -> None:
        if not rows:
            return
        self.library.learn(scope, shelf, rows)
        await self.library.facts.flush()
        there = {fact.id for fact in await self.library.facts.all(scope)}
        if any(row.id not in there for row in rows):
            raise StorageError("what the model has found could not be stored")


def _names(fact: Fact) -> set[bytes]:
    """Returns what it can be forgotten by."""
    return {mark(fact.value), *fact.links}


def _deciding(decide: Decide, facts: Mapping[str, Fact], gone: Collection[bytes], asked: set[bytes]) -> Carried:
    def was_forgotten(name: bytes) -> bool:
        asked.add(name)
        return name in gone

    return decide(facts, was_forgotten)
