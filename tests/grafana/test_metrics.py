from pathlib import Path

import pytest

from grafana.source.metrics import lines, main
from proxy.observe.catalogue import Catalogue

DOCUMENT = Path(__file__).parent.parent.parent / "grafana" / "METRICS.md"


def test_the_document_is_what_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    main()
    assert DOCUMENT.read_text(encoding="utf-8") == capsys.readouterr().out, "make metrics-docs"


def test_every_metric_has_its_line_with_type_labels_and_meaning() -> None:
    printed = list(lines())
    for entry in Catalogue().entries:
        (row,) = [line for line in printed if line.startswith(f"| `{entry.name}` |")]
        assert entry.kind in row
        assert entry.meaning in row
        assert all(f"`{name}`" in row for name in entry.labels)


def test_so_do_those_of_the_process() -> None:
    assert any(line.startswith("| `process_resident_memory_bytes` | gauge |") for line in lines())
    assert any(line.startswith("| `process_cpu_seconds_total` | counter |") for line in lines())
