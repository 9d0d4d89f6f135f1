"""The key of exact reuse: two requests have the same key only if the upstream would be asked the same thing.

Everything in the request is keyed except the fields in `UNKEYED`; a field nobody has heard of is keyed, so a new one
can cost a miss and never a wrong answer. Key order, whitespace and escapes make no difference, anything else does: 1,
1.0 and true are three values, null is not absence, and no two strings are taken for the same.
"""

from collections.abc import Mapping
from hashlib import sha256
from types import MappingProxyType
from typing import Any, Literal

import msgspec

from proxy.types import ChatRequest

LARGE = 64 * 1024  # bytes

When = Literal["deterministic", "always"]

# Left out only if it differs between requests that are otherwise the same and cannot reach the model. Two that may look
# as if they belonged here are keyed: `store` (an answer made without it is not at the provider to be fetched again) and
# `service_tier` (the answer names the tier that made it). So is every field of a message.
UNKEYED: Mapping[str, str] = MappingProxyType(
    {
        "stream": "how the answer travels; a stored one is told both ways",
        "stream_options": "which extra events a stream has; they are made anew for each client",
        "user": "who asks: the scope holds the end user already",
        "safety_identifier": "who asks, for the provider's abuse checks; the scope holds it already",
        "metadata": "labels for the provider's dashboard; the model never sees them",
        "prompt_cache_key": "routes to a warm prefix cache: price and speed, not the answer",
        "prompt_cache_options": "where and how long the provider keeps the prefix: price, not the answer",
        "prompt_cache_retention": "how long the provider keeps the prefix: price, not the answer",
        "request_id": "names this one request (vLLM)",
    }
)

_encode = msgspec.json.Encoder(order="deterministic").encode


def exact_key(scope_id: str, upstream: str, request: ChatRequest) -> str:
    """64 hex digits, the same for two requests of a scope and upstream exactly if they differ only in spelling or in
    `UNKEYED` fields."""
    keyed = {name: value for name, value in request.fields.items() if name not in UNKEYED}
    canonical = _encode(keyed | {"messages": [message.data for message in request.messages]})
    digest = sha256(_encode(("olvido exact 1", scope_id, upstream)))
    _update(digest, canonical)
    if _has_duplicate_names(request, canonical):
        # Which of two values counts is the upstream's to say, so such a request is only ever equal to itself.
        _update(digest, request.raw)
    return digest.hexdigest()


def _update(digest: Any, data: bytes) -> None:
    """For more than 2,047 bytes at once hashlib lets go of the GIL, and in a busy server waits longer to get it back
    than it hashes. Megabytes are hashed in a worker thread, and shall let go of it."""
    step = 2047 if len(data) <= LARGE else len(data)
    for start in range(0, len(data), step):
        digest.update(data[start : start + step])


def _has_duplicate_names(request: ChatRequest, canonical: bytes) -> bool:
    # A parsed object keeps one of two equal names, so the client's bytes have more quotation marks than ours. A `"`
    # inside a string is `\"` in ours and may be `\u0022` in the client's; nothing else makes the counts differ.
    unkeyed = {name: value for name, value in request.fields.items() if name in UNKEYED}
    ours = canonical.count(b'"') + (_encode(unkeyed).count(b'"') if unkeyed else 0)
    return request.raw.count(b'"') + request.raw.count(rb"\u0022") != ours


def is_deterministic(request: ChatRequest, when: When) -> bool:
    """Does the client expect the same answer to the same request? `always`: it is configured so."""
    if when == "always":
        return True
    temperature, seed = request.fields.get("temperature"), request.fields.get("seed")
    return (_is_number(temperature) and temperature == 0) or (_is_number(seed) and isinstance(seed, int))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
