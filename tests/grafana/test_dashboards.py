"""The dashboards are code, and each panel says what it shows."""

import json
import re
from collections.abc import Mapping
from typing import Any

import pytest
import yaml

from grafana.source.__main__ import DASHBOARDS, FOLDER, rendered
from proxy.observe.catalogue import Catalogue
from tests.grafana.prometheus import GRAFANA, expressions, panels, rules

# As Grafana names them.
UNITS = {"short", "s", "bytes", "percentunit", "reqps", "cps", "currencyUSD"}

_NAME = re.compile(r"\b(olvido_\w+|process_\w+|olvido:[\w:]+)(?:\{([^}]*)\})?")


@pytest.mark.parametrize("name", DASHBOARDS)
def test_a_dashboard_is_what_its_code_writes(name: str) -> None:
    assert (FOLDER / f"{name}.json").read_text(encoding="utf-8") == rendered(name), "make dashboards"


def test_there_is_none_without_code() -> None:
    assert {file.stem for file in FOLDER.glob("*.json")} == set(DASHBOARDS)


@pytest.mark.parametrize("name", DASHBOARDS)
def test_a_dashboard_can_be_found_linked_and_narrowed_down(name: str) -> None:
    told = json.loads(rendered(name))
    assert (told["uid"], told["tags"]) == (f"olvido-{name}", ["olvido"])
    assert [variable["name"] for variable in told["templating"]["list"]] == ["datasource", "model", "upstream"]
    ids = [panel["id"] for panel in told["panels"]]
    assert ids == list(range(1, len(ids) + 1))
    places = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in told["panels"]]
    assert len(set(places)) == len(places)
    assert all(panel["gridPos"]["x"] + panel["gridPos"]["w"] <= 24 for panel in told["panels"])


@pytest.mark.parametrize(
    ("name", "panel"), list(panels()), ids=lambda each: each if isinstance(each, str) else each["title"]
)
def test_a_panel_has_a_title_a_description_a_unit_and_named_lines(name: str, panel: Mapping[str, Any]) -> None:
    assert panel["title"]
    assert panel["description"].endswith(".")
    assert panel["fieldConfig"]["defaults"]["unit"] in UNITS
    assert panel["datasource"] == {"type": "prometheus", "uid": "${datasource}"}
    assert panel["targets"]
    lines = [target.get("legendFormat") for target in panel["targets"]]
    assert panel["type"] == "stat" or (all(lines) and len(set(lines)) == len(lines))
    for target in panel["targets"]:
        named = set(re.findall(r"{{(\w+)}}", target.get("legendFormat", "")))
        told = target["expr"]
        assert all(re.search(rf"by \([^)]*\b{label}\b", told) or label in _kept(told) for label in named), told


def _kept(expression: str) -> set[str]:
    """Labels of an expression that takes none away."""
    if expression.startswith("olvido:"):
        rule = next(rule for rule in rules() if rule.get("record") == expression.partition("{")[0])
        return set(re.findall(r"by \((\w+)\)", rule["expr"]))
    return set() if "sum" in expression else {"instance", "job"}


def test_every_metric_that_is_asked_for_is_told_with_these_labels() -> None:
    """What a real Prometheus answers is in `test_prometheus.py`; this is known without one."""
    known = {entry.name: set(entry.labels) for entry in Catalogue().entries}
    histograms = {entry.name for entry in Catalogue().entries if entry.kind == "histogram"}
    for name in histograms:
        known |= {f"{name}{end}": known[name] | {"le"} for end in ("_bucket", "_sum", "_count")}
    recorded = {rule["record"] for rule in rules() if "record" in rule}
    for where, expression in expressions().items():
        found = _NAME.findall(expression)
        assert found or 'up{job="olvido"}' in expression, where
        for name, matchers in found:
            if name.startswith("process_"):
                continue
            assert name in known or name in recorded, (where, name)
            assert set(re.findall(r"(\w+)[=!]~?\"", matchers)) <= known.get(name, {"upstream", "kind"}), (where, name)


def test_what_is_recorded_is_used_and_what_is_alerted_says_what_to_do() -> None:
    every = "\n".join(rule["expr"] for rule in rules()) + "\n".join(
        target["expr"] for _, panel in panels() for target in panel["targets"]
    )
    for rule in rules():
        if "record" in rule:
            assert rule["record"] in every
        else:
            assert set(rule["annotations"]) == {"summary", "description", "action"}
            assert rule["labels"]["severity"] in ("warning", "critical")


def test_what_is_provisioned_is_where_the_dashboards_look_for_it() -> None:
    folder = GRAFANA / "provisioning"
    (source,) = yaml.safe_load((folder / "datasources" / "prometheus.yaml").read_text(encoding="utf-8"))["datasources"]
    assert (source["type"], source["isDefault"]) == ("prometheus", True)
    scraped = yaml.safe_load((GRAFANA / "prometheus" / "prometheus.yml").read_text(encoding="utf-8"))
    assert source["jsonData"]["timeInterval"] == scraped["global"]["scrape_interval"]
    (provider,) = yaml.safe_load((folder / "dashboards" / "olvido.yaml").read_text(encoding="utf-8"))["providers"]
    assert provider["type"] == "file"
