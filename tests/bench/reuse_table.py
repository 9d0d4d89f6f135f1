"""What was measured of reuse by intent, against what it must reach.

A rate's bound is Wilson's, 95 %, on the side that hurts. A macro mean over k groups of n_i has the variance of one over
k² / Σ 1/n_i rows, which is the n its bound is made with.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from statistics import quantiles

import msgspec

from tests.bench.bypass import wilson
from tests.bench.reuse_stage import Decision
from tests.bench.reuse_walls import Served

# The sets that hold pairs which lie near and ask something else.
HARD = {"en": ("checklist", "mqp", "xquad", "tod", "authored"), "es": ("xquad", "tod", "authored")}
LANGUAGES = {"en": "English", "es": "Spanish"}

Kind = tuple[str, str, str, int]  # source, language, phenomenon, label


class Target(msgspec.Struct, frozen=True):
    must: float
    aim: float
    at_least: bool = False

    def is_met(self, value: float) -> bool:
        return value >= self.must if self.at_least else value <= self.must

    def is_aimed(self, value: float) -> bool:
        return value >= self.aim if self.at_least else value <= self.aim


# `must` and `aim` of every row that has one.
FALSE_EN, FALSE_ES = Target(0.03, 0.005), Target(0.01, 0.003)
WORST = Target(0.15, 0.05)
RECALL = Target(0.30, 0.50, at_least=True)
QQP_RECALL, QQP_PRECISION = Target(0.28, 0.45, at_least=True), Target(0.87, 0.90, at_least=True)
CAUGHT, BYPASSED = Target(0.97, 0.99, at_least=True), Target(0.05, 0.02)
NONE = Target(0, 0)
ALL = Target(1, 1, at_least=True)
COMPARISON_MS = Target(2, 0.5)


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """`value` is a share, or milliseconds; `open`: the same share of the pairs that no gate has stopped."""

    name: str
    value: float
    n: int
    bound: float | None = None
    target: Target | None = None
    open: float | None = None
    note: str = ""
    milliseconds: bool = False
    low_hurts: bool = False  # the bound is a lower one

    @property
    def failed(self) -> bool:
        return self.target is not None and not self.target.is_met(self.value)


class Group(msgspec.Struct, frozen=True):
    """A phenomenon."""

    source: str
    lang: str
    phenomenon: str
    label: int
    n: int
    hits: int
    open_n: int  # pairs that no gate has stopped
    reasons: dict[str, int]  # why the others are none, the most frequent first

    @property
    def rate(self) -> float:
        return self.hits / self.n


# --- pairs --------------------------------------------------------------------------------------------------------


def grouped(decisions: Iterable[Decision]) -> list[Group]:
    kinds: defaultdict[Kind, list[Decision]] = defaultdict(list)
    for each in decisions:
        kinds[each.pair.source, each.pair.lang, each.pair.phenomenon, each.pair.label].append(each)
    return [
        Group(
            *kind,
            n=len(rows),
            hits=sum(row.hit for row in rows),
            open_n=sum(not row.gate for row in rows),
            reasons=dict(Counter(row.result for row in rows if not row.hit).most_common()),
        )
        for kind, rows in sorted(kinds.items())
    ]


def macro(groups: Sequence[Group]) -> tuple[float, float]:
    """The mean of the groups' rates, and its upper bound."""
    mean = sum(group.rate for group in groups) / len(groups)
    n = int(len(groups) ** 2 / sum(1 / group.n for group in groups))
    return mean, wilson(min(n, math.ceil(mean * n)), n)[1]


def false_hits(decisions: Sequence[Decision], lang: str) -> list[Line]:
    hard = [d for d in decisions if d.pair.lang == lang and d.pair.label == 0 and d.pair.source in HARD[lang]]
    right = [d for d in hard if not d.pair.is_mislabelled]
    target = FALSE_EN if lang == "en" else FALSE_ES
    groups, all_groups = grouped(right), grouped(hard)
    mean, bound = macro(groups)
    worst = max(groups, key=lambda group: group.rate)
    title = f"false hits, hard negatives {LANGUAGES[lang]}"
    wrong = f"with the {len(hard) - len(right)} identical pairs that are labelled 0:"
    open_groups = [group for group in groups if group.open_n]
    return [
        Line(
            name=f"{title}: macro mean",
            value=mean,
            n=len(right),
            bound=bound,
            target=target,
            open=sum(group.hits / group.open_n for group in open_groups) / len(open_groups),
            note=f"{len(groups)} phenomena; {wrong} {macro(all_groups)[0]:.2%}",
        ),
        _rate(f"{title}: pooled", right, target, note=f"{wrong} {sum(d.hit for d in hard) / len(hard):.2%}"),
        Line(
            name=f"{title}: worst phenomenon",
            value=worst.rate,
            n=worst.n,
            bound=wilson(worst.hits, worst.n)[1],
            target=WORST if lang == "en" else None,
            open=worst.hits / max(1, worst.open_n),
            note=f"{worst.source}: {worst.phenomenon}" if worst.hits else "there is no false hit",
        ),
    ]


