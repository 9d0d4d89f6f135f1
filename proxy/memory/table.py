"""Facts as people read them in a terminal."""

import time
from collections.abc import Iterable

from proxy.memory.facts import Decay, status
from proxy.types import Fact

WIDEST = 72  # characters of a value

_TITLES = ("ID", "STATUS", "PINNED", "CONFIDENCE", "CONFIRMED", "DOMAIN", "KEY", "VALUE")


def table(facts: Iterable[Fact], now: float, ageing: Decay) -> str:
    """Aligned, a line a fact, its value cut to one line."""
    rows = [_TITLES, *(_row(fact, now, ageing) for fact in facts)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)


def _row(fact: Fact, now: float, ageing: Decay) -> tuple[str, ...]:
    value = plain(fact.value)
    return (
        fact.id,
        status(fact, now, ageing),
        "yes" if fact.pinned else "",
        fact.confidence,
        day(fact.last_confirmed_at),
        plain(fact.domain),
        plain(fact.key),
        value if len(value) <= WIDEST else f"{value[: WIDEST - 1]}…",
    )


def plain(text: str) -> str:
    """On one line, and nothing in it that a terminal obeys: anybody may have said it."""
    return "".join(mark if mark.isprintable() else " " for mark in " ".join(text.split()))


def word(value: object) -> str:
    if value is None:
        return ""
    return ("yes" if value else "no") if isinstance(value, bool) else plain(str(value))


def day(at: float) -> str:
    return time.strftime("%Y-%m-%d", time.gmtime(at))


def moment(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(at))


def count(number: int) -> str:
    return f"{number} fact" if number == 1 else f"{number} facts"
