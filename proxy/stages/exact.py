"""The answer to this very request, if it may be reused: deterministic, cacheable, complete, in the same scope."""

import asyncio
from collections.abc import Mapping
from typing import Any

import msgspec

from proxy.config.model import ExactReuse
from proxy.offload import Offload
from proxy.reuse.cacheable import listed_reason
from proxy.reuse.key import exact_key, is_deterministic
from proxy.storage.base import AnswerCache
from proxy.types import Answer, ChatRequest, Delivery, Directives, Headers, Identity, ReuseHit, ReuseMiss, StoredAnswer
from proxy.wire import replay


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
    if not _finished(delivery.completion):
        return None
    body = delivery.raw_completion or msgspec.json.encode(delivery.completion)
    return StoredAnswer(body, now, delivery.upstream, delivery.model, delivery.streamed, delivery.usage)


def _finished(completion: Mapping[str, Any]) -> bool:
    """Every choice ended by itself or at the limit the client set, with no error told in between; a content filter's
    verdict may change tomorrow."""
    choices = completion.get("choices")
    if not isinstance(choices, list) or not choices or completion.get("error"):
        return False
    return all(
        isinstance(c, dict) and c.get("finish_reason") in ("stop", "length", "tool_calls") and not c.get("error")
        for c in choices
    )


class Flights:
    """Concurrent identical requests share one upstream call: the first leads, the others wait for what it brings.

    Whoever leads must `land` its key, with the answer, or with None when there is nothing to share. If the leader's
    client left, nobody knows yet what the answer would have been: one of those waiting leads next.
    """

    ABANDONED = object()

    def __init__(self) -> None:
        self._under_way: dict[str, asyncio.Future[StoredAnswer | object | None]] = {}
        self.landed = 0  # how many have brought an answer; whoever sees it change may have looked it up too early

    def __len__(self) -> int:
        return len(self._under_way)

    async def lead_or_wait(self, key: str, seconds: float) -> StoredAnswer | bool | None:
        """True: you lead. Otherwise the leader's answer, or None: go upstream on your own, which is also what happens
        after `seconds`: a leader may have a client that does not read."""
        while (flight := self._under_way.get(key)) is not None:
            done, _ = await asyncio.wait({flight}, timeout=seconds)
            if not done:
                return None
            brought = flight.result()
            if isinstance(brought, StoredAnswer):
                return brought
            if brought is None:
                return None
        self._under_way[key] = asyncio.get_running_loop().create_future()
        return True

    def share(self, key: str, answer: StoredAnswer) -> None:
        """The answer is here, but not in the store yet: give it to those who wait, and to those who come until it has
        landed, for a disk may be slow."""
        flight = self._under_way.get(key)
        if flight is not None and not flight.done():
            flight.set_result(answer)

    def land(self, key: str, answer: StoredAnswer | None, *, abandoned: bool = False) -> None:
        flight = self._under_way.pop(key, None)
        self.landed += answer is not None
        if flight is not None and not flight.done():
            flight.set_result(self.ABANDONED if abandoned else answer)
