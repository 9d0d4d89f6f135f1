"""The fields of a conversation (`session_state` of the configuration), read from what its user says: a city, a number
of people, a date, one of some values.

Only the user's own words are read, as for facts (`proxy.memory.own_words`): nothing that was pasted, quoted or spoken
by a character. Clauses about the past, about what could be, or about somebody else are left out, so is what is denied;
where two values compete none is taken. A later value replaces an earlier one; one that is denied is removed. A bare
answer ("Madrid", "two") counts if the assistant has just put the field's question.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache, partial
from itertools import pairwise
from types import MappingProxyType
from typing import Literal, TypeAlias
from zoneinfo import ZoneInfo

from proxy.config.session_state import SessionState, StateField
from proxy.context.values import NUMBER, TABLES, Found, Value, dates, number
from proxy.language.phrases import expression, words
from proxy.language.tables import function_words_everywhere
from proxy.memory.commands import is_command
from proxy.memory.own_words import own_words
from proxy.memory.shapes import Voice
from proxy.memory.signals import KIN, folded

Language: TypeAlias = Literal["es", "en"]
LONGEST_ANSWER = 6  # words of a bare answer to a field's question
LONGEST_TEXT = 80  # characters of a text value
LONGEST_READ = 4_000  # characters of a message, as for facts


@dataclass(frozen=True, slots=True)
class Heard:
    """The values of the fields after some messages of a user, and the speaker of the next one."""

    values: Mapping[str, Value] = field(default_factory=lambda: MappingProxyType({}))
    voice: Voice = field(default_factory=Voice)


@dataclass(frozen=True, slots=True)
class State:
    """The fields of a conversation, as they are told."""

    values: Mapping[str, Value]
    missing: tuple[str, ...]  # names of the fields without a value, in the configuration's order
    ready: bool  # none is missing
    ask: str | None  # the question for the first that is missing


def told(values: Mapping[str, Value], fields: SessionState, language: Language) -> State:
    """Returns the state with these values."""
    known = {name: values[name] for name in fields if name in values}
    missing = tuple(name for name in fields if name not in known)
    ask = question(missing[0], fields[missing[0]], language) if missing else None
    return State(known, missing, not missing, ask)


_ASKS: Mapping[Language, Mapping[str, str]] = {
    "es": {
        "text": "¿Me decís el dato «{name}», por favor?",
        "number": "¿Qué número sería para «{name}»?",
        "date": "¿Para qué fecha sería ({name})?",
        "enum": "¿Qué preferís para «{name}»: {values}?",
    },
    "en": {
        "text": "Could you tell me the {name}, please?",
        "number": "What number would it be for {name}?",
        "date": "For which date would it be ({name})?",
        "enum": "Which would you prefer for {name}: {values}?",
    },
}


def question(name: str, of: StateField, language: Language) -> str:
    """Returns the question that asks for a field: the configured one, or one that is made from its name."""
    if of.ask:
        return of.ask
    shown = name.replace("_", " ").replace("-", " ")
    return _ASKS[language][of.type].format(name=shown, values=", ".join(of.values))


def hear(heard: Heard, *parts: str, at: float, language: Language, fields: SessionState, answered: str = "") -> Heard:
    """Returns the values after one more message of the user, of one text part or several. `at`: Unix seconds when it
    was said; `answered`: the assistant's message before it."""
    text = "\n".join(parts)
    said_by, voice = heard.voice, heard.voice.after(*parts)
    if not said_by.is_own or is_command(text):
        return Heard(heard.values, voice)
    asked = _asked(answered, fields) if len(text.split()) <= LONGEST_ANSWER else None
    read = partial(_after, at=at, language=language, fields=fields)
    if asked is None and not read([text]) and read([text], heard.values) == heard.values:
        return Heard(heard.values, voice)  # whose words they are costs most, and makes no difference
    own = own_words(*parts)
    values = read(own.passages, heard.values)
    if asked is not None and not own.hands_over and values == heard.values:
        answer = _bare(text, fields[asked])
        values |= {} if answer is None else {asked: answer}
    return Heard(MappingProxyType(values), voice)


def _after(
    passages: Iterable[str],
    values: Mapping[str, Value] = MappingProxyType({}),
    *,
    at: float,
    language: Language,
    fields: SessionState,
) -> dict[str, Value]:
    """Returns `values` after these passages of a message."""
    changed = dict(values)
    for passage in passages:
        for clause in _clauses(passage[:LONGEST_READ]):
            for name, of in fields.items():
                _take(changed, name, _Reading(clause, name, of, at, language), fields)
    return changed


@dataclass(frozen=True, slots=True)
class _Clause:
    text: str
    plainly: str  # folded: of the same length


@dataclass(frozen=True, slots=True)
class _Reading:
    """One field to be found in one clause."""

    clause: _Clause
    name: str
    field: StateField
    at: float
    language: Language


