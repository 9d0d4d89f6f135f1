"""Numbers, times and dates of a statement as figures, however they are written: "ninety-one", "80k", "tres y media de
la tarde", "3 de noviembre"."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count

from proxy.memory.claim_words import Wording

_FIGURE = re.compile(r"([$€£]?)(\d+(?:[.,:/]\d+)*)([^\W\d_]*|%)$")
_GROUPED = re.compile(r"\d{1,3}(?:[.,]\d{3})+$")
_DATE = re.compile(r"(\d{1,2})[/.](\d{1,2})[/.](\d{4}|\d{2})$")
_SHORT_DATE = re.compile(r"(\d{1,2})/(\d{1,2})$")
_TEN, _TEEN, _HUNDRED, _THOUSAND = 10, 20, 100, 1_000
_NOON, _LAST_HOUR, _LAST_DAY, _HOUR = 12, 24, 31, 60
_SHORT_MONTH = 3  # letters of a month that is also another word: "may", "mar"
_MINUTES = {"media": 30, "cuarto": 15}
_PAST = {"half": 30, "quarter": 15}  # "half past three"
_SIGNS = {"$": ("dollar",), "€": ("euro",), "£": ("pound",)}
_AND = frozenset(["y", "and"])
_AFTERNOON = frozenset(["tarde", "noche", "afternoon", "evening", "pm"])
_MORNING = frozenset(["manana", "morning", "am"])
_OF_DAY = frozenset(["de", "por", "la", "in", "the", "of"])
_METRES = frozenset(["metro", "metros"])
_FOLLOWING = 5  # words that are read behind a number


@dataclass(frozen=True, slots=True)
class Figures:
    """A number as figures, its unit behind it."""

    said: tuple[str, ...]  # a month is "m4", a weekday "w0"
    end: int  # the place behind it


def counted(said: Sequence[str], table: Wording) -> Mapping[int, tuple[tuple[str, ...], int]]:
    """Returns the numbers among folded words by the place of their first one: the figures, and where they end."""
    found: dict[int, tuple[tuple[str, ...], int]] = {}
    at = 0
    while at < len(said):
        here = _dated(said, at, table) or _number(said, at, table)
        if here is not None:
            found[at] = here.said, here.end
        at = at + 1 if here is None else here.end
    return found


def _dated(said: Sequence[str], at: int, table: Wording) -> Figures | None:
    """Returns a month or a weekday. "May" is a month beside a figure alone."""
    word = said[at]
    near = any(each[:1].isdigit() for each in (*said[max(at - 2, 0) : at], *said[at + 1 : at + 3]))
    if word in table.months and (len(word) > _SHORT_MONTH or near):
        return Figures((f"m{table.months[word]}",), at + 1)
    day = next((each for each in (word, word.removesuffix("s")) if each in table.weekdays), None)
    return None if day is None else Figures((f"w{table.weekdays[day]}",), at + 1)


def _number(said: Sequence[str], at: int, table: Wording) -> Figures | None:
    if (figure := _FIGURE.match(said[at])) is not None:
        return _date(figure[2], at, table) or _of_figure(figure, said, at, table)
    if said[at] in table.times:
        return Figures((str(table.times[said[at]]), "times"), at + 1)
    if said[at] in _METRES and at and said[at - 1] in {"un", "uno"}:
        rest, end = _spelt(said, at + 1, table)
        return Figures((f"1.{rest:02}" if rest else "1", "metro"), end) if (rest or 0) < _HUNDRED else None
    if (before := _before_hour(said, at, table)) is not None:
        return before
    if said[at] in _PAST and "past" in said[at + 1 : at + 2] and at + 2 < len(said):
        hour = said[at + 2] if said[at + 2].isdigit() else str(table.numbers.get(said[at + 2], ""))
        return Figures((f"{hour}:{_PAST[said[at]]}",), at + 3) if hour else None
    if said[at] in table.years[0] and at and said[at - 1] in {"a", "un", "one"}:
        return _and_half("1", [*said[at : at + _FOLLOWING], *[""] * _FOLLOWING], at, table)
    if said[at] in table.halves:
        articles = {"a", "una", "un"} & {*said[at + 1 : at + 2]}
        times, end = _spelt(said, at + 1 + len(articles), table)
        if times is not None and times >= _NOON:
            return Figures((f"{times / 2:g}",), end)  # "half a dozen"
        if times is not None and said[max(at - 1, 0)] in {"at", "by", "around", "about"}:
            return Figures((f"{times}:30",), end)  # "half five"
    value, end = _spelt(said, at, table)
    return None if value is None else _timed(str(value), said, end, table)


def _before_hour(said: Sequence[str], at: int, table: Wording) -> Figures | None:
    """Returns the time of "quarter to six"."""
    minutes = _less(said[at], table)
    if not minutes or list(said[at + 1 : at + 2]) != ["to"]:
        return None
    hour, end = _spelt(said, at + 2, table)
    if hour is None and said[at + 2 : at + 3] and said[at + 2].isdigit():
        hour, end = int(said[at + 2]), at + 3
    is_hour = hour is not None and 1 < hour <= _NOON
    return _timed(f"{(hour or 0) - 1}:{_HOUR - minutes}", said, end, table) if is_hour else None


def _less(word: str, table: Wording) -> int:
    """Returns the minutes before an hour that a word means, 0 if none."""
    minutes = _MINUTES.get(word, 0) or _PAST.get(word, 0) or table.numbers.get(word, 0)
    return minutes if minutes in {5, 10, 15, 20, 25} else 0


def _date(number: str, at: int, table: Wording) -> Figures | None:
    """Returns the date that figures with slashes are; one whose day could be its month is read in Spanish alone."""
    found = _DATE.match(number) or _SHORT_DATE.match(number)
    if found is None or (table.code == "en" and found.lastindex == 2 and "/" not in number):
        return None
    day, month, *year = (int(each) for each in found.groups())
    if month > _NOON:
        day, month = month, day
    elif table.code == "en" and day <= _NOON:
        return None
    return Figures((str(day), f"m{month}", *map(str, year)), at + 1) if month <= _NOON and day <= _LAST_DAY else None


def _of_figure(figure: re.Match[str], said: Sequence[str], at: int, table: Wording) -> Figures:
    sign, number, suffix = figure.groups()
    end, extra = at + 1, _SIGNS.get(sign, ())
    number = re.sub("[.,]", "", number) if _GROUPED.match(number) else number.replace(",", ".")
    if not suffix and end < len(said) and said[end] in table.units:
        suffix, end = said[end], end + 1
    if suffix == "%":
        return Figures((number, "percent"), end)
    if suffix == "k" or table.numbers.get(suffix, 0) >= _THOUSAND:
        return Figures((f"{float(number) * table.numbers.get(suffix, _THOUSAND):.0f}", *extra), end)
    if suffix in {"am", "pm", "h", "hs"} and number.replace(".", "").replace(":", "").isdigit():
        return Figures((_clock(number.replace(".", ":"), suffix in _AFTERNOON, suffix in _MORNING), *extra), end)
    if suffix:
        return Figures((number, *extra, *([table.units[suffix]] if suffix in table.units else ())), end)
    if (times := table.numbers.get(said[end] if end < len(said) else "", 0)) >= _THOUSAND:
        return Figures((f"{float(number) * times:.0f}", *extra), end + 1)
    timed = _timed(number, said, end, table)
    return Figures((*timed.said, *extra), timed.end)


def _clock(time: str, is_late: bool = False, is_early: bool = False) -> str:
    """Returns a time as figures of 24 hours."""
    hour, _, minute = time.partition(":")
    hours = int(hour) % _NOON + _NOON if is_late else int(hour)
    hours = 0 if is_early and hours == _NOON else hours
    return f"{hours}:{minute}" if minute.strip("0") else str(hours)


def _timed(number: str, said: Sequence[str], end: int, table: Wording) -> Figures:
    """Returns a number with what behind it tells that it is a length, or a time."""
    following = [*said[end : end + _FOLLOWING], *[""] * _FOLLOWING]
    if following[0] in _METRES and (rest := _spelt(said, end + 1, table))[0] is not None and rest[0] < _HUNDRED:
        return Figures((f"{number}.{rest[0]:02}", "metro"), rest[1])
    if (half := _and_half(number, following, end, table)) is not None:
        return half
    if following[0] == "menos" and (minutes := _less(following[1], table)) and number.isdigit():
        number, end, following = f"{int(number) - 1}:{_HOUR - minutes}", end + 2, following[2:]
    if following[0] in _AND and following[1] in _MINUTES:
        number, end, following = f"{number}:{_MINUTES[following[1]]}", end + 2, following[2:]
    late = next((place for place in range(3) if following[place] in _AFTERNOON | _MORNING), None)
    is_hour = ":" in number or (number.isdigit() and int(number) <= _LAST_HOUR)
    is_time = ":" in number or bool(late) or following[0] in {"am", "pm"}
    if late is not None and is_hour and is_time and all(each in _OF_DAY for each in following[:late]):
        return Figures((_clock(number, following[late] in _AFTERNOON),), end + late + 1)
    return Figures((_clock(number) if ":" in number else number,), end)


def _and_half(number: str, following: Sequence[str], end: int, table: Wording) -> Figures | None:
    """Returns "two years and a half" and "two and a half years" in months."""
    rest = [each for each in following if each not in {"a", "un", "una"}]
    words = set(rest[:3])
    years, month = table.years
    if not number.isdigit() or words.isdisjoint(years) or words.isdisjoint(_AND) or words.isdisjoint(table.halves):
        return None
    last = max(at for at, each in enumerate(following) if each in years or each in table.halves)
    return Figures((str(int(number) * _NOON + _NOON // 2), month), end + last + 1)


def _spelt(said: Sequence[str], at: int, table: Wording) -> tuple[int | None, int]:
    """Returns the number that words from a place on spell, and where it ends. One alone is an article, or "uno"."""
    value: int | None = None
    total, end = 0, at
    for place in count(at):
        word = said[place] if place < len(said) else ""
        if word in _AND and value:
            following = table.numbers.get(said[place + 1] if place + 1 < len(said) else "", 0)
            if following and _adds(value, following) and value >= _TEEN:
                continue
            break
        number = table.numbers.get(word)
        if number is None or (number == 1 and not value):
            break
        if value is None:
            value = number
        elif number >= _HUNDRED and number > value:
            total, value = (total + value * number, 0) if number >= _THOUSAND else (total, value * number)
        elif _adds(value, number):
            value += number
        else:
            break
        end = place + 1
    return (None if value is None else total + value), end


def _adds(value: int, number: int) -> bool:
    """Tells whether a number word adds to the value before it: "ninety one", "two hundred forty"."""
    if value and value % _THOUSAND == 0:
        return number < _THOUSAND
    if value % _HUNDRED == 0:
        return number < _HUNDRED or (value == 0 and number < _THOUSAND)
    return value % _TEN == 0 and number < _TEN and value % _HUNDRED >= _TEEN
