"""Requests that the proxy makes itself, in the background: a sample of those that were answered by intent, to verify
them, and questions to the judge of reuse, or of quality (those to the model of memory: `memory_model.py`; managed
requests as they were: `mirror.py`). They are paid for: the ledger has a row for each, with `verify`, `judge`,
`quality_judge`, `memory` or `quality` for a reason.
"""

import random
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import msgspec

from proxy.config import Upstream, price_for
from proxy.config.model import QualityJudge
from proxy.config.reuse import IntentReuse, Judge
from proxy.context import layout
from proxy.embedding import Embedder
from proxy.errors import UpstreamError
from proxy.observe.metrics import Metrics
from proxy.observe.tracing import current
from proxy.pipeline.ledger import cost_of
from proxy.pipeline.outcome import decoded
from proxy.pipeline.record import Recorder
from proxy.protocol.answers import find_usage, first_text, without_disclaimer
from proxy.protocol.chains import chain_of
from proxy.protocol.request import parse
from proxy.reuse.judging import MOST_ANSWER, Reply
from proxy.tasks import Attempts, Tasks
from proxy.types import (
    Answer,
    ChatRequest,
    Delivery,
    Directives,
    Exchange,
    Identity,
    Incoming,
    Json,
    Plan,
    PromptTokens,
    ReuseHit,
    ReuseMiss,
    StreamedBody,
    Usage,
)
from proxy.upstream import forward
from proxy.upstream.client import Route, Router

DEADLINE = 10.0  # seconds, for each part of a verification that waits for a thread
JUDGE_DEADLINE = 30.0  # seconds
HEADERS = (("content-type", "application/json"),)  # to the judge, and none of the client's
TRACELESS = Directives(mode="off", lookup=False, store=False, remember=False)  # leaves no trace but its row

_object = msgspec.json.Decoder(dict[str, Any])


@dataclass(frozen=True, slots=True)
class OwnRequests:
    """Plans, forwards and records requests that no client made."""

    plan: Callable[[ChatRequest, Identity, Upstream], Coroutine[Any, Any, Plan]]
    recorder: Recorder
    metrics: Metrics
    tasks: Tasks

    def attempts(self) -> Attempts:
        """Returns the attempts of one such request."""
        return Attempts(self.metrics.failed_open, trace=current())

    async def send(
        self,
        reason: str,
        incoming: Incoming,
        request: ChatRequest,
        identity: Identity,
        plan: Plan,
        route: Route,
        attempts: Attempts,
        *,
        whole: int = forward.MAX_WHOLE_BYTES,
    ) -> tuple[Answer, list[Delivery]]:
        """Returns the upstream's answer, and the list that will hold its delivery once the body has been read. `whole`:
        bytes up to which it is read whole. Raises UpstreamError if no upstream answered."""
        exchange = Exchange(
            replace(incoming, request_id=f"{incoming.request_id}-{reason}"),
            request,
            identity,
            TRACELESS,
            ReuseMiss(reason),
            plan,
            route.upstream.name,
            perf_counter(),
        )
        delivered: list[Delivery] = []

        def report(delivery: Delivery) -> None:
            delivered.append(delivery)
            self.recorder.delivered(exchange, delivery, attempts)

        answer = await forward.forward(
            request,
            incoming.headers,
            route,
            lambda upstream: layout.assemble(request, plan, upstream.config),
            query=incoming.query,
            report=report,
            metrics=self.metrics,
            whole=whole,
        )
        return answer, delivered


