"""The fields of a conversation (`session_state` of the configuration), read from what its user says: a city, a number
of people, a date, one of some values.

Only the user's own words are read, as for facts (`proxy.memory.own_words`): nothing that was pasted, quoted or spoken
by a character. Clauses about the past, about what could be, or about somebody else are left out, so is what is denied;
where two values compete none is taken. A later value replaces an earlier one; one that is denied is removed. A bare
answer ("Madrid", "two") counts if the assistant has just put the field's question.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from types import MappingProxyType

from proxy.config.session_state import SessionState, StateField
from proxy.context.field_values import UNITS, Clause, FieldReading, found_in, name_at
from proxy.context.values import NUMBER, TABLES, Found, Value, number
from proxy.language.phrases import expression
from proxy.memory.analysis import KIN
from proxy.memory.commands import is_command
from proxy.memory.own_words import own_words
from proxy.memory.shapes import Voice
from proxy.memory.signals import folded
from proxy.types import Language

LONGEST_ANSWER = 6  # words of a bare answer to a field's question
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
                _take(changed, name, FieldReading(clause, name, of, at, language), fields)
    return changed


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
_LEADS = expression(TABLES, r"(?:{leads} )?")


def _clauses(passage: str) -> Iterator[Clause]:
    """Yields the clauses that may say a value; those that are set aside are left out."""
    for sentence in _SENTENCE.finditer(passage):
        said = sentence.group()
        plainly = folded(said)
        turns = (turn.start() for turn in _TURNS.finditer(plainly))
        cuts = [0, *(at for at in turns if len(plainly[:at].split()) > 1), len(said)]  # "today I feel" is one clause
        for start, end in pairwise(cuts):
            if start < end and _SET_ASIDE.search(plainly, start, end) is None:
                yield Clause(said[start:end], plainly[start:end])


def _take(values: dict[str, Value], name: str, reading: FieldReading, fields: SessionState) -> None:
    """Changes the value of a field by what a clause says."""
    found = list(found_in(reading))
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


def _equal(one: Value | None, other: Value) -> bool:
    return one is not None and folded(str(one)) == folded(str(other))


_WINDOW = {"text": 4, "number": 1, "date": 2, "enum": 3}  # words between a denial and the value's phrase


def _is_denied(reading: FieldReading, found: Found) -> bool:
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


def _corrected(reading: FieldReading) -> Value | None:
    plainly = reading.clause.plainly
    if reading.field.type == "number" and (said := _CORRECTS.search(plainly)) is not None:
        return number(said["number"])
    if reading.field.type == "text" and (said := _CORRECTS_NAME.search(plainly)) is not None:
        named = name_at(reading.clause.text, said.end(), needs_capital=True)
        rest = reading.clause.text[named.end :] if named else ""
        return named.value if named is not None and not rest.strip(" ,") else None
    return None


_PLAIN_NUMBER = re.compile(NUMBER)


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
        return number(found[0].group()) if len(found) == 1 and not UNITS.match(plainly, found[0].end()) else None
    if of.type == "text":
        lead = _LEADS.match(plainly)
        named = name_at(said, lead.end() if lead else 0, needs_capital=False)
        return named.value if named is not None and not said[named.end :].strip(" ,") else None
    return None  # dates and members of an enum are found without their question
