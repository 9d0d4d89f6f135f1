"""Facts as people read them: as JSON for the admin API, as a table, and words, times and numbers in a line."""

import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict

from proxy.memory.ageing import Decay, next_status, status
from proxy.memory.current import cut
from proxy.types import Fact, Json

# In the order in which people read them; `status` depends on the time, so it is computed.
_SHOWN = ("id", "session", "turn", "domain", "key", "value", "confidence", "source")
_SHOWN_AFTER_STATUS = ("created_at", "last_confirmed_at", "superseded_by", "doubted_by", "pinned")
WIDEST = 72  # characters of a value
_TITLES = ("ID", "STATUS", "PINNED", "CONFIDENCE", "CONFIRMED", "DOMAIN", "KEY", "VALUE")


def card(scope: str, fact: Fact, now: float, ageing: Decay) -> dict[str, Json]:
    """Returns a fact as JSON for the admin API: its fields, its status, and its next status."""
    values = asdict(fact)
    becomes = next_status(fact, now, ageing)
    return {
        "scope": scope,
        **{name: values[name] for name in _SHOWN},
        "status": status(fact, now, ageing),
        **{name: values[name] for name in _SHOWN_AFTER_STATUS},
        "becomes": becomes and {"status": becomes[0], "at": becomes[1]},
    }


def described(shown: Mapping[str, Json]) -> list[str]:
    """Renders a card, of a fact or of a job, as aligned lines: a name and a value each, times as dates."""
    width = max(map(len, shown))
    return [f"{name:<{width}}  {_described(name, value)}" for name, value in shown.items()]


def _described(name: str, value: Json) -> str:
    if isinstance(value, dict):  # what it becomes, and when
        return f"{word(value['status'])} on {moment(value['at'])}"
    if name.endswith("_at") and isinstance(value, float) and value:
        return moment(value)
    if name == "spent" and isinstance(value, float):
        return f"${value:.4f}"
    return word(value) or "-"


def newest_first(facts: Iterable[Fact]) -> list[Fact]:
    """Sorts facts by creation time, newest first."""
    return sorted(facts, key=lambda fact: (-fact.created_at, fact.id))


def table(facts: Iterable[Fact], now: float, ageing: Decay) -> str:
    """Renders facts as an aligned table, one line each, values cut to `WIDEST` characters."""
    rows = [_TITLES]
    for fact in facts:
        confirmed = time.strftime("%Y-%m-%d", time.gmtime(fact.last_confirmed_at))
        shown = status(fact, now, ageing), "yes" if fact.pinned else "", fact.confidence, confirmed
        rows.append((fact.id, *shown, plain(fact.domain), plain(fact.key), cut(plain(fact.value), WIDEST)))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)


def plain(text: str) -> str:
    """Returns the text on one line without control characters: anybody may have written it, and a terminal obeys
    them."""
    return "".join(mark if mark.isprintable() else " " for mark in " ".join(text.split()))


def word(value: object) -> str:
    """Renders a value as one word or line of a table."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else plain(str(value))


def moment(at: float) -> str:
    """Renders a time, in seconds since the epoch, as date and time in UTC."""
    return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(at))


def count(number: int) -> str:
    """Renders a number of facts: "1 fact", "2 facts"."""
    return f"{number} fact" if number == 1 else f"{number} facts"
