"""What a request costs, counted and not timed: what makes it dearer fails here. `python -m tests.calls` prints the
counts of today; a limit is about 15 % above them, and is lowered when they fall."""

from collections.abc import Iterator, Mapping
from dataclasses import astuple, fields

import pytest

from tests.calls import Counts, Kind, counted, middle, upstream
from tests.proxied import Upstream

# calls of Python functions, hops to another thread that it waits for, hops beside or after it, wakes of the event loop
# by other threads, SQL statements, texts that are embedded
LIMITS: Mapping[Kind, Counts] = {
    "untouched": Counts(1_320, 1, 1, 2, 24, 0),
    "exact hit": Counts(690, 0, 1, 1, 18, 0),
    "stream": Counts(3_290, 1, 2, 3, 24, 0),
    "short": Counts(4_250, 3, 1, 4, 42, 0),
    "managed": Counts(6_000, 3, 1, 4, 39, 0),
    "vectors": Counts(5_200, 3, 2, 5, 40, 0),
}


@pytest.fixture(scope="module")
def running() -> Iterator[Upstream]:
    with upstream() as started:
        yield started


@pytest.mark.parametrize("kind", LIMITS)
def test_a_request_costs_no_more_than_it_did(kind: Kind, running: Upstream) -> None:
    found, limit = middle(counted(kind, running)), LIMITS[kind]
    dearer = {
        each.name: (now, most)
        for each, now, most in zip(fields(Counts), astuple(found), astuple(limit), strict=True)
        if now > most
    }
    assert dearer == {}, f"now, and at most: {kind}"


def test_a_stream_has_thirty_events(running: Upstream) -> None:
    with running.http.stream(
        "POST", "/v1/chat/completions", json={"model": "demo-chat", "stream": True, "messages": [said()]}
    ) as answer:
        assert sum(line.startswith("data: ") for line in answer.iter_lines()) == 30


def said() -> dict[str, str]:
    return {"role": "user", "content": "And then?"}
