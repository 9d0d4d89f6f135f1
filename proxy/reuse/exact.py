"""The answer to this very request, if it may be reused: deterministic, cacheable, complete, in the same scope.

Two requests have the same key only if the upstream would be asked the same thing. What of a request that is,
`proxy/protocol/chat.py` knows.
"""

from hashlib import sha256
from typing import Any, Literal

import msgspec

from proxy.config.reuse import ExactReuse
from proxy.protocol import sse
from proxy.protocol.answers import is_finished
from proxy.protocol.chat import canonical
from proxy.reuse.cacheable import listed_reason
from proxy.storage.base import AnswerCache
from proxy.tasks import Offload
from proxy.types import (
    Answer,
    ChatRequest,
    Delivery,
    Directives,
    Headers,
    Identity,
    ReuseHit,
    ReuseMiss,
    Source,
    StoredAnswer,
)

LARGE = 64 * 1024  # bytes

When = Literal["deterministic", "always"]

_encode = msgspec.json.Encoder(order="deterministic").encode

# Headers by which a client tells the upstream, or a gateway in front of it, how to answer.
_STEERING = ("openai-", "anthropic-", "x-portkey-", "x-goog-", "helicone-", "x-llm-", "x-model-", "x-provider-")


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


def replayed(hit: ReuseHit, request: ChatRequest, now: float) -> Answer:
    """The stored answer in the form this request asks for: JSON or SSE, whatever form it came in."""
    age: Headers = (("age", str(max(0, int(now - hit.answer.created_at)))),)
    return told(hit.answer.completion, request, hit.source, age)


def told(completion: bytes, request: ChatRequest, source: Source, more: Headers = ()) -> Answer:
    """Returns a whole `chat.completion` in the form that a request asks for. `more`: headers besides its own."""
    if request.stream:
        events = sse.as_sse(completion, include_usage=request.wants_usage_chunk)
        headers = (("content-type", "text/event-stream; charset=utf-8"), ("cache-control", "no-cache"), *more)
        return Answer(200, headers, b"".join(events), source=source)
    return Answer(200, (("content-type", "application/json"), *more), completion, source=source)


def storable(delivery: Delivery, now: float) -> StoredAnswer | None:
    """Returns the answer of a delivery that may be remembered: a complete one, finished as the model meant to. It is
    replayed as a 200, so it must have been one."""
    if delivery.outcome != "complete" or delivery.status != 200 or delivery.completion is None:
        return None
    if not is_finished(delivery.completion):
        return None
    body = delivery.raw_completion or msgspec.json.encode(delivery.completion)
    return StoredAnswer(body, now, delivery.upstream, delivery.model, delivery.streamed, delivery.usage)


# --- the key ----------------------------------------------------------------------------------------------------------


def exact_key(scope_id: str, upstream: str, request: ChatRequest) -> str:
    """64 hex digits, the same for two requests of a scope and upstream exactly if they differ only in spelling or in
    fields that do not reach the model."""
    form, is_ambiguous = canonical(request)
    digest = sha256(_encode(("olvido exact 1", scope_id, upstream)))
    _update(digest, form)
    if is_ambiguous:  # then it is only ever equal to itself
        _update(digest, request.raw)
    return digest.hexdigest()


def _update(digest: Any, data: bytes) -> None:
    """For more than 2,047 bytes at once hashlib lets go of the GIL, and in a busy server waits longer to get it back
    than it hashes. Megabytes are hashed in a worker thread, and shall let go of it."""
    step = 2047 if len(data) <= LARGE else len(data)
    for start in range(0, len(data), step):
        digest.update(data[start : start + step])


def is_deterministic(request: ChatRequest, when: When) -> bool:
    """Tells whether the client expects the same answer to the same request. `always`: it is configured so."""
    return when == "always" or (sampling := request.sampling).temperature == 0 or sampling.seed is not None


def addressee(upstream: str, query: str, headers: Headers) -> str:
    """Returns the part of the key that says who is asked: upstream, query and steering headers."""
    steering = sorted(f"{name}: {value}" for name, value in headers if name.startswith(_STEERING))
    return "\n".join([f"{upstream}?{query}" if query else upstream, *steering])
