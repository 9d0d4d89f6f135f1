"""The key of exact reuse: two requests have the same key only if the upstream would be asked the same thing. What of a
request that is, `proxy/protocol/chat.py` knows."""

from hashlib import sha256
from typing import Any, Literal

import msgspec

from proxy.protocol.chat import canonical
from proxy.types import ChatRequest

LARGE = 64 * 1024  # bytes

When = Literal["deterministic", "always"]

_encode = msgspec.json.Encoder(order="deterministic").encode


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
