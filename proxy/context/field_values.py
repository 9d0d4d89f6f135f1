"""The values of one field that one clause says: a name behind a signal, a number that is counted, a day, one of some
words."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from itertools import pairwise
from zoneinfo import ZoneInfo

from proxy.config.session_state import StateField
from proxy.context.values import NUMBER, TABLES, Found, dates, number
from proxy.language.phrases import expression, words
from proxy.language.tables import function_words_everywhere
from proxy.memory.signals import folded
from proxy.types import Language

LONGEST_TEXT = 80  # characters of a text value


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause that may say a value."""

    text: str
    plainly: str  # folded: of the same length


@dataclass(frozen=True, slots=True)
class FieldReading:
    """One field to be found in one clause."""

    clause: Clause
    name: str
    field: StateField
    at: float
    language: Language


UNITS = expression(TABLES, r"\s*(?:{units}\b|[%€$°])")
_OR_BEFORE = expression(TABLES, rf"(?:{NUMBER}) (?:{{or}}|[-a]|to) ?$")
_OR_BEHIND = expression(TABLES, rf" {{or}} (?:{NUMBER})")
_AND_BEHIND = expression(TABLES, rf"(?: [^\W\d_]+)? {{and}} (?:{NUMBER}) [^\W\d_]")
_OR = expression(TABLES, r"\b{or}\b")
_POSSESSIVE = expression(TABLES, r"\b{possessives} $")
_PEOPLE, _BEFORE_PEOPLE = (expression(TABLES, name).pattern for name in ("{people}", "{before_people}"))
_BEFORE_DAY = expression(TABLES, "{before_day}").pattern
_LINK = expression(TABLES, r" {links} (?=\S)")
_ARTICLE = expression(TABLES, r"{articles} ")
_NO_NAMES = frozenset(re.split(r" \| |\n", TABLES["no_names"].strip()))
_CALENDAR = frozenset(
    word for table in ("months", "weekdays") for line in TABLES[table].splitlines() for word in line.split()[1:]
)
_LITTLE = (
    function_words_everywhere("comparison") | function_words_everywhere("terms") | words("por favor please thanks")
)
_WORD = re.compile(r"[^\W_][\w'\u2019&-]*")
_BEHIND_NUMBER = re.compile(r"\s*([^\W\d_][\w'\u2019]*)")


def found_in(reading: FieldReading) -> Iterable[Found]:
    """Returns the values of the field in the clause, in their order."""
    match reading.field.type:
        case "text":
            return _texts(reading)
        case "number":
            return _numbers(reading)
        case "date":
            return _dates(reading)
        case "enum":
            return _members(reading)


# --- texts -----------------------------------------------------------------------------------------------------------


