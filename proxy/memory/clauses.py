"""Clauses of a message: sentences, tokens, the features of a clause, and trained models of clauses.

A clause is a sentence, or the part of one that states something of its own. Sentences end by rule; inside of them a
model decides between the tokens at which a clause may begin. Other models tell which clauses state something lasting,
and about what, and which kinds of facts a question needs. All are linear models over hashed features, in
`clause_models.npz`, made by `tests/bench/memory_train.py`. The probabilities are those of a logistic regression;
nothing here is random, and nothing is downloaded.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

from proxy.conversation.topics import domain_words
from proxy.language.phrases import words
from proxy.language.tables import union
from proxy.language.words import STOP, plain, terms
from proxy.linear import LinearModel, Scores, hashed, load_models, softmax
from proxy.memory.signals import SIGNALS, folded, spoken_in
from proxy.types.memory import Language

FILE = Path(__file__).with_name("clause_models.npz")
FACT, ABOUT, CUT, NEED = 2**16, 2**14, 2**14, 2**14  # buckets of hashed features
# The topics of clauses, in the order of the weights.
_ATTRIBUTES = """
name age residence origin work study family relationship pet health allergy diet body vehicle device home hobby language
schedule money date project decision preference instruction person travel belief other
"""
ATTRIBUTES = _ATTRIBUTES.split()
# The kinds of facts that a question may need, in the order of the weights.
_KINDS = """
residence diet health child partner parent sibling friend pet vehicle device home work study project hobby body age
money schedule language belief travel name
"""
KINDS = _KINDS.split()
_REMEMBERED = 512  # passages whose clauses are cached
_BEGINS = 0.5  # least probability of a boundary

_WORD = re.compile(r"\d+(?:[.,:/]\d+)*\w*|[^\W_]+(?:['\u2019][^\W_]+)*|[?¿!:;,.()\u2026\u2013\u2014-]")
_HARD = re.compile(
    r"(?=[.!?\u2026\n\u00bf])"  # where else nothing needs to be looked at
    r"(?<!\bSt)(?<!\b[DMS]r)(?<!\bMs)(?<!\bvs)(?<!\bAv)(?<!\bSra)(?<!\bMrs)(?<!\bDra)(?<!\bIng)(?<!\bLic)(?<!\betc)(?<!\bProf)"
    r"(?:[.!?\u2026]+[)\"'\u201d»]*(?=\s|\Z)|\n+|(?=\u00bf))"
)
_TABLES = union("clauses")
_HAVE, _ONES, _JOINS, _PERSONS, _ASKS, _OPENERS = (
    words(_TABLES[name]) for name in ("have", "ones", "joins", "persons", "asks", "openers")
)
# Tables of signals that are features of a clause.
_SIGNALS = """
remember standing standing_opens decides decides_opens prefers changes keeps imagine hypothetical hypothetical_opens
passing lately reported others task asks casual refers states family
"""
_SIGNS = _SIGNALS.split()
_LONGEST_COUNTED = 12  # words of a clause, above which its length makes no difference
_LABEL = 8  # words that a label has, at most
_NAME = re.compile(r"(?<=[a-záéíóúñ,] )[A-ZÁÉÍÓÚÑ]\w+")

Features = tuple[list[str], list[str], list[str]]  # of a clause's words, of its letters, and its signals


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause of a passage, with its position."""

    text: str  # verbatim, without the white space around it
    start: int  # in its passage
    sentence: int  # number of its sentence in the passage
    asked: bool  # its sentence is a question


@dataclass(frozen=True, slots=True)
class Token:
    """A word, number or mark of a text, with its position."""

    start: int
    end: int
    text: str  # folded; "<n>" for what has a digit


def tokens(text: str) -> list[Token]:
    """Splits a text into tokens: words, numbers and punctuation marks."""
    found = []
    for word in _WORD.finditer(text):
        said = word.group()
        plainly = "<n>" if any(map(str.isdigit, said)) else folded(said)
        found.append(Token(word.start(), word.end(), plainly))
    return found


# --- boundaries of clauses -------------------------------------------------------------------------------------------


