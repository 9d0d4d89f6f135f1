"""The words that personal facts are compared by: the tables of a language, and notions that several words and phrases
stand for.

`proxy/language/<code>/claims.txt` explains each table. A phrase is a sequence of roots between which articles and
pronouns may stand.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from proxy.language.phrases import words
from proxy.language.tables import groups, named, pairs_of_lines, split, tables
from proxy.language.words import fold
from proxy.memory.roots import NAMES, Root, irregular, root, rooted
from proxy.memory.signals import spoken_in
from proxy.types.memory import Language

_WORD = re.compile(r"[^\W_]+")
_WITH_BE = 2  # words of a phrase that may lose "be"


class Phrase(NamedTuple):
    """Words that stand for something together."""

    roots: tuple[Root, ...]
    kind: str  # "notion", "person", "filler", "user"
    names: tuple[str, ...]  # of the notions


@dataclass(frozen=True, slots=True, eq=False)
class Wording:
    """The tables of a language, as roots."""

    code: Language
    empty: frozenset[str]  # words, folded; so are the next
    possessives: frozenset[str]
    small: frozenset[str]
    operators: frozenset[str]
    negations: frozenset[str]
    intensity: frozenset[str]
    titles: frozenset[str]
    discourse: frozenset[str]
    past: frozenset[str]
    future: frozenset[str]
    perfect: frozenset[str]
    going: frozenset[str]
    contractions: Mapping[str, tuple[str, ...]]
    numbers: Mapping[str, int]
    times: Mapping[str, int]
    halves: frozenset[str]
    years: tuple[frozenset[str], str]  # years, and the month that their halves are told in
    months: Mapping[str, int]
    weekdays: Mapping[str, int]
    units: Mapping[str, str]
    endings: frozenset[str]
    unmarked: frozenset[str]
    ago: frozenset[str]
    nominals: tuple[str, ...]  # endings of nouns that are made from verbs
    agents: tuple[str, ...]  # endings of whoever does it
    be: frozenset[Root]
    light: frozenset[Root]  # of a state: "have"
    doing: frozenset[Root]  # of what one does: "play"
    working: frozenset[Root]
    supporting: frozenset[str]  # the notions of who supports a club
    people: frozenset[str]  # that are one word, folded
    keep: frozenset[str]  # words, folded, that are their own roots
    notions: Mapping[Root, frozenset[str]]  # of a single word
    phrases: Mapping[Root, tuple[Phrase, ...]]  # of several words by the first, longest first
    fillers: Mapping[Root, tuple[Phrase, ...]]  # the same of folded words


@cache
def wording(code: Language) -> Wording:
    """Returns the tables of a language."""
    found, state = tables(code, "claims"), tables(code, "state")
    numbers = {**_numbers(state["numbers"]), **_numbers(found["numbers"])}
    notions: defaultdict[Root, set[str]] = defaultdict(set)
    phrases: defaultdict[tuple[str, tuple[Root, ...]], set[str]] = defaultdict(set)
    people = frozenset(each.strip() for each in split(found["people"]) if " " not in each.strip())
    keep = people.union(*(_words(found, name) for name in ("operators", "negations", "small")))
    skip = (_words(found, "empty") | _words(found, "possessives")) - {"mi", "my"}

    be = frozenset(root(each, code) for each in _words(found, "be"))

    def add(table: str, kind: str) -> None:
        for number, line in enumerate(found[table].splitlines()):
            for entry in split(line):
                said = [each for each in _WORD.findall(entry) if kind in {"filler", "user"} or each not in skip]
                roots = tuple(each if kind in {"filler", "user"} else rooted(each, code, keep) for each in said)
                name = f"{kind} {number}"
                if len(roots) > _WITH_BE and roots[0] in be:  # "be fond of", and "a man fond of"
                    phrases[kind, roots[1:]].add(name)
                if len(roots) > 1 or kind in {"filler", "user"}:
                    phrases[kind, roots].add(name)
                elif roots:
                    notions[roots[0]].add(name)

    for number, line in enumerate(tables(code, "licences")["synonyms"].splitlines()):
        for word in line.split():
            notions[rooted(word, code, keep)].add(f"synonym {number}")
    add("groups", "notion")
    add("people", "person")
    add("fillers", "filler")
    add("user", "user")
    _unite(phrases, notions)
    flat = {name: _words(found, name) for name in _FLAT}
    return Wording(
        code=code,
        **flat,
        contractions={short: tuple(long.split()) for short, long in pairs_of_lines(found["contractions"])},
        numbers=numbers,
        times=_numbers(found.get("times", "")),
        halves=_words(found, "halves"),
        years=(_words(found, "years"), found["month"].strip()),
        months=_numbers(state["months"]),
        weekdays=_numbers(state["weekdays"]),
        units=groups(tables(code, "lexicon")["units"]) | groups(found["units"]),
        be=be,
        light=frozenset(root(each, code) for each in _words(found, "light")),
        doing=frozenset(root(each, code) for each in _words(found, "doing")),
        agents=tuple(_words(found, "agents")),
        nominals=tuple(_words(found, "nominals")),
        working=frozenset(root(each, code) for each in _words(found, "working")),
        supporting=frozenset().union(*(notions[root(each, code)] for each in _words(found, "supporting"))),
        people=people,
        keep=keep,
        notions={one: frozenset(names) for one, names in notions.items()},
        phrases=_by_first(phrases, "notion", "person"),
        fillers=_by_first(phrases, "filler", "user"),
    )


def _unite(phrases: Mapping[tuple[str, tuple[Root, ...]], set[str]], notions: Mapping[Root, set[str]]) -> None:
    """Makes one notion of those that have a phrase in common: words may have several meanings, phrases have not."""
    one_of: dict[str, str] = {}

    def first(name: str) -> str:
        while name in one_of:
            name = one_of[name]
        return name

    for names in phrases.values():
        several = sorted({first(name) for name in names})
        one_of.update(dict.fromkeys(several[1:], several[0]))
    for known in (*phrases.values(), *notions.values()):
        united = {first(name) for name in known}
        known.clear()
        known.update(united)


def _by_first(
    phrases: Mapping[tuple[str, tuple[Root, ...]], AbstractSet[str]], *kinds: str
) -> dict[Root, tuple[Phrase, ...]]:
    found: defaultdict[Root, list[Phrase]] = defaultdict(list)
    for (kind, roots), names in phrases.items():
        if kind in kinds:
            found[roots[0]].append(Phrase(roots, kind, tuple(sorted(names))))
    return {first: tuple(sorted(each, key=lambda one: -len(one.roots))) for first, each in found.items()}


_FLAT = (
    "empty",
    "possessives",
    "small",
    "operators",
    "negations",
    "intensity",
    "titles",
    "discourse",
    "past",
    "future",
    "perfect",
    "going",
    "unmarked",
    "ago",
    "endings",
)


def _words(found: Mapping[str, str], name: str) -> frozenset[str]:
    return words(found[name].replace("|", " "))


def _numbers(table: str) -> dict[str, int]:
    return {word: int(number) for word, number in named(table).items()}


def longest(
    table: Mapping[Root, tuple[Phrase, ...]], said: Sequence[Root], at: int, skipped: Sequence[bool]
) -> tuple[Phrase, int] | None:
    """Returns the longest phrase of `table` that begins at a place, and where it ends; None if none does. `skipped`:
    which words may stand between its own."""
    for phrase in table.get(said[at], ()):
        end = _end(phrase, said, at, skipped)
        if end:
            return phrase, end
    return None


def _end(phrase: Phrase, said: Sequence[Root], at: int, skipped: Sequence[bool]) -> int:
    """Returns the place behind `phrase`, which begins at a place; 0 if it does not."""
    place = at + 1
    for expected in phrase.roots[1:]:
        while place < len(said) and said[place] != expected and skipped and skipped[place]:
            place += 1
        if place == len(said) or said[place] != expected:
            return 0
        place += 1
    return place


def spoken_in_claims(text: str) -> Language:
    """Returns the language whose tables know more of the words of a short statement: "Mide 1,82 m"."""
    said = [fold(each) for each in _WORD.findall(text)]
    known = {code: sum(_is_known(each, wording(code)) for each in said) for code in NAMES}
    if known["es"] == known["en"]:
        return spoken_in(text) if text.isascii() else "es"
    return "es" if known["es"] > known["en"] else "en"


def _is_known(word: str, table: Wording) -> bool:
    if word in table.keep or word in table.empty or word in table.possessives or word in table.intensity:
        return True
    found = root(word, table.code)
    return found in table.notions or found in table.phrases or word in irregular(table.code)
