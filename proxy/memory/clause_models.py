"""Trained models of clauses: boundaries, lasting statements and their topics, and the kinds of facts that a question
needs.

Linear models over hashed features of `clauses`, in `clause_models.npz`, made by `tests/bench/memory_train.py`. The
probabilities are those of a logistic regression; nothing here is random, and nothing is downloaded.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

from proxy.linear import LinearModel, hashed, load_models, softmax
from proxy.memory.clauses import Clause, Token, boundaries, features, may_begin, must_begin, sentences, tokens
from proxy.memory.values import spoken_in
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

Features = tuple[list[str], list[str], list[str]]


@dataclass(frozen=True, slots=True)
class Guess:
    """The prediction about one clause."""

    fact: float  # probability that it states something worth keeping, 0 to 1
    about: str  # one of ATTRIBUTES
    topics: tuple[tuple[str, float], ...]  # the three likeliest, with their probabilities


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
    topics = _likeliest(found)
    return Guess(_models()["fact"].likelihood(fact_vector(found)), topics[0][0], topics)


def about(clauses: Sequence[str], at: int, language: Language) -> tuple[tuple[str, float], ...]:
    """Predicts the topics of the clause `at` alone: the `topics` of `guess`."""
    return _likeliest(features(clauses, at, language))


def _likeliest(found: Features) -> tuple[tuple[str, float], ...]:
    likely = softmax(_models()["about"].scores(about_vector(found)))
    return tuple((ATTRIBUTES[which], float(likely[which])) for which in np.argsort(-likely)[:3])


def topics(text: str) -> npt.NDArray[np.float64]:
    """Returns the topics of a statement: the mean probability of each of ATTRIBUTES over its clauses, sum 1."""
    clauses, language = [clause.text for clause in split(text)] or [text], spoken_in(text)
    found = [
        softmax(_models()["about"].scores(about_vector(features(clauses, at, language)))) for at in range(len(clauses))
    ]
    shares: npt.NDArray[np.float64] = np.mean(found, axis=0, dtype=np.float64)
    return shares


def needs(question: str, language: Language) -> Needs:
    """Predicts which facts about its author a good answer to `question` depends on, though it does not mention them."""
    models = _models()
    vector = need_vector(features([question], 0, language))
    likely = softmax(models["kind"].scores(vector))
    kinds = {kind: float(share) for kind, share in zip(KINDS, likely, strict=True)}
    return Needs(models["need"].likelihood(vector), kinds)


def split(text: str) -> list[Clause]:
    """Splits a passage into clauses."""
    return list(_split(text))


@lru_cache(_REMEMBERED)
def _split(text: str) -> tuple[Clause, ...]:
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


def need_vector(found: Features) -> dict[int, float]:
    """Returns the hashed features for the models of needs: bucket to weight."""
    words, letters, signs = found
    return hashed(((words, 1.0), (letters, 0.7), (signs, 1.0)), NEED)


def fact_vector(found: Features) -> dict[int, float]:
    """Returns the hashed features for the model of facts: bucket to weight."""
    words, letters, signs = found
    return hashed(((words, 1.0), (letters, 0.7), (signs, 1.0)), FACT)


def about_vector(found: Features) -> dict[int, float]:
    """Returns the hashed features for the model of topics: bucket to weight."""
    words, _, signs = found
    return hashed(((words, 1.0), ([sign for sign in signs if sign[0] == "g"], 1.0)), ABOUT)


def cut_vector(found: Sequence[str]) -> dict[int, float]:
    """Returns the hashed features for the model of clause boundaries: bucket to weight."""
    return hashed(((found, 1.0),), CUT)