def boundaries(said: Sequence[Token], at: int) -> list[str]:
    """Returns the features of a clause that would begin at the token `at` of a sentence."""
    here = [said[at + by].text if 0 <= at + by < len(said) else "" for by in range(-3, 4)]
    before, first = here[2], here[3]
    return [
        f"p={before}",
        f"f={first}",
        f"pf={before} {first}",
        f"n={here[4]}",
        f"fn={first} {here[4]}",
        f"fnn={first} {here[4]} {here[5]}",
        f"pp={here[1]} {before}",
        f"b={here[1]}",
        f"l={min(at, 8)}",
        f"r={min(len(said) - at, 8)}",
        f"e={first[-3:]}",
        f"mark={not before[-1:].isalnum() and before != '<n>'}",
        f"mf={not before[-1:].isalnum() and before != '<n>'} {first}",
    ]


def may_begin(said: Sequence[Token], at: int) -> bool:
    """Tells whether a clause could begin at the token `at`: behind a mark, or with a function word."""
    first, before = said[at].text, said[at - 1].text
    if not (first[0].isalnum() or first[0] in "(<¿"):
        return False
    return not (before[-1].isalnum() or before == "<n>") or first[0] in "(¿" or first in _OPENERS or first in STOP


def must_begin(said: Sequence[Token], at: int) -> bool:
    """Tells whether a clause begins at the token `at` by rule: "and" with a new first person, a comma before a
    question, or a piece of a list ("Stack: Go, Postgres", "I have a dog, a cat")."""
    first, before = said[at].text, said[at - 1].text
    after = said[at + 1].text if at + 1 < len(said) else ""
    if before != ",":
        return first in _JOINS and after in _PERSONS
    labelled = any(token.text == ":" for token in said[: min(at, _LABEL)])
    lists = said[0].text in _HAVE or (len(said) > 1 and said[1].text in _HAVE)
    return first in _ASKS or labelled or (lists and first in _ONES) or (first in _JOINS and after in _PERSONS)


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """Yields the start and end of each sentence of `text`."""
    start = 0
    for end in (*(found.end() for found in _HARD.finditer(text)), len(text)):
        if any(map(str.isalnum, text[start:end])):
            yield start, end
        start = end


# --- features of clauses ---------------------------------------------------------------------------------------------


def features(clauses: Sequence[str], at: int, language: Language) -> Features:
    """Returns the features of the clause `at` of a message: of its words, of its letters, and the signal tables that
    match it and its neighbours."""
    text = clauses[at]
    said = [token.text for token in tokens(text)]
    spoken = [word for word in said if word[0].isalnum() or word == "<n>"]
    words = [f"w={word}" for word in spoken] + word_pairs(said) + word_triples(["^", *said, "$"])
    words += [f"s={term}" for term in terms(text) if not any(map(str.isdigit, term))]
    words += [f"0={' '.join(spoken[:1])}", f"01={' '.join(spoken[:2])}", f"len={min(len(spoken), _LONGEST_COUNTED)}"]
    words += [f"q={'?' in text or '¿' in text}", f"num={'<n>' in said}", f"names={min(len(_NAME.findall(text)), 3)}"]
    place = "only" if len(clauses) == 1 else "first" if at == 0 else "last" if at == len(clauses) - 1 else "mid"
    words.append(f"at={place}")
    signs = list(_signs(text, language))
    for by, side in ((-1, "P"), (1, "N")):
        if not 0 <= at + by < len(clauses):
            signs.append(f"{side}none")
            continue
        other = clauses[at + by]
        signs += [f"{side}{sign}" for sign in _signs(other, language)]
        signs.append(f"{side}q={'?' in other}")
    return words, letters(said), signs


def word_pairs(said: Sequence[str]) -> list[str]:
    """Returns the features for two tokens in a row, the ends of the text included."""
    return [f"b={one} {two}" for one, two in pairwise(["^", *said, "$"])]


def word_triples(said: Sequence[str]) -> list[str]:
    """Returns the features for three tokens in a row."""
    return [f"t={one} {two} {three}" for one, two, three in zip(said, said[1:], said[2:], strict=False)]


def letters(said: Sequence[str]) -> list[str]:
    """Returns the features for three to five letters in a row."""
    plainly = f" {' '.join(said)} "
    return [f"c={plainly[start : start + size]}" for size in (3, 4, 5) for start in range(len(plainly) - size + 1)]


@lru_cache(256)
def _signs(text: str, language: Language) -> tuple[str, ...]:
    """Returns the names of the signal tables that match a clause, as features."""
    signals, said = SIGNALS[language], plain(text)
    found = [f"g={name}" for name in _SIGNS if getattr(signals, name).search(said)]
    found += [f"g={slot.key}" for slot in signals.slots if slot.table.search(said)]
    found += [f"g=about {domain}" for domain in domain_words(text)]
    return tuple(found)


