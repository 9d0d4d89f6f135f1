"""Facts as lines of JSON, to be kept or carried elsewhere: everything that is known of them, history included."""

import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import fields

import msgspec

from proxy.conversation.blocks import without_ours
from proxy.memory.edits import FACT_ID
from proxy.memory.facts import Decay, status
from proxy.types import Fact

MOST = 2**31
LATEST = 253_402_300_799  # the end of the year 9999

_NAMES = frozenset(field.name for field in fields(Fact))


class Malformed(ValueError):
    """A line is no fact. The text says which, and why."""

    def __init__(self, line: int, why: str) -> None:
        super().__init__(f"line {line}: {why}")


def dumped(facts: Iterable[Fact]) -> bytes:
    """A line each, UTF-8."""
    return b"".join(msgspec.json.encode(fact) + b"\n" for fact in facts)


def loaded(data: bytes) -> tuple[Fact, ...]:
    """The facts of all lines but empty ones. Raises Malformed at the first that is none."""
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


MOST_SHOWN = 300  # characters of an excerpt
_LEAST_WORDS = 2


def excerpt(said: str, value: str, most: int = MOST_SHOWN) -> str:
    """At most `most` characters of a message, verbatim, with the value in it where it stands there; "…" where something
    was left out."""
    text = without_ours(said).strip()
    if len(text) <= most:
        return text
    start, stop = _place(text, value)
    room = max(0, most - 2 - (stop - start))
    begin = max(0, min(start - room // 2, len(text) - (most - 2)))
    end = min(len(text), begin + most - 2)
    return f"{'…' if begin else ''}{text[begin:end]}{'…' if end < len(text) else ''}"


def _place(text: str, value: str) -> tuple[int, int]:
    """Where the value stands, or as much of its beginning as there is; (0, 0) if nothing of it does: it may be made of
    several sentences, with others between."""
    for words in _beginnings(value.split()):
        if found := re.search(r"\s+".join(map(re.escape, words)), text, re.IGNORECASE):
            return found.span()
    return 0, 0


def _beginnings(words: list[str]) -> Iterator[list[str]]:
    for count in range(len(words), min(len(words), _LEAST_WORDS) - 1, -1):
        if count:
            yield words[:count]
