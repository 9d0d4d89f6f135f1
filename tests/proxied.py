"""The proxy's own parts in this process, in front of a demo upstream over real sockets: a request goes the whole way,
and any part can be one that fails."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import httpx

from proxy.config import Config
from proxy.context.planner import Planner
from proxy.embedding import EmbeddingOff, State, Vectors
from proxy.memory.learn import Learner
from proxy.memory.library import Library
from proxy.memory.obedience import Obedience
from proxy.memory.vectors import VectorQueue
from proxy.pipeline import Services
from proxy.pipeline.answered_scopes import AnsweredScopes
from proxy.pipeline.chat import handle
from proxy.pipeline.record import Recorder
from proxy.services import build
from proxy.storage.answers import MemoryAnswers
from proxy.storage.base import KnownPrefix
from proxy.storage.pending import WriterLimits
from proxy.storage.recollection import ArchiveChanges
from proxy.storage.sqlite.archive import SqliteArchive
from proxy.storage.sqlite.facts import SqliteFacts
from proxy.storage.sqlite.ledger import SqliteLedger
from proxy.storage.sqlite.sessions import SqliteSessions, SqliteStates
from proxy.tokens import TokenCounter
from proxy.types import ArchivedTurn, Fact, Headers, Incoming, LedgerRow, StoredAnswer
from tests import stores
from tests.builders import NOW, config, encoding
from tests.scripted.app import Scripted, create_app
from tests.scripted.config import ScriptedConfig
from tests.servers import PATIENCE, run_app

KEY = "sk-test"
AT_ONCE = WriterLimits(interval=0.005)  # no test waits for what others may want to write

_numbers = count(1)


@dataclass(frozen=True, slots=True)
class Upstream:
    """A demo upstream that records what arrives."""

    url: str
    demo: Scripted
    http: httpx.Client  # straight to it, with the key that the proxy's client has

    def bodies(self) -> list[bytes]:
        """What has arrived since the last look, oldest first."""
        seen = [request.body for request in self.demo.recorder.requests]
        self.demo.recorder.clear()
        return seen


@contextmanager
def run_upstream(**settings: Any) -> Iterator[Upstream]:
    app = create_app(ScriptedConfig(record=True, **settings))
    with (
        run_app(app) as url,
        httpx.Client(base_url=url, headers={"authorization": f"Bearer {KEY}"}, timeout=120, trust_env=False) as http,
    ):
        yield Upstream(url, app.state.demo, http)


def in_front_of(running: Upstream, *, upstream: Mapping[str, Any] | None = None, **sections: Any) -> Config:
    """A configuration with this upstream, which keeps everything in memory, and without reuse by intent, whose model
    takes a while to load. `upstream`: settings of its entry."""
    entry = {
        "name": "demo",
        "base_url": f"{running.url}/v1",
        "dialect": "openai",
        "retries": 0,
        "breaker": {"failures": 0},
        **(upstream or {}),
    }
    return config(
        **{
            "upstreams": [entry],
            "storage": {"kind": "memory"},
            "server": {"port": 0, "drain": 5},
            **sections,
            "embedding": {"enabled": "intent" in sections.get("reuse", {}), **sections.get("embedding", {})},
            "reuse": {"intent": {"enabled": False}, **sections.get("reuse", {})},
        }
    )


def composed(built: Services, **parts: Any) -> Services:
    """`parts` in place of those that were built, known to the parts that use them: services, the library's stores, the
    embedder of old turns. Every scope counts as answered before, so that all of them are asked."""
    parts.setdefault("answered", AnsweredScopes(_on_record))
    kept = ("facts", "archive", "states", "wipes")
    if given := {name: parts.pop(name) for name in kept if name in parts}:
        known: dict[str, Any] = {name: getattr(built.storage, name) for name in kept}
        parts["library"] = Library(
            **known | given,
            undo=built.config.memory.undo,
            executor=built.executor,
            tasks=built.tasks,
            on_fail_open=parts.get("metrics", built.metrics).failed_open,
        )
    stores = {name: parts.pop(name) for name in ("sessions", "ledger", "answers") if name in parts}
    parts["storage"] = replace(built.storage, **stores)
    embedder = parts.pop("embedder", built.intent.embedder)
    services = replace(built, **parts)
    vectors = VectorQueue(services.library, embedder, services.executor, services.tasks, services.metrics.failed_open)
    learner = Learner(services.library, services.executor, services.tasks, services.shared.open_turns)
    planner = Planner(
        services.config,
        counter=services.counter,
        calibrations=services.shared.calibrations,
        library=services.library,
        vectors=vectors,
        executor=services.executor,
        patience=services.patience,
    )
    obedience = Obedience(
        services.library, services.tasks, learner.learning, is_answered=services.answered.has, pauses=(0.0,)
    )
    services = replace(services, **{"learner": learner, "planner": planner, "obedience": obedience, **parts})
    recorder = Recorder(
        answered=services.answered,
        storage=services.storage,
        shared=services.shared,
        counter=services.counter,
        metrics=services.metrics,
        router=services.router,
        remember=services.intent.remember,
        learner=services.learner,
        obedience=services.obedience,
        tasks=services.tasks,
        executor=services.executor,
        ttl=services.config.reuse.exact.ttl,
        ends=services.ends,
    )
    commander = services.commander and replace(
        services.commander,
        library=services.library,
        obedience=services.obedience,
        learner=services.learner,
        answered=services.answered,
    )
    return replace(services, recorder=recorder, commander=commander)


async def _on_record(_scope: str) -> bool:
    return True


@asynccontextmanager
async def build_services(settings: Config) -> AsyncIterator[Services]:
    """Every part, as it is built."""
    built = await build(settings, encoding=encoding, writing=AT_ONCE)
    try:
        yield built
    finally:
        await built.close()


@asynccontextmanager
async def serving(settings: Config, **parts: Any) -> AsyncIterator[Services]:
    """Everything behind the edge, `parts` in place of those that were built. Stages have time enough on a busy machine;
    `patience=1.0` where what a deadline does is tested."""
    built = await build(settings, encoding=encoding, writing=AT_ONCE)
    try:
        yield composed(built, **{"patience": PATIENCE, **parts})
    finally:
        await built.close()


@dataclass(frozen=True, slots=True)
class Got:
    """An answer, read to its end."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def source(self) -> str:
        return self.headers["x-olvido-source"]

    @property
    def plan(self) -> str:
        return self.headers["x-olvido-plan"]


