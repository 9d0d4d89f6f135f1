"""Again, elsewhere, or not at all: the decisions, and how long an upstream asks us to wait."""

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from proxy.types import Headers
from proxy.upstream.retry import (
    FIRST_DELAY,
    LONGEST_DELAY,
    UPSTREAM_DOWN,
    Decision,
    Failure,
    after_failure,
    after_status,
    backoff,
    retry_after,
)

NOW = 1_445_412_470.0  # 2015-10-21 07:27:50 GMT
NONE: Headers = ()
RETRY, GIVE_UP, FALL_BACK = Decision("retry", FIRST_DELAY), Decision("give_up"), Decision("fall_back")


def wait(seconds: float) -> Decision:
    return Decision("retry", seconds)


def decided(
    status: int, headers: Headers = NONE, *, attempt: int = 0, retries: int = 2, has_fallback: bool = False
) -> Decision:
    return after_status(
        status,
        headers,
        attempt=attempt,
        retries=retries,
        max_wait=10.0,
        has_fallback=has_fallback,
        now=NOW,
        jitter=lambda: 0.0,
    )


@pytest.mark.parametrize("has_fallback", [False, True])
@pytest.mark.parametrize("status", [200, 201, 204, 301, 400, 401, 403, 404, 409, 413, 422, 499, 600])
def test_an_answer_that_the_request_has_earned_goes_to_the_client(status: int, has_fallback: bool) -> None:
    assert decided(status, has_fallback=has_fallback) == GIVE_UP


RETRYABLE = (429, 500, 501, 502, 503, 504, 507, 520, 529, 599)


@pytest.mark.parametrize("status", RETRYABLE)
def test_an_answer_that_may_be_another_next_time_is_asked_for_again(status: int) -> None:
    assert decided(status) == RETRY
    assert decided(status, attempt=1) == wait(2 * FIRST_DELAY)
    assert decided(status, attempt=2) == GIVE_UP
    assert decided(status, attempt=2, has_fallback=True) == FALL_BACK
    assert decided(status, retries=0) == GIVE_UP
    assert decided(status, retries=0, has_fallback=True) == FALL_BACK


def test_what_counts_against_an_upstream_is_always_asked_for_again() -> None:
    assert all(decided(status) == RETRY for status in UPSTREAM_DOWN)
    assert not {429, 500} & UPSTREAM_DOWN  # one request may have earned these


@pytest.mark.parametrize(
    ("headers", "alone", "with_fallback"),
    [
        ([("retry-after", "3")], wait(3.0), wait(3.0)),
        ([("retry-after", "0")], wait(0.0), wait(0.0)),
        ([("retry-after", "2.5")], wait(2.5), wait(2.5)),
        ([("retry-after", "10")], wait(10.0), wait(10.0)),
        ([("retry-after", "11")], GIVE_UP, FALL_BACK),
        ([("retry-after", "86400")], GIVE_UP, FALL_BACK),
        ([("retry-after-ms", "250")], wait(0.25), wait(0.25)),
        ([("retry-after-ms", "10001")], GIVE_UP, FALL_BACK),
        ([("retry-after-ms", "250"), ("retry-after", "60")], wait(0.25), wait(0.25)),
        ([("retry-after-ms", "soon"), ("retry-after", "3")], wait(3.0), wait(3.0)),
        ([("retry-after", "Wed, 21 Oct 2015 07:28:00 GMT")], wait(10.0), wait(10.0)),
        ([("retry-after", "Wed, 21 Oct 2015 07:28:01 GMT")], GIVE_UP, FALL_BACK),
        ([("retry-after", "Wed, 21 Oct 2015 07:28:00")], wait(10.0), wait(10.0)),
        ([("retry-after", "Wed, 21 Oct 2015 09:28:00 +0200")], wait(10.0), wait(10.0)),
        ([("retry-after", "Wed, 21 Oct 2009 07:28:00 GMT")], wait(0.0), wait(0.0)),
        ([("retry-after", "in a while")], RETRY, RETRY),
        ([("retry-after", "")], RETRY, RETRY),
        ([("retry-after", "-3")], RETRY, RETRY),
        ([("retry-after", "nan")], RETRY, RETRY),
        ([("retry-after", "inf")], RETRY, RETRY),
        ([("retry-after", "1e999")], RETRY, RETRY),
        ([("retry-after", "Wed, 99 Oct 2015 07:28:00 GMT")], RETRY, RETRY),
        ([("retry-after", f"Wed, 21 Oct 2015 07:28:00 +{'9' * 30}")], RETRY, RETRY),
        ([("x-should-retry", "false")], GIVE_UP, FALL_BACK),
        ([("x-should-retry", "false"), ("retry-after", "1")], GIVE_UP, FALL_BACK),
        ([("x-should-retry", "true")], RETRY, RETRY),
        ([("x-should-retry", "true"), ("retry-after", "60")], GIVE_UP, FALL_BACK),
    ],
)
def test_the_upstream_says_when(headers: list[tuple[str, str]], alone: Decision, with_fallback: Decision) -> None:
    assert decided(429, tuple(headers)) == alone
    assert decided(429, tuple(headers), has_fallback=True) == with_fallback


