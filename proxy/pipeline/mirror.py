"""The mirrored sample: a managed request is sent once more as it was, and both answers are compared.

It happens in the background, once the client has its answer: with the key that the request came with, which nothing
keeps, to the same upstream, without streaming. It is a request of our own (`own_requests.py`): paid for, a row of the
ledger with `quality` for a reason, and no trace in memory, reuse or sessions. Money is set aside before it is sent;
whatever fails is counted, and that is all.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from proxy.config import price_for
from proxy.config.model import Quality
from proxy.config.upstreams import is_priced
from proxy.embedding import Embedder
from proxy.errors import BreakerOpen, UpstreamError, UpstreamUnreachable
from proxy.pipeline.ledger import cost_of
from proxy.pipeline.outcome import decoded
from proxy.pipeline.own_requests import OwnRequests, UpstreamJudge
from proxy.protocol.answers import find_usage, said_of, sole_text
from proxy.protocol.request import unstreamed
from proxy.quality import choosing, judging
from proxy.quality.comparing import compared
from proxy.storage.base import ForeignWrites, StorageError
from proxy.storage.quality import QualityStore
from proxy.tasks import Offload
from proxy.types import Delivery, Exchange, Incoming, Plan, PromptTokens, Usage
from proxy.types.quality import Comparison, QualityPair, Said
from proxy.upstream.client import Route, Router, Upstream

log = logging.getLogger(__name__)

MOST_UNDER_WAY = 4  # of a process
MOST_BYTES = 4 * 2**20  # of an answer; a longer one is cut off, and not compared
DEADLINE = 10.0  # seconds, for each part that waits for a thread
PAUSE = 60.0  # seconds for which nothing is mirrored once an upstream has refused one for its rate
TOO_MANY = 429
MOST_EMBEDDED = 8_000  # characters of an answer by which its meaning is told
# A provider that was asked with it before would give that answer again.
_ONCE = frozenset({"idempotency-key", "x-idempotency-key"})

Result = Literal["held", "lost"]
HasForgotten = Callable[[str, tuple[bytes, ...]], bool]


@dataclass(frozen=True, slots=True)
class Watch:
    """The counts of a scope's forgetting when a request was mirrored."""

    told: int
    foreign: int


@dataclass(frozen=True, slots=True)
class Answered:
    """The answer to the request as it was."""

    said: Said
    usage: Usage | None
    cost: float  # US dollars


