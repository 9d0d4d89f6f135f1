"""The upstream calls of one answer whose tools the proxy may run: their prompts, their accounts, their report.

Each round is a request of its own, with retries, fallback and breaker as any. A later one begins at the upstream that
gave the round before. However many there were, the recorder gets one delivery: the client's answer, the sum of all
usages.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from typing import Any

import msgspec

from proxy.config import price_for
from proxy.context import layout
from proxy.pipeline import RequestContext
from proxy.pipeline.ledger import cost_of
from proxy.protocol import headers as wire_headers
from proxy.protocol.answers import find_usage
from proxy.protocol.apis import as_completion
from proxy.protocol.dialects import DIALECTS, violations
from proxy.protocol.spliced import followed
from proxy.tasks import Offload
from proxy.types import Answer, ApiName, Delivery, Exchange, Message, Outcome, Prompt, Round, Usage
from proxy.upstream import forward
from proxy.upstream.client import Route, Upstream

FOLLOW_DEADLINE = 2.0  # seconds to write and check the messages of a further round

_object = msgspec.json.Decoder(dict[str, Any])


@dataclass(slots=True, eq=False)
class Rounds:
    """The rounds of one answer."""

    context: RequestContext
    exchange: Exchange
    deliveries: list[Delivery] = field(default_factory=list)  # of each round, in their order
    is_own: bool = False  # the newest round is the client's own request
    api: ApiName = "chat"  # in which the first round was answered
    _asked: int = 0
    _read: dict[int, Usage | None] = field(default_factory=dict)  # usage of rounds whose bodies were read at once
    _made: dict[str, Prompt] = field(default_factory=dict)  # of the first round, by upstream
    _own: dict[str, Prompt] = field(default_factory=dict)  # of the client's own request, the same
    _is_reported: bool = False
    _is_passed_on: bool = False

    async def ask(self, more: Sequence[Message] = ()) -> Answer | None:
        """Asks for a round: the planned prompt, with `more` behind it. Returns its answer; None if no upstream would
        take these messages. Raises UpstreamError."""
        if not more:
            answer = await self._ask(self.context.route, self._prompt)
            self.api = answer.api
            return answer
        attempts, offload = self.context.attempts, self.context.offload
        work = offload(lambda: self._followed(more))
        prompts = await attempts.run("tools", work, fallback={}, deadline=FOLLOW_DEADLINE)
        able = [upstream for upstream in self._candidates if upstream.name in prompts]
        if not able:
            return None
        return await self._ask(Route(able[0], tuple(able[1:])), lambda upstream: prompts[upstream.name])

    async def ask_own(self) -> Answer:
        """Asks without tools of ours: with the planned messages, unless the upstream has refused just these; then with
        the client's own. Raises UpstreamError."""
        self.is_own = True
        candidates = self._candidates or self.context.route.candidates
        return await self._ask(Route(candidates[0], tuple(candidates[1:])), self._own_prompt)

    @property
    def spent(self) -> float:
        """US dollars that the rounds have cost so far, as far as upstreams have reported their usage."""
        return sum(cost_of(each.usage, self._price(each)) for each in self.told if each.usage is not None)

    @property
    def told(self) -> tuple[Round, ...]:
        """The accounts of the rounds so far."""
        return tuple(Round(each.upstream, self._read.get(at, each.usage)) for at, each in enumerate(self.deliveries))

    @property
    def sent(self) -> Exchange:
        """The request with what was sent of the plan."""
        prompts = self._own if self.is_own else self._made
        asked = self.deliveries[-1].upstream if len(self.deliveries) == self._asked else ""
        prompt = prompts.get(asked) or next(reversed(prompts.values()), None)
        plan = self.exchange.plan if prompt is None else prompt.plan
        return self.exchange if plan is self.exchange.plan else replace(self.exchange, plan=plan)

    def accepts(self, messages: Sequence[Message]) -> bool:
        """Tells whether the newest round's upstream would accept these messages behind the prompt."""
        newest = self.deliveries[-1].upstream
        return any(each.name == newest and self._is_valid(each, messages) for each in self.context.route.candidates)

    async def read_usage(self, body: bytes) -> None:
        """Reads the usage of the newest round, whose body was read at once."""
        offload, api = Offload(self.context.services.executor, len(body)), self.api
        self._read[len(self.deliveries) - 1] = await offload(lambda: _usage_in(api, body))

    async def pass_on(self, answer: Answer) -> Answer:
        """Returns the newest answer as it is. Its delivery is the answer's."""
        self._is_passed_on = True
        if len(self.deliveries) == self._asked:
            if isinstance(answer.body, bytes) and len(self.deliveries) > 1:
                await self.read_usage(answer.body)
            self.report(self.deliveries[-1].outcome)
        return answer

    def report(self, outcome: Outcome, **told: Any) -> None:
        """Reports the delivery of the answer, once. `told`: fields in place of the newest round's."""
        if self._is_reported or not self.deliveries:
            return
        self._is_reported = True
        delivery = replace(self.deliveries[-1], outcome=outcome, **told)
        if len(self.deliveries) > 1:
            usages = [each.usage for each in self.told if each.usage is not None]
            delivery = replace(
                delivery,
                usage=reduce(_sum, usages) if usages else None,
                rounds=self.told,
                retries=sum(each.retries for each in self.deliveries),
                upstream_seconds=sum(each.upstream_seconds for each in self.deliveries),
                first_byte_seconds=self.deliveries[0].first_byte_seconds,
            )
        services = self.context.services
        services.recorder.delivered(self.sent, delivery, self.context.attempts)
        if services.mirror is not None:
            services.mirror.sample(self.sent, delivery)

    @property
    def _candidates(self) -> tuple[Upstream, ...]:
        """The upstream that gave the newest round, and those behind it."""
        candidates = self.context.route.candidates
        newest = self.deliveries[-1].upstream if self.deliveries else ""
        return next((candidates[at:] for at, each in enumerate(candidates) if each.name == newest), candidates)

    async def _ask(self, route: Route, prompt_for: Callable[[Upstream], Prompt]) -> Answer:
        incoming, request = self.context.incoming, self.exchange.request
        self._asked += 1
        return await forward.forward(
            request,
            incoming.headers,
            route,
            prompt_for,
            query=incoming.query,
            report=self._delivered,
            metrics=self.context.services.metrics,
        )

    def _delivered(self, delivery: Delivery) -> None:
        self.deliveries.append(delivery)
        if self._is_passed_on:
            self.report(delivery.outcome)

    def _prompt(self, upstream: Upstream) -> Prompt:
        if upstream.name not in self._made:
            request, plan = self.exchange.request, self.exchange.plan
            unmade = Prompt(request.raw, layout.original(plan, "stage=assemble"))
            work = partial(layout.assemble, request, plan, upstream.config)
            self._made[upstream.name] = self.context.attempts.call("assemble", work, fallback=unmade)
        return self._made[upstream.name]

    def _own_prompt(self, upstream: Upstream) -> Prompt:
        if upstream.name not in self._own:
            was_taken = bool(self.deliveries) and 200 <= self.deliveries[0].status < 300
            without = layout.without_schemas if was_taken else layout.original
            request, plan = self.exchange.request, without(self.exchange.plan, "stage=tools")
            limited = self.context.services.limiter.is_counted(self.exchange.incoming.request_id)
            work = partial(layout.assemble, request, plan, upstream.config, is_limited=limited)
            made = self.context.attempts.call("assemble", work, fallback=Prompt(request.raw, plan))
            self._own[upstream.name] = made
        return self._own[upstream.name]

    def _followed(self, more: Sequence[Message]) -> Mapping[str, Prompt]:
        """Returns the prompts of a further round, for the upstreams that would take them."""
        able = [upstream for upstream in self._candidates if self._is_valid(upstream, more)]
        return {each.name: replace(made := self._prompt(each), body=followed(made, more)) for each in able}

    def _is_valid(self, upstream: Upstream, more: Sequence[Message]) -> bool:
        request, plan = self.exchange.request, self._prompt(upstream).plan
        messages = (*(plan.messages or request.messages), *more)
        tools = len(plan.tools if plan.messages is not None and plan.tools is not None else request.tools)
        return not violations(messages, DIALECTS[upstream.config.dialect], tools)

    def _price(self, told: Round) -> Any:
        return price_for(self.context.services.router.named(told.upstream).config, self.exchange.request.model)


def is_readable(answer: Answer) -> bool:
    """Tells whether an answer can be read for calls: it is whole, or a stream of events without a content coding."""
    is_known = isinstance(answer.body, bytes) or wire_headers.is_event_stream(answer.headers)
    return is_known and wire_headers.coding(answer.headers) == "identity"


async def close(answer: Answer | None) -> None:
    """Closes an answer, whatever is left of it."""
    if answer is not None and not isinstance(answer.body, bytes):
        await answer.body.aclose()


def _usage_in(api: ApiName, body: bytes) -> Usage | None:
    try:
        return find_usage(_object.decode(as_completion(api, body) or body))
    except (ValueError, RecursionError):
        return None


def _sum(first: Usage, second: Usage) -> Usage:
    written = (
        None
        if first.written_tokens is None or second.written_tokens is None
        else first.written_tokens + second.written_tokens
    )
    return Usage(
        first.prompt_tokens + second.prompt_tokens,
        first.completion_tokens + second.completion_tokens,
        first.cached_tokens + second.cached_tokens,
        first.reasoning_tokens + second.reasoning_tokens,
        written,
        first.reports_none_cached and second.reports_none_cached,
        first.written_for_an_hour + second.written_for_an_hour,
    )