_SENTENCE = re.compile(r"[^.!?;\n\u2026]+(?:[.](?=\w)[^.!?;\n\u2026]*)*")
_TURNS = expression(TABLES, r"(?<=[\s,]){turns} ")
_SET_ASIDE = expression(TABLES, r"(?:^|[\s,(\u00bf\u00a1]){set_aside}\b")
_OTHERS = expression(TABLES, r"\b{others}\b")
_BESIDE = expression(TABLES, r"\b{beside}(?: [\w]+){0,1} ?$")
_DENIES = expression(TABLES, r"(?:^|[\s,(\u00bf\u00a1]){denies}(?P<then>(?: [\w']+){0,4}) ?$")
_DENIES_NOT = expression(TABLES, r"\b{denies_not}\b")
_DENIED_BEHIND = re.compile(r" no(?=\s*(?:[,.;!?]|$))")
_CORRECTS = expression(TABLES, rf"(?:^|\b){{corrects}}[, ]+(?P<number>{NUMBER})(?=\s*(?:[,.;!?]|$))")
_CORRECTS_NAME = expression(TABLES, r"(?:^|\b){corrects}[, ]+(?=\S)")
_UNITS = expression(TABLES, r"\s*(?:{units}\b|[%€$°])")
_OR_BEFORE = expression(TABLES, rf"(?:{NUMBER}) (?:{{or}}|[-a]|to) ?$")
_OR_BEHIND = expression(TABLES, rf" {{or}} (?:{NUMBER})")
_AND_BEHIND = expression(TABLES, rf"(?: [^\W\d_]+)? {{and}} (?:{NUMBER}) [^\W\d_]")
_OR = expression(TABLES, r"\b{or}\b")
_POSSESSIVE = expression(TABLES, r"\b{possessives} $")
_PEOPLE, _BEFORE_PEOPLE = (expression(TABLES, name).pattern for name in ("{people}", "{before_people}"))
_BEFORE_DAY = expression(TABLES, "{before_day}").pattern
_LINK = expression(TABLES, r" {links} (?=\S)")
_ARTICLE = expression(TABLES, r"{articles} ")
_LEADS = expression(TABLES, r"(?:{leads} )?")
_NO_NAMES = frozenset(re.split(r" \| |\n", TABLES["no_names"].strip()))
_CALENDAR = frozenset(
    word for table in ("months", "weekdays") for line in TABLES[table].splitlines() for word in line.split()[1:]
)
_LITTLE = (
    function_words_everywhere("comparison") | function_words_everywhere("terms") | words("por favor please thanks")
)
_WORD = re.compile(r"[^\W_][\w'\u2019&-]*")
_BEHIND_NUMBER = re.compile(r"\s*([^\W\d_][\w'\u2019]*)")


def _clauses(passage: str) -> Iterator[_Clause]:
    """Yields the clauses that may say a value; those that are set aside are left out."""
    for sentence in _SENTENCE.finditer(passage):
        said = sentence.group()
        plainly = folded(said)
        turns = (turn.start() for turn in _TURNS.finditer(plainly))
        cuts = [0, *(at for at in turns if len(plainly[:at].split()) > 1), len(said)]  # "today I feel" is one clause
        for start, end in pairwise(cuts):
            if start < end and _SET_ASIDE.search(plainly, start, end) is None:
                yield _Clause(said[start:end], plainly[start:end])


def _take(values: dict[str, Value], name: str, reading: _Reading, fields: SessionState) -> None:
    """Changes the value of a field by what a clause says."""
    found = list(_read(reading))
    kept: list[Found] = []
    for each in found:
        if _is_denied(reading, each):
            if _equal(values.get(name), each.value):
                del values[name]
        elif not _is_of_others(reading.clause.plainly, each):
            kept.append(each)
    if kept:
        values[name] = kept[-1].value
    elif not found and name in values and _is_only(name, fields):
        corrected = _corrected(reading)
        if corrected is not None:
            values[name] = corrected


def _read(reading: _Reading) -> Iterable[Found]:
    match reading.field.type:
        case "text":
            return _texts(reading)
        case "number":
            return _numbers(reading)
        case "date":
            return _dates(reading)
        case "enum":
            return _members(reading)


def _equal(one: Value | None, other: Value) -> bool:
    return one is not None and folded(str(one)) == folded(str(other))


_WINDOW = {"text": 4, "number": 1, "date": 2, "enum": 3}  # words between a denial and the value's phrase


def _is_denied(reading: _Reading, found: Found) -> bool:
    plainly = reading.clause.plainly
    denial = _DENIES.search(plainly[: found.start])
    if denial is not None:
        between = denial["then"].split()
        if len(between) <= _WINDOW[reading.field.type] and _DENIES_NOT.search(denial["then"]) is None:
            return True
    return _DENIED_BEHIND.match(plainly, found.end) is not None


