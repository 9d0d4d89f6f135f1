"""Replays requests one after another, under any configuration: each goes through the pipeline that serves live ones, in
front of a simulated upstream, and is priced by what that upstream received. What is remembered on the way is
forgotten at the end.

Reuse of answers is left out: it would take the request away from everything that is measured here.
"""

from collections.abc import AsyncIterator, Callable, Hashable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from hashlib import blake2b
from math import inf
from typing import Any

import httpx
import msgspec

from proxy.config import Config, price_for
from proxy.config.model import Keep
from proxy.config.model import Storage as StorageSettings
from proxy.config.upstreams import PriceSetting
from proxy.context import economics
from proxy.context.layout import explained
from proxy.conversation import identify
from proxy.conversation.blocks import without_ours
from proxy.embedding.base import EmbeddingUnavailable
from proxy.errors import BadRequest
from proxy.observe.metrics import Metrics
from proxy.pipeline import chat as pipeline
from proxy.pipeline.parts import Services
from proxy.protocol import headers as wire_headers
from proxy.protocol.answers import completion_of
from proxy.protocol.request import parse
from proxy.replay.pricing import PrefixCache, Prompt, Weights, sliding
from proxy.replay.reading import Logged, answered, in_order
from proxy.replay.report import Costs, Replayed, Report, total
from proxy.replay.resources import CachingEmbedder, Resources, open_resources
from proxy.services import compose
from proxy.storage.opening import open_storage
from proxy.storage.shared.local import local_state
from proxy.tasks import Tasks
from proxy.types import ChatRequest, Exchange, Headers, Incoming, Message
from proxy.upstream.client import Upstream

FOR_EVER = Keep(requests=0, contents=0, minutes=0, hours=0, links=0)  # a log may be older than any limit
RATIOS = (0.1, 0.17, 0.25, 0.5, 1.0)  # of a cached token's price to an uncached one's: what providers charge
PATIENCE = 30.0  # factor of the stages' deadlines: nobody waits for an answer
DEADLINE = 60.0  # seconds, for what follows an answer

Progress = Callable[[int, int], None]  # requests done, of how many


async def replayed(
    requests: Sequence[Logged],
    config: Config,
    *,
    resources: Resources | None = None,
    ratios: Sequence[float] = RATIOS,
    now: float = 0.0,
    details: bool = False,
    progress: Progress = lambda _done, _of: None,
) -> Report:
    """Replays `requests` under `config`, whatever it says of mode and storage. If none has a time, the first was made
    at `now`. For each of `ratios` (price of a cached token, input = 1) all is decided anew. `details`: explain every
    prompt."""
    config = replay_config(config)
    if resources is None:
        async with open_resources(config) as made:
            return await replayed(
                requests, config, resources=made, ratios=ratios, now=now, details=details, progress=progress
            )
    embedding = resources.embedder.version if resources.embedder.state == "ready" else ""
    resources = replace(resources, embedder=CachingEmbedder(resources.embedder))
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


class LogUpstream(Upstream):
    """A simulated upstream: answers as the log says, and keeps the last body that it received."""

    answer: Message | None = None  # the assistant message to answer with; None: nothing
    received = b""

    async def send(
        self,
        method: str,  # noqa: ARG002 (as every upstream)
        url: httpx.URL,  # noqa: ARG002
        headers: Sequence[tuple[str, str]],  # noqa: ARG002
        content: bytes | AsyncIterator[bytes] | None,
        first_byte: float | None,  # noqa: ARG002
    ) -> httpx.Response:
        """Keeps the body; returns the logged answer as a completion."""
        assert isinstance(content, bytes)
        self.received = content
        body = completion_of(self.answer)
        return httpx.Response(200, headers={"content-type": "application/json"}, content=body)


@asynccontextmanager
async def replaying(config: Config, resources: Resources) -> AsyncIterator["Replay"]:
    """A replay with storage of its own, empty. `resources` stay open."""
    tasks, kept = Tasks(), dict[str, Exchange]()
    services = compose(
        config,
        upstreams=[LogUpstream(each) for each in config.upstreams],
        storage=await open_storage(config, Tasks()),  # its writer waits for more to write: it is flushed, not drained
        shared=local_state(),
        counter=resources.counter,
        embedder=resources.embedder,
        executor=resources.executor,
        tasks=tasks,
        metrics=Metrics(),
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
        services.answered.add(identify.scope_of(incoming, request, wire_headers.read_directives(headers)).id)
        await self._embed(request)
        try:
            answer = await pipeline.handle(incoming, services)
        except BadRequest:  # results of calls that the log does not have
            answer = await pipeline.handle(replace(incoming, headers=(*headers, ("x-olvido-mode", "off"))), services)
        await services.tasks.drain(DEADLINE)
        await services.storage.flush()
        done = wire_headers.get(answer.headers, "x-olvido-plan") or ""
        return self._priced(logged, self._kept.pop(incoming.request_id), upstream, done, details=details)

    async def _embed(self, request: ChatRequest) -> None:
        """Embeds the newest question, which planning waits for only as long as a client would."""
        newest = next((said for said in reversed(request.messages) if said.role == "user"), None)
        if newest is None or not (said := without_ours(newest.text)).strip():
            return
        try:
            await self._resources.embedder.embed([said])
        except EmbeddingUnavailable:
            return  # as planning finds out for itself

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
    upstreams = []
    for upstream in config.upstreams:
        changes: dict[str, Any] = {
            "price": PriceSetting(input=1, cached=ratio, output=1),
            "prices": {},
            "cache": "assumed",
        }
        upstreams.append(upstream.model_copy(update=changes))
    return config.model_copy(update={"upstreams": tuple(upstreams)})


def _unmetered(headers: Headers) -> Headers:
    """Removes `x-olvido-mode: meter`: a replay tells what would have been sent."""
    return tuple(each for each in headers if each != ("x-olvido-mode", "meter"))
