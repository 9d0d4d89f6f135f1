"""The worker of memory's model over a real storage, with a model that says what a test tells it, and a clock that the
test moves."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from proxy.config.memory import DeskSections
from proxy.config.memory import MemoryModel as Settings
from proxy.curation.arming import Arming
from proxy.curation.concluding import Concluding
from proxy.curation.doing import Doing
from proxy.curation.model import Reply
from proxy.curation.prompts import Prompts
from proxy.curation.spending import Caller
from proxy.curation.watching import Unwatched
from proxy.curation.working import Curator
from proxy.curation.writing import FactWriter
from proxy.embedding import EmbeddingUnavailable
from proxy.memory.library import Library
from proxy.storage.opening import Storage, open_storage
from proxy.tasks import Tasks
from proxy.types import ArchivedTurn, Fact, Json, Vector
from proxy.types.curation import Digest, Job, MemoryEvent, OutcomeLine
from tests.builders import NOW, config, ledger_row
from tests.curation.builders import SCOPE
from tests.proxied import AT_ONCE

PROMPTS = Prompts()


def settings(**differing: Any) -> Settings:
    return Settings.model_validate({"upstream": "up", "model": "small", "allowance": 1.0, **differing})


COST = 0.001  # US dollars of an answer
MOST = 0.01  # what it may cost

# What the model says: a JSON value, a text, or a whole reply; None: nothing comes; an exception: that is what comes.
Said = Json | str | None | BaseException | Reply


@dataclass
class Model:
    """A `MemoryModel` that answers as it is told, in turn; the last answer repeats."""

    says: Sequence[Said | Callable[[str], Said]] = ({"operations": []},)
    name: str = "small"
    settings: Mapping[str, Json] = field(default_factory=lambda: {"model": "small"})
    schemas: bool = True
    price: float | None = None  # US dollars that a byte of a request costs; None: COST, and at most MOST
    asked: list[tuple[str, str, str, Json]] = field(default_factory=list)  # scope, session, name, request

    @property
    def shown(self) -> list[str]:
        """The newest message of each request."""
        return [body["messages"][-1]["content"] for *_, body in self.asked]

    def most(self, body: bytes) -> float:
        return MOST if self.price is None else len(body) * self.price

    async def ask(self, scope: str, session: str, name: str, body: bytes) -> Reply | None:
        said = self.says[min(len(self.asked), len(self.says) - 1)]
        self.asked.append((scope, session, name, msgspec.json.decode(body)))
        await asyncio.sleep(0)
        if callable(said):
            said = said(self.shown[-1])
        if isinstance(said, BaseException):
            raise said
        if said is None or isinstance(said, Reply):
            return said
        cost = COST if self.price is None else self.most(body)
        return Reply(said if isinstance(said, str) else msgspec.json.encode(said).decode(), cost)


@dataclass
class Watch(Unwatched):
    """Remembers what it was told."""

    events: list[MemoryEvent] = field(default_factory=list)
    digests: list[Digest] = field(default_factory=list)
    names: list[str] = field(default_factory=list)

    def happened(self, scope: str, events: Sequence[MemoryEvent]) -> None:
        self.events += events

    def digested(self, scope: str, digest: Digest) -> None:
        self.digests.append(digest)

    def named(self, scope: str, session: str, slug: str) -> None:
        self.names.append(slug)


async def no_vectors(texts: Sequence[str]) -> Sequence[Vector]:
    raise EmbeddingUnavailable(f"none of {len(texts)}")


@dataclass
class House:
    """One process."""

    storage: Storage
    tasks: Tasks
    model: Model = field(default_factory=Model)
    settings: Settings = field(default_factory=settings)
    now: float = NOW + 100_000  # by the clock
    owner: str = "one"
    watch: Watch = field(default_factory=Watch)
    wrapped: Callable[[Any], Any] = lambda part: part  # what the worker gets in place of stores and model
    failures: list[tuple[str, str]] = field(default_factory=list)
    results: list[tuple[str, str]] = field(default_factory=list)
    lines: list[OutcomeLine] = field(default_factory=list)

    def __post_init__(self) -> None:
        storage, executor, wrap = self.storage, ThreadPoolExecutor(1), self.wrapped
        jobs = wrap(storage.jobs)
        self.library = Library(
            wrap(storage.facts),
            wrap(storage.archive),
            storage.states,
            storage.wipes,
            executor,
            self.tasks,
            foreign_writes=storage.database.foreign_writes,
            jobs=storage.jobs,
        )
        caller = Caller(
            wrap(self.model), self.settings, jobs, wrap(storage.accounts), self.tasks, self.owner, self.clock
        )
        self.doing = Doing(
            caller,
            FactWriter(self.library, executor, None),
            self.library,
            jobs,
            PROMPTS,
            count=lambda text: len(text) // 4,
            embed=no_vectors,
            executor=executor,
            concluding=Concluding(
                caller,
                jobs,
                wrap(storage.desks),
                wrap(storage.archive),
                PROMPTS,
                DeskSections(),
                lambda text: len(text) // 4,
                executor,
                self.clock,
            ),
            watch=self.watch,
            on_line=self.lines.append,
            clock=self.clock,
        )
        self.arming = Arming(self.settings, storage.jobs, self.clock)
        self.curator = Curator(
            self.arming,
            self.doing,
            jobs,
            self.tasks,
            lambda stage, reason: self.failures.append((stage, reason)),
            lambda kind, result: self.results.append((kind, result)),
            self.clock,
        )

    def clock(self) -> float:
        return self.now

    async def said(self, *turns: ArchivedTurn, scope: str = SCOPE) -> None:
        """Turns were learnt from, and their conversation has ended."""
        for turn in turns:
            self.storage.archive.add(scope, turn, None)
        await self.arming.ended(scope, turns[0].session, "api")
        await self.storage.flush()

    async def knows(self, *facts: Fact, scope: str = SCOPE) -> None:
        self.storage.facts.put(scope, facts)
        await self.storage.flush()

    async def saved(self, dollars: float, scope: str = SCOPE) -> None:
        """So much was saved just now."""
        row = ledger_row(
            scope=scope, source="exact", cost=0.0, cost_saved=dollars, at=self.now, request_id=f"r{dollars}"
        )
        self.storage.ledger.append(row)
        await self.storage.flush()

    async def work(self, *, later: float = 0.0) -> int:
        """Works off what is due, `later` seconds from now; returns how many jobs that were."""
        self.now += later
        done = 0
        while await self.curator.work():
            done += 1
        await self.storage.flush()
        return done

    async def facts(self, scope: str = SCOPE) -> list[Fact]:
        return await self.storage.facts.all(scope)

    async def values(self, scope: str = SCOPE) -> list[str]:
        """Those that hold."""
        return [fact.value for fact in await self.facts(scope) if fact.superseded_by is None]

    async def jobs(self, kind: str = "extract") -> list[Job]:
        """Oldest first, as they are now."""
        return [job for job in reversed(await self.storage.jobs.jobs()) if job.kind == kind]

    async def job(self, kind: str = "extract") -> Job:
        """The newest of this kind."""
        return (await self.jobs(kind))[-1]


@asynccontextmanager
async def opened(place: Path | str, **differing: Any) -> AsyncIterator[House]:
    """A process over the storage in this folder, or over the PostgreSQL of this URL."""
    kept = {"path": str(place)} if isinstance(place, Path) else {"kind": "postgres", "url": place}
    tasks = Tasks()
    storage = await open_storage(config(storage=kept), tasks, writing=AT_ONCE)
    try:
        yield House(storage, tasks, **differing)
    finally:
        await tasks.drain(10)
        await storage.close()


def operation(op: str, **fields: Json) -> Json:
    return {"op": op, **fields}