# --- models of clauses ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Guess:
    """The prediction about one clause."""

    fact: float  # probability that it states something worth keeping, 0 to 1
    about: str  # one of ATTRIBUTES: the likeliest topic


@dataclass(frozen=True, slots=True)
class Needs:
    """The prediction about a question: the facts about its user that a good answer depends on."""

    any: float  # probability that a good answer needs a fact, 0 to 1
    kinds: Mapping[str, float]  # probability of each of KINDS; sum 1


@lru_cache(1)
def _models() -> Mapping[str, LinearModel]:
    names = ("fact", "about", "cut", "need", "kind")
    return dict(zip(names, load_models(FILE, *names), strict=True))


def guess(clauses: Sequence[str], at: int, language: Language) -> Guess:
    """Predicts whether the clause `at` of a message states a fact, and its topics, given its neighbours."""
    found = features(clauses, at, language)
    return Guess(_models()["fact"].likelihood(vector(found, FACT)), ATTRIBUTES[int(np.argmax(_shares(found)))])


def about(text: str, language: Language) -> list[tuple[str, float]]:
    """Predicts the three likeliest topics of a clause that stands alone, each with its probability."""
    likely = _shares(features([text], 0, language))
    return [(ATTRIBUTES[which], float(likely[which])) for which in np.argsort(-likely)[:3]]


def _shares(found: Features) -> Scores:
    """Returns the probability of each of ATTRIBUTES."""
    return softmax(_models()["about"].scores(about_vector(found)))


@lru_cache(4_096)
def topics(text: str) -> npt.NDArray[np.float64]:
    """Returns the topic of a statement: the mean probability of each of ATTRIBUTES over its clauses, as a unit
    vector."""
    clauses, language = [clause.text for clause in split(text)] or [text], spoken_in(text)
    found = [_shares(features(clauses, at, language)) for at in range(len(clauses))]
    shares: npt.NDArray[np.float64] = np.mean(found, axis=0, dtype=np.float64)
    unit: npt.NDArray[np.float64] = shares / np.linalg.norm(shares)
    return unit


def needs(question: str, language: Language) -> Needs:
    """Predicts which facts about its author a good answer to `question` depends on, though it does not mention them."""
    models = _models()
    said = vector(features([question], 0, language), NEED)
    likely = softmax(models["kind"].scores(said))
    kinds = {kind: float(share) for kind, share in zip(KINDS, likely, strict=True)}
    return Needs(models["need"].likelihood(said), kinds)


@lru_cache(_REMEMBERED)
def split(text: str) -> tuple[Clause, ...]:
    """Splits a passage into clauses."""
    model = _models()["cut"]
    found = []
    for number, (start, end) in enumerate(sentences(text)):
        said = tokens(text[start:end])
        begins = [0, *(token.start for at, token in enumerate(said) if at and _begins(model, said, at)), end - start]
        asked = _is_question(text[start:end])
        for one, two in pairwise(begins):
            clause = text[start + one : start + two]
            if any(map(str.isalnum, clause)):
                is_all = two - one == end - start
                is_asked = asked and ("?" in clause or "¿" in clause or is_all)
                found.append(Clause(clause.strip(), start + one, number, is_asked))
    return tuple(found)


def _begins(model: LinearModel, said: Sequence[Token], at: int) -> bool:
    if must_begin(said, at) or not may_begin(said, at):
        return must_begin(said, at)
    return model.likelihood(cut_vector(boundaries(said, at))) > _BEGINS


def _is_question(sentence: str) -> bool:
    said = sentence.strip()
    return said.startswith("¿") or said.rstrip("\"'\u201d»),.; ").endswith("?")


def vector(found: Features, buckets: int) -> dict[int, float]:
    """Returns the hashed features for the models of facts and of needs: bucket to weight."""
    words, letters, signs = found
    return hashed(((words, 1.0), (letters, 0.7), (signs, 1.0)), buckets)


def about_vector(found: Features) -> dict[int, float]:
    """Returns the hashed features for the model of topics: bucket to weight."""
    words, _, signs = found
    return hashed(((words, 1.0), ([sign for sign in signs if sign[0] == "g"], 1.0)), ABOUT)


def cut_vector(found: Sequence[str]) -> dict[int, float]:
    """Returns the hashed features for the model of clause boundaries: bucket to weight."""
    return hashed(((found, 1.0),), CUT)
