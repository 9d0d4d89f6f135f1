"""The verdicts of the complete bench."""

import pytest

from proxy.bench.load import Outcome, StallOutcome
from proxy.bench.measuring import Limit, Row
from tests.bench.report import Report, markdown


def row(name: str, cpu: float, *limits: Limit) -> Row:
    """Ten requests that took so much CPU, milliseconds a request, and three milliseconds each."""
    outcome = Outcome(cpu / 100, 5, 0.1, 10, [0.003] * 10, {"200 upstream": 10}, {"0.001": 9, "0.005": 10, "+Inf": 10})
    return Row(name, "all", "growing", False, "200", "direct", "floor", limits, [outcome])


def report(*rows: Row, stalls: tuple[float, ...] = ()) -> str:
    each = [StallOutcome(seconds, {"200 upstream": 1}) for seconds in stalls]
    return markdown(Report({}, [row("direct", 0), row("floor", 1), *rows], {}, each, None, None))


@pytest.mark.parametrize(
    ("limit", "told"),
    [
        (Limit("floors", 5, 4), "floors at most 5 (aim 4) | 4.0 (4.0 to 4.0) | met, and the aim |"),
        (Limit("floors", 4, 2), "floors at most 4 (aim 2) | 4.0 (4.0 to 4.0) | met |"),
        (Limit("floors", 2, 1), "floors at most 2 (aim 1) | 4.0 (4.0 to 4.0) | **missed** |"),
        (Limit("switches", 0.5, 0.1), "switches a request at most 0.5 (aim 0.1) | 0.50 (0.50 to 0.50) | met |"),
        (Limit("p99", 1, 0), "p99 added, ms, at most 1 (aim 0) | 0.00 (0.00 to 0.00) | met, and the aim |"),
        (Limit("lag", 5, 2), "lag of the event loop, p99, ms, at most 5 (aim 2) | 4.60 (4.60 to 4.60) | met |"),
    ],
)
def test_a_limit_is_told_with_its_aim_and_what_was_measured(limit: Limit, told: str) -> None:
    assert f"| ours: {told}" in report(row("ours", 4, limit))


@pytest.mark.parametrize(("stalls", "told"), [((0.09, 0.05, 0.3), "90 (50 to 300) ms | met"), ((0.2,), "**missed**")])
def test_a_large_message_may_hold_others_up_for_so_long(stalls: tuple[float, ...], told: str) -> None:
    assert told in report(stalls=stalls)


def test_answers_of_another_kind_are_told() -> None:
    ours = row("ours", 4)
    ours.outcomes[0].answers["500 "] = 2
    assert "- ours: 2 of `500 `" in report(ours)
    assert "- ours" not in report(row("ours", 4))
