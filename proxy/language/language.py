"""A language as questions are compared in it: one frozen object, compiled once from its data files and passed down.

`language_of("es")` is made of `lexicon.txt` and `comparison.txt`, and has two parts that take half a second to compile
and are made when the first question needs them: the frames (`frames.txt`) and the small talk (`smalltalk.txt`). A
language that has these files is compared; one with fewer of them is recognised, or read by the gate, and no more.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial

from proxy.language.phrases import phrases, prefix_tree, words
from proxy.language.rules import Rule, rule, rules
from proxy.language.tables import (
    expression,
    filled,
    function_words,
    groups,
    kinds,
    opposites,
    pairs,
    rewrites,
    shorthand,
    split,
    suffixes,
    table,
    tables,
)

_FORM = re.compile("<([a-z_ ]*)>")
_MARKED = re.compile("[\ue000-\uf8ff]")  # characters of no text, and of no syntax either


@dataclass(frozen=True, slots=True, eq=False)
class Lexicon:
    """The words of questions, without accents and in lower case."""

    function: frozenset[str]  # carry no content: they may be there or not
    operators: Mapping[str, str]  # change the answer: said by one question, they must be said by the other
    numbers: Mapping[str, str]
    synonyms: Mapping[str, str]
    short: Mapping[str, tuple[str, ...]]
    filler: frozenset[str]
    optional: frozenset[str]
    praise: frozenset[str]
    pronouns: Mapping[str, str]
    markers: frozenset[str]
    conditions: frozenset[str]
    joins: Mapping[str, str]
    asking: frozenset[str]
    kinds: tuple[Rule, ...]
    chat: Mapping[str, str]
    units: Mapping[str, str]
    contractions: tuple[Rule, ...]
    rewrites: tuple[Rule, ...]
    suffixes: re.Pattern[str]
    sounds: tuple[tuple[str, str], ...]
    opposites: Mapping[str, frozenset[str]]
    reversing: frozenset[str]


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """The patterns that tell two questions apart; None where the language has no such thing."""

    auxiliaries: frozenset[str]
    attached: frozenset[str]
    what_it_does: Rule
    somebody: Rule | None
    strong: re.Pattern[str] | None
    clitics: frozenset[str]
    ordinals: frozenset[str]
    emphasis: frozenset[str]
    belonging: frozenset[str]
    against_each_other: frozenset[frozenset[str]]
    what_it_is_like: re.Pattern[str]
    compares: re.Pattern[str]
    verb_form: re.Pattern[str] | None
    infinitive: re.Pattern[str] | None
    regular: re.Pattern[str] | None
    no_verbs: frozenset[str]
    participle: re.Pattern[str] | None
    persons: frozenset[frozenset[str]]
    impersonal: frozenset[str]
    movable: frozenset[str]
    difference: str
    between_things: re.Pattern[str]
    listed: re.Pattern[str]
    calculates: re.Pattern[str]
    voice: str
    owners: Mapping[str, str]
    acts: re.Pattern[str]
    modals: re.Pattern[str]
    mentioned: re.Pattern[str]
    pointing: re.Pattern[str]
    doing: re.Pattern[str]
    does: frozenset[str]
    does_forms: Mapping[str, str]
    impersonal_act: re.Pattern[str] | None
    tenses: tuple[tuple[str, re.Pattern[str]], ...]
    past_ending: re.Pattern[str] | None
    future_ending: re.Pattern[str] | None
    courtesy: frozenset[str]
    spellings: tuple[tuple[re.Pattern[str], str], ...]
    decisive: frozenset[str]


@dataclass(frozen=True, slots=True, eq=False)
class Licences:
    """The differences that two questions may have and still be the same."""

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
    introduces: re.Pattern[str]
    agreeing: frozenset[frozenset[str]]
    agreeing_endings: tuple[tuple[str, str], ...]
    tool_prepositions: frozenset[str]
    asking_verbs: frozenset[str]
    keyword_frame: frozenset[str]
    fillers: frozenset[str]
    movable: frozenset[str]
    adverb: re.Pattern[str]
    opens_clause: frozenset[str]
    needs_article: frozenset[str]
    quantifiers: frozenset[str]
    inverted: frozenset[str]
    capitals: frozenset[str]
    framing: frozenset[str]
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
    comparison: Comparison
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
        comparison=_comparison(code),
        licences=_licences(code),
        frames=cache(partial(_frames, tables(code, "frames"))),
        small_talk=cache(partial(_small_talk, code)),
    )


# --- the parts of a language ------------------------------------------------------------------------------------------


def _lexicon(code: str) -> Lexicon:
    section = partial(table, code, "lexicon")
    phrases_for = shorthand(section("chat-phrases"))
    return Lexicon(
        function=function_words(code, "comparison"),
        operators=groups(section("operators")),
        numbers=groups(section("numbers")),
        synonyms=groups(section("synonyms")),
        short=shorthand(section("short")),
        filler=words(section("filler")),
        optional=words(section("optional")),
        praise=words(section("praise")),
        pronouns=groups(section("pronouns")),
        markers=words(section("markers")),
        conditions=words(section("conditions")),
        joins=dict(pairs(section("joins"))),
        asking=words(section("asking")),
        kinds=rules(kinds(section("kinds"))),
        chat=groups(section("chat")) | {short: " ".join(said) for short, said in phrases_for.items()},
        units=groups(section("units")),
        contractions=rules(rewrites(section("contractions"))),
        rewrites=rules(rewrites(section("rewrites"))),
        suffixes=suffixes(section("suffixes")),
        sounds=pairs(section("sounds")),
        opposites=opposites(section("opposites")),
        reversing=words(section("reversing")),
    )


def _comparison(code: str) -> Comparison:
    section = partial(table, code, "comparison")
    said = partial(expression, code, "comparison")

    def pattern(name: str) -> re.Pattern[str] | None:
        return re.compile(said(name)) if said(name) else None

    def sets(name: str) -> frozenset[frozenset[str]]:
        return frozenset(words(entry) for entry in split(section(name)))

    listed = "|".join(section("listed").split())
    somebody = said("somebody")
    tenses = (line.split(": ", 1) for line in section("tenses").splitlines())
    return Comparison(
        auxiliaries=words(section("auxiliaries")),
        attached=words(section("attached")),
        what_it_does=rule(said("what-it-does")),
        somebody=rule(somebody) if somebody else None,
        strong=pattern("strong"),
        clitics=words(section("clitics")),
        ordinals=words(section("ordinals")),
        emphasis=words(section("emphasis")),
        belonging=words(section("belonging")),
        against_each_other=sets("against-each-other"),
        what_it_is_like=re.compile(said("what-it-is-like")),
        compares=re.compile(said("compares")),
        verb_form=pattern("verb-form"),
        infinitive=pattern("infinitive"),
        regular=pattern("regular"),
        no_verbs=words(section("no-verbs")),
        participle=pattern("participle"),
        persons=sets("persons"),
        impersonal=words(section("impersonal")),
        movable=words(section("movable")),
        difference=said("difference"),
        between_things=re.compile(f"(?: ,)? (?:{'|'.join(section('and-or').split())}) | , "),
        listed=re.compile(rf"^\D*\d[\d.]*(?: ?(?:,|/|&|{listed})(?: (?:rs|inr)?\.?)? ?\d[\d.]*)+\D*$"),
        calculates=re.compile(rf"\b(?:{'|'.join(entry.strip() for entry in split(section('calculates')))})"),
        voice=said("voice"),
        owners=dict(pairs(section("owners"))),
        acts=re.compile(said("acts")),
        modals=re.compile(said("modals")),
        mentioned=re.compile(said("mentioned")),
        pointing=re.compile(said("pointing")),
        doing=re.compile(said("doing")),
        does=words(section("does")),
        does_forms=groups(section("does-forms")),
        impersonal_act=pattern("impersonal-act"),
        tenses=tuple((tense, re.compile(sign)) for tense, sign in tenses),
        past_ending=pattern("past-ending"),
        future_ending=pattern("future-ending"),
        courtesy=words(section("courtesy")),
        spellings=rewrites(section("spellings")),
        decisive=words(section("decisive")),
    )


def _licences(code: str) -> Licences:
    section = partial(table, code, "licences")
    said = partial(expression, code, "licences")
    long_forms: defaultdict[str, set[tuple[str, ...]]] = defaultdict(set)
    for entry in split(section("abbreviations")):
        shorts, long = entry.split("=")
        for short in shorts.split():
            long_forms[short].add(tuple(long.split()))
    groups_of: defaultdict[str, set[str]] = defaultdict(set)
    for line in section("synonyms").splitlines():
        for word in line.split():
            groups_of[word].add(line)
    return Licences(
        rewrites=rules(
            (pattern.rstrip(" "), f" {form.strip()} ")
            for pattern, _, form in (line.partition("=>") for line in section("rewrites").splitlines())
        ),
        written_apart=shorthand(section("written-apart")),
        of_words=re.compile(said("of-words")),
        definition=re.compile(said("definition")),
        how_to=re.compile(said("how-to")),
        opens_how_to=section("opens-how-to").strip(),
        articles=words(section("articles")),
        article_genders=frozenset(words(entry) for entry in split(section("article-genders"))),
        indefinite=words(section("indefinite")),
        definite=words(section("definite")),
        copulas=words(section("copulas")),
        before_verb=words(section("before-verb")),
        no_verb_form=re.compile(said("no-verb-form")),
        of_somebody=re.compile(said("of-somebody")),
        impersonal=re.compile(said("impersonal")),
        measured_from=re.compile(said("measured-from")),
        second_person=re.compile(said("second-person")),
        introduces=re.compile(said("introduces")),
        agreeing=frozenset(map(frozenset, pairs(section("agreeing")))),
        agreeing_endings=pairs(section("agreeing-endings")),
        tool_prepositions=words(section("tool-prepositions")),
        asking_verbs=words(section("asking-verbs")),
        keyword_frame=words(section("keyword-frame")),
        fillers=words(section("fillers")),
        movable=words(section("movable")),
        adverb=re.compile(said("adverb")),
        opens_clause=words(section("opens-clause")),
        needs_article=words(section("needs-article")),
        quantifiers=words(section("quantifiers")),
        inverted=words(section("inverted")),
        capitals=words(section("capitals")),
        framing=words(section("framing")),
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
    points, owns = (expression(code, "smalltalk", name) for name in ("points", "owns"))
    return SmallTalk(
        context=phrases(section("context")),
        opens=phrases(section("opens"), opening=True),
        points=re.compile(f"(?= (?:{points}) ([a-z]+))"),
        owns=re.compile(f"(?= (?:{owns}) ([a-z]+))"),
        small_talk=phrases(section("small-talk")),
        chatter=phrases(section("chatter")),
        kin=words(section("kin")),
        known=words(section("known")),
        deciding=words(section("deciding")),
    )
