"""A personal fact as it is compared with another: who it is about, what it denies, when it holds, its names and
numbers, and the words that are left, whatever person and order they are said in.

"Trabajo en Google" and "trabaja en Google" are one claim; "no trabajo en Google" and "trabajé en Google" are others.
What says nothing is left out: articles, pronouns, fillers ("la verdad es que"), titles before names.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby, pairwise
from typing import Literal

from proxy.language.detect import language as spoken
from proxy.language.words import fold
from proxy.memory.claim_numbers import counted
from proxy.memory.claim_words import Root, Wording, is_irregular, longest, rooted, spoken_in_claims, wording
from proxy.types.memory import Language

Kind = Literal["word", "name", "number", "person", "light", "doing", "operator"]
Tense = Literal["present", "past", "perfect", "future"]

_REMEMBERED = 4_096  # texts whose claims are cached
_LONGEST = 600  # characters that are read: a fact is a sentence
_TOKEN = re.compile(r"[$€£]?\d+(?:[.,:/]\d+)*(?:[^\W\d_]+|%)?|[^\W_]+(?:'[^\W_]+)*[+#]*|[$€£.;:!?,()\u2026\u2014]")
_SHORT = {"m": "am", "re": "are", "ve": "have", "ll": "will", "d": "would"}
_IS = frozenset(["it", "that", "he", "she", "there", "what", "who", "here", "where", "how"])
_SIGNS = {"$": "dollars", "€": "euros", "£": "pounds"}
_DENYING = {"can't": "can", "won't": "will", "shan't": "shall"}
_NO_NAMES = frozenset(["i", "i'm", "i've", "i'd", "i'll", "ok"])
_OWN = {"es": "mi", "en": "my"}
_I = {"es": "yo", "en": "i"}
_JOINS = frozenset(["and", "y", "e", "but", "pero"])
_TURNS = frozenset(["than", "que", "to", "a", "al", "over"])  # behind which stands what something is compared with
_PAST_ENDING = {
    "es": re.compile(r"\w{2,}(?:ó|é|í|aron|ieron|aba|aban|aste|iste|ábamos)$"),
    "en": re.compile(r"[a-z]{2,}ed$"),
}
_NO_PAST = frozenset(["café", "bebé", "qué", "sé", "té", "sí", "ahí", "allí", "así", "aquí", "mí", "también", "además", "porqué", "olé", "need", "speed", "bed", "red"])
_FUTURE_ENDING = re.compile(r"\w{3,}r(?:é|ás|á|emos|án)$")
_PARTICIPLE = re.compile(r"\w+(?:[ai]do|to|cho|so)$")
_ONE = frozenset(["un", "una", "a", "an"])
_ARTICLES = frozenset(["el", "la", "los", "las", "the"])
_GOT = frozenset(["get", "gets", "got", "getting"])
_CLITICS, _OBJECTS = frozenset(["me", "se", "te", "nos"]), frozenset(["la", "lo", "las", "los"])
_SUBORDINATES = frozenset(["que", "cuando", "donde", "when", "that", "who", "where", "since", "while", "after", "before", "because"])
_BY = {"es": "por", "en": "by"}


@dataclass(frozen=True, slots=True)
class Term:
    """A word of a claim, or a phrase that stands for one notion."""

    said: str  # folded
    root: Root
    notions: frozenset[str]
    kind: Kind
    part: int  # number of the part of the sentence it stands in: joins divide them
    behind: str  # the preposition before it; "" if none
    turned: bool  # it stands behind "than"
    is_denied: bool  # a negation stands before it


@dataclass(frozen=True, slots=True)
class Claim:
    """The parts of a statement about a user."""

    language: Language
    terms: tuple[Term, ...]  # all that says something, in order
    is_own: bool  # the user is its subject
    holder: frozenset[Root]  # the relatives and others that it is about, if not the user
    leading: int  # number of terms, names and people, that stand before all else
    leads_noun: bool  # it begins with a noun
    is_copular: bool  # "is" joins what it says
    is_passive: bool  # "was treated by": its subject is not who does it
    compares: bool
    is_denied: bool
    tense: Tense
    has_clitics: bool  # "se la diseñó su tío": what stands first may be the object

    def acts(self, term: Term) -> bool:
        """Tells whether somebody does it, as far as the place in the sentence tells."""
        if self.language == "es":
            return not term.behind and not term.turned
        return term in self.terms[: self.leading]

    @property
    def names(self) -> frozenset[str]:
        """Returns its names, folded."""
        return frozenset(term.said for term in self.terms if term.kind == "name")

    @property
    def numbers(self) -> tuple[str, ...]:
        """Returns its numbers as figures, sorted."""
        return tuple(sorted(term.said for term in self.terms if term.kind == "number"))

    @property
    def attribute(self) -> frozenset[str]:
        """Returns the notions it is about: of its verb and its nouns."""
        return frozenset().union(*(term.notions for term in self.terms))


@dataclass(frozen=True, slots=True)
class _Word:
    raw: str
    said: str  # folded
    is_name: bool
    segment: int  # number of the run between two marks that it stands in


@lru_cache(_REMEMBERED)
def claim(text: str, language: Language | None = None) -> Claim:
    """Reads a statement, in the first or the third person, in Spanish or English."""
    text = text[:_LONGEST].replace("\u2019", "'")
    table = wording(language or spoken(text) or spoken_in_claims(text))
    words = list(_without_fillers(_words(text, table), table))
    terms = tuple(_terms(words, table))
    said = [word.said for word in words]
    roots = {rooted(each, table.code, frozenset()) for each in said}
    is_own, holder = _held(words, terms, table)
    leading = next((at for at, term in enumerate(terms) if term.kind not in {"person", "name"}), len(terms))
    is_led = bool(terms) and not terms[0].behind
    return Claim(
        language=table.code,
        terms=terms,
        is_own=is_own,
        holder=holder,
        leading=max(leading, 1) if is_led and words[0].said not in {"i", "we"} else 0,
        leads_noun=bool(words) and words[0].said in table.possessives | _ARTICLES | _ONE,
        is_copular=bool(roots & table.be) and not any(each.endswith("ing") for each in said),
        is_passive=_BY[table.code] in said and bool(roots & table.be),
        compares=_compares(words, table),
        is_denied=any(term.is_denied for term in terms),
        tense=tense(words_of(words), table),
        has_clitics=any(
            other == "lo" or (other in _OBJECTS and (one in _CLITICS or one not in table.keep | table.empty))
            for one, other in pairwise(said)
        ),
    )


def words_of(words: Sequence[_Word]) -> list[str]:
    """Returns the words in lower case, with their accents."""
    return [word.raw.lower() for word in words]


# --- words ------------------------------------------------------------------------------------------------------------


def _words(text: str, table: Wording) -> list[_Word]:
    found: list[_Word] = []
    begins, segment = True, 0
    for token in _TOKEN.findall(text):
        if token in _SIGNS:
            token = _SIGNS[token]
        if not (token[0].isalnum() or token[0] in "$€£"):
            segment += 1
            begins = begins or (token in ".!?" and not (found and found[-1].said in table.titles))
            continue
        is_name = token[0].isupper() and not begins and token.lower() not in _NO_NAMES
        begins = False
        found += [_Word(each, fold(each), is_name and each[0].isupper(), segment) for each in _expanded(token, table)]
    saying = table.discourse | table.empty | table.small | table.intensity
    idle = {
        number
        for number, run in groupby(found, key=lambda word: word.segment)
        if (said := {word.said for word in run}) <= saying and not said.isdisjoint(table.discourse | table.intensity)
    }
    return [word for word in found if word.segment not in idle]


def _expanded(token: str, table: Wording) -> list[str]:
    """Returns the words that one written in short stands for."""
    low = token.lower()
    if low in table.contractions:
        return [*table.contractions[low]]
    if "'" not in token:
        return [token]
    if low.endswith("n't"):
        return [_DENYING.get(low, token[:-3]), "not"]
    head, _, tail = token.partition("'")
    if tail in {"s", "S"}:
        return [head, "is" if head.lower() in _IS else "'s"]
    return [head, _SHORT[tail.lower()]] if tail.lower() in _SHORT else [token.replace("'", "")]


def _without_fillers(words: Sequence[_Word], table: Wording) -> Iterator[_Word]:
    """Yields the words without fillers, the user as "I" and "my"."""
    said = [word.said for word in words]
    skipped = [each in table.empty for each in said]
    kept: list[_Word] = []
    at = 0
    while at < len(words):
        found = longest(table.fillers, said, at, skipped)
        if found is None:
            kept.append(words[at])
            at += 1
            continue
        phrase, end = found
        if phrase.kind == "user":
            kept, end = _user(kept, words, end, table)
        at = end
    yield from kept


def _user(kept: list[_Word], words: Sequence[_Word], end: int, table: Wording) -> tuple[list[_Word], int]:
    """Returns the words before "the user" with what stands for it, and where the words behind it go on."""
    at = words[end - 1].segment
    own = _Word(_OWN[table.code], _OWN[table.code], False, at)
    if end < len(words) and words[end].said == "'s":
        return [*kept, own], end + 1
    while kept and kept[-1].said in {"el", "la", "the"}:
        kept = kept[:-1]
    if kept and kept[-1].said in {"de", "del", "of"}:  # "la madre del usuario" is "su madre"
        kept = kept[:-1]
        owned = next((at for at in range(len(kept) - 1, -1, -1) if kept[at].said in table.empty), None)
        return (kept if owned is None else [*kept[:owned], own, *kept[owned + 1 :]]), end
    return [*kept, _Word(_I[table.code], _I[table.code], False, at)], end


# --- terms ------------------------------------------------------------------------------------------------------------


def _terms(words: Sequence[_Word], table: Wording) -> Iterator[Term]:
    numbers = counted([word.said for word in words], table)
    owns = [word.said in table.possessives or word.said == "'s" for word in words]
    roots = [
        _OWN[table.code] if own else rooted(word.said, table.code, table.keep)
        for word, own in zip(words, owns, strict=True)
    ]
    skipped = [own or word.said in table.empty | table.intensity for word, own in zip(words, owns, strict=True)]
    compares = _compares(words, table)
    at, part, behind, is_negated, turned, joined, last = 0, 0, "", False, False, False, ""
    while at < len(words):
        word, end = words[at], at + 1
        made: list[tuple[str, Root, frozenset[str], Kind]] = []
        if at in numbers:
            figures, end = numbers[at]
            made = [(each, each, frozenset(), "number") for each in figures]
        elif (found := longest(table.phrases, roots, at, skipped)) is not None:
            phrase, end = found
            name = " ".join(phrase.roots)
            kind: Kind = "person" if phrase.kind == "person" else "word"
            if all(each in table.be or each in table.small for each in phrase.roots):
                kind = "light"
            made = [(name, name, frozenset(phrase.names), kind)]
        elif _says_nothing(words, at, roots[at], table):
            is_negated |= word.said in table.negations
            if word.said in _TURNS and compares:
                turned = True
            if word.said in _JOINS:
                joined, behind = True, ""
            elif word.said in table.small or word.said in {"al", "del"}:
                behind = {"al": "a", "del": "de"}.get(word.said, word.said)
        elif word.said in table.operators:
            made = [(word.said, word.said, table.notions.get(word.said, frozenset()), "operator")]
        elif (unit := _unit(word.said, table)) is not None:
            made = [(unit, unit, frozenset(), "number")]
        else:
            notions = table.notions.get(roots[at], frozenset())
            kind = "name" if word.is_name else "person" if word.said in table.people else "word"
            if kind == "word":
                kind = "light" if roots[at] in table.light else "doing" if roots[at] in table.doing else kind
            root = word.said if word.is_name else roots[at]
            made = [(word.said, root, notions, kind)]
        if made and joined:  # "Rufus and Bea" are of one part
            part, joined = part + (made[0][3] != last or last not in {"name", "number", "person"}), False
        for said, root, notions, kind in made:
            yield Term(said, root, notions, kind, part, behind, turned, is_negated)
        if made:
            last = made[-1][3]
            is_negated &= made[0][3] == "operator"
            behind = behind if made[0][3] in {"operator", "person"} else ""
        at = end


def _unit(word: str, table: Wording) -> str | None:
    """Returns the unit that a word names, as it stands behind figures."""
    return next((table.units[each] for each in (word, word.removesuffix("s")) if len(each) > 2 and each in table.units), None)  # fmt: skip


def _says_nothing(words: Sequence[_Word], at: int, root: Root, table: Wording) -> bool:
    said = words[at].said
    if said in table.titles and any(word.is_name for word in words[at + 1 : at + 3]):
        return True
    if words[at].is_name and said not in _ARTICLES:
        return False
    if said in table.possessives or said == "'s" or said in table.negations:
        return True
    if said in table.empty or said in table.small or said in table.intensity:
        return True
    if said in _GOT and at + 1 < len(words):
        after = words[at + 1].said
        return after.endswith("ed") or is_irregular(after)
    if root in table.be or said in table.future:
        return True
    if said in table.going:
        return at + 1 < len(words) and words[at + 1].said in {"a", "to"}
    if said in table.perfect:
        return _is_perfect([word.said for word in words], at, table)
    return said in {"do", "does", "did", "would"} and at + 1 < len(words)


def _compares(words: Sequence[_Word], table: Wording) -> bool:
    said = [word.said for word in words]
    if table.code == "en":
        return "than" in said or bool({"prefer", "prefers", "over", "rather"} & set(said))
    more = {"mas", "menos", "mejor", "peor", "mayor", "menor", "antes"}
    return bool(more & set(said) and "que" in said) or any(each.startswith(("prefier", "prefer")) for each in said)


def _held(words: Sequence[_Word], terms: Sequence[Term], table: Wording) -> tuple[bool, frozenset[Root]]:
    """Tells whether the user is the subject, and returns the people who are if not."""
    first = words[0].said if words else ""
    leading = 0
    while leading < len(terms) and terms[leading].kind in {"person", "name"}:
        leading += 1
    opening = [term for term in terms[:leading] if term.kind == "person"]
    if opening and (not opening[0].behind or (opening[0].behind == "a" and table.code == "es")):
        return False, frozenset(term.root for term in opening)
    if table.code == "es":
        bare = [term for term in terms if term.kind == "person" and not term.behind and not term.turned]
        is_me = any(word.said in {"me", "nos", "le", "les", "lo"} for word in words)
        if bare and is_me:
            return False, frozenset(term.root for term in bare)
    return first not in table.empty - {_I[table.code], "i", "we"} and first not in table.possessives, frozenset()


# --- tense ------------------------------------------------------------------------------------------------------------


def tense(said: Sequence[str], table: Wording) -> Tense:
    """Returns the tense of the first verb that has one, of words in lower case with their accents."""
    folded = [fold(each) for each in said]
    for at, (word, plainly) in enumerate(zip(said, folded, strict=True)):
        before = folded[at - 1] if at else ""
        if plainly in table.future or (plainly in table.going and folded[at + 1 : at + 2] in (["a"], ["to"])):
            return "future"
        if table.code == "es" and _FUTURE_ENDING.fullmatch(word):
            return "future"
        if plainly in table.perfect and _is_perfect(folded, at, table):
            return "perfect"
        if plainly == "used" and folded[at + 1 : at + 2] == ["to"]:
            return "past"
        if before in _SUBORDINATES and at > 1:
            continue
        if plainly in table.past and before not in {"el", "un", "a", "the"}:
            return "past"
        if plainly in table.numbers:
            continue
        if _PAST_ENDING[table.code].fullmatch(word) and word not in _NO_PAST and not _is_participle(folded, at, table):
            return "past"
        if table.code == "en" and plainly in {"is", "are", "am", "do", "does", "have", "has"}:
            return "present"
        if table.code == "es" and plainly in {"es", "soy", "esta", "estoy", "tengo", "tiene", "son", "somos"}:
            return "present"
    return "present"


def _is_perfect(said: Sequence[str], at: int, table: Wording) -> bool:
    """Tells whether a participle follows "have"."""
    between = table.intensity | table.negations | {"already", "ever", "yet", "recently", "only", "always", "ya", "been"}
    after = next((each for each in said[at + 1 :] if each not in between or each == "been"), "")
    if table.code == "es":
        return _PARTICIPLE.fullmatch(after) is not None
    return (len(after) > 4 and after.endswith("ed")) or is_irregular(after)


def _is_participle(said: Sequence[str], at: int, table: Wording) -> bool:
    """Tells whether "-ed" stands behind a verb or an article: "is edited", "a retired teacher"."""
    if table.code == "es":
        return False
    return (
        at > 0
        and said[at - 1] not in {"i", "we", "she", "he", "they", "who", "that"}
        and (
            said[at - 1] in table.empty | table.possessives | table.small | table.intensity
            or rooted(said[at - 1], "en", frozenset()) in table.be | {"have", "get"}
        )
    )
