"""The sender of spans, over OTLP and HTTP: OpenTelemetry's own batches and exporter, in a thread of their own. The only
module that knows its library, which is an extra (`olvido[otel]`).

A full queue, or a collector that is away, loses spans and nothing else: they are counted (`olvido_spans_total`), and
the log has one line when it begins and one when it ends.
"""

import logging
import os
import socket
from collections.abc import Callable, Sequence
from importlib.metadata import version

from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, TraceFlags

from proxy.config.observe import Tracing as Settings
from proxy.observe.tracing import Finished, Span, Tracing

log = logging.getLogger(__name__)

MOST_WAITING = 4_096  # spans; more are lost
BATCH = 512  # spans
DELAY = 1.0  # seconds between two batches
_PATH = "/v1/traces"
_KINDS = {"internal": SpanKind.INTERNAL, "server": SpanKind.SERVER, "client": SpanKind.CLIENT}
_SAMPLED = TraceFlags(TraceFlags.SAMPLED)
_OKAY, _FAILED = Status(StatusCode.UNSET), StatusCode.ERROR

Counted = Callable[[str, int], None]  # (result, spans)


def open_tracing(settings: Settings, counted: Counted, *, delay: float = DELAY) -> Tracing:
    """Returns the beginnings of traces whose spans are sent as the settings say. `counted` is called in any thread."""
    # Each failure would be several lines of its own.
    logging.getLogger("opentelemetry").setLevel(logging.CRITICAL)
    exporter = Counting(exporter_of(settings), counted)
    processor = BatchSpanProcessor(
        exporter, max_queue_size=MOST_WAITING, schedule_delay_millis=delay * 1_000, max_export_batch_size=BATCH
    )
    resource = Resource.create(
        {
            "service.name": settings.service,
            "service.version": version("olvido"),
            "service.instance.id": f"{socket.gethostname()}:{os.getpid()}",
        }
    )
    scope = InstrumentationScope("olvido", version("olvido"))

    def put(finished: Finished) -> None:
        counted("made", len(finished.spans))
        for span in finished.spans:
            processor.on_end(readable(finished, span, resource, scope))

    return Tracing(settings.sample, put, processor.shutdown)


def exporter_of(settings: Settings) -> OTLPSpanExporter:
    """Returns the library's exporter."""
    return OTLPSpanExporter(
        endpoint=f"{settings.endpoint.removesuffix(_PATH)}{_PATH}",
        headers={name.lower(): value.get_secret_value() for name, value in settings.headers.items()},
        timeout=settings.timeout,
        compression=Compression.NoCompression,
    )


def readable(finished: Finished, span: Span, resource: Resource, scope: InstrumentationScope) -> ReadableSpan:
    """Returns a span as the library has it."""
    attributes = {**span.attributes, "error.type": span.error} if span.error else span.attributes
    parent = span.parent
    return ReadableSpan(
        span.name,
        SpanContext(finished.trace, span.id, is_remote=False, trace_flags=_SAMPLED),
        None if parent is None else SpanContext(finished.trace, parent, is_remote=span.kind == "server"),
        resource,
        attributes,
        kind=_KINDS[span.kind],
        status=Status(_FAILED) if span.error else _OKAY,
        start_time=finished.clock + round(span.started * 1e9),
        end_time=finished.clock + round(span.ended * 1e9),
        instrumentation_scope=scope,
    )


class Counting(SpanExporter):
    """An exporter whose successes and failures are counted."""

    def __init__(self, exporter: SpanExporter, counted: Counted) -> None:
        self._exporter = exporter
        self._counted = counted
        self._is_failing = False

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Sends a batch, in the processor's thread."""
        result = self._exporter.export(spans)
        is_failing = result is not SpanExportResult.SUCCESS
        self._counted("failed" if is_failing else "exported", len(spans))
        if is_failing and not self._is_failing:
            log.warning("traces can't be sent, and are lost until the collector is back")
        elif self._is_failing and not is_failing:
            log.info("traces are sent again")
        self._is_failing = is_failing
        return result

    def shutdown(self) -> None:
        """Ends the exporter: a batch that is being tried again is given up."""
        self._exporter.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """As the library's."""
        return self._exporter.force_flush(timeout_millis)
