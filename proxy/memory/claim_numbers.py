"""Numbers, times and dates of a statement as figures, however they are written: "ninety-one", "80k", "tres y media de
la tarde", "3 de noviembre"."""

import re
from collections.abc import Mapping, Sequence
from itertools import count

from proxy.memory.claim_words import Wording

_FIGURE = re.compile(r"([$€£]?)(\d+(?:[.,:/]\d+)*)([^\W\d_]*|%)$")
_GROUPED = re.compile(r"\d{1,3}(?:[.,]\d{3})+$")
_DATE = re.compile(r"(\d{1,2})[/.](\d{1,2})[/.](\d{2,4})$")
_SHORT_DATE = re.compile(r"(\d{1,2})/(\d{1,2})$")
_TEEN, _HUNDRED, _THOUSAND = 20, 100, 1_000
_NOON, _HALF, _QUARTER, _LAST_HOUR = 12, 30, 15, 24
_AND = frozenset({"y", "and"})
_AFTERNOON = frozenset({"tarde", "noche", "afternoon", "evening", "pm"})
_MORNING = frozenset({"manana", "morning", "am"})
_METRES = frozenset({"metro", "metros"})

Counted = Mapping[int, tuple[tuple[str, ...], int]]  # by its first word: its figures, and where it ends


def counted(said: Sequence[str], table: Wording) -> Counted:
    """Returns the numbers among folded words. A month and a weekday count as numbers, "m4" and "w0"."""
    found: dict[int, tuple[tuple[str, ...], int]] = {}
    at = 0
    while at < len(said):
        here = _month(said, at, table) or _number(said, at, table)
        if here is None:
            at += 1
            continue
        found[at] = here
        at = here[1]
    return found


def _month(said: Sequence[str], at: int, table: Wording) -> tuple[tuple[str, ...], int] | None:
    word = said[at]
    # "May" and "mar" are months beside a figure alone.
    near = [each for each in (*said[max(at - 2, 0) : at], *said[at + 1 : at + 3]) if each[:1].isdigit()]
    if word in table.months and (len(word) > 3 or near):
        return (f"m{table.months[word]}",), at + 1
    day = next((each for each in (word, word.removesuffix("s")) if each in table.weekdays), None)
    return None if day is None else ((f"w{table.weekdays[day]}",), at + 1)


def _number(said: Sequence[str], at: int, table: Wording) -> tuple[tuple[str, ...], int] | None:
    figure = _FIGURE.match(said[at])
    if figure is not None:
        return _of_figure(figure, said, at, table)
    if said[at] in _METRES and said[max(at - 1, 0)] in {"un", "uno"}:
        rest, end = _spelt(said, at + 1, table)
        return ((f"1.{rest:02}" if rest else "1", "metro"), end) if rest is None or rest < _HUNDRED else None
    if said[at] in table.times:
        return (str(table.times[said[at]]), "times"), at + 1
    value, end = _spelt(said, at, table)
    if value is None:
        return None
    return _timed(str(value), said, end, table)


def _of_figure(figure: re.Match[str], said: Sequence[str], at: int, table: Wording) -> tuple[tuple[str, ...], int]:
    sign, number, suffix = figure.groups()
    extra = {"$": ("dollar",), "€": ("euro",), "£": ("pound",)}.get(sign, ())
    if (date := _DATE.match(number)) is not None:
        day, month, year = (int(each) for each in date.groups())
        day, month = (month, day) if month > _NOON else (day, month)
        return (str(day), f"m{month}", str(year)), at + 1
    if (date := _SHORT_DATE.match(number)) is not None:
        day, month = (int(each) for each in date.groups())
        if table.code == "en" and month > _NOON:
            day, month = month, day
        if month <= _NOON and (table.code == "es" or day > _NOON):
            return (str(day), f"m{month}"), at + 1
    if _GROUPED.match(number):
        number = re.sub("[.,]", "", number)
    number = number.replace(",", ".")
    if suffix == "k":
        return (f"{float(number) * _THOUSAND:g}", *extra), at + 1
    if suffix in {"am", "pm", "h", "hs"}:
        return (_clock(number.replace(".", ":"), is_late=suffix == "pm", is_early=suffix == "am"), *extra), at + 1
    if suffix in table.units:
        extra = (*extra, table.units[suffix])
    end = at + 1
    if not suffix and end < len(said) and said[end] in table.numbers and table.numbers[said[end]] >= _THOUSAND:
        return (f"{float(number) * table.numbers[said[end]]:.0f}", *extra), end + 1
    if not suffix and end < len(said) and said[end] in table.units:
        unit = table.units[said[end]]
        if unit in {"am", "pm"}:
            return (_clock(number.replace(".", ":"), is_late=unit == "pm", is_early=unit == "am"), *extra), end + 1
        return (number, *extra, unit), end + 1
    if suffix:
        return (number, *extra), end
    found, end = _timed(number, said, end, table)
    return (*found, *extra), end


def _clock(time: str, *, is_late: bool = False, is_early: bool = False) -> str:
    hour, _, minute = time.partition(":")
    hours = int(hour) % _NOON + _NOON if is_late else int(hour)
    hours = 0 if is_early and hours == _NOON else hours
    return f"{hours}:{minute or '00'}"


def _timed(number: str, said: Sequence[str], end: int, table: Wording) -> tuple[tuple[str, ...], int]:
    """Returns a number with what behind it tells that it is a time, or a length."""
    following = [*said[end : end + 5], "", "", "", "", ""]
    if following[0] in _METRES and (rest := _spelt(said, end + 1, table))[0] is not None and rest[0] < _HUNDRED:
        return (f"{number}.{rest[0]:02}", "metro"), rest[1]
    minutes = {"media": _HALF, "cuarto": _QUARTER}.get(following[1]) if following[0] == "y" else None
    if minutes is not None:
        number, end = f"{number}:{minutes}", end + 2
        following = [*said[end : end + 3], "", "", ""]
    late = next((place for place in range(3) if following[place] in _AFTERNOON | _MORNING), None)
    small = all(each in {"de", "por", "la", "in", "the", "of"} for each in following[: late or 0])
    is_hour = ":" in number or (number.isdigit() and int(number) <= _LAST_HOUR)
    if late is not None and small and is_hour and (":" in number or late > 0 or following[0] in {"am", "pm"}):
        return (_clock(number, is_late=following[late] in _AFTERNOON),), end + late + 1
    return ((_clock(number) if ":" in number else number),), end


def _spelt(said: Sequence[str], at: int, table: Wording) -> tuple[int | None, int]:
    """Returns the number that words from a place on spell, and where it ends. One alone is an article, or "uno"."""
    total, value, end = 0, None, at
    for place in count(at):
        word = said[place] if place < len(said) else ""
        if word in _AND and value is not None and value and place + 1 < len(said):
            following = table.numbers.get(said[place + 1])
            if following is not None and following < 10 <= value % _HUNDRED and value % 10 == 0:
                continue
            break
        number = table.numbers.get(word)
        if number is None or (number == 1 and (value is None or value % 10)):
            break
        if value is None:
            value = number
        elif number >= _HUNDRED and number > value:
            value *= number
            if number >= _THOUSAND:
                total, value = total + value, 0
        elif number < value and (
            value % _HUNDRED == 0 or (value % 10 == 0 and number < 10 and value >= _TEEN) or value == 0
        ):
            value += number
        elif value == 0:
            value = number
        else:
            break
        end = place + 1
    return (None if value is None else total + value), end
