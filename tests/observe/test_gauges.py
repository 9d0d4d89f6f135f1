"""The gauges of the ledger's totals are those that were read last, and no others."""

from prometheus_client.parser import text_string_to_metric_families

from proxy.observe.gauges import TotalGauges
from proxy.observe.metrics import Metrics
from proxy.observe.totals import KeyTotal, Total
from proxy.types import Sums
from proxy.types.keys import KeySums


def value(metrics: Metrics, name: str, **labels: str) -> float | None:
    """The value of one series, as a scraper reads it; None if it is not told."""
    for family in text_string_to_metric_families(metrics.exposition().decode()):
        for sample in family.samples:
            if sample.name == name and sample.labels == labels:
                return sample.value
    return None


def test_the_totals_of_keys_take_the_place_of_those_before_them() -> None:
    metrics = Metrics()
    gauges = TotalGauges(metrics)
    gauges.keys("l", [KeyTotal("ana", "north", 5.0, KeySums(2, 30, 0.5, -0.25))])
    labels = {"ledger": "l", "key": "ana"}
    assert value(metrics, "olvido_ledger_key_requests", **labels, team="north") == 2
    assert value(metrics, "olvido_ledger_key_saved_cost_dollars", **labels, team="north") == -0.25
    assert value(metrics, "olvido_ledger_key_since_seconds", **labels, team="north") == 5.0
    gauges.keys("l", [KeyTotal("ana", "south", 5.0, KeySums(3, 40, 0.75, 0.0))])
    assert value(metrics, "olvido_ledger_key_requests", **labels, team="north") is None
    assert value(metrics, "olvido_ledger_key_requests", **labels, team="south") == 3


def test_models_that_are_configured_are_told_before_their_first_request_and_all_others_too() -> None:
    metrics = Metrics()
    metrics.expect({"up": ["named"]})
    gauges = TotalGauges(metrics)
    gauges.models("l", {"m": Total(7.0, Sums(requests=3, reused_exact=1, cost=0.5))})
    whose = {"ledger": "l"}
    assert value(metrics, "olvido_ledger_cost_dollars", **whose, model="m") == 0.5
    assert value(metrics, "olvido_ledger_since_seconds", **whose, model="m") == 7.0
    assert value(metrics, "olvido_ledger_requests", **whose, model="m", source="upstream") == 2
    assert value(metrics, "olvido_ledger_requests", **whose, model="m", source="exact") == 1
    for name in ("named", "other"):
        assert value(metrics, "olvido_ledger_cost_dollars", **whose, model=name) == 0
