"""The catalogue is what is exposed, and says all that its documentation needs."""

import re
from pathlib import Path

import pytest

from proxy.observe.catalogue import Catalogue
from proxy.observe.labels import MECHANISM, RESULT, STAGE
from proxy.observe.register import MOST_INITIAL, Entry
from proxy.reuse.cacheable import BYPASSES
from proxy.reuse.question import UNSUITED
from proxy.reuse.verdict import REASONS
from proxy.types import Mechanisms

CATALOGUE = Catalogue()
BY_NAME = {entry.name: entry for entry in CATALOGUE.entries}


def exposed() -> dict[str, str]:
    """Names as Prometheus sees them, and types."""
    families = CATALOGUE.registry.collect()
    return {f"{each.name}_total" if each.type == "counter" else each.name: each.type for each in families}


def test_every_metric_is_in_the_catalogue_by_the_name_that_prometheus_sees() -> None:
    assert exposed() == {entry.name: entry.kind for entry in CATALOGUE.entries}
    assert len(BY_NAME) == len(CATALOGUE.entries)


@pytest.mark.parametrize("entry", CATALOGUE.entries, ids=lambda entry: entry.name)
def test_a_metric_says_what_it_means_and_what_its_labels_can_say(entry: Entry) -> None:
    assert entry.meaning.endswith(".")
    assert all(entry.labels.values())
    assert entry.several in ("sum", "max", "min")
    assert entry.kind == "gauge" or entry.several == "sum"
    if "seconds" in entry.name or "bytes" in entry.name or "dollars" in entry.name:
        assert entry.name.removesuffix("_total").endswith(("_seconds", "_bytes", "_dollars"))


@pytest.mark.parametrize(
    ("name", "series"),
    [
        ("olvido_folds", 5),
        ("olvido_plans", 4),
        ("olvido_facts", 5),
        ("olvido_reuse_reports", 3),
        ("olvido_storage_seconds", 2),
        ("olvido_in_flight", 1),
        ("olvido_reuse", 0),  # more than anybody would want to see before they happened
        ("olvido_requests", 0),
        ("olvido_fail_open", 0),
    ],
)
def test_a_series_that_is_known_beforehand_begins_at_0(name: str, series: int) -> None:
    family = next(each for each in CATALOGUE.registry.collect() if each.name == name)
    told = {frozenset((k, v) for k, v in sample.labels.items() if k != "le") for sample in family.samples}
    assert len(told) == series <= MOST_INITIAL
    assert all(sample.value == 0 for sample in family.samples)


PROXY = Path(__file__).parent.parent.parent / "proxy"

_ATTEMPT = re.compile(r"attempts?\.(?:run|call)\(\s*\"(\w+)\"|on_(?:fail_open|failure)\(\"(\w+)\"")
_MISS = re.compile(r"ReuseMiss\(\"(\w+)\"|intent=\"(\w+)\"")


def found(pattern: re.Pattern[str], folder: str) -> set[str]:
    texts = (path.read_text(encoding="utf-8") for path in (PROXY / folder).rglob("*.py"))
    return {next(filter(None, groups)) for text in texts for groups in pattern.findall(text)}


def test_every_stage_that_may_fail_open_is_said() -> None:
    stages = found(_ATTEMPT, ".")
    assert {"plan", "identify", "read_stream"} <= stages
    assert stages <= set(STAGE)
    assert set(STAGE) <= stages | {"intent"}  # a replay is attempted by the name of its source


def test_every_reason_for_which_nothing_is_reused_is_said() -> None:
    reasons = found(_MISS, "stages") | found(_MISS, "reuse") | found(_MISS, ".") - {"replayed"}
    assert {"absent", "far", "no_identity"} <= reasons
    assert reasons <= set(RESULT)
    assert {*BYPASSES, *UNSUITED, *REASONS} <= set(RESULT)


def test_every_mechanism_is_said() -> None:
    assert {name for name, _ in Mechanisms(*range(1, 10)).items()} == set(MECHANISM)


def test_totals_of_the_ledger_are_one_number_of_all_processes() -> None:
    """Else a dashboard would tell as many times of what was spent as there are workers."""
    for entry in CATALOGUE.entries:
        if entry.name.startswith("olvido_ledger_"):
            assert (entry.kind, entry.several) == ("gauge", "max")
            assert "ledger" in entry.labels
