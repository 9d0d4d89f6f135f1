"""Asks the upstream that the configuration names as the judge of reuse. The ledger has a row for every question, in the
scope and session of the request that it is about, with `judge` for a reason."""

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import replace
from time import perf_counter
from typing import Any

import msgspec

from proxy.config import Upstream, price_for
from proxy.config.model import Judge
from proxy.errors import UpstreamError
from proxy.observe.metrics import Metrics
from proxy.pipeline import assemble
from proxy.pipeline.ledger import cost_of
from proxy.pipeline.record import Recorder
from proxy.protocol import turns
from proxy.protocol.answers import find_usage
from proxy.protocol.request import parse
from proxy.reuse.judging import MOST_ANSWER, Reply
from proxy.tasks import Attempts, Tasks
from proxy.types import ChatRequest, Delivery, Directives, Exchange, Identity, Incoming, Json, Plan, ReuseMiss, Usage
from proxy.upstream import forward
from proxy.upstream.routing import Route, Router

DEADLINE = 30.0  # seconds
HEADERS = (("content-type", "application/json"),)  # and none of the client's

_object = msgspec.json.Decoder(dict[str, Any])


class UpstreamJudge:
    """A `JudgeModel` behind an upstream, without its fallbacks."""

    def __init__(
        self,
        config: Judge,
        *,
        plan: Callable[[ChatRequest, Identity, Upstream], Coroutine[Any, Any, Plan]],
        recorder: Recorder,
        router: Router,
        metrics: Metrics,
        tasks: Tasks,
    ) -> None:
        upstream = router.named(config.upstream)
        # OpenAI's newer models know no `max_tokens`, and none but their own temperature.
        limit = "max_completion_tokens" if upstream.config.dialect == "openai" else "max_tokens"
        self.settings: Mapping[str, Json] = {"model": config.model, limit: MOST_ANSWER}
        self._route = Route(upstream)
        self._price = price_for(upstream.config, config.model)
        self._plan = plan
        self._recorder = recorder
        self._metrics = metrics
        self._tasks = tasks

    def most(self, body: bytes) -> float:
        """As for a `JudgeModel`: no text has more tokens than bytes."""
        return cost_of(Usage(len(body), MOST_ANSWER), self._price)

    async def ask(self, incoming: Incoming, identity: Identity, body: bytes) -> Reply | None:
        """As for a `JudgeModel`."""
        attempts = Attempts(self._metrics.failed_open)
        asking = self._ask(incoming, identity, body, attempts)
        try:
            return await attempts.run("judge", asking, fallback=None, deadline=DEADLINE)
        except UpstreamError:
            return None  # the ledger and the metrics tell of it

    async def _ask(self, incoming: Incoming, identity: Identity, body: bytes, attempts: Attempts) -> Reply | None:
        request = parse(body)
        upstream = self._route.upstream
        identity = replace(identity, chain=turns.chain(identity.scope.id, request.messages))
        planned = await self._plan(request, identity, upstream.config)
        exchange = Exchange(
            replace(incoming, request_id=f"{incoming.request_id}-judge", headers=HEADERS, body=body, query=""),
            request,
            identity,
            Directives(mode="off", lookup=False, store=False, remember=False),  # leaves no trace but its row
            ReuseMiss("judge"),
            planned,
            upstream.name,
            perf_counter(),
        )
        delivered: list[Delivery] = []

        def report(delivery: Delivery) -> None:
            delivered.append(delivery)
            self._recorder.delivered(exchange, delivery, attempts)

        answer = await forward.forward(
            request,
            HEADERS,
            self._route,
            lambda asked: assemble.assemble(request, planned, asked.config),
            report=report,
            tasks=self._tasks,
            metrics=self._metrics,
        )
        if not isinstance(answer.body, bytes):
            await answer.body.aclose()  # nobody asked for a stream, nor for as much as that
            return None
        if answer.status != 200:
            return None
        completion = _decoded(answer.body)
        usage = find_usage(completion)
        return Reply(completion, self.most(body) if usage is None else cost_of(usage, self._price))


def _decoded(body: bytes) -> dict[str, Any]:
    try:
        return _object.decode(body)
    except (ValueError, RecursionError):
        return {}
