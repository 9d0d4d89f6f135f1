"""Splitting of a passage into clauses: sentences, or parts of one that state something of their own.

Sentences end by rule; inside of them a model decides between the tokens at which a clause may begin. It is a linear
model over hashed features, in `clause_models.npz`, made by `tests/bench/memory_train.py`.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from zlib import crc32

import numpy as np

from proxy.language.phrases import words
from proxy.language.tables import union
from proxy.language.words import STOP
from proxy.linear import LinearModel, feature, load_models
from proxy.memory.tokens import MARKS, starts, tokens

FILE = Path(__file__).with_name("clause_models.npz")
CUT = 2**14  # buckets of hashed features
_REMEMBERED = 512  # passages whose clauses are cached
_BEGINS = 0.0  # least score of a boundary, for a probability of one half
_HARD = re.compile(
    r"(?=[.!?\u2026\n\u00bf])"  # where else nothing needs to be looked at
    r"(?<!\bSt)(?<!\b[DMS]r)(?<!\bMs)(?<!\bvs)(?<!\bAv)(?<!\bSra)(?<!\bMrs)(?<!\bDra)(?<!\bIng)(?<!\bLic)(?<!\betc)(?<!\bProf)"
    r"(?:[.!?\u2026]+[)\"'\u201d»]*(?=\s|\Z)|\n+|(?=\u00bf))"
)
_TABLES = union("clauses")
_HAVE, _ONES, _JOINS, _PERSONS, _ASKS, _OPENERS = (
    words(_TABLES[name]) for name in ("have", "ones", "joins", "persons", "asks", "openers")
)
_OPENING_MARKS = frozenset("(¿")
_LEADING = _OPENERS | STOP | _OPENING_MARKS  # tokens that a clause may begin with where no mark stands before
_TRIED = _LEADING | _JOINS
_LABEL = 8  # words that a label has, at most


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause of a passage, with its position."""

    text: str  # verbatim, without the white space around it
    start: int  # in its passage
    sentence: int  # number of its sentence in the passage
    asked: bool  # its sentence is a question


@lru_cache(_REMEMBERED)
def split(text: str) -> tuple[Clause, ...]:
    """Splits a passage into clauses."""
    found = []
    spans = list(sentences(text))
    inside = _beginnings([text[start:end] for start, end in spans])
    for number, ((start, end), begins) in enumerate(zip(spans, inside, strict=True)):
        asked = _is_question(text[start:end])
        for one, two in pairwise([0, *begins, end - start]):
            clause = text[start + one : start + two]
            if any(map(str.isalnum, clause)):
                is_all = two - one == end - start
                is_asked = asked and ("?" in clause or "¿" in clause or is_all)
                found.append(Clause(clause.strip(), start + one, number, is_asked))
    return tuple(found)


def _beginnings(said: Sequence[str]) -> list[list[int]]:
    """Returns the positions in each sentence at which a clause begins, its own beginning left out."""
    found: list[set[int]] = [set() for _ in said]  # numbers of tokens
    doubtful: list[tuple[int, int]] = []
    features: list[int] = []
    for number, spoken in enumerate(map(tokens, said)):
        around = surrounded(spoken)
        for at, (before, first) in enumerate(pairwise(spoken), 1):
            if first not in _TRIED and before not in MARKS:
                continue
            if must_begin(spoken, at):
                found[number].add(at)
            elif may_begin(spoken, at):
                doubtful.append((number, at))
                features += boundaries(around, at)
    if doubtful:
        sizes = [len(features) // len(doubtful)] * len(doubtful)
        scores = _model().shares(np.array(features, np.uint32), sizes) + _model().intercept
        for (number, at), score in zip(doubtful, scores[:, 0].tolist(), strict=True):
            if score > _BEGINS:
                found[number].add(at)
    return [
        [start for at, start in enumerate(starts(sentence)) if at in begins] if begins else []
        for sentence, begins in zip(said, found, strict=True)
    ]


@lru_cache(1)
def _model() -> LinearModel:
    return load_models(FILE, "cut")[0]


def _is_question(sentence: str) -> bool:
    said = sentence.strip()
    return said.startswith("¿") or said.rstrip("\"'\u201d»),.; ").endswith("?")


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """Yields the start and end of each sentence of `text`."""
    start = 0
    for end in (*(found.end() for found in _HARD.finditer(text)), len(text)):
        if any(map(str.isalnum, text[start:end])):
            yield start, end
        start = end


# --- boundaries of clauses -------------------------------------------------------------------------------------------


_P, _F, _PF, _N, _FN, _FNN, _PP, _B, _E = map(feature, ["p=", "f=", "pf=", "n=", "fn=", "fnn=", "pp=", "b=", "e="])
_FAR = 8  # tokens from an end of the sentence
_LEFT, _RIGHT = ([feature(f"{side}={by}") for by in range(_FAR + 1)] for side in "lr")
_MARK, _MARK_FIRST = (
    [feature(name.format(is_mark)) for is_mark in (False, True)] for name in ("mark={}", "mf={} ")
)  # by whether a mark stands before
_NO_WORDS = frozenset((b"", *map(str.encode, MARKS)))  # what stands before a beginning, if no word does


def surrounded(said: Sequence[str]) -> list[bytes]:
    """Returns the tokens of a sentence as `boundaries` reads them."""
    return [b"", b"", *map(str.encode, said), b"", b""]


def boundaries(said: Sequence[bytes], at: int) -> list[int]:
    """Returns the features of a clause that would begin at the token `at` of a sentence, all of them distinct. `said`:
    its tokens, `surrounded`."""
    earlier, before, first, after, later = said[at : at + 5]
    is_mark = before in _NO_WORDS
    onwards = b"%b %b" % (first, after)
    return [
        crc32(before, _P),
        crc32(first, _F),
        crc32(b"%b %b" % (before, first), _PF),
        crc32(after, _N),
        crc32(onwards, _FN),
        crc32(b"%b %b" % (onwards, later), _FNN),
        crc32(b"%b %b" % (earlier, before), _PP),
        crc32(earlier, _B),
        _LEFT[min(_FAR, at)],
        _RIGHT[min(len(said) - 4 - at, _FAR)],
        crc32(first.decode()[-3:].encode(), _E),
        _MARK[is_mark],
        crc32(first, _MARK_FIRST[is_mark]),
    ]


def may_begin(said: Sequence[str], at: int) -> bool:
    """Tells whether a clause could begin at the token `at`: behind a mark, or with a function word."""
    first = said[at]
    if first in MARKS and first not in _OPENING_MARKS:
        return False
    return said[at - 1] in MARKS or first in _LEADING


def must_begin(said: Sequence[str], at: int) -> bool:
    """Tells whether a clause begins at the token `at` by rule: "and" with a new first person, a comma before a
    question, or a piece of a list ("Stack: Go, Postgres", "I have a dog, a cat")."""
    first, before = said[at], said[at - 1]
    after = said[at + 1] if at + 1 < len(said) else ""
    if first in _JOINS and after in _PERSONS:
        return True
    if before != ",":
        return False
    lists = said[0] in _HAVE or (len(said) > 1 and said[1] in _HAVE)
    return first in _ASKS or ":" in said[: min(at, _LABEL)] or (lists and first in _ONES)