@dataclass(slots=True, eq=False)
class Mirror:
    """Mirrors a share of the managed requests."""

    config: Quality
    requests: OwnRequests
    router: Router
    store: QualityStore
    embedder: Embedder
    executor: Executor
    foreign_writes: ForeignWrites
    has_forgotten: HasForgotten
    keeps_texts: bool
    judge: UpstreamJudge | None = None
    _under_way: int = 0
    _paused_until: dict[str, float] = field(default_factory=dict)  # by upstream

    def sample(self, exchange: Exchange, delivery: Delivery) -> None:
        """Starts a comparison in the background, if this request is drawn for the sample. `exchange`: with the plan
        that was sent."""
        if not choosing.is_candidate(exchange, delivery):
            return
        if not choosing.is_drawn(exchange.identity.scope.id, exchange.identity.chain[-1], self.config.share):
            return
        at = exchange.incoming.received_at
        if self._under_way >= MOST_UNDER_WAY:
            self._skipped("busy")
        elif self._paused_until.get(delivery.upstream, 0.0) > at or not self._is_healthy(delivery.upstream):
            self._skipped("paused")
        elif not is_priced(self.router.named(delivery.upstream).config, exchange.request.model):
            self._skipped("unpriced")
        else:
            self._under_way += 1
            task = self.requests.tasks.spawn(self._mirror(exchange, delivery), name="mirror")
            task.add_done_callback(self._ended)

    def _ended(self, _: object) -> None:
        self._under_way -= 1

    def _is_healthy(self, upstream: str) -> bool:
        return self.router.named(upstream).breaker.state == "closed"

    def _skipped(self, why: choosing.Skipped) -> None:
        self.requests.metrics.of(self.requests.metrics.quality_skipped, why).inc()

    async def _mirror(self, exchange: Exchange, delivery: Delivery) -> None:
        try:
            await self._compare(exchange, delivery)
        except StorageError as error:
            self._skipped("failed")
            log.warning("quality could not be compared", extra={"why": str(error)})

    async def _compare(self, exchange: Exchange, delivery: Delivery) -> None:
        completion = await self._completion(delivery)
        managed = said_of(completion)
        if managed is None or len(managed.text) > choosing.MOST_TEXT:
            return
        watch = await self._watch(exchange)
        usage = delivery.usage or find_usage(completion)
        original = await self._as_it_was(exchange, delivery, managed, usage)
        if original is None:
            return
        similarity = await self._similarity(managed, original.said)
        offload = Offload(self.executor, len(managed.text) + len(original.said.text), inline_bytes=0)
        comparison = await offload(lambda: compared(managed, original.said, similarity))
        comparison, verdict, spent = await self._judged(exchange, managed, original.said, comparison)
        pair = self._pair(exchange, delivery, comparison, original, usage)
        pair = replace(pair, cost=pair.cost + spent)
        if await self._may_keep_texts(exchange, watch):
            question = choosing.question_of(exchange.request.messages)
            pair = replace(
                pair,
                question=question[: choosing.MOST_TEXT],
                managed=_written(managed),
                original=_written(original.said),
                verdict=verdict,
            )
        self.store.put(pair)
        metrics = self.requests.metrics
        result: Result = "held" if comparison.held else "lost"
        metrics.of(metrics.quality_pairs, result, comparison.way).inc()

    async def _completion(self, delivery: Delivery) -> Mapping[str, Any] | None:
        raw = delivery.raw_completion
        if delivery.completion is not None or raw is None:
            return delivery.completion
        return await Offload(self.executor, len(raw))(lambda: decoded(raw))

    async def _as_it_was(
        self, exchange: Exchange, delivery: Delivery, managed: Said, usage: Usage | None
    ) -> Answered | None:
        """Returns the answer to the request as it was; None if there is none, which is counted."""
        upstream = self.router.named(delivery.upstream)
        price = price_for(upstream.config, exchange.request.model)
        most = choosing.most_of(exchange, usage.completion_tokens if usage else 0)
        limit = self.config.max_spend * (choosing.TOOLS_SHARE if managed.calls else 1.0)
        at = exchange.incoming.received_at
        expected = cost_of(Usage(most.prompt, most.completion), price)
        number = await self.store.reserve(expected, at, limit)
        if number is None:
            self._skipped("spent")
            return None
        if (sent := await self._sent(exchange, upstream, number)) is None:
            self._skipped("failed")
            return None
        raw, delivered = sent
        completion = await Offload(self.executor, len(raw))(lambda: decoded(raw))
        told = (delivered[0].usage if delivered else None) or find_usage(completion)
        cost = expected if told is None else cost_of(told, price)
        await self.store.settle(number, cost)
        said = said_of(completion)
        if said is None or len(said.text) > choosing.MOST_TEXT:
            self._skipped("failed")
            return None
        return Answered(said, told, cost)

    async def _sent(
        self, exchange: Exchange, upstream: Upstream, number: int
    ) -> tuple[bytes, Sequence[Delivery]] | None:
        """Returns the body of the answer to the request as it was; None if there is none. `number`: of what was set
        aside for it, which is given back where nothing can have been billed."""
        request = unstreamed(exchange.request)
        tokens = exchange.plan.tokens.original
        plan, attempts = Plan("untouched", PromptTokens(tokens, tokens)), self.requests.attempts()
        incoming = _incoming(exchange.incoming, request.raw)
        try:
            answer, delivered = await self.requests.send(
                "quality",
                incoming,
                request,
                exchange.identity,
                plan,
                Route(upstream.aside()),
                attempts,
                whole=MOST_BYTES,
            )
        except (BreakerOpen, UpstreamUnreachable):
            await self.store.settle(number, 0.0)  # nobody was asked
            return None
        except UpstreamError:  # a timeout may be billed: what was set aside stays so
            return None
        if not isinstance(answer.body, bytes):
            await answer.body.aclose()  # nobody asked for a stream, nor for as much as that
            return None
        if answer.status != 200:  # an error is not billed
            if answer.status == TOO_MANY:
                self._paused_until[upstream.name] = exchange.incoming.received_at + PAUSE
            await self.store.settle(number, 0.0)
            return None
        return answer.body, delivered

    async def _similarity(self, managed: Said, original: Said) -> float | None:
        texts = [managed.text[:MOST_EMBEDDED], original.text[:MOST_EMBEDDED]]
        if not all(text.strip() for text in texts) or self.embedder.state != "ready":
            return None
        if texts[0] == texts[1]:
            return 1.0
        attempts = self.requests.attempts()
        vectors = await attempts.run("quality", self.embedder.embed(texts), fallback=None, deadline=DEADLINE)
        return None if vectors is None else float(vectors[0] @ vectors[1])

    async def _judged(
        self, exchange: Exchange, managed: Said, original: Said, comparison: Comparison
    ) -> tuple[Comparison, str, float]:
        """Returns the comparison as the judge leaves it, its reason, and what it has cost. Tool calls, and what is the
        same to the letter, are not asked about."""
        judge = self.judge
        is_same = " ".join(managed.text.split()) == " ".join(original.text.split())
        if judge is None or managed.calls or original.calls or is_same or not managed.text or not original.text:
            return comparison, "", 0.0
        first = judging.managed_is_first(exchange.incoming.request_id)
        body = judging.question(
            judge.settings, exchange.request.messages, managed.text, original.text, managed_first=first
        )
        expected = judge.most(body)
        number = await self.store.reserve(expected, exchange.incoming.received_at, self.config.max_spend)
        if number is None:
            self._skipped("spent")
            return comparison, "", 0.0
        reply = await judge.ask(exchange.incoming, exchange.identity, body)
        if reply is None:
            return comparison, "", 0.0  # what it cost is not known: all of it stays set aside
        await self.store.settle(number, reply.cost)
        judged = judging.ruling(sole_text(reply.completion), managed_first=first)
        return judging.decided(comparison, judged), judged.reason if judged else "", reply.cost

    def _pair(
        self,
        exchange: Exchange,
        delivery: Delivery,
        comparison: Comparison,
        original: Answered,
        usage: Usage | None,
    ) -> QualityPair:
        identity, price = exchange.identity, self._price(exchange, delivery)
        known = usage is not None and original.usage is not None
        tokens = exchange.plan.tokens
        return QualityPair(
            scope=identity.scope.id,
            request_id=exchange.incoming.request_id,
            session=identity.session,
            at=exchange.incoming.received_at,
            model=exchange.request.model,
            upstream=delivery.upstream,
            comparison=comparison,
            saved=original.cost - cost_of(usage, price) if known and usage is not None else 0.0,
            cost=original.cost,
            tokens_original=original.usage.prompt_tokens if original.usage else tokens.original,
            tokens_sent=usage.prompt_tokens if usage else tokens.sent,
        )

    def _price(self, exchange: Exchange, delivery: Delivery) -> Any:
        return price_for(self.router.named(delivery.upstream).config, exchange.request.model)

    async def _watch(self, exchange: Exchange) -> Watch:
        scope = exchange.identity.scope.id
        return Watch(self.store.forgets(scope), await self.foreign_writes(scope, "facts"))

    async def _may_keep_texts(self, exchange: Exchange, before: Watch) -> bool:
        """Tells whether contents are kept here, and nothing of this person was forgotten since the request was
        mirrored, which an answer could quote."""
        if not self.keeps_texts or self.has_forgotten(exchange.identity.memory, exchange.identity.chain):
            return False
        return await self._watch(exchange) == before


def _incoming(incoming: Incoming, body: bytes) -> Incoming:
    headers = tuple((name, value) for name, value in incoming.headers if name not in _ONCE)
    return replace(incoming, headers=headers, body=body)


def _written(said: Said) -> str:
    """Returns an answer as it is shown: its text, and its tool calls, a line each."""
    calls = [f"{name}({arguments})" for name, arguments in said.calls]
    return "\n".join(part for part in (said.text, *calls) if part)
