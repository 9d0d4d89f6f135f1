"""What the log is told of an upstream that fails."""

import logging

import pytest

from proxy.upstream.outage import QUIET, Outage


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def told(caplog: pytest.LogCaptureFixture) -> list[tuple[str, str]]:
    found = [(record.levelname, getattr(record, "why", "")) for record in caplog.records]
    caplog.clear()
    return found


@pytest.fixture
def clock(caplog: pytest.LogCaptureFixture) -> Clock:
    caplog.set_level(logging.INFO, "proxy.upstream.outage")
    return Clock()


def test_an_outage_is_told_when_it_begins_and_when_it_ends_and_not_in_between(
    caplog: pytest.LogCaptureFixture, clock: Clock
) -> None:
    outage = Outage("kimi", has_key=False, clock=clock)
    for _ in range(3):
        outage.failed("connection refused")
    assert told(caplog) == [("WARNING", "connection refused")]
    outage.answered(503)
    assert told(caplog) == []
    outage.answered(200)
    outage.answered(200)
    assert told(caplog) == [("INFO", "")]


def test_one_that_comes_and_goes_is_told_once_a_minute(caplog: pytest.LogCaptureFixture, clock: Clock) -> None:
    outage = Outage("kimi", has_key=False, clock=clock)
    for _ in range(5):
        outage.failed("no answer in time")
        outage.answered(200)
    assert len(told(caplog)) == 2
    clock.now += QUIET
    outage.failed("no answer in time")
    assert told(caplog) == [("WARNING", "no answer in time")]


@pytest.mark.parametrize(
    ("status", "has_key", "why"),
    [
        (502, False, "status 502"),
        (529, True, "status 529"),
        (401, True, "status 401: it refuses the configured key"),
        (401, False, None),  # the client's own key
        (429, True, None),
        (500, True, None),
        (200, True, None),
    ],
)
def test_an_answer_is_an_outage_unless_its_request_may_have_earned_it(
    status: int, has_key: bool, why: str | None, caplog: pytest.LogCaptureFixture, clock: Clock
) -> None:
    outage = Outage("kimi", has_key=has_key, clock=clock)
    assert (status in outage.telling) is (why is not None)
    outage.answered(status)
    assert told(caplog) == ([] if why is None else [("WARNING", why)])
