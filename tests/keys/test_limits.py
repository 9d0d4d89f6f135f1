"""Whether a request may go on: a table of decisions, and what can never happen however requests come and end."""

from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.keys.limits import WINDOW, Refusal, Standing, decide, standing, with_room
from proxy.keys.spending import DAY, Spent
from proxy.types.keys import Counted, KeySums, Limits, Use

NOON = 20_785 * DAY + 43_200.0  # the 28th of November 2026
SECOND = int(NOON)
RPM, TPM = Limits(requests_per_minute=3), Limits(tokens_per_minute=1_000)
DAILY, MONTHLY = Limits(dollars_per_day=1.0), Limits(tokens_per_month=10_000)


def counted(*seconds: tuple[int, int, int], tokens: int = 0, dollars: float = 0.0) -> Counted:
    """Seconds before noon, requests, tokens; what is under way. The request that is asked about included."""
    return Counted(tuple((SECOND - ago, requests, used) for ago, requests, used in seconds), tokens, dollars)


def asking(tokens: int = 100, dollars: float = 0.1) -> Use:
    return Use("r", NOON, 1, tokens, dollars)


def spent(**day: Any) -> Spent:
    return Spent(KeySums(**day), KeySums(**day))


@pytest.mark.parametrize(
    ("limits", "seen", "sums", "asked", "refused"),
    [
        (Limits(), counted((0, 9_999, 10**9)), spent(dollars=1e9), asking(), None),
        (Limits(0, 0, 0, 0, 0.0, 0.0), counted((0, 9_999, 10**9)), spent(dollars=1e9), asking(), None),
        (RPM, counted((0, 3, 0)), spent(), asking(), None),
        (RPM, counted((0, 4, 0)), spent(), asking(), ("requests", "minute", 3, 1, 61)),
        (RPM, counted((30, 2, 0), (0, 2, 0)), spent(), asking(), ("requests", "minute", 3, 1, 31)),
        (RPM, counted((60, 3, 0), (0, 1, 0)), spent(), asking(), ("requests", "minute", 3, 1, 1)),
        (RPM, counted((61, 3, 0), (0, 1, 0)), spent(), asking(), None),
        # Another machine's clock is a little ahead; this one's was put back by an hour.
        (RPM, counted((0, 1, 0), (-30, 3, 0)), spent(), asking(), ("requests", "minute", 3, 1, 61)),
        (RPM, counted((0, 1, 0), (-3_600, 3, 0)), spent(), asking(), None),
        (RPM, counted((0, 4, 0), (-3_600, 3, 0)), spent(), asking(), ("requests", "minute", 3, 1, 61)),
        (TPM, counted((0, 9, 1_000)), spent(), asking(), None),
        (TPM, counted((20, 1, 500), (0, 1, 600)), spent(), asking(600), ("tokens", "minute", 500, 600, 41)),
        (TPM, counted((0, 1, 1_500)), spent(), asking(1_500), ("tokens", "minute", 0, 1_500, 61)),
        (DAILY, counted(dollars=0.1), spent(dollars=0.9), asking(), None),
        (DAILY, counted(dollars=0.1), spent(dollars=0.95), asking(), ("dollars", "day", 0.95, 0.1, 43_200)),
        (DAILY, counted(dollars=0.9), spent(dollars=0.3), asking(), ("dollars", "day", 1.1, 0.1, 43_200)),
        (DAILY, counted(), spent(dollars=1.0), asking(0, 0.0), ("dollars", "day", 1.0, 0.0, 43_200)),
        (DAILY, counted(), spent(dollars=0.99), asking(0, 0.0), None),
        (MONTHLY, counted(tokens=100), spent(tokens=9_950), asking(), ("tokens", "month", 9_950, 100, 2.5 * DAY)),
    ],
)
def test_what_is_refused_and_for_how_long(
    limits: Limits, seen: Counted, sums: Spent, asked: Use, refused: tuple[Any, ...] | None
) -> None:
    found = decide(limits, seen, sums, asked)
    told = None if found is None else (found.unit, found.per, found.used, found.asked, found.wait)
    assert told == (None if refused is None else _near(refused))


