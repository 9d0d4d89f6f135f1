"""Choice of the facts that go into a prompt: standing ones, those that the question needs, and those that answer it by
themselves.

A question needs a fact that it mentions, and a fact that a good answer depends on though it is not mentioned ("a bakery
near me?"). Models tell whether a question depends on such a fact, and of which kind (`predictions.needs`).
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from proxy.language.phrases import expression
from proxy.language.tables import union
from proxy.language.words import plain, terms
from proxy.memory.ageing import status
from proxy.memory.analysis import analyse, terms_of
from proxy.memory.cues import asks_for, asks_for_answers, cues, last_question
from proxy.memory.current import Current, Table
from proxy.memory.predictions import KINDS, Needs
from proxy.types.memory import Fact, Language

_COVERED = 0.8  # share of a fact's terms that a text must have to contain the fact
_RELEVANT = 0.25  # least relevance of a fact that the question mentions
_OF_VECTORS = 0.7  # weight of the cosine; the rest is that of shared words
_OF_DOMAIN = 0.05  # added where the question's domain is the fact's
# Least probability that a question depends on a fact it does not mention, for such facts to be sent; by the question's
# language. With these about as many of the labelled questions that need none pass in either (15 % of hard ones).
_PERSONAL: Mapping[Language, float] = {"en": 0.4, "es": 0.3}
_IMPLIED = 0.0  # least relevance of a fact that is not mentioned
_MOST_IMPLIED = 8  # facts, where some may be not mentioned
# Relevance by words and kinds from which a fact is not chosen by chance. Where the last one of those chosen has it, no
# cosine is looked up: on `tests.bench.implied` that is never so, with twelve other facts or with forty.
_NAMED = 0.3
_OF_WORDS = 0.6  # weight of shared words beside kinds
_OF_COSINE, _ORDINARY_COSINE = 0.5, 0.25  # weight of a cosine above the ordinary one
_SPOKEN_OF = 2  # least terms that a question must share with a fact to mention it
_AT_ONCE = 16  # facts that are put in order at a time
_MOST_REFUSED = 10  # facts too long for what is left of the budget, before the search for a shorter one ends

_MOST_ANSWERS = 2  # facts that answer; more of them are no single answer
_LONGEST_QUESTION = 200  # characters of a question that one fact may answer

_TABLES = union("answers")
# The kinds of value that a wording asks for, in the order of trial.
_ASKED = (
    (expression(_TABLES, " {time} "), frozenset({"time"})),
    (expression(_TABLES, " {date} "), frozenset({"date"})),
    (expression(_TABLES, " {number} "), frozenset({"number", "money"})),
    (expression(_TABLES, " {name} "), frozenset({"name"})),
    (expression(_TABLES, " (?:{place}|{which} {places}) "), frozenset({"place", "name"})),
)
_ASKING = frozenset(terms(_TABLES["asking"]))
# Asks for an earlier state, which a current fact does not tell.
_EARLIER = expression(_TABLES, " {earlier} ")
_OWN = expression(_TABLES, " {own} ")

Scores = npt.NDArray[np.float64]  # of the rows of a table


@dataclass(frozen=True, slots=True)
class Need:
    """The newest question, in the form in which facts are compared with it."""

    terms: frozenset[str]
    domain: str = ""  # a domain of facts; "" if none is recognised
    cosines: Mapping[str, float] | None = None  # with the question, by the id of the fact
    said: tuple[str, ...] = ()  # texts of the last turns: facts they contain are not repeated
    asks: Needs | None = None  # prediction about facts that it does not mention; None: unknown
    language: Language = "en"  # of the question

    @property
    def is_personal(self) -> bool:
        """Tells whether a good answer is likely to depend on a fact that the question does not speak of."""
        return self.asks is not None and self.asks.any >= _PERSONAL[self.language]


def relevant(
    facts: Current,
    need: Need,
    *,
    tokens: int,
    count: Callable[[str], int],
    cosines: Callable[[], Mapping[str, float] | None] = lambda: None,
) -> tuple[Fact, ...]:
    """Selects the facts, other than standing ones, that the question needs: the most relevant first, their lines within
    `tokens` as counted by `count`. Facts of the status "retrieval-only" reach a prompt by this alone. `cosines`: looks
    up those of `need`, where words and kinds leave it open which facts a question depends on."""
    chosen, is_open = _selected(facts, need, tokens, count)
    if not is_open or (found := cosines()) is None:
        return chosen
    return _selected(facts, replace(need, cosines=found), tokens, count)[0]


def _selected(facts: Current, need: Need, tokens: int, count: Callable[[str], int]) -> tuple[tuple[Fact, ...], bool]:
    """Selects facts; and tells whether cosines might select others: of those that a question depends on some are left
    out, and nothing but chance speaks for the last one that is not."""
    is_personal, table = need.is_personal, facts.table
    least, most = (_IMPLIED, _MOST_IMPLIED) if is_personal else (_RELEVANT, len(table.facts))
    shared = table.shared(need.terms)
    by_words = np.minimum(1.0, shared / max(1.0, math.sqrt(len(need.terms))))
    # A question that needs nothing of its user is about facts that it mentions: by name, or by several words.
    is_mention = need.asks is not None and not is_personal
    may = table.may & (shared >= _SPOKEN_OF) if is_mention else table.may
    scores = by_words if is_mention else relevance(table, need, by_words)
    rows = np.flatnonzero(may & (scores >= least))
    said = terms_of(need.said) if len(rows) else frozenset[str]()
    chosen: list[Fact] = []
    seen, refused, last = 0, 0, 0.0
    for score, fact in _best_first(table, rows, scores):
        if len(chosen) == most or refused == _MOST_REFUSED:
            break
        seen += 1
        if _is_said(fact, said):
            continue
        if (line := count(facts.line(fact))) <= tokens:
            chosen.append(facts.marked(fact))
            tokens -= line
            last = score
        else:
            refused += 1
    return tuple(chosen), is_personal and bool(seen < len(rows) or refused) and last < _NAMED


def _best_first(table: Table, rows: npt.NDArray[np.intp], scores: Scores) -> Iterator[tuple[float, Fact]]:
    """Yields the facts of these rows with their scores; few of many are looked at."""
    while len(rows):
        values = scores[rows]
        is_next = values >= (np.partition(values, -_AT_ONCE)[-_AT_ONCE] if len(rows) > _AT_ONCE else values.min())
        best = [
            (score, table.facts[row])
            for score, row in zip(values[is_next].tolist(), rows[is_next].tolist(), strict=True)
        ]
        yield from sorted(best, key=lambda each: (-each[0], -each[1].last_confirmed_at, each[1].id))
        rows = rows[~is_next]


def unsaid(facts: Iterable[Fact], texts: Iterable[str]) -> tuple[Fact, ...]:
    """Returns the facts whose content none of `texts` contains."""
    stated = tuple(facts)
    said = terms_of(texts) if stated else frozenset[str]()
    return tuple(fact for fact in stated if not _is_said(fact, said))


def relevance(table: Table, need: Need, by_words: Scores) -> Scores:
    """Scores the facts of a table against a question, 0 to about 1: by shared words (`by_words`), cosine where vectors
    are known, and kind where the models told which kinds the question needs."""
    domain = _OF_DOMAIN * table.among(need.domain) if need.domain else 0.0
    cosines = None
    if need.cosines is not None:
        cosines = np.array([need.cosines.get(fact.id, math.nan) if fact else math.nan for fact in table.facts])
    if need.asks is None:
        if cosines is None:
            return by_words + domain
        by_both = _OF_VECTORS * np.maximum(cosines, 0.0) + (1 - _OF_VECTORS) * by_words
        return np.where(np.isnan(cosines), by_words, by_both) + domain
    asked = np.array([need.asks.kinds.get(kind, 0.0) for kind in KINDS])
    # No product of matrices: facts of the same kinds shall have the same score.
    by_kind = (table.kinds * asked).sum(axis=1)
    by_meaning = 0.0 if cosines is None else _OF_COSINE * np.fmax(cosines - _ORDINARY_COSINE, 0.0)
    scores: Scores = by_kind + _OF_WORDS * by_words + by_meaning + domain
    return scores


def answering(facts: Current, question: str, now: float) -> tuple[Fact, ...]:
    """Returns the active facts that each answer `question`; none if it asks for more than one thing the user stated."""
    question = last_question(question)
    wanted = frozenset(terms(question)) - _ASKING if len(question) <= _LONGEST_QUESTION else frozenset[str]()
    may = facts.table.holders(wanted) if wanted else []
    if not may or asks_for(question) in ("many", "all"):
        return ()
    said = plain(question)
    if _EARLIER.search(said) or asks_for_answers(question) or not _OWN.search(said):
        return ()
    asks = cues(question)
    # "Have I …?" may have more than one answer, and "how should I format it?" wants none of the user's own.
    if not (asks.asking_word or asks.request) or asks.advice or asks.pointing:
        return ()
    asked = next((kinds for table, kinds in _ASKED if table.search(said)), frozenset[str]())
    holder = analyse(question).holder
    found = [fact for fact in may if status(fact, now, facts.decay) == "active" and _holds(fact, wanted, asked, holder)]
    if len(found) > _MOST_ANSWERS:
        return ()
    return tuple(sorted(found, key=lambda fact: list(facts.known).index(fact.id)) if found[1:] else found)


def _holds(fact: Fact, wanted: frozenset[str], asked: frozenset[str], holder: frozenset[str]) -> bool:
    """Tells whether a fact answers: its value is of the asked kind or, if none is asked, says more than the question;
    and it is about the same person."""
    said = analyse(fact.value)
    if said.holder != holder and not (holder and said.who and "name" in asked):
        return False
    if asked:
        return bool(asked & said.kinds)
    return bool(frozenset(terms(fact.value)) - wanted - _ASKING)


@lru_cache(4_096)
def _said_by(value: str) -> tuple[frozenset[str], frozenset[str]]:
    """Returns the terms of a fact's value, and those of them that are numbers."""
    words = frozenset(terms(value))
    return words, frozenset(word for word in words if word[0].isdigit())


def _is_said(fact: Fact, said: frozenset[str]) -> bool:
    words, numbers = _said_by(fact.value)
    return bool(words) and numbers <= said and len(words & said) >= _COVERED * len(words)
