"""Numbers and dates in a text, Spanish and English, as people write them.

Everything here reads `folded` text (`proxy.memory.signals`), in which each character keeps its place, and tells where a
value stands. What a date means hangs on the day it is said: "tomorrow" and "on Friday" are the next such day, a day
without its year is the next one to come. In Spanish 3/4 is the third of April, in English the fourth of March.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache
from typing import Literal, TypeAlias

from proxy.language.phrases import expression
from proxy.language.tables import named, union

Value: TypeAlias = str | int | float
MOST_DAYS_AHEAD = 1_000  # of "in 3 weeks"
_LEAP = 8  # years within which every day of a calendar comes again

TABLES: Mapping[str, str] = union("state")


def _numbered(section: str) -> dict[str, int]:
    return {word: int(number) for word, number in named(TABLES[section]).items()}


def _any(words: Mapping[str, int]) -> str:
    return f"(?:{'|'.join(sorted(words, key=len, reverse=True))})"


_NUMBERS, _MONTHS, _WEEKDAYS, _UNITS = map(_numbered, ("numbers", "months", "weekdays", "day_units"))
_TENS = {word: number for word, number in _NUMBERS.items() if number >= 20 and number % 10 == 0}
_ONES = {word: number for word, number in _NUMBERS.items() if 0 < number < 10}
_FIGURES = r"\d{1,3}(?:[.,]\d{3})+(?!\d)|\d{1,9}(?:[.,]\d{1,2}(?!\d))?"
NUMBER = rf"(?<![\w.,:/-])(?:{_FIGURES}|{_any(_TENS)}(?: y |[ -]){_any(_ONES)}|{_any(_NUMBERS)})(?![\w%€$])(?![.,:]\d)"


@dataclass(frozen=True, slots=True)
class Found:
    """A value, and the place where it stands."""

    value: Value
    start: int
    end: int


def number(said: str) -> int | float:
    """Returns the number that a match of `NUMBER` stands for."""
    if said[0].isdigit():
        if re.fullmatch(r"\d{1,3}(?:[.,]\d{3})+", said):
            return int(re.sub(r"[.,]", "", said))
        plain = said.replace(",", ".")
        return float(plain) if "." in plain else int(plain)
    if said in _NUMBERS:
        return _NUMBERS[said]
    tens, _, ones = re.sub(r" y |-", " ", said).partition(" ")
    return _NUMBERS[tens] + _NUMBERS[ones]


# --- dates -----------------------------------------------------------------------------------------------------------

_MONTH, _WEEKDAY = _any(_MONTHS), _any(_WEEKDAYS)
_YEAR = r"(?:,? (?:de |del |of )?(?P<year>\d{4})(?!\d))?"
_ISO = re.compile(r"(?<![\d-])(?P<year>\d{4})-(?P<month>\d{1,2})-(?P<day>\d{1,2})(?!\d)")
_IN_FIGURES = expression(
    TABLES,
    r"(?<![\d/.-])(?P<on>\b{on} )?(?P<first>\d{1,2})(?:(?P<mark>[/.-])(?P<second>\d{1,2})(?P=mark)(?P<year>\d{4}|\d{2})"
    r"|(?!/7\b)/(?P<other>\d{1,2}))(?![\d/])",
)
_DAY_OF_MONTH = re.compile(
    rf"\b(?P<day>\d{{1,2}}|{_any(_NUMBERS)}|primero|first)(?:st|nd|rd|th|º)? (?:de |of )?(?P<month>{_MONTH})\b{_YEAR}"
)
_MONTH_AND_DAY = re.compile(rf"\b(?P<month>{_MONTH})\.? (?:the )?(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?![\d:]){_YEAR}")
_ON_DAY = expression(
    TABLES, r"\b{on_day} (?P<day>\d{1,2})(?:st|nd|rd|th)?(?=\s*(?:[.,;!?)]|\Z)|\s+{behind_day}(?:\s|\Z))"
)
_ON_WEEKDAY = re.compile(rf"\b(?P<weekday>{_WEEKDAY})\b(?!s)")
_WITHIN = expression(TABLES, rf"\b{{within}} (?P<count>{NUMBER}) (?P<unit>{_any(_UNITS)})\b")
_AS_COUNTED = [
    (int(days), re.compile(rf"\b(?:{written})\b"))
    for days, _, written in (line.partition("=") for line in TABLES["days"].splitlines())
]
# Behind ^ what may not follow a weekday, before $ what may not precede it.
_RULED_OUT = [rule for line in TABLES["not_this_day"].splitlines() for rule in line.split(" | ")]
_NOT_BEFORE = re.compile(rf"\b(?:{'|'.join(rule[:-1].strip() for rule in _RULED_OUT if rule.endswith('$'))}) $")
_NOT_BEHIND = re.compile(rf" (?:{'|'.join(rule[1:].strip() for rule in _RULED_OUT if rule.startswith('^'))})\b")

Reader: TypeAlias = Callable[[str, date, Literal["es", "en"]], Iterator[tuple[date | None, int, int]]]


def dates(plainly: str, today: date, language: Literal["es", "en"]) -> list[Found]:
    """Returns the dates in folded text as ISO 8601, in their order; of two at one place the longer one."""
    found = [
        Found(day.isoformat(), start, end)
        for reader in _READERS
        for day, start, end in reader(plainly, today, language)
        if day is not None
    ]
    kept: list[Found] = []
    for each in sorted(found, key=lambda each: (each.start - each.end, each.start)):
        if all(each.end <= other.start or other.end <= each.start for other in kept):
            kept.append(each)
    return sorted(kept, key=lambda each: each.start)


def _in_full(plainly: str, _: date, __: str) -> Iterator[tuple[date | None, int, int]]:
    for each in _ISO.finditer(plainly):
        yield _day(int(each["year"]), int(each["month"]), int(each["day"])), *each.span()


def _in_figures(plainly: str, today: date, language: str) -> Iterator[tuple[date | None, int, int]]:
    for each in _IN_FIGURES.finditer(plainly):
        if each["year"] is None and each["on"] is None and each.group() != plainly.strip():
            continue  # a fraction, a share: 1/2
        first, second = int(each["first"]), int(each["second"] or each["other"])
        is_day_first = first > 12 or (language == "es" and second <= 12)
        day, month = (first, second) if is_day_first else (second, first)
        year = int(each["year"]) if each["year"] else None
        if year is not None and year < 100:
            year += 2000
        yield _next(today, month, day, year), each.start("first"), each.end()


def _by_month(plainly: str, today: date, _: str) -> Iterator[tuple[date | None, int, int]]:
    for pattern in (_DAY_OF_MONTH, _MONTH_AND_DAY):
        for each in pattern.finditer(plainly):
            said = each["day"]
            day = int(said) if said.isdigit() else _NUMBERS.get(said, 1)
            yield _next(today, _MONTHS[each["month"]], day, int(each["year"]) if each["year"] else None), *each.span()


def _of_this_month(plainly: str, today: date, _: str) -> Iterator[tuple[date | None, int, int]]:
    for each in _ON_DAY.finditer(plainly):
        day = int(each["day"])
        months = (
            (today.year + (today.month - 1 + ahead) // 12, (today.month - 1 + ahead) % 12 + 1) for ahead in range(3)
        )
        coming = (found for year, month in months if (found := _day(year, month, day)) is not None and found >= today)
        yield next(coming, None), each.start("day"), each.end()


def _counted(plainly: str, today: date, _: str) -> Iterator[tuple[date | None, int, int]]:
    for days, pattern in _AS_COUNTED:
        yield from ((today + timedelta(days), *each.span()) for each in pattern.finditer(plainly))
    for each in _WITHIN.finditer(plainly):
        days = round(number(each["count"]) * _UNITS[each["unit"]])
        yield (today + timedelta(days) if days <= MOST_DAYS_AHEAD else None), *each.span()


def _weekdays(plainly: str, today: date, _: str) -> Iterator[tuple[date | None, int, int]]:
    for each in _ON_WEEKDAY.finditer(plainly):
        if _NOT_BEFORE.search(plainly, 0, each.start()) or _NOT_BEHIND.match(plainly, each.end()):
            continue
        ahead = (_WEEKDAYS[each["weekday"]] - today.weekday() - 1) % 7 + 1
        yield today + timedelta(ahead), *each.span()


_READERS: tuple[Reader, ...] = (_in_full, _in_figures, _by_month, _of_this_month, _counted, _weekdays)


def _next(today: date, month: int, day: int, year: int | None) -> date | None:
    if year is not None:
        return _day(year, month, day)
    years = (today.year + ahead for ahead in range(_LEAP + 1))
    return next((found for each in years if (found := _day(each, month, day)) is not None and found >= today), None)


@lru_cache(1_024)
def _day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None
