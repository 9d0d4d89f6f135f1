"""`python -m tests.coverage_floor build/coverage.json`: line and branch coverage of each folder of the proxy.

Fails if a folder of `FLOORS` has less than its floor. `make coverage` writes the file (coverage.py's JSON report)."""

import json
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

# Per cent of lines and branches, of the folders that decide without I/O.
FLOORS = {"context": 95.0, "memory": 95.0, "protocol": 95.0, "reuse": 95.0}


def by_folder(report: Mapping[str, Any]) -> dict[str, float]:
    """Per cent of lines and branches that were run, by folder of `proxy/`; modules beside the folders are "."."""
    covered, all_of = Counter[str](), Counter[str]()
    for name, file in report["files"].items():
        parts = Path(name).parts[1:]
        folder, sums = parts[0] if len(parts) > 1 else ".", file["summary"]
        covered[folder] += sums["covered_lines"] + sums["covered_branches"]
        all_of[folder] += sums["num_statements"] + sums["num_branches"]
    return {folder: 100 * covered[folder] / all_of[folder] for folder in sorted(all_of) if all_of[folder]}


def below(figures: Mapping[str, float], floors: Mapping[str, float] = FLOORS) -> list[str]:
    """The folders whose coverage is below their floor, or which were not measured."""
    return [folder for folder, floor in floors.items() if figures.get(folder, 0.0) < floor]


def main(path: str) -> int:
    """Prints the figures of the report; returns the exit status."""
    report = json.loads(Path(path).read_text(encoding="utf-8"))
    figures = by_folder(report)
    too_low = below(figures)
    for folder, figure in figures.items():
        floor = f"  floor {FLOORS[folder]:g}" if folder in FLOORS else ""
        print(f"{folder:<14} {figure:5.1f} %{floor}{'  TOO LOW' if folder in too_low else ''}")
    print(f"{'all':<14} {report['totals']['percent_covered']:5.1f} %")
    return int(bool(too_low))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
