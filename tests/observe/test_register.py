"""A register: its series begin at 0 where they are known, and are found again."""

import pytest

from proxy.observe.labels import Labels
from proxy.observe.register import MOST_INITIAL, OF_PROCESSES, Register

KNOWN = tuple(f"value-{number}" for number in range(MOST_INITIAL))


@pytest.mark.parametrize(
    ("labels", "series"),
    [
        ({}, 1),
        ({"kind": KNOWN}, MOST_INITIAL),
        ({"kind": (*KNOWN, "one more")}, 0),  # more than anybody would want to see before they happened
        ({"kind": KNOWN[:2], "way": KNOWN[:3]}, 6),
        ({"kind": KNOWN[:2], "model": "any name"}, 0),  # not known beforehand
    ],
)
def test_the_series_of_a_metric_begin_at_0_where_all_its_labels_are_known(labels: Labels, series: int) -> None:
    register = Register()
    register.counter("olvido_tests", "Counts.", labels)
    (family,) = register.registry.collect()
    assert [sample.value for sample in family.samples] == [0] * series


def test_a_series_that_is_dropped_is_told_no_more_and_begins_anew() -> None:
    register = Register()
    gauge = register.gauge("olvido_level", "A level.", "max", {"model": "any name"})
    register.of(gauge, "m").set(3)
    assert register.of(gauge, "m") is register.of(gauge, "m")
    register.drop(gauge, "m")
    register.drop(gauge, "n")  # was never told
    (family,) = register.registry.collect()
    assert family.samples == []
    register.of(gauge, "m").set(4)
    assert [sample.value for sample in next(iter(register.registry.collect())).samples] == [4]


def test_every_gauge_has_the_rule_by_which_workers_are_combined_and_the_librarys_own_too() -> None:
    register = Register()
    register.gauge("olvido_level", "A level.", "min")
    register.counter("olvido_tests", "Counts.")
    register.histogram("olvido_sizes", "Sizes.", (1.0, 2.0))
    assert register.rules == {**OF_PROCESSES, "olvido_level": "min"}
    assert [entry.name for entry in register.entries] == ["olvido_level", "olvido_tests_total", "olvido_sizes"]