def _near(row: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(each if isinstance(each, str) else pytest.approx(each) for each in row)


def test_only_a_request_that_alone_is_above_the_limit_is_too_large() -> None:
    assert Refusal("tokens", "minute", 1_000, 0, 1_500, 61).is_too_large
    assert not Refusal("tokens", "minute", 1_000, 900, 500, 61).is_too_large


def test_the_room_that_is_left_is_told_as_openai_tells_it() -> None:
    limits = Limits(requests_per_minute=10, tokens_per_minute=1_000)
    told = standing(limits, counted((30, 2, 300), (10, 1, 900)), NOON).headers()
    assert dict(told) == {
        "x-ratelimit-limit-requests": "10",
        "x-ratelimit-remaining-requests": "7",
        "x-ratelimit-reset-requests": "51s",
        "x-ratelimit-limit-tokens": "1000",
        "x-ratelimit-remaining-tokens": "0",
        "x-ratelimit-reset-tokens": "51s",
    }
    assert standing(DAILY, counted(), NOON).headers() == ()


def test_of_two_limits_the_tighter_one_is_told() -> None:
    wide, narrow = Standing(RPM, requests=1), Standing(Limits(requests_per_minute=100), requests=90)
    assert wide.tighter(narrow) is narrow
    assert narrow.tighter(wide) is narrow
    assert wide.tighter(None) is wide


def test_the_upstreams_own_limits_are_not_told_beside_ours() -> None:
    answer = (("content-type", "text"), ("x-ratelimit-limit-requests", "9999"))
    room = (("x-ratelimit-limit-requests", "3"),)
    assert with_room(answer, room) == (("content-type", "text"), *room)
    assert with_room(answer, ()) == answer


# --- whatever comes -------------------------------------------------------------------------------------------------


@dataclass
class Till:
    """Counts and sums as they should be kept, and what has really been spent."""

    limits: Limits
    seconds: dict[int, list[int]] = field(default_factory=dict)
    under_way: dict[str, Use] = field(default_factory=dict)
    spent: float = 0.0
    excess: float = 0.0  # that requests cost beyond their estimates
    admitted: list[float] = field(default_factory=list)

    def asks(self, use: Use) -> bool:
        self.under_way[use.id] = use
        second = self.seconds.setdefault(int(use.at), [0, 0])
        second[0] += 1
        second[1] += use.tokens
        seen = Counted(
            tuple((at, *both) for at, both in sorted(self.seconds.items())),  # type: ignore[misc]  # two of them
            sum(each.tokens for each in self.under_way.values()),
            sum(each.dollars for each in self.under_way.values()),
        )
        sums = KeySums(dollars=self.spent)
        if decide(self.limits, seen, Spent(sums, sums), use) is None:
            self.admitted.append(use.at)
            return True
        del self.under_way[use.id]
        second[0] -= 1
        second[1] -= use.tokens
        return False

    def ends(self, request_id: str, factor: float) -> None:
        use = self.under_way.pop(request_id)
        self.spent += use.dollars * factor
        self.excess += max(0.0, use.dollars * (factor - 1))


_uses = st.tuples(st.floats(0, 5), st.floats(0.01, 0.5), st.booleans(), st.floats(0, 3))


@given(st.lists(_uses, max_size=60), st.floats(0.1, 3.0))
def test_a_budget_is_never_exceeded_by_more_than_requests_cost_beyond_their_estimates(
    coming: list[tuple[float, float, bool, float]], limit: float
) -> None:
    till, at = Till(Limits(dollars_per_day=limit)), NOON
    waiting: list[tuple[str, float]] = []
    for number, (passed, dollars, ends, factor) in enumerate(coming):
        at += passed
        if till.asks(Use(str(number), at, 1, 0, dollars)):
            waiting.append((str(number), factor))
        if ends and waiting:
            till.ends(*waiting.pop(0))
        under_way = sum(each.dollars for each in till.under_way.values())
        assert till.spent + under_way <= limit + till.excess + 1e-9
    for each in waiting:
        till.ends(*each)
    assert till.spent <= limit + till.excess + 1e-9


@given(st.lists(st.tuples(st.floats(0, 20), st.integers(0, 400)), max_size=80), st.integers(1, 8))
def test_within_any_minute_there_are_never_more_requests_than_the_limit(
    coming: list[tuple[float, int]], limit: int
) -> None:
    till, at = Till(Limits(requests_per_minute=limit)), NOON
    for number, (passed, tokens) in enumerate(coming):
        at += passed
        till.asks(Use(str(number), at, 1, tokens))
    for first in till.admitted:
        assert sum(first <= each < first + 60 for each in till.admitted) <= limit


@given(st.lists(st.floats(0, 20), min_size=1, max_size=80), st.integers(1, 8))
def test_whoever_waits_as_long_as_he_is_told_is_let_in(coming: list[float], limit: int) -> None:
    limits, at = Limits(requests_per_minute=limit), NOON
    till = Till(limits)
    for number, passed in enumerate(coming):
        at += passed
        use = Use(str(number), at)
        if till.asks(use):
            continue
        seen = {**till.seconds, int(at): [till.seconds.get(int(at), [0, 0])[0] + 1, 0]}
        found = decide(limits, Counted(tuple((each, *both) for each, both in seen.items())), Spent(), use)  # type: ignore[misc]  # as above
        assert found is not None
        assert 1 <= found.wait <= WINDOW
        assert replace(till, seconds={each: [*both] for each, both in till.seconds.items()}, admitted=[]).asks(
            Use("later", at + found.wait)
        )
