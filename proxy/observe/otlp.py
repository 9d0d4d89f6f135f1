"""The sender of spans, over OTLP and HTTP, in a thread of its own. The only module that knows OpenTelemetry's messages,
which are an extra (`olvido[otel]`). Of its SDK nothing is used: making and encoding a request's spans took three times
the CPU with it (315 µs against 100, thirteen spans, 2026-11-28), and a request takes 1,500.

A queue that is full, or a collector that is away, loses spans and nothing else: they are counted
(`olvido_spans_total`), and the log has one line when it begins and one when it ends.
"""

import logging
import os
import socket
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.metadata import version
from threading import Event, Lock, Thread
from time import monotonic
from urllib.parse import unquote

import httpx
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, InstrumentationScope, KeyValue
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Status
from opentelemetry.proto.trace.v1.trace_pb2 import Span as SpanMessage

from proxy.config.observe import Tracing as Settings
from proxy.observe.sampling import Sampler
from proxy.observe.tracing import Finished, Kind, Span, Tracing, Value

log = logging.getLogger(__name__)

MOST_WAITING = 4_096  # spans; more are lost
BATCH = 512  # spans from which on they are sent at once
DELAY = 2.0  # seconds between two batches, else
FIRST_PAUSE, LONGEST_PAUSE = 0.2, 5.0  # seconds before a batch is sent again, doubled each time
TRY_AGAIN = frozenset({429, 502, 503, 504})  # statuses that the protocol lets a sender try again
RESOURCE = "OTEL_RESOURCE_ATTRIBUTES"  # what else is told of this service, of the environment
_PATH = "/v1/traces"
_KINDS: Mapping[Kind, SpanMessage.SpanKind.ValueType] = {
    "internal": SpanMessage.SPAN_KIND_INTERNAL,
    "server": SpanMessage.SPAN_KIND_SERVER,
    "client": SpanMessage.SPAN_KIND_CLIENT,
}
_FAILED = Status(code=Status.STATUS_CODE_ERROR)

Counted = Callable[[str, int], None]  # (result, spans)


def open_tracing(settings: Settings, counted: Counted, *, delay: float = DELAY) -> Tracing:
    """Returns the beginnings of traces whose spans are sent as the settings say. `counted` is called in any thread."""
    sender = Sender(settings, counted, delay)
    sampler = Sampler(settings.sample, settings.callers_per_minute)
    return Tracing(sampler, sender.put, sender.close)


