"""Export of facts as lines of JSON, history included, and as a table for people."""

import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import fields

import msgspec

from proxy.conversation.blocks import without_ours
from proxy.memory.edits import FACT_ID
from proxy.memory.facts import Decay, status
from proxy.types import Fact

MOST = 2**31  # the number of a turn
LATEST = 253_402_300_799  # the end of the year 9999

_NAMES = frozenset(field.name for field in fields(Fact))


class Malformed(ValueError):
    """A line is not a valid fact; the message gives its number and the reason."""

    def __init__(self, line: int, why: str) -> None:
        super().__init__(f"line {line}: {why}")


def dumped(facts: Iterable[Fact]) -> bytes:
    """Serialises facts as JSON lines, UTF-8."""
    return b"".join(msgspec.json.encode(fact) + b"\n" for fact in facts)


def loaded(data: bytes) -> tuple[Fact, ...]:
    """Parses JSON lines into facts; empty lines are skipped. Raises Malformed at the first invalid one."""
    lines = enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1)
    return tuple(_fact(number, line) for number, line in lines if line.strip())


def _fact(number: int, line: bytes) -> Fact:
    try:
        values = msgspec.json.decode(line)
        fact = msgspec.convert(values, Fact)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Malformed(number, str(error)) from None
    if unknown := sorted(values.keys() - _NAMES):
        raise Malformed(number, f"a fact has no {', '.join(unknown)[:100]}")
    named = (fact.id, fact.superseded_by, fact.doubted_by)
    if not all(name is None or re.fullmatch(FACT_ID, name) for name in named):
        raise Malformed(number, 'the id of a fact is "f-" and 16 hex digits')
    if not (fact.value.strip() and fact.key.strip() and fact.domain.strip()):
        raise Malformed(number, "domain, key and value must not be empty")
    times = (fact.created_at, fact.last_confirmed_at, fact.superseded_at)
    if not 0 <= fact.turn <= MOST or not all(0 <= at <= LATEST for at in times):
        raise Malformed(number, "a turn is a number from 0, a time in seconds since the epoch")
    return fact


WIDEST = 72  # characters of a value

_TITLES = ("ID", "STATUS", "PINNED", "CONFIDENCE", "CONFIRMED", "DOMAIN", "KEY", "VALUE")


def table(facts: Iterable[Fact], now: float, ageing: Decay) -> str:
    """Renders facts as an aligned table, one line each, values cut to `WIDEST` characters."""
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
    """Returns the text on one line without control characters: anybody may have written it, and a terminal obeys
    them."""
    return "".join(mark if mark.isprintable() else " " for mark in " ".join(text.split()))


def word(value: object) -> str:
    """Renders a value as one word or line of a table."""
    if value is None:
        return ""
    return ("yes" if value else "no") if isinstance(value, bool) else plain(str(value))


def day(at: float) -> str:
    """Renders a time, in seconds since the epoch, as a date in UTC."""
    return time.strftime("%Y-%m-%d", time.gmtime(at))


def moment(at: float) -> str:
    """Renders a time, in seconds since the epoch, as date and time in UTC."""
    return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(at))


def count(number: int) -> str:
    """Renders a number of facts: "1 fact", "2 facts"."""
    return f"{number} fact" if number == 1 else f"{number} facts"


MOST_SHOWN = 300  # characters of an excerpt
_LEAST_WORDS = 2  # of a value's beginning that is looked for


def excerpt(said: str, value: str, most: int = MOST_SHOWN) -> str:
    """Cuts a message to at most `most` characters around the fact's value, if it occurs there; "…" marks each cut."""
    text = without_ours(said).strip()
    if len(text) <= most:
        return text
    start, stop = _place(text, value)
    room = max(0, most - 2 - (stop - start))
    begin = max(0, min(start - room // 2, len(text) - (most - 2)))
    end = min(len(text), begin + most - 2)
    return f"{'…' if begin else ''}{text[begin:end]}{'…' if end < len(text) else ''}"


def _place(text: str, value: str) -> tuple[int, int]:
    """Returns the span of the value, or of as much of its beginning as occurs; (0, 0) if none does: it may be made of
    several sentences, with others between."""
    for words in _beginnings(value.split()):
        if found := re.search(r"\s+".join(map(re.escape, words)), text, re.IGNORECASE):
            return found.span()
    return 0, 0


def _beginnings(words: list[str]) -> Iterator[list[str]]:
    for count in range(len(words), min(len(words), _LEAST_WORDS) - 1, -1):
        if count:
            yield words[:count]
