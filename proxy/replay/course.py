"""Replay of logged requests: each goes through the pipeline that serves live ones, in front of an upstream that answers
what the log has as the answer, and is priced by what that upstream received."""

from collections.abc import AsyncIterator, Hashable, Sequence
from dataclasses import replace
from hashlib import blake2b

import httpx
import msgspec

from proxy import pipeline
from proxy.admin.logouts import Logouts
from proxy.config import Config, price_for
from proxy.embed.base import EmbeddingUnavailable
from proxy.errors import BadRequest
from proxy.memory import economics
from proxy.memory.block import without_ours
from proxy.memory.fates import explained
from proxy.observe.metrics import Metrics
from proxy.replay.means import Means
from proxy.replay.pricing import PrefixCache, Prompt, Weights, sliding
from proxy.replay.reading import Logged
from proxy.replay.report import Costs, Replayed
from proxy.services import compose
from proxy.stages import identify
from proxy.storage.opening import Storage
from proxy.tasks import Tasks
from proxy.types import ChatRequest, Exchange, Headers, Incoming, Message
from proxy.upstream.client import Upstream
from proxy.wire import headers as wire_headers
from proxy.wire.answers import completion_of
from proxy.wire.request import parse

PATIENCE = 30.0  # factor of the stages' deadlines: nobody waits for an answer
DEADLINE = 60.0  # seconds, for what follows an answer


class LogUpstream(Upstream):
    """An upstream that is nowhere. It keeps the body that it got last."""

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
        assert isinstance(content, bytes)
        self.received = content
        body = completion_of(self.answer)
        return httpx.Response(200, headers={"content-type": "application/json"}, content=body)


class Course:
    """Everything that lives from one request to the next; `storage` is closed with it."""

    def __init__(self, config: Config, means: Means, storage: Storage) -> None:
        self._means = means
        self._upstreams = {each.name: LogUpstream(each) for each in config.upstreams}
        self._services = compose(
            config,
            upstreams=tuple(self._upstreams.values()),
            storage=storage,
            counter=means.counter,
            embedder=means.embedder,
            executor=means.executor,
            tasks=Tasks(),
            metrics=Metrics(),
            logouts=Logouts(None),
            keep=self._keep,
            patience=PATIENCE,
        )
        self._kept: dict[str, Exchange] = {}  # by request id
        self._weights = Weights(means.counter.message, means.counter.text)
        self._caches = {name: PrefixCache(self._weights) for name in ("full", "sliding", "ours")}

    async def close(self) -> None:
        await self._services.tasks.drain(0)
        await self._services.storage.close()
        for upstream in self._upstreams.values():
            await upstream.close()

    async def take(self, logged: Logged, number: int, *, details: bool) -> Replayed:
        """`number` tells the request from all others. Returns when all of it is learnt: in a log the next request
        follows at once."""
        services, headers = self._services, _unmetered(logged.headers)
        tenant = blake2b(logged.key.encode("utf-8", "replace"), digest_size=16).hexdigest()
        incoming = Incoming(f"replay-{number}", headers, logged.body, logged.at or 0.0, tenant)
        request = parse(logged.body)
        upstream = self._upstreams[services.router.route(request.model).upstream.name]
        upstream.answer = logged.answer
        # Whatever was logged was answered.
        services.answered.add(identify.whose(incoming, request, wire_headers.read_directives(headers)).id)
        await self._embed(request)
        try:
            answer = await pipeline.handle(incoming, services)
        except BadRequest:  # results of calls that the log does not have
            answer = await pipeline.handle(replace(incoming, headers=(*headers, ("x-olvido-mode", "off"))), services)
        await services.tasks.drain(DEADLINE)
        await services.storage.flush()
        done = wire_headers.get(answer.headers, "x-olvido-plan") or ""
        return self._priced(logged, self._kept.pop(incoming.request_id), upstream, done, details=details)

    def _keep(self, exchange: Exchange, _answers: Sequence[Message]) -> None:
        self._kept[exchange.incoming.request_id] = exchange

    async def _embed(self, request: ChatRequest) -> None:
        """The newest question, which planning waits for only as long as a client would."""
        newest = next((said for said in reversed(request.messages) if said.role == "user"), None)
        if newest is None or not (said := without_ours(newest.text)).strip():
            return
        try:
            await self._means.embedder.embed([said])
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
            preface_tokens=self._means.counter.overhead(request),
            messages=messages,
        )


def _unmetered(headers: Headers) -> Headers:
    """Who only measured wants to know what would have been."""
    return tuple(each for each in headers if each != ("x-olvido-mode", "meter"))
