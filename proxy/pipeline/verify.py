"""Verification of answers reused by intent: a sample of the requests is sent to the upstream after all.

In the background, and paid for: the ledger has a row for it. The result is a metric: the cosine of both answers.
"""

import random
from collections.abc import Callable, Coroutine
from dataclasses import replace
from time import perf_counter
from typing import Any

import msgspec

from proxy.config import Upstream
from proxy.config.model import IntentReuse
from proxy.embedding.base import Embedder
from proxy.errors import UpstreamError
from proxy.observe.metrics import Metrics
from proxy.pipeline import assemble
from proxy.pipeline.record import Recorder
from proxy.protocol.answers import first_text, without_disclaimer
from proxy.tasks import Attempts, Tasks
from proxy.types import (
    ChatRequest,
    Delivery,
    Directives,
    Exchange,
    Identity,
    Incoming,
    Plan,
    PromptTokens,
    ReuseHit,
    ReuseMiss,
    StreamedBody,
)
from proxy.upstream import forward
from proxy.upstream.routing import Route

DEADLINE = 10.0  # seconds, for each part that waits for a thread

_object = msgspec.json.Decoder(dict[str, Any])


class Verifier:
    """Verifies the configured share (`verify`) of the answers that were reused by intent."""

    def __init__(
        self,
        config: IntentReuse,
        *,
        embedder: Embedder,
        plan: Callable[[ChatRequest, Identity, Upstream], Coroutine[Any, Any, Plan]],
        recorder: Recorder,
        metrics: Metrics,
        tasks: Tasks,
    ) -> None:
        self._share = config.verify
        self._disclaimers = tuple(config.disclaimer.values())
        self._embedder = embedder
        self._plan = plan
        self._recorder = recorder
        self._metrics = metrics
        self._tasks = tasks

    def sample(self, incoming: Incoming, request: ChatRequest, identity: Identity, hit: ReuseHit, route: Route) -> None:
        """Starts a verification of `hit` in the background, if it is drawn for the sample."""
        if hit.source == "intent" and self._share and random.random() < self._share:  # noqa: S311 (a sample, no secret)
            self._tasks.spawn(self._verify(incoming, request, identity, hit, route), name="verify")

    async def _verify(
        self, incoming: Incoming, request: ChatRequest, identity: Identity, hit: ReuseHit, route: Route
    ) -> None:
        attempts = Attempts(self._metrics.failed_open)
        planning = self._plan(request, identity, route.upstream.config)
        fallback = Plan("untouched", PromptTokens(0, 0))
        planned = await attempts.run("plan", planning, fallback=fallback, deadline=DEADLINE)
        exchange = Exchange(
            replace(incoming, request_id=f"{incoming.request_id}-verify"),
            request,
            identity,
            Directives(mode="off", lookup=False, store=False),  # leaves no trace in the conversation or in memory
            ReuseMiss("verify"),
            planned,
            route.upstream.name,
            perf_counter(),
        )
        delivered: list[Delivery] = []

        def report(delivery: Delivery) -> None:
            delivered.append(delivery)
            self._recorder.delivered(exchange, delivery, attempts)

        try:
            answer = await forward.forward(
                request,
                incoming.headers,
                route,
                lambda upstream: assemble.assemble(request, planned, upstream.config),
                query=incoming.query,
                report=report,
                tasks=self._tasks,
                metrics=self._metrics,
            )
            if not isinstance(answer.body, bytes):
                await _exhaust(answer.body)
        except UpstreamError:
            return  # the ledger and the metrics tell of it
        reused = without_disclaimer(first_text(_object.decode(hit.answer.completion)), self._disclaimers)
        texts = [reused, first_text(_completion(delivered[0]))]
        if all(texts):
            vectors = await attempts.run("verify", self._embedder.embed(texts), fallback=None, deadline=DEADLINE)
            if vectors is not None:
                self._metrics.reuse_agreement.observe(float(vectors[0] @ vectors[1]))


async def _exhaust(body: StreamedBody) -> None:
    try:
        async for _ in body:
            pass
    finally:
        await body.aclose()


def _completion(delivery: Delivery) -> Any:
    if delivery.completion is not None:
        return delivery.completion
    if delivery.raw_completion is None or delivery.status != 200:
        return {}
    try:
        return _object.decode(delivery.raw_completion)
    except (ValueError, RecursionError):
        return {}
