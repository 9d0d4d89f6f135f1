"""The answer to this very request, if it may be reused: deterministic, cacheable, complete, in the same scope."""

import asyncio
import itertools
from dataclasses import dataclass

import msgspec

from proxy.config.model import ExactReuse
from proxy.offload import Offload
from proxy.reuse.cacheable import listed_reason
from proxy.reuse.key import exact_key, is_deterministic
from proxy.storage.base import AnswerCache
from proxy.types import Answer, ChatRequest, Delivery, Directives, Headers, Identity, ReuseHit, ReuseMiss, StoredAnswer
from proxy.wire import replay
from proxy.wire.answers import is_finished


async def lookup(
    request: ChatRequest,
    identity: Identity,
    directives: Directives,
    *,
    upstream: str,
    config: ExactReuse,
    cache: AnswerCache,
    now: float,
    offload: Offload,
) -> ReuseHit | ReuseMiss:
    """A hit, or the reason why not. A miss carries the key only if the answer to this request may be stored."""
    if not config.enabled:
        return ReuseMiss("disabled")
    if not directives.lookup and not directives.store:
        return ReuseMiss("client_off")
    if not (directives.opted_in or is_deterministic(request, config.when)):
        return ReuseMiss("not_deterministic")
    if (reason := await offload(lambda: listed_reason(request))) is not None:
        return ReuseMiss(reason)
    key = await offload(lambda: exact_key(identity.scope.id, upstream, request))
    storable = key if directives.store else None
    if not directives.lookup:
        # Gone at once: the new answer is stored after it has been delivered, and a request may follow before that.
        await cache.delete(identity.scope.id, key)
        return ReuseMiss("refresh", storable)
    answer = await cache.get(identity.scope.id, key, now)
    if answer is None:
        return ReuseMiss("absent", storable)
    return ReuseHit("exact", key, answer)


# Headers by which a client tells the upstream, or a gateway in front of it, how to answer.
_STEERING = ("openai-", "anthropic-", "x-portkey-", "x-goog-", "helicone-", "x-llm-", "x-model-", "x-provider-")


def addressee(upstream: str, query: str, headers: Headers) -> str:
    """Who is asked, besides what: upstream, query and steering headers are part of the key."""
    steering = sorted(f"{name}: {value}" for name, value in headers if name.startswith(_STEERING))
    return "\n".join([f"{upstream}?{query}" if query else upstream, *steering])


def replayed(hit: ReuseHit, request: ChatRequest, now: float) -> Answer:
    """The stored answer in the form this request asks for: JSON or SSE, whatever form it came in."""
    age: Headers = (("age", str(max(0, int(now - hit.answer.created_at)))),)
    if request.stream:
        events = replay.as_sse(hit.answer.completion, include_usage=request.wants_usage_chunk)
        headers = (("content-type", "text/event-stream; charset=utf-8"), ("cache-control", "no-cache"), *age)
        return Answer(200, headers, b"".join(events), source=hit.source)
    headers = (("content-type", "application/json"), *age)
    return Answer(200, headers, hit.answer.completion, source=hit.source)


def storable(delivery: Delivery, now: float) -> StoredAnswer | None:
    """What may be remembered of a delivery: a complete answer, finished as the model meant to. It is replayed as a 200,
    so it must have been one."""
    if delivery.outcome != "complete" or delivery.status != 200 or delivery.completion is None:
        return None
    if not is_finished(delivery.completion):
        return None
    body = delivery.raw_completion or msgspec.json.encode(delivery.completion)
    return StoredAnswer(body, now, delivery.upstream, delivery.model, delivery.streamed, delivery.usage)


@dataclass(frozen=True, slots=True)
class _HandedOver:
    """A flight that came to nothing: one of those who wait leads next."""

    failures: int  # of its leaders in a row


@dataclass(frozen=True, slots=True)
class _Flight:
    lead: int
    failures: int  # of the leaders before this one, in a row
    brought: "asyncio.Future[StoredAnswer | Answer | _HandedOver | None]"


class Flights:
    """Concurrent identical requests share one upstream call: the first leads, the others wait for what it brings.

    Whoever leads must `land` its key, under the number it was given. If it failed, or its client left, one of those
    waiting leads next while the others go on waiting; after `MOST_FAILURES` in a row they are all told what the last
    one was told. So a failing upstream sees a few of them, one after the other, and not all at once.
    """

    MOST_FAILURES = 2

    def __init__(self) -> None:
        self._under_way: dict[str, _Flight] = {}
        self._numbers = itertools.count(1)
        self.landed = 0  # how many have brought an answer; whoever sees it change may have looked it up too early

    def __len__(self) -> int:
        return len(self._under_way)

    async def lead_or_wait(self, key: str, seconds: float) -> int | StoredAnswer | Answer | None:
        """A number: you lead, and land under it. Otherwise what the leader brought: its answer; an error, as the client
        is told it; or None: go upstream on your own, which is also what happens after `seconds` in all: a leader may
        have a client that does not read."""
        loop = asyncio.get_running_loop()
        deadline, failures = loop.time() + seconds, 0
        while (flight := self._under_way.get(key)) is not None:
            done, _ = await asyncio.wait({flight.brought}, timeout=max(0.0, deadline - loop.time()))
            if not done:
                return None
            brought = flight.brought.result()
            if not isinstance(brought, _HandedOver):
                return brought
            failures = brought.failures
        lead = next(self._numbers)
        self._under_way[key] = _Flight(lead, failures, loop.create_future())
        return lead

    def share(self, key: str, lead: int | None, answer: StoredAnswer) -> None:
        """The answer is here, but not in the store yet: give it to those who wait, and to those who come until it has
        landed, for a disk may be slow."""
        flight = self._under_way.get(key)
        if flight is not None and flight.lead == lead and not flight.brought.done():
            flight.brought.set_result(answer)

    def land(self, key: str, lead: int | None, answer: StoredAnswer | None) -> None:
        """The answer; None: there is nothing to share, and each goes on its own."""
        self.landed += answer is not None
        if (flight := self._take(key, lead)) is not None:
            flight.brought.set_result(answer)

    def abandon(self, key: str, lead: int | None) -> None:
        """The leader's client left: nobody knows yet what the answer would have been."""
        if (flight := self._take(key, lead)) is not None:
            flight.brought.set_result(_HandedOver(flight.failures))

    def fail(self, key: str, lead: int | None, told: Answer) -> None:
        """The upstream refused, broke off or was not there. `told`: what a client to which nothing has gone yet is told
        of it."""
        if (flight := self._take(key, lead)) is not None:
            failures = flight.failures + 1
            is_over = failures >= self.MOST_FAILURES
            flight.brought.set_result(told if is_over else _HandedOver(failures))

    def _take(self, key: str, lead: int | None) -> _Flight | None:
        """The flight with this number, unless it has landed before."""
        flight = self._under_way.get(key)
        if flight is None or flight.lead != lead:
            return None
        del self._under_way[key]
        return None if flight.brought.done() else flight