async def ask(
    services: Services,
    raw: bytes,
    *,
    key: str = KEY,
    headers: Headers = (),
    request_id: str | None = None,
    patience: float = 5.0,
) -> Got:
    """Sends a body the whole way; returns when all that follows the answer has been done too, or cut short after
    `patience` seconds."""
    got = await answered(services, raw, key=key, headers=headers, request_id=request_id)
    await services.tasks.drain(patience)
    return got


async def answered(
    services: Services, raw: bytes, *, key: str = KEY, headers: Headers = (), request_id: str | None = None
) -> Got:
    """The same, without waiting for what follows the answer."""
    given: Headers = (("authorization", f"Bearer {key}"), ("content-type", "application/json"), *headers)
    tenant = services.authenticator.tenant(given)
    answer = await handle(Incoming(request_id or f"req_{next(_numbers)}", given, raw, NOW, tenant), services)
    if isinstance(answer.body, bytes):
        body = answer.body
    else:
        try:
            body = b"".join([chunk async for chunk in answer.body])
        finally:
            await answer.body.aclose()
    return Got(answer.status, dict(answer.headers), body)


def total(services: Services, name: str, **labels: str) -> float:
    """The sum of a metric's samples that have these labels."""
    return sum(
        sample.value
        for family in services.metrics.registry.collect()
        for sample in family.samples
        if sample.name == name and labels.items() <= sample.labels.items()
    )


# --- parts that do what a test tells them to ------------------------------------------------------------------------

Work = Callable[[], Any]  # what a part does instead of its work; what it returns is awaited if it can be


def raises() -> None:
    raise OSError("the disk is on fire")


def hangs() -> Any:
    return asyncio.Event().wait()


def gives(value: Any) -> Work:
    return lambda: value


async def _does(work: Work) -> Any:
    done = work()
    return await done if hasattr(done, "__await__") else done


class Sessions(SqliteSessions):
    def __init__(self, *, look: Work = lambda: None, remember: Work = lambda: None) -> None:
        super().__init__(stores.nothing())
        self._look = look
        self._remember = remember

    async def longest_prefix(self, *_: Any) -> KnownPrefix | None:
        found: KnownPrefix | None = await _does(self._look)
        return found

    def remember(self, *_: Any) -> None:
        self._remember()


class Answers(MemoryAnswers):
    def __init__(self, *, get: Work = lambda: None, put: Work = lambda: None) -> None:
        super().__init__(max_bytes=0)
        self._get = get
        self._put = put

    async def get(self, *_: Any) -> StoredAnswer | None:
        found: StoredAnswer | None = await _does(self._get)
        return found

    async def put(self, *_: Any) -> None:
        await _does(self._put)


class Facts(SqliteFacts):
    def __init__(self, *, every: Work = list, put: Work = lambda: None) -> None:
        super().__init__(stores.nothing())
        self.keeps = True
        self._every = every
        self._put = put

    async def all(self, *_: Any) -> list[Fact]:
        found: list[Fact] = await _does(self._every)
        return found

    def put(self, *_: Any) -> None:
        self._put()


class Archive(SqliteArchive):
    def __init__(
        self,
        *,
        add: Work = lambda: None,
        turns: Work = ArchiveChanges,
        latest: Work = lambda: None,
    ) -> None:
        super().__init__(stores.nothing(), stores.FOR_EVER)
        self._add = add
        self._changes = turns
        self._latest = latest

    def add(self, *_: Any) -> None:
        self._add()

    async def changes(self, *_: Any, **__: Any) -> ArchiveChanges:
        found: ArchiveChanges = await _does(self._changes)
        return found

    async def latest(self, *_: Any) -> ArchivedTurn | None:
        found: ArchivedTurn | None = await _does(self._latest)
        return found


class States(SqliteStates):
    def __init__(self, *, get: Work = lambda: None, put: Work = lambda: None) -> None:
        super().__init__(stores.nothing())
        self._get = get
        self._put = put

    async def get(self, *_: Any) -> tuple[bytes, bytes] | None:
        found: tuple[bytes, bytes] | None = await _does(self._get)
        return found

    def put(self, *_: Any) -> None:
        self._put()


class Embedder(EmbeddingOff):
    state: State = "ready"

    def __init__(self, embed: Work) -> None:
        self._embed = embed

    async def embed(self, texts: Sequence[str]) -> Vectors:
        found: Vectors = await _does(self._embed)
        return found


class Ledger(SqliteLedger):
    def __init__(self, append: Work) -> None:
        super().__init__(stores.nothing())
        self._append = append

    def append(self, row: LedgerRow) -> None:
        self._append()


class Tokens(TokenCounter):
    def __init__(self, *, request: Work | None = None, text: Work | None = None) -> None:
        super().__init__(encoding())
        self._request = request
        self._text = text

    async def request(self, *given: Any) -> int:
        tokens: int = await (_does(self._request) if self._request else super().request(*given))
        return tokens

    def text(self, text: str) -> int:
        tokens: int = self._text() if self._text else super().text(text)
        return tokens
