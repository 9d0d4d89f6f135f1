"""The gate of recall: whether the newest message needs something that the prompt does not hold. Recalled text is billed
in full each time, so for ordinary talk the gate stays shut.

A logistic regression over the wording of the message (`cues`) and over evidence from the index: do its rare words occur
in old turns and not in the prompt, is an old turn nearer to it than anything in the prompt. Its weights come from
`python -m tests.bench.recall_gate`, which also measures them on a kind of conversation that they were not trained
on.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from proxy.language.phrases import expression
from proxy.language.tables import union
from proxy.language.text import plain
from proxy.language.words import terms
from proxy.memory.cues import Cues, asks_for, asks_for_answers, cues, last_question
from proxy.memory.facts import Decay, sayable, status
from proxy.memory.recall import Query, Ranking
from proxy.memory.subject import analyse
from proxy.memory.turn_index import TurnIndex
from proxy.types.memory import Fact

NeedKind = Literal["none", "faint", "some", "past"]

_INTERCEPT = -10.12
_WEIGHTS = {
    "asks": 6.49,
    "asking_word": 2.32,
    "request": 8.35,
    "before": 1.92,
    "past": 1.09,
    "ones_own": 2.07,
    "addressed": -1.26,
    "advice": -2.08,
    "going_on": -2.59,
    "pointing": -1.4,
    "words": -0.38,
    "sentences": -1.86,
    "figures": -1.25,
    "rare": 2.22,
    "match": 11.69,
    "cosine": 2.41,
    "nearer": 4.83,
}
# Typical values of the two features, used without vectors.
_COSINE, _NEARER = 0.58, 0.09

PAST = 0.5  # score from which the past is asked for: all of the budget
SOME = -0.7  # score from which it may help: a part of the budget
FAINT = -2.5  # score from which it is worth a part of what the request saves
SOME_SHARE = 0.4  # of the budget of recall
_MOST_TERMS = 64  # of a question


@dataclass(frozen=True, slots=True)
class Need:
    """The decision of the gate."""

    kind: NeedKind
    share: float  # of the budget of recall
    score: float  # log-odds


NONE = Need("none", 0.0, -math.inf)


def need(index: TurnIndex, query: Query, ranking: Ranking) -> Need:
    """Decides how much recall `query` needs, of messages in `ranking` that the prompt (`query.exclude`) does not
    hold."""
    found = evidence(index, query, ranking)
    if found is None:
        return NONE
    features = {**wording(cues(query.text)), **found}
    score = _INTERCEPT + sum(weight * features[name] for name, weight in _WEIGHTS.items())
    if score < FAINT:
        return Need("none", 0.0, score)
    if score < SOME:
        return Need("faint", SOME_SHARE, score)
    return Need("past", 1.0, score) if score >= PAST else Need("some", SOME_SHARE, score)


def wording(said: Cues) -> dict[str, float]:
    """Returns the features of the message's wording, by name."""
    return {
        "asks": said.asks,
        "asking_word": said.asking_word,
        "request": said.request,
        "before": said.before,
        "past": said.past,
        "ones_own": said.ones_own,
        "addressed": said.addressed,
        "advice": said.advice,
        "going_on": said.going_on,
        "pointing": said.pointing,
        "words": math.log(max(1, min(said.words, 64))),
        "sentences": min(said.sentences, 4) - 1,
        "figures": min(said.figures, 3),
    }


def evidence(index: TurnIndex, query: Query, ranking: Ranking) -> dict[str, float] | None:
    """Returns the features of the search result, by name; None if the prompt holds all of the history."""
    view = ranking.view
    held = np.isin(view.messages, index.numbers(query.exclude))
    inside = held[view.message_of]
    if inside.all():
        return None
    outside = ~inside
    occurs = ranking.occurs[:_MOST_TERMS]
    passages, holding = len(view.passages), occurs.sum(axis=1)
    rarity = np.log(1 + (passages - holding + 0.5) / (holding + 0.5))
    total = float(rarity.sum()) or 1.0
    only_outside = (occurs & outside).any(axis=1) & ~(occurs & inside).any(axis=1)
    cosine, nearer = _COSINE, _NEARER
    if ranking.cosines is not None:
        found = float(ranking.cosines[outside].max())
        above = found - (float(ranking.cosines[inside].max()) if inside.any() else 0.0)
        # An awaited vector may be nearer than its words suggest.
        unknown = float(ranking.awaited[outside].mean())
        cosine = found + unknown * max(0.0, _COSINE - found)
        nearer = above + unknown * max(0.0, _NEARER - above)
    return {
        "rare": float(rarity[only_outside].sum()) / total,
        "match": float(ranking.words[outside].max()) / (2.2 * total),  # 1: all of its words, as good as alone
        "cosine": cosine,
        "nearer": nearer,
    }


_MOST = 2  # facts that answer; more of them are no single answer
_LONGEST = 200  # characters of a question that one fact may answer

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


def answering(facts: Iterable[Fact], question: str, now: float, decay: Decay) -> tuple[Fact, ...]:
    """Returns the active facts that each answer `question`; none if it asks for more than one thing the user stated."""
    question = last_question(question)
    said = plain(question)
    if not question or len(question) > _LONGEST or asks_for(question) in ("many", "all"):
        return ()
    if _EARLIER.search(said) or asks_for_answers(question) or not _OWN.search(said):
        return ()
    read = cues(question)
    # "Have I …?" may have more than one answer, and "how should I format it?" wants none of the user's own.
    if not (read.asking_word or read.request) or read.advice or read.pointing:
        return ()
    wanted = frozenset(terms(question)) - _ASKING
    if not wanted:
        return ()
    asked = next((kinds for table, kinds in _ASKED if table.search(said)), frozenset[str]())
    holder = analyse(question).holder
    found = [
        fact
        for fact in facts
        if wanted <= sayable(fact) and status(fact, now, decay) == "active" and _holds(fact, wanted, asked, holder)
    ]
    return tuple(found) if len(found) <= _MOST else ()


def _holds(fact: Fact, wanted: frozenset[str], asked: frozenset[str], holder: frozenset[str]) -> bool:
    """Tells whether a fact answers: its value is of the asked kind or, if none is asked, says more than the question;
    and it is about the same person."""
    said = analyse(fact.value)
    if said.holder != holder and not (holder and said.who and "name" in asked):
        return False
    if asked:
        return bool(asked & said.kinds)
    return bool(frozenset(terms(fact.value)) - wanted - _ASKING)