def test_a_date_without_a_zone_is_not_local_time(monkeypatch: pytest.MonkeyPatch) -> None:
    try:
        monkeypatch.setenv("TZ", "America/Argentina/Buenos_Aires")
        time.tzset()
        assert decided(429, (("retry-after", "Wed, 21 Oct 2015 07:28:00"),)) == wait(10.0)
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize(
    ("failure", "attempt", "alone", "with_fallback"),
    [
        ("connect", 0, RETRY, RETRY),
        ("connect", 1, wait(2 * FIRST_DELAY), wait(2 * FIRST_DELAY)),
        ("connect", 2, GIVE_UP, FALL_BACK),
        ("broken", 0, wait(0.0), wait(0.0)),
        ("broken", 1, wait(2 * FIRST_DELAY), wait(2 * FIRST_DELAY)),
        ("broken", 2, GIVE_UP, FALL_BACK),
        ("timeout", 0, GIVE_UP, FALL_BACK),
        ("timeout", 2, GIVE_UP, FALL_BACK),
    ],
)
def test_no_answer(failure: Failure, attempt: int, alone: Decision, with_fallback: Decision) -> None:
    for has_fallback, expected in ((False, alone), (True, with_fallback)):
        got = after_failure(failure, attempt=attempt, retries=2, has_fallback=has_fallback, jitter=lambda: 0.0)
        assert got == expected


@pytest.mark.parametrize(
    ("attempt", "jitter", "seconds"), [(0, 0.0, 0.5), (1, 0.0, 1.0), (4, 0.0, 8.0), (9, 0.0, 8.0), (0, 0.5, 0.4375)]
)
def test_each_pause_is_twice_the_one_before_up_to_the_longest(attempt: int, jitter: float, seconds: float) -> None:
    assert backoff(attempt, lambda: jitter) == seconds


@given(st.integers(0, 10), st.floats(0, 1, exclude_max=True))
def test_jitter_takes_at_most_a_quarter(attempt: int, jitter: float) -> None:
    whole = backoff(attempt, lambda: 0.0)
    assert 0.75 * whole <= backoff(attempt, lambda: jitter) <= whole <= LONGEST_DELAY


_dates = st.lists(
    st.sampled_from(
        ["Wed,", "21", "Oct", "2015", "07:28:00", "GMT", "+0200", "-", "99", "0", "9" * 20, ":", "é", "\x00"]
    ),
    max_size=8,
).map(" ".join)


@given(_dates | st.text(max_size=20))
@example(f"Mon, 20 Nov 1995 19:12:08 +{'9' * 30}")
@example("Mon, 20 Nov 1 00:00:00 +2300")
def test_whatever_stands_in_retry_after_is_a_pause_or_nothing(value: str) -> None:
    for name in ("retry-after", "retry-after-ms"):
        seconds = retry_after(((name, value),), NOW)
        assert seconds is None or 0 <= seconds < float("inf")
