"""The picture of it: tokens and cost of each of the first 100 requests of one conversation, for the whole history, a
sliding window, and ours.

matplotlib is no dependency of the proxy: `pip install -e '.[bench]'`.
"""

from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path

from tests.bench.context_cost import Course

REQUESTS = 100
# Each has a contrast of at least 3 with white and with the dark of the usual dark themes.
_FULL, _SLIDING, _OURS = "#7d8590", "#d1662a", "#2f81f7"


def draw(course: Course, path: Path) -> None:
    import matplotlib as mpl
    from matplotlib.figure import Figure

    # The reader's own font, and the same file for the same numbers.
    mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "olvido", "font.family": "sans-serif"})
    steps = course.steps[:REQUESTS]
    figure = Figure(figsize=(9.6, 4.0), layout="constrained")
    left, right = figure.subplots(1, 2)
    panels: Sequence[tuple[object, str, list[tuple[str, str, list[float]]]]] = (
        (
            left,
            "tokens of the prompt",
            [
                ("whole history", _FULL, [float(step.full) for step in steps]),
                ("sliding window of 6 turns", _SLIDING, [float(step.sliding) for step in steps]),
                ("Olvido", _OURS, [float(step.ours) for step in steps]),
            ],
        ),
        (
            right,
            f"paid so far, in uncached tokens (cached: {course.ratio:g})",
            [
                ("whole history", _FULL, list(accumulate(step.full_cost for step in steps))),
                ("sliding window of 6 turns", _SLIDING, list(accumulate(step.sliding_cost for step in steps))),
                ("Olvido", _OURS, list(accumulate(step.ours_cost for step in steps))),
            ],
        ),
    )
    for axes, title, lines in panels:
        for name, colour, values in lines:
            axes.plot(range(1, len(values) + 1), values, color=colour, label=name, linewidth=1.6)  # type: ignore[attr-defined]  # matplotlib has no types here
        axes.set_title(title, color=_FULL, fontsize=10)  # type: ignore[attr-defined]  # as above
        axes.set_xlabel("request", color=_FULL)  # type: ignore[attr-defined]  # as above
        axes.tick_params(colors=_FULL)  # type: ignore[attr-defined]  # as above
        axes.grid(visible=True, color=_FULL, alpha=0.25)  # type: ignore[attr-defined]  # as above
        for spine in axes.spines.values():  # type: ignore[attr-defined]  # as above
            spine.set_color(_FULL)
    left.legend(frameon=False, labelcolor=_FULL)
    figure.savefig(path, transparent=True, metadata={"Date": None})