@lru_cache(256)
def _signals(given: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(
        rf"\b(?:{'|'.join(sorted((re.escape(folded(each)) for each in given), key=len, reverse=True))})\b"
    )


def _texts(reading: FieldReading) -> Iterator[Found]:
    text, plainly = reading.clause.text, reading.clause.plainly
    shown = reading.name.replace("_", " ")
    signals = reading.field.signals
    for signal in _signals(signals or (shown,)).finditer(plainly):
        # A preposition stands before much else: only a name counts behind it.
        is_slight = signals != () and signal.group() in _LITTLE
        end = signal.end()
        while end < len(text) and (text[end] in " :=" or text.startswith(("es ", "is "), end)):
            end += 3 if text.startswith(("es ", "is "), end) else 1
        named = name_at(text, end, needs_capital=is_slight) if end > signal.end() else None
        if named is not None:
            yield Found(named.value, signal.start(), named.end)


def name_at(text: str, start: int, *, needs_capital: bool) -> Found | None:
    """Returns the name that begins at `start`, behind an article: words with a capital, and small ones between them;
    or, if it may be written small, up to three words that mean something."""
    plainly = folded(text)
    if (article := _ARTICLE.match(text, start)) is not None:
        start = article.end()
    end, is_capital = start, False
    while (word := _WORD.match(text, end)) is not None and word.group()[0].isupper():
        said = folded(word.group())
        if said in _CALENDAR or said in _NO_NAMES or (word.group().isupper() and said in _LITTLE):
            break
        end, is_capital = word.end(), True
        link = _LINK.match(plainly, end)
        joint = link.end() if link is not None else end + 1
        follows = _WORD.match(text, joint) if joint < len(text) and text[end] == " " else None
        if follows is None or not follows.group()[0].isupper():
            break
        if folded(follows.group()) in _CALENDAR:
            break
        end = joint
    if not is_capital and not needs_capital:
        at = start
        for _ in range(3):
            word = _WORD.match(text, at)
            if word is None or folded(word.group()) in _LITTLE | _CALENDAR or word.group()[0].isdigit():
                break
            end = word.end()
            at = end + 1 if text[end : end + 1] == " " else len(text)
    said = text[start:end].strip()
    return Found(said, start, end) if said and len(said) <= LONGEST_TEXT else None


@lru_cache(256)
def _counted(given: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Returns the patterns of a number before one of the signals, and behind one. Prepositions only stand before it."""
    said = [folded(each) for each in given]
    counted = [re.escape(each) for each in said if each not in _LITTLE] if given else [_PEOPLE]
    every = [*map(re.escape, said)] if given else [_PEOPLE, _BEFORE_PEOPLE]
    before = rf"(?P<number>{NUMBER})(?P<between> [^\W\d_]+)?? ?(?<=[\s\d])(?:{_longest_first(counted)})\b"
    behind = rf"\b(?:{_longest_first(every)})\b(?: (?:es|is|son|are|de|of))?[ :=]+(?P<number>{NUMBER})"
    return re.compile(before), re.compile(behind)


def _longest_first(written: Iterable[str]) -> str:
    return "|".join(sorted(written, key=len, reverse=True)) or r"(?!)"  # which nothing matches


def _numbers(reading: FieldReading) -> list[Found]:
    plainly = reading.clause.plainly
    before, behind = _counted(reading.field.signals)
    found: dict[int, Found] = {}
    for pattern in (behind, before):
        for each in pattern.finditer(plainly):
            start, end = each.span("number")
            if _OR_BEFORE.search(plainly[:start]) or _OR_BEHIND.match(plainly, end):
                continue
            if _AND_BEHIND.match(plainly, end) is not None:
                continue  # "2 adults and 3 children": how many in all, nobody has said
            if pattern is behind and not _stands_alone(plainly, start, end, before):
                continue
            if pattern is before and each["between"] and UNITS.match(each["between"]):
                continue
            found.setdefault(start, Found(number(each["number"]), each.start(), each.end()))
    return sorted(found.values(), key=lambda each: each.start)


def _stands_alone(plainly: str, start: int, end: int, before: re.Pattern[str]) -> bool:
    """True if what follows a number is not something else that it counts: "for two tomorrow", unlike "for two
    nights"."""
    if before.match(plainly, start) is not None:
        return True
    if UNITS.match(plainly, end) is not None:
        return False
    follows = _BEHIND_NUMBER.match(plainly, end)
    if follows is None or follows[1] in _LITTLE or follows[1] in _CALENDAR:
        return True
    return any(found.start == 0 for found in dates(plainly[follows.start(1) :], _EPOCH, "en"))


_EPOCH = datetime(2000, 1, 1).date()  # noqa: DTZ001 (which day it is does not matter)


# --- dates and enums -------------------------------------------------------------------------------------------------


def _dates(reading: FieldReading) -> list[Found]:
    today = datetime.fromtimestamp(reading.at, ZoneInfo(reading.field.timezone)).date()
    plainly = reading.clause.plainly
    found = dates(plainly, today, reading.language)
    if reading.field.signals:
        leads = re.compile(rf"(?:{_signals(reading.field.signals).pattern})(?: {_BEFORE_DAY}){{0,2}} ?$")
        found = [each for each in found if leads.search(plainly[: each.start])]
    return _alone(found, plainly)


@lru_cache(256)
def _inflected(value: str) -> re.Pattern[str]:
    said = folded(value)
    bare = re.sub(r"(?:[oae]s?|s)$", "", said) if len(said) > 4 else said
    return re.compile(rf"\b{re.escape(bare)}(?:{re.escape(said[len(bare) :])}|[oa]s?|es|e|s)?\b")


def _members(reading: FieldReading) -> list[Found]:
    plainly = reading.clause.plainly
    found = [
        Found(value, each.start(), each.end())
        for value in reading.field.values
        for each in _inflected(value).finditer(plainly)
        if _POSSESSIVE.search(plainly[: each.start()]) is None
    ]
    return _alone(sorted(found, key=lambda each: each.start), plainly)


def _alone(found: Sequence[Found], plainly: str) -> list[Found]:
    """Returns the values that no "or" joins with another one."""
    competing = [
        (one, other)
        for one, other in pairwise(found)
        if one.value != other.value and _OR.search(plainly, one.end, other.start)
    ]
    return [each for each in found if not any(each in pair for pair in competing)]
