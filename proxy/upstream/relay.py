"""Relay of an upstream's body to the client: passed on as it arrives, read along the way.

Whole events are passed on, in the upstream's own bytes; so when a stream breaks inside an event, the client gets a
clean error event and not half a line. A broken stream never ends cleanly: SDKs take a clean end for a complete answer.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from dataclasses import dataclass
from time import perf_counter

from proxy.errors import UpstreamBroken, UpstreamError
from proxy.observe.metrics import Metrics
from proxy.observe.tracing import Call
from proxy.protocol import sse
from proxy.protocol.apis import Reader, as_completion, error_event, reader_of
from proxy.types import ApiName, ChatRequest, Delivery, Outcome, Prompt
from proxy.upstream.client import Response, Upstream

# Bytes of events that are read at once, not one at a time. More would be held for each of a thousand streams.
READ_AT_ONCE = 8 * 1024


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer with its headers, and its body still to be read."""

    upstream: Upstream
    response: Response
    sent_at: float  # perf_counter
    first_byte_seconds: float
    retries: int
    prompt: Prompt
    call: Call | None = None  # its span; None: the request is not traced


class Relay:
    """The body of one answer. Iterate it once; `aclose` it in any case. Its delivery is reported once, when it ends."""

    def __init__(
        self, reply: Reply, request: ChatRequest, *, report: Callable[[Delivery], None], metrics: Metrics
    ) -> None:
        self._reply = reply
        self._request = request
        self._report = report
        self._metrics = metrics
        self._reader: EventReader | None = None
        self._events = False
        self._prefix = b""
        self._running: AsyncGenerator[bytes, None] | None = None
        self._finished = False
        self.api = reply.prompt.api

    def expect_events(self, *, readable: bool) -> None:
        """Treats the body as a stream of events. One that is not `readable` (content coding) is passed on unread."""
        self._events = True
        strip_usage = self._reply.prompt.strip_usage
        self._reader = (
            EventReader(strip_usage=strip_usage, on_fail_open=self._metrics.failed_open, api=self.api)
            if readable
            else None
        )

    def resume(self, prefix: bytes) -> None:
        """Streams a body that is too large to hold: `prefix` was read already, the rest is still to come."""
        self._prefix = prefix

    def __aiter__(self) -> AsyncIterator[bytes]:
        self._running = self._run()
        return self._running

    async def aclose(self) -> None:
        """Ends the relay; a body that is not complete by now counts as left by the client."""
        if self._running is not None:
            await self._running.aclose()
        self.finish("client_gone")

    async def _run(self) -> AsyncGenerator[bytes, None]:
        reader, response = self._reader, self._reply.response
        error: UpstreamError | None = None
        try:
            if self._prefix:
                yield self._prefix
            while chunk := await response.read():
                if piece := reader.feed(chunk) if reader else chunk:
                    yield piece
            rest = reader.rest() if reader else b""
            if reader and reader.cut_off:
                error = UpstreamBroken(
                    f"upstream {self._reply.upstream.name!r} ended the stream before the answer was complete"
                )
            elif rest:
                yield rest
        except UpstreamError as failure:
            error = failure
        except BaseException:
            self.finish("client_gone")
            raise
        if error is None:
            self.finish("complete" if response.status < 400 else "upstream_error")
            return
        self._metrics.of(self._metrics.upstream_errors, self._reply.upstream.name, "cut").inc()
        self.finish("upstream_broken")
        if self._events:
            yield error_event(self.api, error, self._reader.passed if self._reader is not None else 0)
        raise error

    def finish(self, outcome: Outcome, whole: bytes | None = None) -> None:
        """Reports the delivery, once, and releases the upstream. `whole`: the body, if it was read whole."""
        if self._finished:
            return
        self._finished = True
        reply, reader = self._reply, self._reader
        seconds = perf_counter() - reply.sent_at
        self._metrics.tally.observe(self._metrics.upstream_seconds, seconds, reply.upstream.name)
        answer = reader.answer if reader else None
        complete = reader is not None and reader.complete and outcome == "complete"
        completion = answer.completion() if answer else None
        delivery = Delivery(
            outcome,
            status=reply.response.status,
            upstream=reply.upstream.name,
            model=(answer.model if answer else None) or self._request.model,
            streamed=self._events,
            usage=answer.usage if answer else None,
            completion=completion if complete else None,
            partial=None if complete else completion,
            raw_completion=None if whole is None else as_completion(self.api, whole) or whole,
            retries=reply.retries,
            upstream_seconds=seconds,
            first_byte_seconds=reply.first_byte_seconds,
        )
        reply.response.close()
        if reply.call is not None:
            reply.call.answered(delivery)
        self._report(delivery)


class EventReader:
    """Reads along a stream of completion chunks: accumulates the answer, and selects the bytes for the client. Fails
    open: anything that it can't read passes.

    Events pass as they come; what they say is read later, many at once, but for those that may not pass.
    """

    def __init__(self, *, strip_usage: bool, on_fail_open: Callable[[str, str], None], api: ApiName = "chat") -> None:
        self._parser = sse.SseParser()
        self._answer = reader_of(api)
        self._strip_usage = strip_usage
        self._on_fail_open = on_fail_open
        self._reading = True
        self._ended_inside = False
        self.passed = 0  # events with data
        self._unread: list[bytes] = []  # data of events that have passed
        self._unread_bytes = 0

    @property
    def answer(self) -> Reader:
        """The answer, as far as it came."""
        self._catch_up()
        return self._answer

    def feed(self, chunk: bytes) -> bytes:
        """Returns the bytes of the events that `chunk` completes."""
        if not self._reading:
            return chunk
        try:
            events = self._parser.feed(chunk)
        except sse.EventTooLargeError as error:
            self._stop_reading(error)
            return self._parser.rest()
        return self._pass(events)

    def rest(self) -> bytes:
        """Returns the rest at the end of the stream: an event without a blank line after it."""
        if not self._reading:
            return b""
        garbage = self.answer.garbage
        rest = self._pass(self._parser.flush())
        self._ended_inside = self.answer.garbage > garbage
        return rest

    def _pass(self, events: list[sse.Event]) -> bytes:
        passed = []
        for event in events:
            data = event.data
            if data is not None:
                self.passed += 1
                self._unread.append(data)
                self._unread_bytes += len(data)
                if self._strip_usage and b'"usage"' in data and self._catch_up():
                    continue
            passed.append(event.raw)
        if self._unread_bytes > READ_AT_ONCE:
            self._catch_up()
        return b"".join(passed)

    def _catch_up(self) -> bool:
        """Reads what has not been read yet. True if the last of it carries nothing but the usage."""
        unread, self._unread, self._unread_bytes = self._unread, [], 0
        if not self._reading:
            return False
        try:
            return self._answer.feed_all(unread)
        except Exception as error:  # noqa: BLE001 (reading along must never cost the client its stream)
            self._stop_reading(error)
            return False

    def _stop_reading(self, error: Exception) -> None:
        self._reading = False
        self._on_fail_open("read_stream", type(error).__name__)

    @property
    def cut_off(self) -> bool:
        """True if the stream ended inside an event, or before it was over and all its choices were finished."""
        answer = self.answer
        over = answer.done or answer.finished or answer.error
        return self._reading and (answer.started or self._ended_inside) and not over

    @property
    def complete(self) -> bool:
        """True if all of the stream was read, and is a whole answer."""
        return self.answer.complete and self._reading
