"""A language as questions are compared in it: one frozen object, compiled once from its data files and passed down.

A field of its parts is a section of the part's file (`no_verb_form`: `[no-verb-form]` of `licences.txt`), read as the
field's type says; the few that are made of several sections, or written down otherwise, are named where the part is
made. Two parts take half a second to compile and are made when the first question needs them: the frames and the small
talk. A language that has all these files is compared; one with fewer of them is recognised, or read by the gate, and no
more.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import TypeVar, get_type_hints

from proxy.language.phrases import Rule, phrases, prefix_tree, rules, words
from proxy.language.tables import (
    filled,
    function_words,
    groups,
    pairs,
    rewrites,
    shorthand,
    split,
    table,
    tables,
)

_FORM = re.compile("<([a-z_ ]*)>")
_MARKED = re.compile("[\ue000-\uf8ff]")  # characters of no text, and of no syntax either

T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class Lexicon:
    """The words of questions, without accents and in lower case."""

    function: frozenset[str]  # carry no content: they may be there or not
    operators: frozenset[str]  # change the answer: said by one question, they must be said by the other
    numbers: Mapping[str, str]
    filler: frozenset[str]
    markers: frozenset[str]
    joins: frozenset[str]
    asking: frozenset[str]
    chat: Mapping[str, str]
    units: Mapping[str, str]
    contractions: tuple[Rule, ...]
    rewrites: tuple[Rule, ...]
    sounds: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Licences:
    """The differences that two questions may have and still be the same; None where the language has no such thing."""

    rewrites: tuple[Rule, ...]  # of text between spaces
    written_apart: Mapping[str, tuple[str, ...]]
    of_words: re.Pattern[str]
    definition: re.Pattern[str]
    how_to: re.Pattern[str]
    opens_how_to: str
    articles: frozenset[str]
    article_genders: frozenset[frozenset[str]]
    indefinite: frozenset[str]
    definite: frozenset[str]
    copulas: frozenset[str]
    before_verb: frozenset[str]
    no_verb_form: re.Pattern[str]
    of_somebody: re.Pattern[str]
    impersonal: re.Pattern[str]
    second_person: re.Pattern[str]
    measured_from: re.Pattern[str]
    by_itself: re.Pattern[str]
    in_order: frozenset[str]
    introduces: re.Pattern[str]
    agreeing: tuple[tuple[str, str], ...]
    agreeing_endings: tuple[tuple[str, str], ...]
    tool_prepositions: frozenset[frozenset[str]]
    asking_verbs: frozenset[str]
    keyword_frame: frozenset[str]
    compounding: frozenset[str]
    fillers: frozenset[str]
    movable: frozenset[str]
    adverb: re.Pattern[str]
    opens_clause: frozenset[str]
    needs_article: frozenset[str]
    article_tells: frozenset[str]
    quantifiers: frozenset[str]
    inverted: frozenset[str]
    capitals: frozenset[str]
    framing: frozenset[str]
    infinitive: re.Pattern[str] | None
    regular: re.Pattern[str] | None
    spellings: tuple[tuple[re.Pattern[str], str], ...]
    calculates: re.Pattern[str]
    mentioned: re.Pattern[str]
    pointing: re.Pattern[str]
    abbreviations: Mapping[str, frozenset[tuple[str, ...]]]
    synonyms: Mapping[str, frozenset[str]]  # every word to the names of the groups that it is in


@dataclass(frozen=True, slots=True, eq=False)
class Frames:
    """The patterns of frames, which only ask for an answer. `forms[n]` is what a match of `pattern` becomes if its nth
    group closed last."""

    pattern: re.Pattern[str]
    forms: tuple[str, ...]
    around: tuple[Rule, ...]

    def replace(self, text: str) -> str:
        """Returns the text with every frame in its canonical form."""
        return self.pattern.sub(lambda frame: self.forms[frame.lastindex or 0], text)


@dataclass(frozen=True, slots=True, eq=False)
class SmallTalk:
    """The patterns by which small talk is told from context."""

    context: re.Pattern[str]
    opens: re.Pattern[str]
    points: re.Pattern[str]  # these two find the word that follows
    owns: re.Pattern[str]
    small_talk: re.Pattern[str]
    chatter: re.Pattern[str]
    kin: frozenset[str]
    known: frozenset[str]
    deciding: frozenset[str]


@dataclass(frozen=True, slots=True, eq=False)
class Language:
    """A language as questions are compared in it: tables and rules, compiled once."""

    code: str
    name: str  # as Snowball calls it
    traits: frozenset[str]  # rules of grammar that hold in it, named in `lexicon.txt`
    lexicon: Lexicon
    licences: Licences
    frames: Callable[[], Frames]
    small_talk: Callable[[], SmallTalk]


@cache
def language_of(code: str) -> Language:
    """The language of that code. Raises FileNotFoundError if it has not the files that comparing takes."""
    return Language(
        code=code,
        name=table(code, "lexicon", "name").strip(),
        traits=words(table(code, "lexicon", "traits")),
        lexicon=_lexicon(code),
        licences=_licences(code),
        frames=cache(partial(_frames, tables(code, "frames"))),
        small_talk=cache(partial(_small_talk, code)),
    )


# --- the parts of a language ------------------------------------------------------------------------------------------


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text.replace("\n", ""))


_READ_AS: Mapping[object, Callable[[str], object]] = {
    str: str.strip,
    frozenset[str]: words,
    frozenset[frozenset[str]]: lambda text: frozenset(map(words, split(text))),
    Mapping[str, str]: groups,
    Mapping[str, tuple[str, ...]]: shorthand,
    tuple[tuple[str, str], ...]: pairs,
    tuple[tuple[re.Pattern[str], str], ...]: rewrites,
    tuple[Rule, ...]: lambda text: rules(rewrites(text)),
    re.Pattern[str]: _pattern,
    re.Pattern[str] | None: lambda text: _pattern(text) if text else None,
}


def read_part(part: type[T], code: str, subject: str, **made: object) -> T:
    """Makes a part of a language: what is not `made` already is read from the sections of `subject`."""
    for name, kind in get_type_hints(part).items():
        if name not in made:
            made[name] = _READ_AS[kind](table(code, subject, name.replace("_", "-")))
    return part(**made)


def _lexicon(code: str) -> Lexicon:
    section = partial(table, code, "lexicon")
    phrases_for = shorthand(section("chat-phrases"))
    return read_part(
        Lexicon,
        code,
        "lexicon",
        function=function_words(code, "comparison"),
        chat=groups(section("chat")) | {short: " ".join(said) for short, said in phrases_for.items()},
    )


def _licences(code: str) -> Licences:
    section = partial(table, code, "licences")
    long_forms: defaultdict[str, set[tuple[str, ...]]] = defaultdict(set)
    for entry in split(section("abbreviations")):
        shorts, long = entry.split("=")
        for short in shorts.split():
            long_forms[short].add(tuple(long.split()))
    groups_of: defaultdict[str, set[str]] = defaultdict(set)
    for line in section("synonyms").splitlines():
        for word in line.split():
            groups_of[word].add(line)
    return read_part(
        Licences,
        code,
        "licences",
        rewrites=rules(
            (pattern.rstrip(" "), f" {form.strip()} ")
            for pattern, _, form in (line.partition("=>") for line in section("rewrites").splitlines())
        ),
        abbreviations={short: frozenset(longs) for short, longs in long_forms.items()},
        synonyms={word: frozenset(names) for word, names in groups_of.items()},
    )


def _frames(sections: Mapping[str, str]) -> Frames:
    """A section `[= form]` has what becomes that form; `[opening]` names in <angle brackets> what a frame becomes that
    ends there."""
    opening = filled(sections, "opening").replace("\n", "")
    forms = {name[1:].strip(): filled(sections, name) for name in sections if name.startswith("=")}
    names = [*dict.fromkeys([*_FORM.findall(opening), *forms])]
    ends = {name: chr(0xE000 + at) for at, name in enumerate(names)}
    opening = _FORM.sub(lambda end: ends[end[1]], opening)
    anywhere = prefix_tree(*(re.sub(r" *(?=\n| \| |$)", ends[name], entries) for name, entries in forms.items()))
    found = re.sub(r"\((?!\?)", "(?:", f" (?:(?<=[.?,] )(?:{opening})|{anywhere})(?= )")
    around = (line.split(" => ") for line in filled(sections, "around").splitlines())
    return Frames(
        pattern=re.compile(_MARKED.sub("()", found)),
        forms=("", *(f" {names[ord(end) - 0xE000]}" for end in _MARKED.findall(found))),
        around=rules((f" {pattern}", f" {form}") for pattern, form in around),
    )


def _small_talk(code: str) -> SmallTalk:
    section = partial(table, code, "smalltalk")
    points, owns = (section(name).replace("\n", "") for name in ("points", "owns"))
    return read_part(
        SmallTalk,
        code,
        "smalltalk",
        context=phrases(section("context")),
        opens=phrases(section("opens"), opening=True),
        points=re.compile(f"(?= (?:{points}) ([a-z]+))"),
        owns=re.compile(f"(?= (?:{owns}) ([a-z]+))"),
        small_talk=phrases(section("small-talk")),
        chatter=phrases(section("chatter")),
        known=words(section("known")) | function_words(code, "smalltalk"),
    )
