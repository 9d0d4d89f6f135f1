"""Recording after the answer: the session's new links, the stored answer, the calibration, the ledger row and its
metrics.

Each part fails on its own, counted and logged; none of it can take the answer from the client.
"""

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter
from typing import Any, TypeVar

import msgspec

from proxy.config import price_for
from proxy.memory import commands
from proxy.memory.learn import Learner
from proxy.memory.obedience import Obedience
from proxy.observe.metrics import Metrics
from proxy.pipeline import ledger as ledger_row
from proxy.pipeline.answered_scopes import AnsweredScopes
from proxy.pipeline.ending_sessions import Ends
from proxy.pipeline.outcome import came_to_nothing, chain_after, failed, has_answered, is_success, read_and_chain
from proxy.protocol.answers import answers_of, generated_text
from proxy.reuse import exact
from proxy.storage.base import StorageError
from proxy.storage.opening import Storage
from proxy.storage.shared import SharedState
from proxy.tasks import Attempts, Offload, Tasks
from proxy.tokens import TokenCounter
from proxy.types import (
    MANAGED_ROUTE,
    UNANSWERED,
    Asked,
    Delivery,
    Exchange,
    LedgerRow,
    Message,
    Price,
    ReuseHit,
    StoredAnswer,
)
from proxy.upstream.client import Router

# JSON above this size is decoded in a worker thread.
INLINE_JSON_BYTES = 256 * 1024
INLINE_TEXT = 4_096  # characters of an answer that are counted on the event loop: half a millisecond
LOOK_AFTER = 1.0  # seconds of a request after which it is looked whether its scope was erased: see `cli/erase.py`
DEADLINE = 10.0  # seconds, for each part that waits for a disk or a thread

T = TypeVar("T")

# Stores an answer for reuse by intent; the last argument is the key under which the exact cache has it, if it does.
Remember = Callable[[Exchange, Asked, StoredAnswer, str | None], Coroutine[Any, Any, None]]

# Stores the contents of a request and its answers, for display.
Keep = Callable[[Exchange, Sequence[Message]], None]

Settle = Callable[[LedgerRow], object]

