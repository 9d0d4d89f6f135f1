import pytest

from proxy.bench.load import Outcome
from proxy.bench.measuring import Row, spread, with_needed


def outcome(cpu: float = 0.01, *, paced: list[float] | None = None, lags: dict[str, float] | None = None) -> Outcome:
    """Of ten requests."""
    return Outcome(cpu, 5, 0.5, 10, paced or [], {"200 json": 10}, lags or {})


def row(*outcomes: Outcome, name: str = "ours", floor: str = "floor") -> Row:
    return Row(name, "all", "growing", False, "200", "direct", floor, (), [*outcomes])


def test_its_numbers_are_those_of_a_request() -> None:
    ours, floor = row(outcome(0.01), outcome(0.02)), row(outcome(0.001), outcome(0.001), name="floor")
    assert ours.cpu == pytest.approx([1_000, 2_000])  # µs
    assert ours.floors(floor) == pytest.approx([10, 20])
    assert ours.switches == [0.5, 0.5]
    assert ours.rate == [20, 20]
    assert ours.answers == {"200 json": 20}


def test_added_latency_is_of_the_same_round() -> None:
    ours, direct = row(outcome(paced=[0.003] * 5), outcome(paced=[0.013] * 5)), row(outcome(paced=[0.001] * 5))
    assert ours.latency(50) == pytest.approx([3, 13])
    assert row(*ours.outcomes[:1]).added(direct, 99) == pytest.approx([2])
    assert ours.pooled_latency(99) == pytest.approx(13)


@pytest.mark.parametrize(
    ("lags", "milliseconds"),
    [
        ([{}], None),
        ([{"0.001": 0, "0.005": 0, "+Inf": 0}], None),
        ([{"0.001": 100, "0.005": 100, "+Inf": 100}], 0.99),  # within the bucket as if all were spread evenly
        ([{"0.001": 50, "0.005": 100, "+Inf": 100}], 4.92),
        ([{"0.001": 50, "0.005": 50, "+Inf": 50}, {"0.001": 0, "0.005": 50, "+Inf": 50}], 4.92),  # all rounds
        ([{"0.001": 50, "0.005": 60, "+Inf": 100}], 5.0),  # later than it counts
    ],
)
def test_the_lag_is_read_off_the_histogram(lags: list[dict[str, float]], milliseconds: float | None) -> None:
    found = row(*(outcome(lags=each) for each in lags)).lag
    assert found == (None if milliseconds is None else pytest.approx(milliseconds))


def test_a_row_is_measured_with_what_it_is_compared_with() -> None:
    rows = [
        row(name="direct", floor="direct"),
        row(name="floor"),
        row(name="floor, long", floor="floor, long"),
        row(outcome(), name="ours", floor="floor, long"),
        row(name="others"),
    ]
    chosen = with_needed(rows, lambda each: each.name == "ours")
    assert [each.name for each in chosen] == ["direct", "floor, long", "ours"]
    assert chosen[-1].outcomes == []  # those of another run are not its own


def test_a_spread_is_the_median_the_least_and_the_most() -> None:
    assert spread([3, 1, 2], 1) == "2.0 (1.0 to 3.0)"
