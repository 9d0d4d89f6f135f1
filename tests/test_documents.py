"""Documents that would be wrong without anybody noticing: maps of the house, queries of metrics, paths."""

import ast
import re
from pathlib import Path

import pytest

from proxy.observe.metrics import Metrics
from tests.builders import ledger_row

ROOT = Path(__file__).parent.parent
PACKAGES = sorted(
    path.parent.relative_to(ROOT / "proxy").as_posix() for path in (ROOT / "proxy").glob("*/**/__init__.py")
)

_RIDDLE = re.compile(r"(?:What|Who|Which|Did|Whose|Whether|How|Where|When|Is|Are|Do|Does|May|Has|Can)\b")
_EXCEPTION = re.compile(r"# (?:type: ignore|noqa)\b")
_WITH_REASON = re.compile(r"# noqa: [A-Z0-9, ]+ \(.+\)|# type: ignore\[[\w, -]+\]  # (?!noqa|fmt).+")
_QUERY = re.compile(r"(olvido_\w+)(?:\{([^}]*)\})?")


def docstring(path: Path) -> str:
    return ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""


def modules(package: Path) -> list[str]:
    return sorted(path.name for path in package.glob("*.py") if not path.name.startswith("__"))


@pytest.mark.parametrize("package", PACKAGES)
def test_the_map_of_a_package_names_its_modules_and_nothing_else(package: str) -> None:
    told = docstring(ROOT / "proxy" / package / "__init__.py")
    named = re.findall(r"(?<![\w/])\w+\.py\b", told)
    assert sorted(set(named)) == modules(ROOT / "proxy" / package)


def test_every_exception_from_a_check_has_its_reason_beside_it() -> None:
    found = []
    rooms = (path for room in ("proxy", "tests", "grafana") for path in (ROOT / room).rglob("*.py"))
    for path in sorted(each for each in rooms if "node_modules" not in each.parts and each != Path(__file__)):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if _EXCEPTION.search(line) and not _WITH_REASON.search(line):
                found.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()}")
    assert found == []


def test_every_docstring_begins_with_the_thing_and_not_with_a_question() -> None:
    found = []
    for path in sorted((ROOT / "proxy").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                first, _, _ = (ast.get_docstring(node) or "").partition("\n")
                if _RIDDLE.match(first):
                    found.append(f"{path.relative_to(ROOT)}: {first}")
    assert found == []


def test_the_map_of_the_house_names_its_rooms() -> None:
    told = docstring(ROOT / "proxy" / "__init__.py")
    rooms = [f"{path.parent.name}/" for path in (ROOT / "proxy").glob("*/__init__.py")]
    assert [name for name in (*modules(ROOT / "proxy"), *rooms) if name not in told] == []
    assert [name for name in re.findall(r"\w+\.py|\w+/", told) if not (ROOT / "proxy" / name).exists()] == []


@pytest.mark.parametrize(
    "document", ["CONTRIBUTING.md", *(f"proxy/{room}/README.md" for room in ("memory", "files", "desk"))]
)
def test_the_paths_that_a_document_names_are_there(document: str) -> None:
    named = re.findall(r"`((?:proxy|tests|deploy|grafana)/[\w./]*)", (ROOT / document).read_text(encoding="utf-8"))
    assert named
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_every_metric_of_a_query_is_told_with_these_labels() -> None:
    metrics = Metrics()
    for plan in ("untouched", "managed", "over-budget", "fail-open"):
        mechanisms = dict.fromkeys(("window", "capped", "tools", "elided", "summaries", "facts", "recall"), 1)
        metrics.recorded(ledger_row(plan=plan, mechanisms=mechanisms, tokens_busted=1, intent_reason="hit"))
    families = list(metrics.registry.collect())
    labelled = {sample.name: set(sample.labels) for family in families for sample in family.samples}
    every = {name for family in families for name in _names(family.name, family.type)}
    queries = _QUERY.findall((ROOT / "grafana" / "README.md").read_text(encoding="utf-8"))
    assert queries
    for name, labels in queries:
        assert name in every
        wanted = set(re.findall(r"(\w+)=", labels))
        assert not wanted or wanted <= labelled[name]


def _names(name: str, kind: str) -> list[str]:
    if kind == "counter":
        return [f"{name}_total"]
    return [f"{name}{end}" for end in ("_bucket", "_sum", "_count")] if kind == "histogram" else [name]
