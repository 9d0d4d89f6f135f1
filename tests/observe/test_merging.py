"""Metrics of several processes as one: sums that fall never, and gauges by their rule."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from proxy.observe.merging import Family, Rule, Sample, Snapshot, exposition, merged, packed, snapshot, unpacked
from proxy.observe.metrics import Metrics


def gauge(value: float, name: str = "g") -> Snapshot:
    return (Family(name, "gauge", "a gauge", (Sample(name, (), value),)),)


def counter(value: float, **labels: str) -> Snapshot:
    return (Family("c", "counter", "a counter", (Sample("c_total", tuple(labels.items()), value),)),)


def values(told: Snapshot) -> dict[str, float]:
    return {
        each.name + "".join(f",{key}={value}" for key, value in each.labels): each.value
        for family in told
        for each in family.samples
    }


@pytest.mark.parametrize(
    ("live", "gone", "expected"),
    [
        ([], [], {}),
        ([counter(1.0)], [], {"c_total": 1}),
        ([counter(1.0), counter(2.0)], [counter(4.0)], {"c_total": 7}),
        ([counter(1.0, x="a"), counter(2.0, x="b")], [], {"c_total,x=a": 1, "c_total,x=b": 2}),
        ([], [counter(4.0)], {"c_total": 4}),
        ([gauge(1.0), gauge(2.0)], [gauge(4.0)], {"g": 3}),
        ([], [gauge(4.0)], {}),
    ],
)
def test_sums_hold_those_that_are_gone_and_gauges_do_not(
    live: list[Snapshot], gone: list[Snapshot], expected: dict[str, float]
) -> None:
    assert values(merged(live, gone)) == expected


@pytest.mark.parametrize(("rule", "expected"), [("sum", 6.0), ("max", 3.0), ("min", 1.0)])
def test_a_gauge_is_combined_by_its_rule(rule: Rule, expected: float) -> None:
    told = merged([gauge(2.0), gauge(1.0), gauge(3.0)], rules={"g": rule})
    assert values(told) == {"g": expected}


@given(st.lists(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 100)), max_size=5), max_size=5))
def test_it_does_not_matter_in_which_order_processes_end(counted: list[list[tuple[str, int]]]) -> None:
    told = [merged([counter(amount, x=label) for label, amount in each]) for each in counted]
    whole = values(merged(told))
    for gone in range(len(told) + 1):
        ended = merged((), told[:gone])  # as the supervisor adds them up
        assert values(merged(told[gone:], [ended])) == whole


def test_what_two_servers_tell_is_what_one_would_have_told() -> None:
    one, two, both = Metrics(), Metrics(), Metrics()
    for metrics in (one, both):
        metrics.failed_open("plan", "deadline")
        metrics.embedded(4, 0.002)
    for metrics in (two, both):
        metrics.failed_open("plan", "deadline")
        metrics.embedded(32, 0.5)
    told = values(merged([one.snapshot(), two.snapshot()], rules=one.rules))
    expected = values(both.snapshot())
    for name, value in expected.items():
        if name.startswith(("olvido_fail_open", "olvido_embed")):
            assert told[name] == pytest.approx(value)
    assert told["olvido_workers"] == 2
    assert told["olvido_worker_starts_total"] == 2
    starts = [values(each.snapshot())["process_start_time_seconds"] for each in (one, two)]
    assert told["process_start_time_seconds"] == min(starts)
    build = [name for name in told if name.startswith("olvido_build_info")]
    assert [told[name] for name in build] == [1.0]


def test_prometheus_reads_it_as_it_reads_one_process() -> None:
    metrics = Metrics()
    metrics.failed_open("plan", 'a "quoted"\nreason \\')
    alone = list(text_string_to_metric_families(metrics.exposition().decode()))
    told = list(text_string_to_metric_families(exposition(merged([metrics.snapshot()])).decode()))
    assert [(each.name, each.type, each.documentation) for each in told] == [
        (each.name, each.type, each.documentation) for each in alone
    ]
    of = [{(each.name, *each.labels.items()) for family in one for each in family.samples} for one in (alone, told)]
    assert of[0] == of[1]


def test_a_snapshot_survives_its_way() -> None:
    told = snapshot(Metrics().registry)
    assert unpacked(packed(told)) == told


@pytest.mark.parametrize("data", [b"", b"\xc1", packed(counter(1.0))[:-1], b"\x93\x01\x02\x03"])
def test_what_is_none_is_none(data: bytes) -> None:
    assert unpacked(data) is None
