"""Clauses that tell of former times, which are no facts that hold: "when I was little we had a green Volvo".

A memory is told by its frame and its tense. A frame is somebody who remembers ("I remember", "that takes me back"), or
a time that is over without a date ("as a kid", "en los ochenta"); it holds for its sentence, and for the sentences
behind it as long as they go on in the past. What was done again and again is told by its tense alone: the imperfect in
Spanish, and of others than the user "used to", "would" and "every Sunday" in English.

What has come of the past is no memory: what changed, is still so, or is said of the user for good (a birth, an
operation, an allergy).
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from itertools import groupby

from proxy.language.language import language_of
from proxy.language.phrases import expression
from proxy.language.tables import union
from proxy.language.words import fold, is_known, lemma
from proxy.memory.analysis import analyse
from proxy.memory.claims import claim
from proxy.memory.reading import ReadClause
from proxy.memory.signals import folded

_find = partial(expression, union("reminiscing"))

_REMEMBERS = _find(r"(?<![\w'])(?:{remembers})(?![\w'])")
_FORMER = _find(r"(?<![\w'])(?:{former})(?![\w'])")
_HABITS = _find(r"(?<![\w'])(?:{habits})(?![\w'])")
_REPEATED = _find(r"(?<![\w'])(?:{repeated})(?![\w'])")
_BY_USER = _find(r"\W*(?:(?:and|but|so|then|y|pero)\W+)*(?:{user})(?![\w'])")
_HOLDS = _find(r"(?<![\w'])(?:{holds})(?![\w'])")
_NO_HABITS = _find(r"(?<!\w)(?:{no-habits})(?!\w)")
# Spanish verbs in the imperfect, by their ending; without their accent the lemma tells them from "familia".
_IMPERFECT = re.compile(
    r"(?<!\w)(?:(?P<ar>\w+)(?:aba|abas|aban|ábamos|abamos|abais)|(?P<er>\w+)(?:ía|ías|ían|íamos|íais|ia|ias|ian|iamos)"
    r"|eran?|eras|éramos|eramos|iban?|ibas|íbamos|ibamos|veía[sn]?|veíamos)(?!\w)"
)
_BEHIND = re.compile(r"(?<!\w)(?:que|cuando|porque|donde|como|si)(?:\s\w+){0,3}\s*\Z")
_WAS = frozenset({"era", "eran"})  # what somebody was: it may hold ("mi apellido de soltera era Delgado")
_LEAST_VERB = 4  # letters
# Attributes of a person that were settled in the past, and hold.
_SETTLED = frozenset({"name", "origin", "birthday", "marital", "health-", "allergy-", "diet", "residence", "age"})


def without_reminiscences(found: Sequence[ReadClause]) -> list[ReadClause]:
    """Drops the clauses that tell of former times, unless the user asks to remember them."""
    if not any(each.kept for each in found):
        return list(found)
    told: list[ReadClause] = []
    goes_on = False  # the sentence before is a memory
    for _, group in groupby(found, key=lambda each: each.clause.sentence):
        sentence = list(group)
        said = [folded(each.clause.text) for each in sentence]
        memories = list(_memories(sentence, said, goes_on=goes_on))
        told += [
            each.but(kept=False) if is_memory and each.kept else each
            for each, is_memory in zip(sentence, memories, strict=True)
        ]
        goes_on = memories[-1] or (goes_on and not any(each.kept or each.clause.asked for each in sentence))
    return told


def _memories(sentence: Sequence[ReadClause], said: Sequence[str], *, goes_on: bool) -> Iterator[bool]:
    """Yields of each clause of a sentence whether it tells of former times. `goes_on`: the sentence before does."""
    remembers = next((at for at, plainly in enumerate(said) if _REMEMBERS.search(plainly)), len(said))
    is_former = any(map(_FORMER.search, said))
    is_settled = remembers == len(said) and any(map(_HOLDS.search, said))
    for at, (each, plainly) in enumerate(zip(sentence, said, strict=True)):
        is_ordered = each.explicit and _REMEMBERS.search(plainly) is None
        if is_ordered or each.clause.asked or is_settled or _HOLDS.search(plainly):
            yield False
        elif at >= remembers:
            yield True
        elif each.slot in _SETTLED or each.decides or _has_changed(each, plainly):
            yield False
        else:
            text = each.clause.text
            goes_on = _is_past(text) if is_former or goes_on or remembers < len(said) else _is_habit(text, plainly)
            yield goes_on


def _has_changed(each: ReadClause, plainly: str) -> bool:
    """Tells whether a clause reports a change, of which something has come: "I quit smoking years ago"."""
    return each.said.changes and _HABITS.search(plainly) is None and analyse(_FORMER.sub(" ", plainly)).changes


def _is_past(text: str) -> bool:
    plainly = folded(text)
    setting = _FORMER.match(plainly)  # "years ago I worked": the verb stands behind it
    said = text[setting.end() :] if setting else text
    return is_imperfect(text, anywhere=True) or claim(said).tense == "past" or _HABITS.search(plainly) is not None


def _is_habit(text: str, plainly: str) -> bool:
    """Tells whether a clause says by itself what was so again and again."""
    if is_imperfect(text):
        return True
    if _BY_USER.match(plainly):
        return False
    repeated = _REPEATED.search(plainly) is not None
    if (habit := _HABITS.search(plainly)) is not None:
        return repeated or not habit.group().startswith(("would", "'d"))
    return repeated and claim(text).tense == "past"


def is_imperfect(text: str, *, anywhere: bool = False) -> bool:
    """Tells whether the verb of a clause is in the Spanish imperfect, and not one that asks politely. `anywhere`: that
    of a subordinate clause counts too."""
    low = text.lower()
    return any(
        _is_verb(found) and (anywhere or (found.group() not in _WAS and _BEHIND.search(low, 0, found.start()) is None))
        for found in _IMPERFECT.finditer(low)
        if _NO_HABITS.match(folded(low), found.start()) is None
    )


def _is_verb(found: re.Match[str]) -> bool:
    word = found.group()
    if found["ar"]:
        return _is_of(word, f"{fold(found['ar'])}ar")
    return not found["er"] or any(_is_of(word, f"{fold(found['er'])}{ending}") for ending in ("er", "ir"))


@lru_cache(1_024)
def _is_of(word: str, verb: str) -> bool:
    """Tells whether a word is a form of a verb: "tenía" of "tener", but "viviría" of no "vivirer", and "panadería" of
    no verb."""
    found = lemma(word, language_of("es"))
    return found == verb or (found == fold(word) and len(verb) > _LEAST_VERB and is_known(verb, language_of("es")))