@dataclass(frozen=True, slots=True, eq=False)
class Verifier:
    """Verifies the configured share (`verify`) of the answers that were reused by intent. The result is a metric: the
    cosine of the reused answer and the upstream's own."""

    config: IntentReuse
    embedder: Embedder
    requests: OwnRequests

    def sample(self, incoming: Incoming, request: ChatRequest, identity: Identity, hit: ReuseHit, route: Route) -> None:
        """Starts a verification of `hit` in the background, if it is drawn for the sample."""
        if hit.source == "intent" and random.random() < self.config.verify:  # noqa: S311 (a sample, no secret)
            self.requests.tasks.spawn(self._verify(incoming, request, identity, hit, route), name="verify")

    async def _verify(
        self, incoming: Incoming, request: ChatRequest, identity: Identity, hit: ReuseHit, route: Route
    ) -> None:
        attempts = self.requests.attempts()
        planning = self.requests.plan(request, identity, route.upstream.config)
        fallback = Plan("untouched", PromptTokens(0, 0))
        plan = await attempts.run("plan", planning, fallback=fallback, deadline=DEADLINE)
        try:
            answer, delivered = await self.requests.send("verify", incoming, request, identity, plan, route, attempts)
            if not isinstance(answer.body, bytes):
                await _exhaust(answer.body)
        except UpstreamError:
            return  # the ledger and the metrics tell of it
        reused = without_disclaimer(
            first_text(_object.decode(hit.answer.completion)), tuple(self.config.disclaimer.values())
        )
        texts = [reused, first_text(_completion(delivered[0]))]
        if all(texts):
            vectors = await attempts.run("verify", self.embedder.embed(texts), fallback=None, deadline=DEADLINE)
            if vectors is not None:
                self.requests.metrics.reuse_agreement.observe(float(vectors[0] @ vectors[1]))


class UpstreamJudge:
    """A `JudgeModel` behind the upstream that the configuration names, without its fallbacks. `reason`: of its rows in
    the ledger."""

    def __init__(
        self, config: Judge | QualityJudge, router: Router, requests: OwnRequests, *, reason: str = "judge"
    ) -> None:
        upstream = router.named(config.upstream)
        # OpenAI's newer models know no `max_tokens`, and none but their own temperature.
        limit = "max_completion_tokens" if upstream.config.dialect == "openai" else "max_tokens"
        self.settings: Mapping[str, Json] = {"model": config.model, limit: MOST_ANSWER}
        self._route = Route(upstream)
        self._price = price_for(upstream.config, config.model)
        self._requests = requests
        self._reason = reason

    def most(self, body: bytes) -> float:
        """As for a `JudgeModel`: no text has more tokens than bytes."""
        return cost_of(Usage(len(body), MOST_ANSWER), self._price)

    async def ask(self, incoming: Incoming, identity: Identity, body: bytes) -> Reply | None:
        """As for a `JudgeModel`. The row is in the scope and session of the request that the question is about."""
        attempts = self._requests.attempts()
        asking = self._ask(incoming, identity, body, attempts)
        try:
            return await attempts.run("judge", asking, fallback=None, deadline=JUDGE_DEADLINE)
        except UpstreamError:
            return None  # the ledger and the metrics tell of it

    async def _ask(self, incoming: Incoming, identity: Identity, body: bytes, attempts: Attempts) -> Reply | None:
        request = parse(body)
        incoming = replace(incoming, headers=HEADERS, body=body, query="")
        identity = replace(identity, chain=chain_of(identity.scope.id, request.messages))
        plan = await self._requests.plan(request, identity, self._route.upstream.config)
        answer, _ = await self._requests.send(self._reason, incoming, request, identity, plan, self._route, attempts)
        if not isinstance(answer.body, bytes):
            await answer.body.aclose()  # nobody asked for a stream, nor for as much as that
            return None
        if answer.status != 200:
            return None
        completion = decoded(answer.body)
        usage = find_usage(completion)
        return Reply(completion, self.most(body) if usage is None else cost_of(usage, self._price))


async def _exhaust(body: StreamedBody) -> None:
    try:
        async for _ in body:
            pass
    finally:
        await body.aclose()


def _completion(delivery: Delivery) -> Mapping[str, Any]:
    if delivery.completion is not None:
        return delivery.completion
    return decoded(delivery.raw_completion) if delivery.raw_completion and delivery.status == 200 else {}
