"""Splitting of a message into sentences and tokens, and the features by which `clause_models` classifies clauses.

A clause is a sentence, or the part of one that states something of its own. Sentences end by rule; inside of them a
model decides between the tokens at which a clause may begin.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from proxy.conversation import topics
from proxy.language.phrases import words
from proxy.language.tables import union
from proxy.language.text import plain
from proxy.language.words import STOP, terms
from proxy.memory.signals import SIGNALS, folded
from proxy.types.memory import Language

_WORD = re.compile(r"\d+(?:[.,:/]\d+)*\w*|[^\W_]+(?:['\u2019][^\W_]+)*|[?¿!:;,.()\u2026\u2013\u2014-]")
_HARD = re.compile(
    r"(?<!\bSt)(?<!\b[DMS]r)(?<!\bMs)(?<!\bvs)(?<!\bAv)(?<!\bSra)(?<!\bMrs)(?<!\bDra)(?<!\bIng)(?<!\bLic)(?<!\betc)(?<!\bProf)"
    r"(?:[.!?\u2026]+[)\"'\u201d»]*(?=\s|\Z)|\n+|(?=\u00bf))"
)
_TABLES = union("clauses")
_HAVE, _ONES, _JOINS, _PERSONS, _ASKS, _OPENERS = (
    words(_TABLES[name]) for name in ("have", "ones", "joins", "persons", "asks", "openers")
)
# Tables of signals that are features of a clause.
_SIGNS = """
remember standing standing_opens decides decides_opens prefers changes keeps imagine hypothetical hypothetical_opens
passing lately reported others task asks casual refers states family
"""
_SIGNS_TRIED = _SIGNS.split()
_LONGEST_COUNTED = 12  # words of a clause, above which its length makes no difference


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


_LABEL = 8  # words that a label has, at most


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """Yields the start and end of each sentence of `text`."""
    start = 0
    for end in (*(found.end() for found in _HARD.finditer(text)), len(text)):
        if any(map(str.isalnum, text[start:end])):
            yield start, end
        start = end


# --- features of clauses ---------------------------------------------------------------------------------------------


def features(clauses: Sequence[str], at: int, language: Language) -> tuple[list[str], list[str], list[str]]:
    """Returns the features of the clause `at` of a message: of its words, of its letters, and the signal tables that
    match it and its neighbours."""
    text = clauses[at]
    said = [token.text for token in tokens(text)]
    spoken = [word for word in said if word[0].isalnum() or word == "<n>"]
    marked = ["^", *said, "$"]
    words = [f"w={word}" for word in spoken]
    words += [f"b={one} {two}" for one, two in pairwise(marked)]
    words += [f"t={one} {two} {three}" for one, two, three in zip(marked, marked[1:], marked[2:], strict=False)]
    words += [f"s={term}" for term in terms(text) if not any(map(str.isdigit, term))]
    words += [f"0={' '.join(spoken[:1])}", f"01={' '.join(spoken[:2])}", f"len={min(len(spoken), _LONGEST_COUNTED)}"]
    words += [f"q={'?' in text or '¿' in text}", f"num={'<n>' in said}", f"names={min(len(_NAME.findall(text)), 3)}"]
    words.append(
        f"at={'only' if len(clauses) == 1 else 'first' if at == 0 else 'last' if at == len(clauses) - 1 else 'mid'}"
    )
    plainly = f" {' '.join(said)} "
    letters = [f"c={plainly[start : start + size]}" for size in (3, 4, 5) for start in range(len(plainly) - size + 1)]
    signs = list(_signs(text, language))
    for by, side in ((-1, "P"), (1, "N")):
        if not 0 <= at + by < len(clauses):
            signs.append(f"{side}none")
            continue
        other = clauses[at + by]
        signs += [f"{side}{sign}" for sign in _signs(other, language)]
        signs.append(f"{side}q={'?' in other}")
    return words, letters, signs


_NAME = re.compile(r"(?<=[a-záéíóúñ,] )[A-ZÁÉÍÓÚÑ]\w+")


@lru_cache(256)
def _signs(text: str, language: Language) -> tuple[str, ...]:
    """Returns the names of the signal tables that match a clause, as features."""
    signals, said = SIGNALS[language], plain(text)
    found = [f"g={name}" for name in _SIGNS_TRIED if getattr(signals, name).search(said)]
    found += [f"g={slot.key}" for slot in signals.slots if slot.table.search(said)]
    found += [f"g=about {domain}" for domain in topics.domain_words(text)]
    return tuple(found)
