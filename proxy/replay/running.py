"""Replays requests one after another, under any configuration: each goes through the pipeline that serves live ones, in
front of a simulated upstream, and is priced by what that upstream received. What is remembered on the way is
forgotten at the end.

Reuse of answers is left out: it would take the request away from everything that is measured here.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Hashable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from hashlib import blake2b
from math import inf

import msgspec
import numpy as np

from proxy.config import Config, price_for
from proxy.config.storage import Keep
from proxy.config.storage import Storage as StorageSettings
from proxy.config.upstreams import PriceSetting
from proxy.context import economics
from proxy.context.layout import explained
from proxy.conversation import names
from proxy.embedding import DelegatingEmbedder, Embedder, EmbeddingOff, Vectors
from proxy.embedding.service import open_embedder
from proxy.errors import BadRequest
from proxy.lru import Lru
from proxy.observe.metrics import Metrics
from proxy.pipeline import Services
from proxy.pipeline import chat as pipeline
from proxy.protocol import headers as wire_headers
from proxy.protocol.answers import completion_of
from proxy.protocol.request import parse
from proxy.replay.reading import Logged, answered, in_order
from proxy.replay.report import Costs, PrefixCache, Prompt, Replayed, Report, Weights, sliding, total
from proxy.services import compose
from proxy.services.opened import Opened
from proxy.storage.opening import open_storage
from proxy.storage.shared.local import local_state
from proxy.tasks import Tasks
from proxy.tokens import TokenCounter, load_tokenizer
from proxy.types import ChatRequest, Exchange, Headers, Incoming, Message
from proxy.upstream.client import Response, Upstream

FOR_EVER = Keep(requests=0, contents=0, minutes=0, hours=0, links=0)  # a log may be older than any limit
RATIOS = (0.1, 0.17, 0.25, 0.5, 1.0)  # of a cached token's price to an uncached one's: what providers charge
PATIENCE = 30.0  # factor of the stages' deadlines: nobody waits for an answer
DEADLINE = 60.0  # seconds, for what follows an answer
READY_EVERY = 0.05  # seconds between two looks at an embedder that is warming up
MOST_TEXTS = 50_000  # of 384 dimensions: 80 MB

Progress = Callable[[int, int], None]  # requests done, of how many


@dataclass(frozen=True, slots=True)
class Resources:
    """The tokenizer, the embedder and the threads that replays share. A proxy that runs has all of it."""

    counter: TokenCounter
    embedder: Embedder  # one that keeps what it has embedded: a log is replayed several times
    executor: Executor


@asynccontextmanager
async def open_resources(config: Config, *, embedding: bool = True) -> AsyncIterator[Resources]:
    """Loads the resources; returns once texts can be embedded as configured, or it is clear that they can't be. Raises
    OSError or ValueError if the token ranks are not there."""
    embedder = open_embedder(config) if embedding else EmbeddingOff()
    with ThreadPoolExecutor(2, thread_name_prefix="replay") as executor:
        embedder.start()
        try:
            encoding = await asyncio.get_running_loop().run_in_executor(executor, load_tokenizer)
            while embedder.state == "warming":  # noqa: ASYNC110 (an Embedder tells its state, and no event)
                await asyncio.sleep(READY_EVERY)
            yield Resources(TokenCounter(encoding), CachingEmbedder(embedder), executor)
        finally:
            await embedder.close()


class CachingEmbedder(DelegatingEmbedder):
    """An embedder with a cache: every text is embedded once, however often the same conversations are replayed."""

    def __init__(self, embedder: Embedder, most: int = MOST_TEXTS) -> None:
        super().__init__(embedder)
        self._known: Lru[bytes, Vectors] = Lru(most)

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """A row for each text, from the cache where it has one."""
        keys = [blake2b(text.encode(errors="replace"), digest_size=16).digest() for text in texts]
        rows = {key: row for key in keys if (row := self._known.get(key)) is not None}
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in rows}
        if new or not texts:
            vectors = await self._embedder.embed(list(new.values()))
            if not texts:
                return vectors
            for key, vector in zip(new, vectors, strict=True):
                rows[key] = vector.copy()
                self._known.put(key, rows[key])
        return np.stack([rows[key] for key in keys])


async def replayed(
    requests: Sequence[Logged],
    config: Config,
    *,
    resources: Resources,
    ratios: Sequence[float] = RATIOS,
    now: float = 0.0,
    details: bool = False,
    progress: Progress = lambda _done, _of: None,
) -> Report:
    """Replays `requests` under `config`, whatever it says of mode and storage. If none has a time, the first was made
    at `now`. For each of `ratios` (price of a cached token, input = 1) all is decided anew. `details`: explain every
    prompt."""
    config = replay_config(config)
    embedding = resources.embedder.version if resources.embedder.state == "ready" else ""
    ordered = answered(in_order(requests, now))
    configs = [config, *(at_ratio(config, ratio) for ratio in ratios)]
    runs: list[tuple[Replayed, ...]] = []
    for each in configs:
        rows: list[Replayed] = []
        async with replaying(each, resources) as replay:
            for number, logged in enumerate(ordered):
                rows.append(await replay.take(logged, number, details=details and each is config))
                progress(len(runs) * len(ordered) + len(rows), len(configs) * len(ordered))
        runs.append(tuple(rows))
    return Report(runs[0], dict(zip(ratios, map(total, runs[1:]), strict=True)), embedding)


class LogResponse:
    """The response of a simulated upstream."""

    status = 200
    headers: Headers = (("content-type", "application/json"),)

    def __init__(self, body: bytes) -> None:
        self._body = body

    async def read(self) -> bytes:
        """Returns the body, once."""
        body, self._body = self._body, b""
        return body

    def close(self) -> None:
        """Returns at once: there is no connection."""


class LogUpstream(Upstream):
    """A simulated upstream: answers as the log says, and keeps the last body that it received."""

    answer: Message | None = None  # the assistant message to answer with; None: nothing
    received = b""

    async def send(
        self,
        method: str,  # noqa: ARG002 (as every upstream)
        url: str,  # noqa: ARG002 (as every upstream)
        headers: Sequence[tuple[str, str]],  # noqa: ARG002 (as every upstream)
        content: bytes | AsyncIterator[bytes] | None,
        first_byte: float | None,  # noqa: ARG002 (as every upstream)
    ) -> Response:
        """Keeps the body; returns the logged answer as a completion."""
        assert isinstance(content, bytes)
        self.received = content
        return LogResponse(completion_of(self.answer))


@asynccontextmanager
async def replaying(config: Config, resources: Resources) -> AsyncIterator["Replay"]:
    """A replay with storage of its own, empty. `resources` stay open."""
    tasks, kept = Tasks(), dict[str, Exchange]()
    opened = Opened(
        config=config,
        storage=await open_storage(config, Tasks()),  # its writer waits for more to write: it is flushed, not drained
        shared=local_state(),
        counter=resources.counter,
        embedder=resources.embedder,
        executor=resources.executor,
        tasks=tasks,
        metrics=Metrics(),
    )
    services = compose(
        opened,
        [LogUpstream(each) for each in config.upstreams],
        keep=lambda exchange, _answers: kept.update({exchange.incoming.request_id: exchange}),
        patience=PATIENCE,
    )
    try:
        yield Replay(services, resources, kept)
    finally:
        await tasks.drain(0)
        await services.storage.close()
        for upstream in services.router.upstreams:
            await upstream.close()


class Replay:
    """The services of a replay and its simulated prefix caches. `kept`: the exchange of each request, by request id."""

    def __init__(self, services: Services, resources: Resources, kept: dict[str, Exchange]) -> None:
        self._services = services
        self._resources = resources
        self._kept = kept
        self._weights = Weights(resources.counter.message, resources.counter.text)
        self._caches = {name: PrefixCache(self._weights) for name in ("full", "sliding", "ours")}

    async def take(self, logged: Logged, number: int, *, details: bool) -> Replayed:
        """Replays one request and prices it. `number` tells it from all others. Returns when all of it is learnt: in a
        log the next request follows at once."""
        services, headers = self._services, _unmetered(logged.headers)
        tenant = blake2b(logged.key.encode("utf-8", "replace"), digest_size=16).hexdigest()
        incoming = Incoming(f"replay-{number}", headers, logged.body, logged.at or 0.0, tenant)
        request = parse(logged.body)
        upstream = services.router.route(request.model).upstream
        assert isinstance(upstream, LogUpstream)
        upstream.answer = logged.answer
        # Whatever was logged was answered.
        services.answered.add(names.scope_of(incoming, request, wire_headers.read_directives(headers)).id)
        try:
            answer = await pipeline.handle(incoming, services)
        except BadRequest:  # results of calls that the log does not have
            answer = await pipeline.handle(replace(incoming, headers=(*headers, ("x-olvido-mode", "off"))), services)
        await services.tasks.drain(DEADLINE)
        await services.storage.flush()
        done = wire_headers.get(answer.headers, "x-olvido-plan") or ""
        return self._priced(logged, self._kept.pop(incoming.request_id), upstream, done, details=details)

    def _priced(
        self, logged: Logged, exchange: Exchange, upstream: LogUpstream, done: str, *, details: bool
    ) -> Replayed:
        request, plan, at = exchange.request, exchange.plan, exchange.incoming.received_at
        sent = request if upstream.received == request.raw else parse(upstream.received)
        price = price_for(upstream.config, request.model)
        cache = economics.assumed_cache(upstream.config, request.model, price)
        rates = economics.rates(price, cache, idle=0.0)
        prompts = {
            "full": self._prompt(request, request.messages),
            "sliding": self._prompt(request, sliding(request.messages)),
            "ours": self._prompt(sent, sent.messages),
        }
        owner: Hashable = (exchange.incoming.tenant, upstream.name, request.model)
        tokens = {name: self._weights.prompt(prompt) for name, prompt in prompts.items()}
        costs = {
            name: rates.cost(tokens[name], self._caches[name].send(owner, prompt, at, cache.ttl))
            for name, prompt in prompts.items()
        }
        kind, _, reason = done.partition(";")
        return Replayed(
            line=logged.line,
            at=at,
            model=request.model,
            upstream=upstream.name,
            conversation=f"{exchange.identity.scope.id}/{exchange.identity.session}",
            kind="fail-open" if kind == "fail-open" else plan.kind,
            reason=reason,
            tokens_full=tokens["full"],
            tokens_sliding=tokens["sliding"],
            tokens_sent=tokens["ours"],
            mechanisms=plan.tokens.mechanisms,
            costs=Costs(**costs),
            ratio=rates.cached / rates.write,
            price=price.input,
            inside=explained(request.messages, plan.fates, self._weights) if details else None,
        )

    def _prompt(self, request: ChatRequest, messages: Sequence[Message]) -> Prompt:
        beside = request.beside
        return Prompt(
            preface=msgspec.json.encode(beside) if beside else b"",
            preface_tokens=self._resources.counter.overhead(request),
            messages=messages,
        )


def replay_config(config: Config) -> Config:
    """Returns the configuration of a replay: storage in memory, context managed, no answer reused."""
    context = config.context.model_copy(update={"mode": "on"})
    # Requests of long ago are recent to each other, and the archive goes by the clock on the wall.
    memory = config.memory.model_copy(update={"archive_ttl": inf if config.memory.archive_ttl else 0})
    admin = config.admin.model_copy(update={"show_content": False})
    off = {"enabled": False}
    exact, intent = config.reuse.exact.model_copy(update=off), config.reuse.intent.model_copy(update=off)
    changes = {
        "storage": StorageSettings(kind="memory", keep=FOR_EVER),
        "server": config.server.model_copy(update={"unknown_model": "first"}),
        "context": context,
        "memory": memory,
        "admin": admin,
        "reuse": config.reuse.model_copy(update={"exact": exact, "intent": intent}),
    }
    return config.model_copy(update=changes)


def at_ratio(config: Config, ratio: float) -> Config:
    """Returns the configuration with every upstream charging `ratio` of the input price for a cached token."""
    changes = {"price": PriceSetting(input=1, cached=ratio, output=1), "prices": {}, "cache": "assumed"}
    upstreams = tuple(upstream.model_copy(update=changes) for upstream in config.upstreams)
    return config.model_copy(update={"upstreams": upstreams})


def _unmetered(headers: Headers) -> Headers:
    """Removes `x-olvido-mode: meter`: a replay tells what would have been sent."""
    return tuple(each for each in headers if each != ("x-olvido-mode", "meter"))
