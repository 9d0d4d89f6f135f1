"""The picture of it: how many duplicates are answered from memory, and how many of the answers are right, for every
floor that the cosine must reach; with the cosine alone, and with the gates and comparison as well.

matplotlib is no dependency of the proxy: `pip install -e '.[bench]'`.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from tests.bench.reuse_stage import Decision

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FLOORS = tuple(floor / 200 for floor in range(80, 201))  # 0.4 to 1
MARKED = (0.7, 0.85, 0.9, 0.95)

# Each has a contrast of at least 3 with white and with the dark of the usual dark themes.
_INK, _ALONE, _COMPARED = "#7d8590", "#d1662a", "#2f81f7"


class Point(msgspec.Struct, frozen=True):
    floor: float
    recall: float
    precision: float


def curve(rows: Sequence[tuple[float, bool]], positives: int) -> list[Point]:
    """`rows`: the cosine of each pair that would be served, and whether it should be. Floors under which none is
    served are left out."""
    points = []
    for floor in FLOORS:
        served = [is_right for cosine, is_right in rows if cosine >= floor]
        if served:
            points.append(Point(floor, sum(served) / positives, sum(served) / len(served)))
    return points


def curves(decisions: Sequence[Decision], sources: Sequence[str]) -> tuple[list[Point], list[Point]]:
    """By the cosine alone, and by what the stage decided."""
    # Of identical texts it may be 1 but for rounding.
    chosen = [(d, min(1.0, d.cosine + 1e-6)) for d in decisions if d.pair.source in sources]
    positives = sum(d.pair.label for d, _ in chosen)
    alone = [(cosine, d.pair.label == 1) for d, cosine in chosen]
    compared = [(cosine, d.pair.label == 1) for d, cosine in chosen if d.hit]
    return curve(alone, positives), curve(compared, positives)


def draw(decisions: Sequence[Decision], path: Path) -> None:
    import matplotlib as mpl
    from matplotlib.figure import Figure

    # The reader's own font, and the same file for the same numbers.
    mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "olvido", "font.family": "sans-serif"})
    figure = Figure(figsize=(9.6, 4.4), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    _panel(left, "QQP", decisions, ("qqp",))
    _panel(right, "authored and CheckList", decisions, ("authored", "checklist"))
    left.set_ylabel("precision: answers that are right, %", color=_INK)
    figure.savefig(path, transparent=True, metadata={"Date": None} if path.suffix == ".svg" else None)


def _panel(axes: "Axes", title: str, decisions: Sequence[Decision], sources: Sequence[str]) -> None:
    alone, compared = curves(decisions, sources)
    n = sum(decision.pair.source in sources for decision in decisions)
    for name, points, color, style in (
        ("cosine, gates and comparison", compared, _COMPARED, "-"),
        ("cosine alone, by its floor", alone, _ALONE, "--"),
    ):
        axes.plot(*_percent(points), color=color, linestyle=style, linewidth=2, label=name)
    axes.plot(*_percent(compared[:1]), "o", color=_COMPARED, markersize=7)
    marked = [point for point in alone if point.floor in MARKED]
    axes.plot(*_percent(marked), "o", color=_ALONE, markersize=4)
    for point in marked:
        at = (point.recall * 100, point.precision * 100)
        axes.annotate(f"{point.floor:g}", at, (2, 5), textcoords="offset points", color=_ALONE, fontsize=9)
    axes.legend(loc="lower left", frameon=False, labelcolor="linecolor")
    axes.set_title(f"{title} ({n:,} pairs)", color=_INK, fontsize=11)
    axes.set_xlabel("hit ratio: duplicates answered from memory, %", color=_INK)
    axes.set_xlim(0, 103)
    axes.set_ylim(0, 105)
    axes.tick_params(colors=_INK)
    axes.grid(color=_INK, alpha=0.25, linewidth=0.6)
    for spine in axes.spines.values():
        spine.set_visible(False)


def _percent(points: Sequence[Point]) -> tuple[list[float], list[float]]:
    return [point.recall * 100 for point in points], [point.precision * 100 for point in points]
