"""The report of a replay in a few sentences: what would have been paid, of what that is true, and what was left out."""

from collections import Counter
from collections.abc import Iterable, Sequence

from proxy.memory.showing import plain
from proxy.replay.reading import Skipped
from proxy.replay.report import Costs, Report, Total

MOST_NAMED = 5  # models, or reasons
_SMALL = 0.005  # relative: less than that is not called a difference
_DEAR = 1.005  # of the worst point: from there on it is told


def sentences(report: Report) -> list[str]:
    """Says what would have been paid, first, then of what."""
    total, priced, unpriced = report.total, *_by_price(report)
    lines = [_paid(total, priced, unpriced)]
    more = _compared(total.tokens_sent, total.tokens_full)
    lines.append(
        f"These are the prompts of {_count(total.requests, 'request')} in {_count(total.conversations, 'conversation')}"
        f": {total.tokens_sent:,} tokens instead of {total.tokens_full:,} ({more}). What was generated costs the same."
    )
    if all(each.kind == "untouched" for each in report.requests):
        lines.append(
            "Every prompt was short enough to be passed on as it was: it is long conversations that cost less."
        )
    if priced and unpriced:
        lines.append(f"Not counted, for nobody knows their prices: {_named(unpriced)}.")
    if total.worst > _DEAR:
        ours, full = total.worst_by
        lines.append(
            f"One conversation would have cost {(total.worst - 1) * 100:.0f} % more at its dearest moment: as much as "
            f"{ours:,.0f} input tokens instead of {full:,.0f}."
        )
    if total.fail_open:
        lines.append(f"{_count(total.fail_open, 'request')} would have been passed on as they were, after an error.")
    return lines


def skipped_line(skipped: Sequence[Skipped], requests: int) -> str:
    """Says how many entries were skipped, and why, in one line; "" for none."""
    if not skipped:
        return ""
    reasons = Counter(each.why for each in skipped)
    first = {each.why: each.line for each in reversed(skipped)}
    told = [
        f"{plain(why)} ({f'{count:,}, first in' if count > 1 else 'in'} line {first[why]})"
        for why, count in _most(reasons)
    ]
    if len(reasons) > MOST_NAMED:
        told.append(f"{_count(len(reasons) - MOST_NAMED, 'other reason')}")
    return f"{len(skipped):,} of {len(skipped) + requests:,} entries skipped: {'; '.join(told)}"


def money(costs: Iterable[float]) -> list[str]:
    """Renders dollars that are compared, with as many decimals as the largest needs for three digits."""
    costs = list(costs)
    largest = max(costs, default=0.0)
    decimals = next(
        (digits for digits, least in ((0, 1_000), (2, 1), (3, 0.1), (4, 0.01), (5, 0.001)) if largest >= least),
        6 if largest else 2,
    )
    return [f"${each:,.{decimals}f}" for each in costs]


def _paid(total: Total, priced: Sequence[tuple[str, Total]], unpriced: Sequence[tuple[str, Total]]) -> str:
    if not priced:
        told = _compared(total.costs.ours, total.costs.full)
        names = _named(unpriced)
        return (
            f"Your prompts would have cost {told}. In dollars that is not known: "
            f"no price is set or listed for {names}; see `upstreams[].prices`."
        )
    paid = Costs(*(sum(getattr(each.dollars, name) for _, each in priced) for name in ("full", "sliding", "ours")))
    ours, full = money((paid.ours, paid.full))
    of = ""
    if 2 * sum(each.tokens_full for _, each in priced) < total.tokens_full:  # then dollars are not what it comes to
        of = (
            f"Your prompts would have cost {_compared(total.costs.ours, total.costs.full)}. Of {_named(priced)} alone: "
        )
    if ours == full:
        return f"{of}You would have paid the same: {full}."
    return f"{of}You would have paid {ours} instead of {full}: {_compared(paid.ours, paid.full)}."


def _compared(ours: float, full: float) -> str:
    if not full:
        return "the same"
    share = ours / full - 1
    if abs(share) < _SMALL:
        return "the same, within half a per cent"
    return f"{abs(share) * 100:.0f} % {'more' if share > 0 else 'less'}"


def _by_price(report: Report) -> tuple[list[tuple[str, Total]], list[tuple[str, Total]]]:
    named = list(report.by_model.items())
    return [each for each in named if each[1].dollars], [each for each in named if not each[1].dollars]


def _named(models: Sequence[tuple[str, Total]]) -> str:
    largest = sorted(models, key=lambda each: -each[1].requests)
    told = [f"{plain(name)} ({_count(each.requests, 'request')})" for name, each in largest[:MOST_NAMED]]
    rest = len(models) - MOST_NAMED
    return ", ".join([*told, *([_count(rest, "other model")] if rest > 0 else [])])


def _most(reasons: Counter[str]) -> list[tuple[str, int]]:
    return sorted(reasons.items(), key=lambda each: -each[1])[:MOST_NAMED]


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"