def recalls(decisions: Sequence[Decision]) -> list[Line]:
    """Of each source the share of duplicates that are reused; of Quora's also how many of its hits are duplicates."""
    lines = []
    for source, lang, target in (
        ("authored", "en", RECALL),
        ("authored", "es", RECALL),
        ("qqp", "en", QQP_RECALL),
        ("checklist", "en", None),
        ("mqp", "en", None),
        ("tod", "en", None),
        ("tod", "es", None),
    ):
        chosen = [d for d in decisions if (d.pair.source, d.pair.lang, d.pair.label) == (source, lang, 1)]
        lines.append(_rate(f"recall, {source} {LANGUAGES[lang]}", chosen, target, low=True))
        if source == "qqp":
            hits = [d for d in decisions if d.pair.source == "qqp" and d.hit]
            right = sum(d.pair.label for d in hits)
            lines.append(_share("precision, qqp English, by its raw labels", right, len(hits), QQP_PRECISION))
    return lines


def _rate(name: str, rows: Sequence[Decision], target: Target | None, note: str = "", *, low: bool = False) -> Line:
    hits, unstopped = sum(row.hit for row in rows), sum(not row.gate for row in rows)
    line = _share(name, hits, len(rows), target, note, low=low)
    return msgspec.structs.replace(line, open=hits / max(1, unstopped))


def _share(name: str, hits: int, n: int, target: Target | None, note: str = "", *, low: bool = False) -> Line:
    """`low`: a low share is what hurts, as where it must be at least something."""
    low = low or (target is not None and target.at_least)
    bound = wilson(hits, n)[not low] if n else None
    return Line(name=name, value=hits / max(1, n), n=n, bound=bound, target=target, note=note, low_hurts=low)


# --- the rest -----------------------------------------------------------------------------------------------------


def bypasses(decisions: Sequence[Decision]) -> list[Line]:
    """Of messages each asked twice: what is not reused then was bypassed."""
    lines = []
    for kind in ("time_dependent", "emotional", "side_effect", "cacheable"):
        for lang in (None, "en", "es"):
            rows = [d for d in decisions if d.pair.phenomenon == kind and lang in (None, d.pair.lang)]
            target = BYPASSED if kind == "cacheable" else CAUGHT
            name = f"bypass, {kind}: {'wrongly bypassed' if kind == 'cacheable' else 'caught'}"
            where = f" in {LANGUAGES[lang]}" if lang else ""
            reasons = Counter(row.result for row in rows if not row.hit).most_common()
            note = "" if lang else ", ".join(f"{reason} {n}" for reason, n in reasons)
            missed = sum(not row.hit for row in rows)
            lines.append(_share(name + where, missed, len(rows), None if lang else target, note, low=target.at_least))
    return lines


def served(prefix: str, rows: Iterable[Served], *, control: bool = False) -> list[Line]:
    """`control`: what may be served must be, for the rest to mean something."""
    return [
        _share(
            f"{prefix}{row.name}",
            row.hits,
            row.n,
            NONE if not row.allowed else ALL if control else None,
            "" if row.allowed else "; ".join(row.examples[:3]),
        )
        for row in rows
    ]


def differing(differences: int, sample: Sequence[Decision]) -> Line:
    note = f"{sum(decision.hit for decision in sample)} of them reused by the stage"
    return _share("decided otherwise than by the stage", differences, len(sample), NONE, note)


def times(name: str, milliseconds: Sequence[float], target: Target | None = None) -> list[Line]:
    cuts = quantiles(milliseconds, n=100, method="inclusive")
    return [
        Line(
            name=f"{name}, p{percent}",
            value=cuts[percent - 1],
            n=len(milliseconds),
            target=target if percent == 99 else None,
            milliseconds=True,
        )
        for percent in (50, 99)
    ]
