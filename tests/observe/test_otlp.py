"""Spans on their way to a real collector."""

import logging
import threading
from collections import Counter
from collections.abc import Iterator
from time import monotonic

import pytest

from proxy.config.observe import Tracing as Settings
from proxy.observe.otlp import MOST_WAITING, open_tracing, resource
from proxy.observe.tracing import Finished, Span, Tracing
from tests.collector import Collector, run_collector
from tests.servers import eventually


@pytest.fixture(scope="module")
def collector() -> Iterator[Collector]:
    with run_collector() as running:
        yield running


class House:
    """A sender, and what it has counted."""

    def __init__(self, url: str, *, delay: float = 0.01, timeout: float = 5.0, **headers: str) -> None:
        self.counted: Counter[str] = Counter()
        self._lock = threading.Lock()
        settings = Settings.model_validate({"endpoint": url, "headers": headers, "sample": 1, "timeout": timeout})
        self.tracing: Tracing = open_tracing(settings, self._count, delay=delay)

    def _count(self, result: str, spans: int) -> None:
        with self._lock:
            self.counted[result] += spans


def spans(count: int = 1, trace: int = 0xABC) -> Finished:
    made = [Span("plan", 0x10 + at, 0x1, 2.0, 2.5, "internal", {"n": at}) for at in range(count)]
    return Finished(trace, made, 1_700_000_000 * 10**9)


def test_a_span_arrives_with_its_times_its_parent_its_attributes_and_its_service(collector: Collector) -> None:
    collector.spans.clear()
    house = House(collector.url, authorization="Bearer abc")
    failed = Span("chat m", 0x2, 0x1, 2.0, 2.25, "client", {"gen_ai.response.finish_reasons": ["stop"]}, "503")
    house.tracing.put(Finished(0xABC, [Span("POST /x", 0x1, None, 1.0, 3.0, "server"), failed], 1_700_000_000 * 10**9))
    eventually(lambda: len(collector.spans) == 2)
    house.tracing.close()
    root, call = sorted(collector.spans, key=lambda each: each.id)
    assert (root.name, root.kind, root.parent, root.is_error) == ("POST /x", "server", "", False)
    assert (root.trace, root.id) == (f"{0xABC:032x}", f"{1:016x}")
    assert (root.started, root.seconds) == (1_700_000_001.0, 2.0)
    assert (call.kind, call.parent, call.is_error, call.seconds) == ("client", root.id, True, 0.25)
    assert call.attributes == {"gen_ai.response.finish_reasons": ["stop"], "error.type": "503"}
    assert root.resource["service.name"] == "olvido"
    assert root.resource["service.version"]
    assert collector.headers[-1]["authorization"] == "Bearer abc"
    assert house.counted == {"made": 2, "exported": 2}


def test_what_waits_is_sent_at_the_end(collector: Collector) -> None:
    collector.spans.clear()
    house = House(collector.url, delay=3_600)
    house.tracing.put(spans(5))
    house.tracing.close()
    assert len(collector.spans) == 5


def test_an_endpoint_may_have_its_path(collector: Collector) -> None:
    collector.spans.clear()
    house = House(f"{collector.url}/v1/traces")
    house.tracing.put(spans())
    house.tracing.close()
    assert len(collector.spans) == 1


def test_a_collector_that_refuses_is_counted_and_told_of_once(
    collector: Collector, caplog: pytest.LogCaptureFixture
) -> None:
    house = House(collector.url)
    collector.status = 400
    try:
        with caplog.at_level(logging.INFO):
            for round_ in range(1, 3):
                house.tracing.put(spans())
                eventually(lambda: house.counted["failed"] == round_)  # noqa: B023 (at once)
            collector.status = 200
            house.tracing.put(spans())
            eventually(lambda: house.counted["exported"] == 1)
    finally:
        collector.status = 200
        house.tracing.close()
    assert [record.getMessage() for record in caplog.records if record.name == "proxy.observe.otlp"] == [
        "traces can't be sent, and are lost until the collector is back",
        "traces are sent again",
    ]


def test_a_collector_that_is_away_makes_nobody_wait_and_a_full_queue_loses_spans() -> None:
    house = House("http://127.0.0.1:9", timeout=0.2)
    for number in range(20):
        house.tracing.put(spans(MOST_WAITING // 10, trace=number + 1))
    begun = monotonic()
    house.tracing.close()
    assert monotonic() - begun < 15  # it gives up
    assert house.counted["made"] == 20 * (MOST_WAITING // 10) > MOST_WAITING
    assert house.counted["exported"] == 0
    assert house.counted["lost"] > 0


def test_a_collector_that_is_busy_is_asked_again(collector: Collector) -> None:
    collector.spans.clear()
    house = House(collector.url)
    collector.status = 503
    asked = len(collector.headers)
    house.tracing.put(spans())
    eventually(lambda: len(collector.headers) > asked)
    collector.status = 200
    eventually(lambda: collector.spans)
    house.tracing.close()
    assert house.counted == {"made": 1, "exported": 1}


def test_the_environment_adds_to_what_is_told_of_the_service_and_cannot_rename_it() -> None:
    told = resource("mine", {"OTEL_RESOURCE_ATTRIBUTES": "deployment.environment=pro%20d, service.name=other,odd"})
    assert told["deployment.environment"] == "pro d"
    assert told["service.name"] == "mine"
