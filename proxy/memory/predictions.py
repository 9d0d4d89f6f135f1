"""Predictions about clauses and questions: whether a clause states something lasting, and about what, and which kinds
of facts a question needs.

All are linear models over hashed features, in `clause_models.npz`, made by `tests/bench/memory_train.py`. The
probabilities are those of a logistic regression; nothing here is random, and nothing is downloaded.
"""

import re
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from proxy.conversation.topics import DOMAIN_WORDS
from proxy.language.finding import Finder
from proxy.language.words import plain, terms
from proxy.linear import Hashes, LinearModel, Scores, feature, flat, load_models, sigmoid, softmax
from proxy.memory.clauses import FILE, split
from proxy.memory.signals import SIGNALS, Signals, spoken_in
from proxy.memory.tokens import MARKS, NUMBER, letters, tokens, word_pairs, word_triples, words
from proxy.types.memory import Language

FACT, ABOUT, NEED = 2**16, 2**14, 2**14  # buckets of hashed features
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
# Tables of signals that are features of a clause.
_SIGNALS = """
remember standing standing_opens decides decides_opens prefers changes keeps imagine hypothetical hypothetical_opens
passing lately reported others task asks casual refers states family
"""
_SIGNS = _SIGNALS.split()
_LONGEST_COUNTED = 12  # words of a clause, above which its length makes no difference
_NAME = re.compile(r"(?<=[a-záéíóúñ,] )[A-ZÁÉÍÓÚÑ]\w+")


class Features(NamedTuple):
    """The hashed features of a clause."""

    words: frozenset[int]  # of its words, and of its place in the message
    letters: Hashes
    signals: frozenset[int]  # the tables that match it and its neighbours
    own: frozenset[int]  # those of them that match itself


def features(clauses: Sequence[str], at: int, language: Language) -> Features:
    """Returns the features of the clause `at` of a message."""
    text = clauses[at]
    said = tokens(text)
    spoken = [word for word in said if word not in MARKS]
    names, count = min(len(_NAME.findall(text)), 3), min(len(spoken), _LONGEST_COUNTED)
    place = "only" if len(clauses) == 1 else "first" if at == 0 else "last" if at == len(clauses) - 1 else "mid"
    shape = (
        f"0={' '.join(spoken[:1])}",
        f"01={' '.join(spoken[:2])}",
        f"len={count}",
        f"q={'?' in text or '¿' in text}",
        f"num={NUMBER in said}",
        f"names={names}",
        f"at={place}",
    )
    around: list[str] = []
    for by, side in ((-1, "P"), (1, "N")):
        if not 0 <= at + by < len(clauses):
            around.append(f"{side}none")
            continue
        other = clauses[at + by]
        around += [f"{side}{sign}" for sign in signs(other, language)]
        around.append(f"{side}q={'?' in other}")
    own = frozenset(map(feature, signs(text, language)))
    return Features(
        frozenset(
            (
                *words("w=", spoken),
                *word_pairs(said),
                *word_triples(("^", *said, "$")),
                *_terms(text),
                *map(feature, shape),
            )
        ),
        letters(said),
        own.union(map(feature, around)),
        own,
    )


def _terms(text: str) -> Iterator[int]:
    return (feature(term, _TERM) for term in terms(text) if term.isalpha() or not any(map(str.isdigit, term)))


_TERM = feature("s=")


@lru_cache(256)
def signs(text: str, language: Language) -> tuple[str, ...]:
    """Returns the names of the signal tables that match a clause, in their order, as features: "g=" before each."""
    return tuple(_FINDERS[language].found(plain(text)))


def _finder(signals: Signals) -> Finder:
    tables = {name: getattr(signals, name) for name in _SIGNS} | {slot.key: slot.table for slot in signals.slots}
    tables |= {f"about {domain}": words for domain, words in DOMAIN_WORDS.items()}
    return Finder({f"g={name}": table for name, table in tables.items()})


_FINDERS = {language: _finder(signals) for language, signals in SIGNALS.items()}


Groups = Sequence[tuple[Hashes, float]]  # of distinct features, each with its weight


def said_groups(found: Features) -> Groups:
    """Returns the features for the models of facts and of needs, in groups, each with its weight."""
    return ((flat([found.words]), 1.0), (found.letters, 0.7), (flat([found.signals]), 1.0))


def about_groups(found: Features) -> Groups:
    """Returns the features for the model of topics, in groups, each with its weight."""
    return ((flat([found.words]), 1.0), (flat([found.own]), 1.0))


# --- models of clauses ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)  # no slots: `cached_property` keeps its value in `__dict__`
class Guess:
    """The prediction about one clause."""

    fact: float  # probability that it states something worth keeping, 0 to 1
    predicted: Callable[[], str] = field(repr=False, compare=False)

    @cached_property
    def about(self) -> str:
        """Returns the likeliest topic, one of ATTRIBUTES. Most clauses are not worth asking for it."""
        return self.predicted()


@dataclass(frozen=True, slots=True)
class Needs:
    """The prediction about a question: the facts about its user that a good answer depends on."""

    any: float  # probability that a good answer needs a fact, 0 to 1
    kinds: Mapping[str, float]  # probability of each of KINDS; sum 1


@lru_cache(1)
def _models() -> Mapping[str, LinearModel]:
    names = ("fact", "about", "need", "kind")
    return dict(zip(names, load_models(FILE, *names), strict=True))


@lru_cache(1)
def models_mark() -> int:
    """Returns a checksum of the models: what was computed with others is computed anew."""
    return zlib.crc32(FILE.read_bytes())


def guess(clauses: Sequence[str], at: int, language: Language) -> Guess:
    """Predicts whether the clause `at` of a message states a fact, and its topic, given its neighbours."""
    found = features(clauses, at, language)
    return Guess(sigmoid(float(_scores("fact", said_groups(found))[0])), partial(_likeliest, found))


def _likeliest(found: Features) -> str:
    return ATTRIBUTES[int(np.argmax(_scores("about", about_groups(found))))]


def about(text: str, language: Language) -> list[tuple[str, float]]:
    """Predicts the three likeliest topics of a clause that stands alone, each with its probability."""
    likely = _shares(features([text], 0, language))
    return [(ATTRIBUTES[which], float(likely[which])) for which in np.argsort(-likely)[:3]]


def _shares(found: Features) -> Scores:
    """Returns the probability of each of ATTRIBUTES."""
    return softmax(_scores("about", about_groups(found)))


def _scores(name: str, groups: Groups) -> Scores:
    """Returns the scores of a model: groups of distinct features, each with its weight."""
    model = _models()[name]
    every = [group for group, _ in groups]
    shares = model.shares(np.concatenate(every), list(map(len, every)))
    scores: Scores = np.array([weight for _, weight in groups]) @ shares + model.intercept
    return scores


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
    found = said_groups(features([question], 0, language))
    likely = softmax(_scores("kind", found))
    kinds = {kind: float(share) for kind, share in zip(KINDS, likely, strict=True)}
    return Needs(sigmoid(float(_scores("need", found)[0])), kinds)