def _is_of_others(plainly: str, found: Found) -> bool:
    """True if somebody else is the subject of the clause, as far as the value."""
    for pattern in (KIN, _OTHERS):
        other = pattern.search(plainly, 0, found.start)
        if other is not None and _BESIDE.search(plainly[: other.start()]) is None:
            return True
    return False


def _is_only(name: str, fields: SessionState) -> bool:
    """True if no other field has values of this kind."""
    return sum(of.type == fields[name].type for of in fields.values()) == 1


def _corrected(reading: _Reading) -> Value | None:
    plainly = reading.clause.plainly
    if reading.field.type == "number" and (said := _CORRECTS.search(plainly)) is not None:
        return number(said["number"])
    if reading.field.type == "text" and (said := _CORRECTS_NAME.search(plainly)) is not None:
        named = _name(reading.clause.text, said.end(), needs_capital=True)
        rest = reading.clause.text[named.end :] if named else ""
        return named.value if named is not None and not rest.strip(" ,") else None
    return None


# --- texts -----------------------------------------------------------------------------------------------------------


@lru_cache(256)
def _signals(given: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(
        rf"\b(?:{'|'.join(sorted((re.escape(folded(each)) for each in given), key=len, reverse=True))})\b"
    )


def _texts(reading: _Reading) -> Iterator[Found]:
    text, plainly = reading.clause.text, reading.clause.plainly
    shown = reading.name.replace("_", " ")
    signals = reading.field.signals
    for signal in _signals(signals or (shown,)).finditer(plainly):
        # A preposition stands before much else: only a name counts behind it.
        is_slight = signals != () and signal.group() in _LITTLE
        end = signal.end()
        while end < len(text) and (text[end] in " :=" or text.startswith(("es ", "is "), end)):
            end += 3 if text.startswith(("es ", "is "), end) else 1
        named = _name(text, end, needs_capital=is_slight) if end > signal.end() else None
        if named is not None:
            yield Found(named.value, signal.start(), named.end)


def _name(text: str, start: int, *, needs_capital: bool) -> Found | None:
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


# --- numbers ---------------------------------------------------------------------------------------------------------

_PLAIN_NUMBER = re.compile(NUMBER)


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


def _numbers(reading: _Reading) -> list[Found]:
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
            if pattern is before and each["between"] and _UNITS.match(each["between"]):
                continue
            found.setdefault(start, Found(number(each["number"]), each.start(), each.end()))
    return sorted(found.values(), key=lambda each: each.start)


def _stands_alone(plainly: str, start: int, end: int, before: re.Pattern[str]) -> bool:
    """True if what follows a number is not something else that it counts: "for two tomorrow", unlike "for two
    nights"."""
    if before.match(plainly, start) is not None:
        return True
    if _UNITS.match(plainly, end) is not None:
        return False
    follows = _BEHIND_NUMBER.match(plainly, end)
    if follows is None or follows[1] in _LITTLE or follows[1] in _CALENDAR:
        return True
    return any(found.start == 0 for found in dates(plainly[follows.start(1) :], _EPOCH, "en"))


_EPOCH = datetime(2000, 1, 1).date()  # noqa: DTZ001 (which day it is does not matter)


# --- dates and enums -------------------------------------------------------------------------------------------------


def _dates(reading: _Reading) -> list[Found]:
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


def _members(reading: _Reading) -> list[Found]:
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


# --- answers ---------------------------------------------------------------------------------------------------------


def _asked(answered: str, fields: SessionState) -> str | None:
    """Returns the field whose question the assistant has just put: that of the last one in its message."""
    plainly = folded(answered[-2_000:])
    places = {
        name: max(plainly.rfind(folded(question(name, of, language))) for language in _ASKS)
        for name, of in fields.items()
    }
    name = max(places, key=places.__getitem__, default=None)
    return name if name is not None and places[name] >= 0 else None


def _bare(text: str, of: StateField) -> Value | None:
    """Returns the value that a short answer consists of."""
    said = text.strip(" \t\n.,!\u00a1")
    if not said or len(said.split()) > LONGEST_ANSWER or "\n" in said or said.endswith("?"):
        return None
    plainly = folded(said)
    if _SET_ASIDE.search(plainly) is not None or _DENIES.search(plainly) is not None:
        return None
    if of.type == "number":
        found = list(_PLAIN_NUMBER.finditer(plainly))
        return number(found[0].group()) if len(found) == 1 and not _UNITS.match(plainly, found[0].end()) else None
    if of.type == "text":
        lead = _LEADS.match(plainly)
        named = _name(said, lead.end() if lead else 0, needs_capital=False)
        return named.value if named is not None and not said[named.end :].strip(" ,") else None
    return None  # dates and members of an enum are found without their question