_object = msgspec.json.Decoder(dict[str, Any])


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Recorder:
    """Records the outcome of requests: answers from an upstream (`delivered`), reused ones (`reused`), and those of the
    system to commands (`commanded`)."""

    answered: AnsweredScopes
    storage: Storage
    shared: SharedState
    counter: TokenCounter
    metrics: Metrics
    router: Router
    remember: Remember
    learner: Learner
    obedience: Obedience
    tasks: Tasks
    executor: Executor
    ttl: float  # seconds for which an answer is kept for identical requests
    settle: Settle = lambda _row: None  # for limits of keys and end users
    keep: Keep | None = None  # None: contents are not kept
    ends: Ends | None = None

    def delivered(self, exchange: Exchange, delivery: Delivery, attempts: Attempts) -> None:
        """Records a delivery, or its failure. The session is updated before the last byte goes to the client, whose
        next request may follow at once; the rest is done in the background."""
        if is_success(delivery) and not self._is_over(exchange):
            self.answered.add(exchange.identity.scope.id)
            self._obey_late(exchange, attempts)
        small = len(delivery.raw_completion or b"") <= INLINE_JSON_BYTES
        if small:
            delivery = attempts.call(
                "record", lambda: self._read_and_remember(exchange, delivery, attempts), fallback=delivery
            )
        total = perf_counter() - exchange.started
        self._spawn(self._finish(exchange, delivery, attempts, total, read=small), "record", attempts)

    def _spawn(self, work: Coroutine[Any, Any, None], name: str, attempts: Attempts) -> None:
        """Starts the record of a request in the background. Its trace waits for that."""
        if (trace := attempts.trace) is not None:
            trace.hold()
            self.tasks.spawn(work, name=name).add_done_callback(lambda _: trace.release())
        else:
            self.tasks.spawn(work, name=name)

    def _obey_late(self, exchange: Exchange, attempts: Attempts) -> None:
        """Carries out an order to forget in the first request of a scope, of which only now something could be kept:
        the order itself."""
        identity, at = exchange.identity, exchange.incoming.received_at
        if identity.is_answered or exchange.miss.reason != "command" or "identify" in attempts.failed:
            return
        order = attempts.call("obey", lambda: commands.ordered(exchange.request, identity, at), fallback=None)
        if order is not None:
            self.obedience.begin(identity.memory, order)

    async def _finish(
        self, exchange: Exchange, delivery: Delivery, attempts: Attempts, total: float, *, read: bool
    ) -> None:
        answer: StoredAnswer | None = None
        key, lead, asked = exchange.miss.key, exchange.miss.lead, exchange.miss.asked
        try:
            await self._look(exchange)
            if not read:
                reading = self._in_thread(lambda: read_and_chain(exchange, delivery))
                delivery, chain = await attempts.run("record", reading, fallback=(delivery, ()), deadline=DEADLINE)
                attempts.call("record", lambda: self._remember(exchange, delivery, chain, attempts), fallback=None)
            # The answer of a fallback is not stored as this upstream's.
            if (key is not None or asked is not None) and delivery.upstream == exchange.upstream:
                answer = exact.storable(delivery, exchange.incoming.received_at)
            if key is not None and answer is not None:
                self.shared.flights.share(key, lead, answer)
                if not self._is_over(exchange):
                    put = self.storage.answers.put(exchange.identity.scope.id, key, answer, self.ttl)
                    await attempts.run("store", put, fallback=None, deadline=DEADLINE)
        finally:
            # Requests that wait for this answer are released in any case.
            if key is not None:
                self._land(key, lead, delivery, answer)
        if asked is not None and answer is not None and exchange.directives.store and not self._is_over(exchange):
            remembering = self.remember(exchange, asked, answer, key)
            await attempts.run("remember", remembering, fallback=None, deadline=DEADLINE)
        generated = 0
        if delivery.usage is None and (text := generated_text(delivery.completion or delivery.partial)):
            count = Offload(self.executor, len(text), inline_bytes=INLINE_TEXT)
            counting = count(lambda: self.counter.text(text))
            generated = await attempts.run("count", counting, fallback=0, deadline=DEADLINE)
        row = partial(self._row, exchange, delivery, generated, attempts, total)
        attempts.call("ledger", lambda: self._write(row(), attempts, delivery), fallback=None)
        if (keep := self.keep) is not None and has_answered(exchange, delivery) and not self._is_over(exchange):
            said = delivery.completion or delivery.partial
            attempts.call("contents", lambda: keep(exchange, answers_of(said)), fallback=None)
        if has_answered(exchange, delivery):
            self._heard(exchange)

    def _land(self, key: str, lead: int | None, delivery: Delivery, answer: StoredAnswer | None) -> None:
        if delivery.outcome == "client_gone":
            self.shared.flights.abandon(key, lead)
        elif answer is None and came_to_nothing(delivery):
            self.shared.flights.fail(key, lead, failed(delivery).answer())
        else:
            self.shared.flights.land(key, lead, answer)

    def reused(self, exchange: Exchange, hit: ReuseHit, attempts: Attempts) -> None:
        """Records a request that a stored answer served; no upstream saw it."""
        total = perf_counter() - exchange.started
        self._spawn(self._finish_reused(exchange, hit, attempts, total), "record reuse", attempts)

    async def _finish_reused(self, exchange: Exchange, hit: ReuseHit, attempts: Attempts, total: float) -> None:
        packed = hit.answer.completion
        is_over = self._is_over(exchange)
        # A regenerated request that got the same answer has its links already.
        if not is_over and (hit.source != "exact" or exchange.identity.continuity != "regenerated"):
            chaining = Offload(self.executor, len(packed))(lambda: chain_after(exchange, _object.decode(packed)))
            chain = await attempts.run("record", chaining, fallback=(), deadline=DEADLINE)
            attempts.call("record", lambda: self._note(exchange, chain), fallback=None)
            answers = answers_of(_object.decode(packed))
            attempts.call("record", lambda: self.learner.delivered(exchange, chain, answers, attempts), fallback=None)
        price = self._price(hit.answer.upstream, exchange.request.model)
        row = ledger_row.reused(exchange, hit, price, attempts, total)
        attempts.call("ledger", lambda: self._write(row, attempts), fallback=None)
        if (keep := self.keep) is not None and not is_over:
            attempts.call("contents", lambda: keep(exchange, answers_of(_object.decode(packed))), fallback=None)
        self._heard(exchange)

    def commanded(self, exchange: Exchange, completion: bytes, attempts: Attempts, *, clears: bool) -> None:
        """Records a command that the system has answered; no upstream saw it, and nothing is learnt from it. The
        session is updated at once. `clears`: its conversation ends with it."""
        total = perf_counter() - exchange.started
        # While nothing can be looked up, nobody knows whether an upstream has answered this scope.
        is_known = exchange.identity.is_answered and "identify" not in attempts.failed
        if is_known and not self._is_over(exchange):
            answered = _object.decode(completion)
            attempts.call("record", lambda: self._note(exchange, chain_after(exchange, answered)), fallback=None)
        row = ledger_row.commanded(exchange, attempts, total)
        if not is_known:
            row = replace(row, scope=UNANSWERED, session=UNANSWERED)
        attempts.call("ledger", lambda: self._write(row, attempts), fallback=None)
        if not is_known or self._is_over(exchange):
            return
        if (keep := self.keep) is not None:
            attempts.call("contents", lambda: keep(exchange, answers_of(answered)), fallback=None)
        self._heard(exchange, clears=clears)

    def _heard(self, exchange: Exchange, *, clears: bool = False) -> None:
        """Tells of a request, and whether its conversation ends with it."""
        ends, identity = self.ends, exchange.identity
        if ends is None or exchange.directives.mode == "off" or self._is_over(exchange):
            return
        if clears:
            ends.end(identity.memory, identity.session, "clear")
            return
        ends.heard(identity.memory, identity.session)
        if exchange.directives.ends:
            ends.end(identity.memory, identity.session, "header")

    def _is_over(self, exchange: Exchange) -> bool:
        """Tells whether this end user was erased since the request began: then nothing is kept of it but its sums."""
        return self.storage.database.erasures.is_over(exchange.identity.scope.id)

    async def _look(self, exchange: Exchange) -> None:
        """Looks whether that is so, after a request that took a while."""
        if perf_counter() - exchange.started > LOOK_AFTER:
            with contextlib.suppress(StorageError):
                await self.storage.database.foreign_writes(exchange.identity.scope.id, "facts")

    def _write(self, row: LedgerRow, attempts: Attempts, delivery: Delivery | None = None) -> None:
        if self.storage.database.erasures.is_over(row.scope):
            row = replace(row, scope=UNANSWERED, session=UNANSWERED)
        self.storage.ledger.append(row)
        self.settle(row)
        if row.route == MANAGED_ROUTE:
            self.metrics.recorded(row)
        else:
            self.metrics.passed_through(row)
        if attempts.trace is not None:
            attempts.trace.accounted(row, delivery)

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self.executor, work)

    def _read_and_remember(self, exchange: Exchange, delivery: Delivery, attempts: Attempts) -> Delivery:
        delivery, chain = read_and_chain(exchange, delivery)
        self._remember(exchange, delivery, chain, attempts)
        return delivery

    def _remember(self, exchange: Exchange, delivery: Delivery, chain: tuple[bytes, ...], attempts: Attempts) -> None:
        if self._is_over(exchange):
            return
        answers = answers_of(delivery.completion)
        self.learner.delivered(exchange, chain, answers if len(answers) == 1 else (), attempts)
        self._note(exchange, chain)  # last: the session's hot context has the state that was kept just now

    def _note(self, exchange: Exchange, chain: tuple[bytes, ...]) -> None:
        """Queues the session's links. On the event loop only, to which the storage's queue belongs."""
        if chain:
            identity, at = exchange.own or exchange.identity, exchange.incoming.received_at
            whole = (*identity.chain, *chain[len(exchange.identity.chain) :])
            self.storage.sessions.remember(identity.scope.id, identity.session, whole, identity.known, at)

    def _row(
        self, exchange: Exchange, delivery: Delivery, generated: int, attempts: Attempts, total: float
    ) -> LedgerRow:
        plan = exchange.plan
        # Only the first of several rounds was sent the prompt that was counted, and nothing else.
        asked, usage = delivery.upstream, delivery.usage
        if delivery.rounds:
            asked, usage = delivery.rounds[0].upstream, delivery.rounds[0].usage
        if usage is not None:
            whose, measured = (asked, exchange.request.model), usage.prompt_tokens
            self.shared.calibrations.rough.observe(*whose, counted=plan.tokens.rough, measured=measured)
            self.shared.calibrations.exact.observe(*whose, counted=plan.tokens.counted, measured=measured)
            # A fallback has not seen what the prompt begins with.
            seen = plan.tokens.expected if asked == exchange.upstream else 0
            self.shared.calibrations.caches.observe(*whose, usage, repeated=seen)
        price = self._price(delivery.upstream, exchange.request.model)
        row = ledger_row.forwarded(
            exchange, delivery, generated, price, attempts, total, self._spent(exchange, delivery)
        )
        if has_answered(exchange, delivery):
            return row
        return replace(row, scope=self.answered.before(row.scope), session=UNANSWERED)

    def _spent(self, exchange: Exchange, delivery: Delivery) -> float | None:
        """Returns the dollars of several rounds; None if there was one, or nobody knows."""
        told = [each for each in delivery.rounds if each.usage is not None]
        model = exchange.request.model
        costs = [ledger_row.cost_of(each.usage, self._price(each.upstream, model)) for each in told if each.usage]
        return sum(costs) if costs else None

    def _price(self, upstream: str, model: str) -> Price:
        return price_for(self.router.named(upstream).config, model)
