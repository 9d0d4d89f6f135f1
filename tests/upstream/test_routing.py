"""Which upstream serves a model, and who stands in for it."""

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from proxy.errors import UnknownModel, UpstreamBroken, UpstreamError, UpstreamTimeout, UpstreamUnreachable
from proxy.types import Headers
from proxy.upstream.client import Upstream
from proxy.upstream.routing import (
    FIRST_DELAY,
    LONGEST_DELAY,
    UPSTREAM_DOWN,
    Decision,
    Router,
    after_failure,
    after_status,
    backoff,
    retry_after,
)
from tests.builders import upstream_config


def router(*, reject_unknown: bool = True) -> Router:
    configs = [
        upstream_config("kimi", models=["kimi-*", "moonshot-v1-?k"], fallback="other"),
        upstream_config("other", models=["gpt-5", "kimi-k3"], fallback="last"),
        upstream_config("last", models=["local/*"]),
    ]
    return Router([Upstream(each) for each in configs], reject_unknown=reject_unknown)


@pytest.mark.parametrize(
    ("model", "candidates"),
    [
        ("kimi-k2.6", ["kimi", "other", "last"]),
        ("kimi-k3", ["kimi", "other", "last"]),  # the first that matches, not the one that matches best
        ("kimi-", ["kimi", "other", "last"]),
        ("moonshot-v1-8k", ["kimi", "other", "last"]),
        ("gpt-5", ["other", "last"]),
        ("local/qwen/3.5", ["last"]),
    ],
)
def test_the_first_upstream_with_a_matching_pattern_serves_the_model(model: str, candidates: list[str]) -> None:
    route = router().route(model)
    assert [upstream.name for upstream in route.candidates] == candidates
    assert route.upstream is route.candidates[0]
    assert route.fallbacks == route.candidates[1:]


@pytest.mark.parametrize("model", ["gpt-5-mini", "Kimi-k3", "moonshot-v1-128k", "xkimi-k3", "*", "k"])
def test_a_model_that_nobody_serves_is_refused_with_a_list_of_those_served(model: str) -> None:
    with pytest.raises(UnknownModel) as caught:
        router().route(model)
    assert caught.value.param == "model"
    assert repr(model) in caught.value.message
    for served in ("kimi-* (kimi)", "moonshot-v1-?k (kimi)", "gpt-5 (other)", "local/* (last)"):
        assert served in caught.value.message


def test_or_goes_to_the_first_upstream_if_configured_so() -> None:
    candidates = router(reject_unknown=False).route("gpt-5-mini").candidates
    assert [upstream.name for upstream in candidates] == ["kimi", "other", "last"]


def test_a_long_name_is_quoted_in_part() -> None:
    with pytest.raises(UnknownModel) as caught:
        router().route("m" * 10_000)
    assert len(caught.value.message) < 500


def test_upstreams_are_found_by_name_and_the_first_is_the_default() -> None:
    known = router()
    assert [known.named(name).name for name in ("kimi", "other", "last")] == ["kimi", "other", "last"]
    assert known.default is known.named("kimi")


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
        attempt,
        upstream_config(retries=retries, max_retry_wait=10.0),
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
        (UpstreamUnreachable, 0, RETRY, RETRY),
        (UpstreamUnreachable, 1, wait(2 * FIRST_DELAY), wait(2 * FIRST_DELAY)),
        (UpstreamUnreachable, 2, GIVE_UP, FALL_BACK),
        (UpstreamBroken, 0, wait(0.0), wait(0.0)),
        (UpstreamBroken, 1, wait(2 * FIRST_DELAY), wait(2 * FIRST_DELAY)),
        (UpstreamBroken, 2, GIVE_UP, FALL_BACK),
        (UpstreamTimeout, 0, GIVE_UP, FALL_BACK),
        (UpstreamTimeout, 2, GIVE_UP, FALL_BACK),
    ],
)
def test_no_answer(failure: type[UpstreamError], attempt: int, alone: Decision, with_fallback: Decision) -> None:
    settings = upstream_config(retries=2)
    for has_fallback, expected in ((False, alone), (True, with_fallback)):
        got = after_failure(failure(""), attempt, settings, has_fallback=has_fallback, jitter=lambda: 0.0)
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
