"""What comes back: from the upstream, from memory, to the client."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from proxy.types.base import Headers, Json, Outcome, Source


@dataclass(frozen=True, slots=True)
class Usage:
    """What the upstream says it counted and billed."""

    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int = 0  # the part of prompt_tokens that its prefix cache held
    reasoning_tokens: int = 0  # the part of completion_tokens that was thinking
    written_tokens: int | None = None  # the part of prompt_tokens that was written to it; None: not told
    reports_none_cached: bool = False  # it said that its prefix cache held nothing: not the same as saying nothing


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """A complete 2xx answer, as the `chat.completion` object that it was or would have been."""

    completion: bytes  # JSON
    created_at: float
    upstream: str
    model: str
    streamed: bool  # it came as SSE; `completion` was accumulated from it
    usage: Usage | None = None


class StreamedBody(Protocol):
    """Iterated at most once; closed in any case."""

    def __aiter__(self) -> AsyncIterator[bytes]: ...
    async def aclose(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Answer:
    """What goes back to the client. A body that is an iterator is streamed with no buffering."""

    status: int
    headers: Headers
    body: bytes | StreamedBody
    source: Source = "upstream"


@dataclass(frozen=True, slots=True)
class Delivery:
    """What became of a forwarded request, known once the last byte has passed or the stream has broken."""

    outcome: Outcome
    status: int
    upstream: str
    model: str  # as the upstream names it in its answer, else as asked for
    streamed: bool
    usage: Usage | None = None
    completion: Mapping[str, Json] | None = None  # the whole `chat.completion`, None unless complete
    raw_completion: bytes | None = None  # the upstream's own bytes of it, when it was not streamed
    partial: Mapping[str, Json] | None = None  # of a stream that is not complete: as far as it came
    retries: int = 0
    upstream_seconds: float = 0.0  # from sending to the last byte
    first_byte_seconds: float = 0.0
