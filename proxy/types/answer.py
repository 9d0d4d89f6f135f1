"""Answers: of the upstream, from the cache, to the client."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from proxy.types.base import Headers, Json, Outcome, Source


@dataclass(frozen=True, slots=True)
class Usage:
    """The token counts that an upstream reports for an answer."""

    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int = 0  # the part of prompt_tokens that its prefix cache held
    reasoning_tokens: int = 0  # the part of completion_tokens that was thinking
    written_tokens: int | None = None  # the part of prompt_tokens that was written to it; None: not reported
    reports_none_cached: bool = False  # it reported cached tokens, and that they are 0


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """A complete 2xx answer as a `chat.completion` object, also if it was streamed."""

    completion: bytes  # JSON
    created_at: float
    upstream: str
    model: str
    streamed: bool  # it came as SSE; `completion` was accumulated from it
    usage: Usage | None = None


class StreamedBody(Protocol):
    """The bytes of an answer as they arrive. It is iterated at most once, and must be closed in any case."""

    def __aiter__(self) -> AsyncIterator[bytes]: ...
    async def aclose(self) -> None:
        """Ends the stream and frees its connection."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An HTTP answer to the client. A body that is an iterator is streamed without buffering."""

    status: int
    headers: Headers
    body: bytes | StreamedBody
    source: Source = "upstream"


@dataclass(frozen=True, slots=True)
class Delivery:
    """The outcome of a forwarded request, known once the last byte has passed or the stream has broken."""

    outcome: Outcome
    status: int
    upstream: str
    model: str  # as the upstream names it in its answer, else as asked for
    streamed: bool
    usage: Usage | None = None
    completion: Mapping[str, Json] | None = None  # the whole `chat.completion`, None unless complete
    raw_completion: bytes | None = None  # the upstream's own bytes of it, if it was not streamed
    partial: Mapping[str, Json] | None = None  # the received part of a stream that broke
    retries: int = 0  # attempts after the first
    upstream_seconds: float = 0.0  # from sending to the last byte
    first_byte_seconds: float = 0.0
