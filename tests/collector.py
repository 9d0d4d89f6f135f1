"""A collector of OpenTelemetry over real sockets: takes OTLP, decoded with the messages of the protocol itself."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from starlette.types import Receive, Scope, Send

from tests.servers import eventually, run_app

KINDS = {1: "internal", 2: "server", 3: "client"}
ERROR = 2


@dataclass(frozen=True, slots=True)
class Got:
    """A span as it came."""

    name: str
    kind: str
    trace: str
    id: str
    parent: str  # "": none
    is_error: bool
    seconds: float
    started: float  # Unix seconds
    attributes: Mapping[str, Any]
    resource: Mapping[str, Any]


class Collector:
    """An ASGI application that takes spans at /v1/traces."""

    def __init__(self) -> None:
        self.url = ""
        self.spans: list[Got] = []
        self.headers: list[dict[str, str]] = []
        self.status = 200  # of its answers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        body = b""
        while (message := await receive())["type"] == "http.request":
            body += message["body"]
            if not message.get("more_body"):
                break
        self.headers.append({name.decode(): value.decode() for name, value in scope["headers"]})
        assert scope["path"] == "/v1/traces"
        if self.status == 200:
            self.spans += _read(body)
        await send({"type": "http.response.start", "status": self.status, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    def of(self, trace: str, count: int = 1) -> list[Got]:
        """The spans of a trace, once there are so many and its request is among them; in the order of their starts."""
        eventually(lambda: len(self._of(trace)) >= count and any(each.kind == "server" for each in self._of(trace)))
        return sorted(self._of(trace), key=lambda each: each.started)

    def newest(self) -> str:
        """The trace of the request that came last."""
        return next(each.trace for each in reversed(self.spans) if each.kind == "server")

    def _of(self, trace: str) -> list[Got]:
        return [each for each in self.spans if each.trace == trace]


def _read(body: bytes) -> list[Got]:
    told = ExportTraceServiceRequest.FromString(body)
    return [
        Got(
            span.name,
            KINDS[span.kind],
            span.trace_id.hex(),
            span.span_id.hex(),
            span.parent_span_id.hex(),
            span.status.code == ERROR,
            (span.end_time_unix_nano - span.start_time_unix_nano) / 1e9,
            span.start_time_unix_nano / 1e9,
            _values(span.attributes),
            _values(group.resource.attributes),
        )
        for group in told.resource_spans
        for scope in group.scope_spans
        for span in scope.spans
    ]


def _values(attributes: Any) -> dict[str, Any]:
    return {each.key: _value(each.value) for each in attributes}


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_value(each) for each in value.array_value.values]
    return getattr(value, kind)


@contextmanager
def run_collector() -> Iterator[Collector]:
    collector = Collector()
    with run_app(collector) as url:
        collector.url = url
        yield collector