class Sender:
    """A bounded queue of spans, and the thread that sends them."""

    def __init__(self, settings: Settings, counted: Counted, delay: float) -> None:
        self._url = f"{settings.endpoint.removesuffix(_PATH)}{_PATH}"
        given = {name: value.get_secret_value() for name, value in settings.headers.items()}
        self._http = httpx.Client(headers={**given, "content-type": "application/x-protobuf"}, timeout=settings.timeout)
        self._timeout = settings.timeout
        self._counted = counted
        self._delay = delay
        self._resource = Resource(attributes=_attributes(resource(settings.service, os.environ)))
        self._scope = InstrumentationScope(name="olvido", version=version("olvido"))
        self._queue: deque[Finished] = deque()
        self._waiting = 0  # spans in it
        self._lock = Lock()
        self._wake, self._stop = Event(), Event()
        self._is_failing = False
        self._thread = Thread(target=self._run, name="traces", daemon=True)
        self._thread.start()

    def put(self, finished: Finished) -> None:
        """Queues spans; loses them if too many wait."""
        count = len(finished.spans)
        self._counted("made", count)
        with self._lock:
            is_full = self._waiting + count > MOST_WAITING
            if not is_full:
                self._queue.append(finished)
                self._waiting += count
        if is_full:
            self._counted("lost", count)
        elif self._waiting >= BATCH:
            self._wake.set()

    def close(self) -> None:
        """Sends what waits, once, and ends the thread. Waits for that no longer than a batch may take."""
        self._stop.set()
        self._wake.set()
        self._thread.join(self._timeout + 1)

    def _run(self) -> None:
        while not self._stop.is_set():
            self._wake.wait(self._delay)
            self._wake.clear()
            self._send_all()
        self._send_all()
        self._http.close()

    def _send_all(self) -> None:
        while batch := self._taken():
            count = sum(len(each.spans) for each in batch)
            is_sent = self._send(encoded(batch, self._resource, self._scope))
            self._counted("exported" if is_sent else "failed", count)
            if not is_sent and not self._is_failing:
                log.warning("traces can't be sent, and are lost until the collector is back")
            elif is_sent and self._is_failing:
                log.info("traces are sent again")
            self._is_failing = not is_sent
            if self._stop.is_set() and not is_sent:
                return  # it is away: nobody waits for the rest

    def _taken(self) -> list[Finished]:
        batch, count = [], 0
        with self._lock:
            while self._queue and count < BATCH:
                batch.append(self._queue.popleft())
                count += len(batch[-1].spans)
            self._waiting -= count
        return batch

    def _send(self, body: bytes) -> bool:
        """Sends a batch, again and again if need be, until its time is over. True once the collector has it."""
        until = monotonic() + self._timeout
        for pause in _pauses():
            try:
                status = self._http.post(self._url, content=body).status_code
            except httpx.HTTPError:
                status = 0
            if 200 <= status < 300:
                return True
            if (status and status not in TRY_AGAIN) or monotonic() + pause > until or self._stop.wait(pause):
                return False
        return False


def _pauses() -> Iterator[float]:
    pause = FIRST_PAUSE
    while True:
        yield pause
        pause = min(2 * pause, LONGEST_PAUSE)


def resource(service: str, environ: Mapping[str, str]) -> dict[str, Value]:
    """Returns what is told of this service: ours, and what the environment adds to it, `name=value,…`."""
    given = (each.partition("=") for each in environ.get(RESOURCE, "").split(",") if "=" in each)
    return {
        **{unquote(name.strip()): unquote(value.strip()) for name, _, value in given},
        "service.name": service,
        "service.version": version("olvido"),
        "service.instance.id": f"{socket.gethostname()}:{os.getpid()}",
    }


def encoded(batch: Sequence[Finished], told: Resource, scope: InstrumentationScope) -> bytes:
    """Returns a batch as the collector takes it."""
    spans = [_message(finished, span) for finished in batch for span in finished.spans]
    groups = [ResourceSpans(resource=told, scope_spans=[ScopeSpans(scope=scope, spans=spans)])]
    body: bytes = ExportTraceServiceRequest(resource_spans=groups).SerializeToString()
    return body


def _message(finished: Finished, span: Span) -> SpanMessage:
    attributes = {**span.attributes, "error.type": span.error} if span.error else span.attributes
    return SpanMessage(
        trace_id=finished.trace.to_bytes(16, "big"),
        span_id=span.id.to_bytes(8, "big"),
        parent_span_id=b"" if span.parent is None else span.parent.to_bytes(8, "big"),
        name=span.name,
        kind=_KINDS[span.kind],
        start_time_unix_nano=finished.clock + round(span.started * 1e9),
        end_time_unix_nano=finished.clock + round(span.ended * 1e9),
        attributes=_attributes(attributes),
        status=_FAILED if span.error else None,
    )


def _attributes(told: Mapping[str, Value]) -> list[KeyValue]:
    return [KeyValue(key=name, value=_value(value)) for name, value in told.items()]


def _value(value: Value) -> AnyValue:
    if isinstance(value, str):
        return AnyValue(string_value=value)
    if isinstance(value, bool):
        return AnyValue(bool_value=value)
    if isinstance(value, int):
        return AnyValue(int_value=value)
    if isinstance(value, float):
        return AnyValue(double_value=value)
    return AnyValue(array_value=ArrayValue(values=[_value(each) for each in value]))
