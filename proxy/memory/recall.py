"""Ranking of old messages for the newest question, by words and meaning together.

Two measures of every passage, each scaled from its least to its most: BM25, with the words of the message before and
after counted in part, and cosine, with theirs. Then passages beside a good one gain, and those in a stretch of the
conversation that has several; where answers are long, the user's messages gain, and so do figures and names; long
messages lose, since one of them costs as much as five others. All of it is at query time, on arrays: nothing is
precomputed that a branch or a removal would make wrong.

`python -m tests.bench.recall --ablate` measures what each weight is worth. They stand on plateaus: halved or doubled,
none costs three points on any of the sets, but for `meaning`, which doubled leaves BM25 no say.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from proxy.language.words import terms
from proxy.memory.columns import Flags, Floats, Ints
from proxy.memory.cues import asks_for, asks_for_answers
from proxy.memory.turn_index import TurnIndex
from proxy.memory.view import View, beside, best, spread, total
from proxy.types import Vector


@dataclass(frozen=True, slots=True)
class Weights:
    """The parameters of the ranking."""

    saturation: float = 1.2  # BM25's k1: how little a word says the second time
    length: float = 0.4  # BM25's b: how much a long passage is held against it
    words_beside: float = 0.3  # share of the neighbours' words that counts
    meaning_beside: float = 0.4  # share of the neighbours' cosines that counts
    sharpness: float = 1.4  # power of BM25: half of a match is worth less than half
    meaning: float = 0.45  # weight of cosine; the rest is BM25's
    beside: float = 0.5  # share of the better neighbour's score that is added
    stretch: float = 0.5  # weight of the scores around, in a talk of equals
    stretch_asking: float = 0.1  # the same where answers are four times as long as questions: each stands alone
    stretch_messages: int = 8  # one standard deviation of the scores around, in messages
    user: float = 0.5  # added for the user's messages, where answers are four times as long as questions
    asks: float = 0.7  # subtracted for a short question of theirs, which tells nothing
    replies: float = 0.2  # added for an answer to one
    concrete: float = 0.06  # added for figures and names, where answers are four times as long as questions
    long_message: float = 0.17  # subtracted for every doubling beyond LONG tokens
    short: float = 2.0  # doublings under LONG that count as well, where answers are four times as long as questions
    # Share of the best score below which nothing is recalled, even if there is room. The more passages there are, the
    # nearer are the best few to each other by chance alone; so it rises with how often they would fill the room. By
    # words alone they are further apart.
    floor: float = 0.175
    floor_per_filling: float = 0.1  # for every e-fold
    floor_by_words: float = -0.15
    # Relative rise of the floor for the assistant's messages where they are not asked for and answers are four times as
    # long as questions; and for all messages in a talk of equals, where either may tell.
    floor_answers: float = 0.2
    floor_equals: float = 0.1
    share: float = 0.17  # of a short conversation's tokens that is recalled at most


WEIGHTS = Weights()
LONG = 100  # tokens of a message
MOST_TERMS = 32  # of a query; the rarest
AT_ONCE = 16_384  # frequencies of terms in passages that are scored together: they stay in a core's cache
# Cosine for BM25 scaled to the power of `sharpness`, from a passage without its words to the best: least squares over
# 294,000 pairs of LoCoMo and BEAM, development half, give 0.35 and 0.50. The prior's weight is a sum of squares of the
# latter.
STEEPNESS, STEEPNESS_PRIOR = 0.4, 0.5


@dataclass(frozen=True, slots=True)
class Query:
    """The newest question, and the part of the history that is searched for it."""

    text: str
    vector: Vector | None  # None: by words alone
    path: Sequence[bytes]  # the links of the request's chain
    exclude: frozenset[bytes] = frozenset()  # links of what the prompt holds anyway
    others_than: str | None = None  # also search every other session of the scope than this one


@dataclass(frozen=True, slots=True)
class Search:
    """The passages of a view, compared with a query."""

    view: View
    words: Floats  # BM25 of every passage, its own words alone counting whole
    cosines: Floats | None  # as expected where they are awaited; None: no vector at all
    awaited: Flags  # the vector of the passage is still to come
    occurs: Flags  # which terms of the query (a row each, in its order, none twice) every passage has
    holding: Ints  # passages with each of these terms


@dataclass(frozen=True, slots=True)
class Ranking(Search):
    """The same, with the scores of all passages."""

    scores: Floats
    for_answers: bool  # the question asks for what the assistant said
    asking: float  # from a talk of equals (0) to one of questions and answers, which are four times as long (1)


def rank(index: TurnIndex, query: Query, weights: Weights = WEIGHTS) -> Ranking:
    """Ranks every passage that `query` may see."""
    return ranked(search(index, query, weights), query, weights)


def search(index: TurnIndex, query: Query, weights: Weights = WEIGHTS) -> Search:
    """Compares every passage that `query` may see with it."""
    view = index.view(query.path, others_than=query.others_than)
    if not len(view.passages):
        none = np.zeros(0, dtype=np.bool_)
        return Search(view, np.zeros(0, np.float32), None, none, none.reshape(0, 0), np.zeros(0, np.int64))
    own = index.frequencies(list(dict.fromkeys(terms(query.text))), view)
    occurs = own > 0
    holding = _count(occurs)
    words = _bm25(own, holding, index.lengths(view), view, weights)
    cosines = None if query.vector is None else index.cosines(query.vector, view)
    awaited = index.awaited(view)
    if cosines is not None and awaited.any():
        cosines = expected_cosines(cosines, awaited, index.embedded(view), _scaled(words) ** weights.sharpness)
    return Search(view, words, cosines, awaited, occurs, holding)


def ranked(found: Search, query: Query, weights: Weights = WEIGHTS) -> Ranking:
    """Ranks the passages that were compared with a query."""
    view, cosines = found.view, found.cosines
    same = view, found.words, cosines, found.awaited, found.occurs, found.holding
    asking, for_answers = _asking(view), asks_for_answers(query.text)
    if not len(view.passages):
        return Ranking(*same, found.words, for_answers, asking)
    scores: Floats = _scaled(found.words) ** weights.sharpness
    if cosines is not None:
        before, after = beside(best(cosines, view), view)
        around = before + after
        meaning = cosines + weights.meaning_beside * spread(around, view)
        scores = (1 - weights.meaning) * scores + weights.meaning * _scaled(np.maximum(meaning, 0))
    scores = scores + spread(weights.beside * np.maximum(*beside(best(scores, view), view)), view)
    if asks_for(query.text) == "all":  # questions are part of the course of events
        weights = replace(weights, asks=0.0, replies=0.0)
    stretch = weights.stretch_asking * asking + weights.stretch * (1 - asking)
    by_message = stretch * _scaled(_around(best(scores, view), weights.stretch_messages))
    by_message += _priors(view, weights, asking=0.0 if for_answers else asking, for_answers=for_answers)
    return Ranking(*same, scores + spread(by_message, view), for_answers, asking)


def _bm25(own: Floats, holding: Ints, lengths: Floats, view: View, weights: Weights) -> Floats:
    """Returns the BM25 score of every passage. `own`: the frequency of each term (row) in each passage (column).
    `holding`: the number of passages with each term. `lengths`: the number of terms of every passage."""
    rarest = np.argsort(holding, kind="stable")
    rarest = rarest[holding[rarest] > 0][:MOST_TERMS]
    passages = len(view.passages)
    # A long neighbour adds no more of its words than a short one.
    share_beside: Floats = (weights.words_beside * np.minimum(1, LONG / np.maximum(view.tokens, 1))).astype(np.float32)
    lengths = lengths + _from_neighbours(lengths, share_beside, view)
    mean = max(float(lengths.mean()), 1.0)
    norm = weights.saturation * (1 - weights.length + weights.length * lengths / mean)
    scores = np.zeros(passages, dtype=np.float32)
    at_once = max(1, AT_ONCE // passages)
    for start in range(0, len(rarest), at_once):
        some = rarest[start : start + at_once]
        times = holding[some]
        seen = own[some]
        seen += _from_neighbours(seen, share_beside, view)
        rarity = np.log(1 + (passages - times + 0.5) / (times + 0.5))
        for by_term in rarity[:, np.newaxis] * seen * (weights.saturation + 1) / (seen + norm):
            scores += by_term
    return scores


def expected_cosines(cosines: Floats, awaited: Flags, embedded: Flags, words: Floats) -> Floats:
    """Returns the cosines, estimated from the words where a passage's vector is `awaited`: by the regression line
    through those that have both, at least one. Which cosines are ordinary differs by model, language and question, so
    the line is this question's own; only its slope has a prior, which counts while few are embedded. `words`: BM25,
    scaled."""
    known, found = words[embedded], cosines[embedded]
    mean = known.mean()
    apart = known - mean
    steepness = (apart @ found + STEEPNESS_PRIOR * STEEPNESS) / (apart @ apart + STEEPNESS_PRIOR)
    return np.where(awaited, found.mean() + steepness * (words - mean), cosines).astype(np.float32)


def _count(flags: Flags) -> Ints:
    """Counts the set flags of every row. numpy adds flags up ten times as slowly as it counts them."""
    return np.array([np.count_nonzero(row) for row in flags], dtype=np.int64)


def _from_neighbours(by_passage: Floats, share_beside: Floats, view: View) -> Floats:
    """Returns the share of the neighbouring messages' values that every passage receives; of each row, if there are
    several."""
    before, after = beside(total(by_passage, view) * share_beside, view)
    before += after
    return spread(before, view)


def _priors(view: View, weights: Weights, *, asking: float, for_answers: bool) -> Floats:
    """Returns the query-independent score of every message, by author, figures and names, and length; an answer that is
    asked for may be long."""
    doublings = np.clip(np.log2(np.maximum(view.tokens, 1) / LONG), -weights.short * asking, 4)
    length = np.where(view.is_user, doublings, 0.0 if for_answers else doublings)
    who = np.where(view.is_user, weights.user - weights.asks * view.asks, weights.replies * view.asks)
    gains = who + weights.concrete * view.concrete
    priors: Floats = (asking * gains - weights.long_message * length).astype(np.float32)
    return priors


def _asking(view: View) -> float:
    """Classifies the conversation: from a talk of equals (0) to questions with answers four times as long (1)."""
    if view.is_user.all() or not view.is_user.any():
        return 0.0
    times = float(np.median(view.tokens[~view.is_user]) / max(1, np.median(view.tokens[view.is_user])))
    return min(1.0, math.log2(max(times, 1.0)) / 2)


def _scaled(values: Floats) -> Floats:
    least, most = values.min(), values.max()
    return (values - least) / (most - least) if most > least else np.zeros_like(values)


def _around(by_message: Floats, deviation: int) -> Floats:
    """Returns the quadratic mean of the scores around each message, nearer ones counting more: one good message weighs
    more than two fair ones."""
    reach = min(3 * deviation, len(by_message) - 1)
    kernel = np.exp(-0.5 * (np.arange(-reach, reach + 1) / deviation) ** 2)
    squares = np.convolve(by_message**2, kernel)[reach : reach + len(by_message)]
    shares = np.convolve(np.ones(len(by_message)), kernel)[reach : reach + len(by_message)]
    around: Floats = np.sqrt(squares / shares).astype(np.float32)
    return around
