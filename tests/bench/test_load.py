"""The load against real servers: the bench's own upstream and floor, and the proxy."""

from collections.abc import Iterator
from typing import Any

import pytest

from proxy.bench.bodies import Kind
from proxy.bench.load import Job, StallJob, StreamsJob, load, open_streams, stall
from proxy.bench.processes import Server, serving
from proxy.bench.processes import proxy as running_proxy

pytestmark = pytest.mark.long

FEW: dict[str, Any] = {"requests": 8, "paced": 8, "rate": 400.0, "connections": 4, "seed": 1, "quiet": 0.05}


@pytest.fixture(scope="module")
def upstream() -> Iterator[Server]:
    with serving("proxy.bench.upstream") as server:
        yield server


@pytest.fixture(scope="module")
def proxy(upstream: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder, url = tmp_path_factory.mktemp("proxy"), f"http://127.0.0.1:{upstream.port}/v1"
    with running_proxy(folder, url, "embedding: {enabled: false}") as server:
        yield server


@pytest.mark.parametrize("stream", [False, True])
async def test_the_floor_passes_what_the_upstream_answers(upstream: Server, stream: bool) -> None:
    with serving("proxy.bench.floor", f"http://127.0.0.1:{upstream.port}/v1") as floor:
        kind = "text/event-stream" if stream else "application/json"
        for to in (upstream, floor):
            outcome = await load(Job(*to, kind="growing", stream=stream, **FEW))
            assert outcome.answers == {f"200 {kind}": 16}
            assert outcome.fast == len(outcome.paced) == 8
            assert outcome.cpu > 0
            assert outcome.lags == {}


@pytest.mark.parametrize(("kind", "source"), [("growing", "upstream"), ("repeated", "exact"), ("long-en", "upstream")])
async def test_the_proxy_says_what_it_did_and_how_late_it_was(proxy: Server, kind: Kind, source: str) -> None:
    outcome = await load(Job(*proxy, kind=kind, stream=False, **FEW))
    assert sum(outcome.answers.values()) == 16
    assert all(label.startswith(f"200 application/json {source}") for label in outcome.answers)
    assert outcome.lags["+Inf"] >= 0


async def test_a_large_message_is_answered_while_others_are(proxy: Server) -> None:
    outcome = await stall(StallJob(*proxy, megabytes=2, seed=1))
    (label,) = outcome.answers
    assert label.startswith("200 application/json upstream")
    assert 0 < outcome.longest < 60


@pytest.mark.long
async def test_streams_are_open_at_the_same_time(upstream: Server) -> None:
    outcome = await open_streams(StreamsJob(*upstream, streams=3, seed=1))
    assert outcome.answers == {"200 text/event-stream": 3}
    assert outcome.peak_open == 3
