"""Which old messages the newest question needs: ranked by words and meaning together, and as many as the budget holds.

Two measures of every passage, each scaled from its least to its most: BM25, with the words of the message before and
after counted in part, and cosine, with theirs. Then what stands beside a good passage gains, and what stands in a
stretch of the conversation that has several; what the user said gains where answers are long; long messages lose, since
one of them costs as much as five others. All of it is at query time, on arrays: nothing is precomputed that a branch
or a removal would make wrong.

`python -m tests.bench.recall --ablate` tells what each weight is worth. They stand on plateaus: halved or doubled, none
costs three points on any of the sets, but for `meaning`, which doubled leaves BM25 no say.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np

from proxy.memory.cues import Extent, asks_for, asks_for_answers
from proxy.memory.terms import terms
from proxy.memory.turn_index import IndexedMessage, TurnIndex
from proxy.memory.view import Flags, Floats, Ints, View, beside, best, spread, total
from proxy.types import Excerpt, Vector


@dataclass(frozen=True, slots=True)
class Weights:
    saturation: float = 1.2  # BM25's k1: how little a word says the second time
    length: float = 0.5  # BM25's b: how much a long passage is held against it
    words_beside: float = 0.3  # of the neighbours' words
    meaning_beside: float = 0.4  # of the neighbours' cosines
    sharpness: float = 1.25  # power of BM25: half of a match is worth less than half
    meaning: float = 0.45  # of cosine against BM25
    beside: float = 0.4  # of the better neighbour's score
    stretch: float = 0.5  # of the scores around, in a talk of equals
    stretch_asking: float = 0.1  # where answers are four times as long as questions: each stands for itself
    stretch_messages: int = 8  # how far around: one standard deviation
    user: float = 0.9  # for what the user said, where answers are four times as long as questions
    long_message: float = 0.15  # for every doubling beyond LONG tokens
    short: float = 2.0  # doublings under LONG that count as well, where answers are four times as long as questions
    # Share of the best score: what scores less is not recalled, even if there is room. The more passages the best few
    # are taken of, the nearer are they to each other by chance alone; so it rises with how often the room could be
    # filled. By words alone they are further apart.
    floor: float = 0.28
    floor_per_filling: float = 0.087  # for every e-fold
    floor_by_words: float = -0.15


WEIGHTS = Weights()
LONG = 100  # tokens
MOST_TERMS = 32  # of a query; the rarest
FRAMING = 4  # tokens that a line takes beside its text: which turn, and who
WHOLE_SHARE = 0.4  # of the budget: what one message may take to be recalled whole
FLOOR_LEAST, FLOOR_MOST = 0.2, 0.7
FLOOR_ASKING: Mapping[Extent, float] = {"one": 0.05, "some": 0.0, "many": -0.12}
# Cosine for BM25 scaled to the power of `sharpness`, from a passage without its words to the best: least squares over
# 294,000 pairs of LoCoMo and BEAM, development half, give 0.35 and 0.50; and what that counts for, in squares of the
# latter.
STEEPNESS, STEEPNESS_PRIOR = 0.4, 0.5
AT_ONCE = 128  # passages that are made ready for the search
MOST_REFUSED = 40  # passages that the rest of the budget does not hold, before the search for a smaller one ends


@dataclass(frozen=True, slots=True)
class Query:
    text: str
    vector: Vector | None  # None: by words alone
    path: Sequence[bytes]  # the links of the request's chain
    exclude: frozenset[bytes] = frozenset()  # links of what the prompt holds anyway
    others_than: str | None = None  # also search every other session of the scope than this one


@dataclass(frozen=True, slots=True)
class Ranking:
    view: View
    scores: Floats  # of every passage
    words: Floats  # BM25 of every passage, its own words alone counting whole
    cosines: Floats | None  # as expected where they are awaited; None: no vector at all
    awaited: Flags  # the vector of the passage is still to come
    occurs: Flags  # which terms of the query (a row each, in its order, none twice) every passage has
    for_answers: bool = False  # what the assistant said is asked for


def search(
    index: TurnIndex,
    query: Query,
    *,
    budget_tokens: int,
    count: Callable[[str], int],
    framing: int = FRAMING,
    weights: Weights = WEIGHTS,
) -> tuple[Excerpt, ...]:
    """The excerpts that `query` needs most, in the order they were said; with `framing` tokens for each they take
    `budget_tokens` at most, as `count` counts."""
    ranking = rank(index, query, weights)
    return select(index, ranking, query, budget_tokens=budget_tokens, count=count, framing=framing, weights=weights)


def rank(index: TurnIndex, query: Query, weights: Weights = WEIGHTS) -> Ranking:
    view = index.view(query.path, others_than=query.others_than)
    if not len(view.passages):
        nothing = np.zeros(0, dtype=np.float32)
        none = np.zeros(0, dtype=np.bool_)
        return Ranking(view, nothing, nothing, None, none, none.reshape(0, 0))
    own = index.frequencies(list(dict.fromkeys(terms(query.text))), view)
    occurs = own > 0
    words = _bm25(own, _count(occurs), index.lengths(view), view, weights)
    cosines = None if query.vector is None else index.cosines(query.vector, view)
    awaited = index.awaited(view)
    scores: Floats = _scaled(words) ** weights.sharpness
    if cosines is not None:
        if awaited.any():
            cosines = expected_cosines(cosines, awaited, index.embedded(view), scores)
        before, after = beside(best(cosines, view), view)
        around = before + after
        meaning = cosines + weights.meaning_beside * spread(around, view)
        scores = (1 - weights.meaning) * scores + weights.meaning * _scaled(np.maximum(meaning, 0))
    scores = scores + spread(weights.beside * np.maximum(*beside(best(scores, view), view)), view)
    asking, for_answers = _asking(view), asks_for_answers(query.text)
    stretch = weights.stretch_asking * asking + weights.stretch * (1 - asking)
    by_message = stretch * _scaled(_around(best(scores, view), weights.stretch_messages))
    by_message += _priors(view, weights, asking=0.0 if for_answers else asking, for_answers=for_answers)
    return Ranking(view, scores + spread(by_message, view), words, cosines, awaited, occurs, for_answers)


def _bm25(own: Floats, holding: Ints, lengths: Floats, view: View, weights: Weights) -> Floats:
    """`own`: how often every passage (a column) has each term (a row). `holding`: how many passages have it.
    `lengths`: terms of every passage."""
    rarest = np.argsort(holding, kind="stable")
    rarest = rarest[holding[rarest] > 0][:MOST_TERMS]
    passages = len(view.passages)
    # A long neighbour lends no more of its words than a short one.
    lent: Floats = (weights.words_beside * np.minimum(1, LONG / np.maximum(view.tokens, 1))).astype(np.float32)
    lengths = lengths + _lent(lengths, lent, view)
    mean = max(float(lengths.mean()), 1.0)
    norm = weights.saturation * (1 - weights.length + weights.length * lengths / mean)
    scores = np.zeros(passages, dtype=np.float32)
    for term in rarest:
        times = holding[term]
        seen = own[term] + _lent(own[term], lent, view)
        rarity = np.log(1 + (passages - times + 0.5) / (times + 0.5))
        scores += rarity * seen * (weights.saturation + 1) / (seen + norm)
    return scores


def expected_cosines(cosines: Floats, awaited: Flags, embedded: Flags, words: Floats) -> Floats:
    """The cosines, and where a passage's vector is `awaited` what its words let expect: by the line through those that
    have both, at least one. Which cosines are ordinary differs by model, language and question, so the line is this
    question's own; only how steep it is has a prior, for as long as few are embedded. `words`: BM25, scaled."""
    known, found = words[embedded], cosines[embedded]
    mean = known.mean()
    apart = known - mean
    steepness = (apart @ found + STEEPNESS_PRIOR * STEEPNESS) / (apart @ apart + STEEPNESS_PRIOR)
    expected: Floats = np.where(awaited, found.mean() + steepness * (words - mean), cosines).astype(np.float32)
    return expected


def _count(flags: Flags) -> Ints:
    """Of every row. numpy adds flags up ten times as slowly as it counts them."""
    return np.array([np.count_nonzero(row) for row in flags], dtype=np.int64)


def _lent(by_passage: Floats, lent: Floats, view: View) -> Floats:
    """What the messages beside its own lend to every passage."""
    before, after = beside(total(by_passage, view) * lent, view)
    before += after
    return spread(before, view)


def _priors(view: View, weights: Weights, *, asking: float, for_answers: bool) -> Floats:
    """What a message is worth beforehand, by who said it and its length; an answer that is asked for may be long."""
    doublings = np.clip(np.log2(np.maximum(view.tokens, 1) / LONG), -weights.short * asking, 4)
    length = np.where(view.is_user, doublings, 0.0 if for_answers else doublings)
    priors: Floats = (weights.user * asking * view.is_user - weights.long_message * length).astype(np.float32)
    return priors


def _asking(view: View) -> float:
    """Is it a talk of equals (0), or one of questions and answers, which are four times as long (1)?"""
    if view.is_user.all() or not view.is_user.any():
        return 0.0
    times = float(np.median(view.tokens[~view.is_user]) / max(1, np.median(view.tokens[view.is_user])))
    return min(1.0, math.log2(max(times, 1.0)) / 2)


def _scaled(values: Floats) -> Floats:
    least, most = values.min(), values.max()
    return (values - least) / (most - least) if most > least else np.zeros_like(values)


def _around(by_message: Floats, deviation: int) -> Floats:
    """The quadratic mean of the scores around, nearer ones counting more: one good message weighs more than two fair
    ones."""
    reach = min(3 * deviation, len(by_message) - 1)
    kernel = np.exp(-0.5 * (np.arange(-reach, reach + 1) / deviation) ** 2)
    squares = np.convolve(by_message**2, kernel)[reach : reach + len(by_message)]
    shares = np.convolve(np.ones(len(by_message)), kernel)[reach : reach + len(by_message)]
    around: Floats = np.sqrt(squares / shares).astype(np.float32)
    return around


# --- selection -------------------------------------------------------------------------------------------------------


def select(
    index: TurnIndex,
    ranking: Ranking,
    query: Query,
    *,
    budget_tokens: int,
    count: Callable[[str], int],
    framing: int = FRAMING,
    known: Callable[[int, str], int | None] = lambda _at, _text: None,
    weights: Weights = WEIGHTS,
) -> tuple[Excerpt, ...]:
    """`known`: the tokens of a whole message's text, by its position in the path, if that is known without counting."""
    counted = cache(count)
    told: dict[str, int] = {}

    def cost(text: str) -> int:
        return counted(text) if (tokens := told.get(text)) is None else tokens

    chosen: dict[int, tuple[_Chosen, int]] = {}  # by position of the message, with what it costs
    left, refused = budget_tokens, 0
    for found in _best_first(index, ranking, query, budget_tokens, weights):
        if left <= framing or refused == MOST_REFUSED:
            break
        taken, paid = chosen.get(found.position) or (None, 0)
        if taken is None:
            taken = _Chosen(message := index.message(found.message))
            if found.at >= 0 and (tokens := known(found.at, message.text)) is not None:
                told[message.text] = tokens
        grown = taken.grown(found.offset, found.score, whole=found.whole)
        if grown is taken:
            continue
        price = sum([cost(text) + framing for text in grown.texts()])
        if price - paid <= left:
            chosen[found.position] = grown, price
            left -= price - paid
        else:
            refused += 1
    return tuple(excerpt for position in sorted(chosen) for excerpt in chosen[position][0].excerpts(cost, framing))


class _Found(NamedTuple):
    """A passage that may be recalled. A tuple, since there are many."""

    position: int  # of its message in the view
    message: int  # number in the index
    at: int  # position in the path
    offset: int  # of the passage in its message
    score: float
    whole: bool  # the message is recalled as a whole, if it is


def floor(text: str, *, fillings: float, by_words: float = 0.0, weights: Weights = WEIGHTS) -> float:
    """The share of the best score below which nothing is recalled for this question. `fillings`: how often the room
    could be filled with what there is; `by_words`: the share of it that is known by words alone."""
    chance = weights.floor_per_filling * math.log(max(1.0, fillings))
    share = weights.floor + chance + FLOOR_ASKING[asks_for(text)] + by_words * weights.floor_by_words
    return min(max(share, FLOOR_LEAST), FLOOR_MOST)


def _least(ranking: Ranking, query: Query, free: Flags, room: int, weights: Weights) -> float:
    """The score below which nothing is recalled. `free`: messages that the prompt does not hold."""
    view = ranking.view
    may_be = free[view.message_of]
    by_words = 1.0 if ranking.cosines is None else float(ranking.awaited[may_be].mean())
    fillings = float(view.tokens[free].sum()) / max(1, room)
    return float(ranking.scores.max()) * floor(query.text, fillings=fillings, by_words=by_words, weights=weights)


def _best_first(index: TurnIndex, ranking: Ranking, query: Query, room: int, weights: Weights) -> Iterator[_Found]:
    view, scores = ranking.view, ranking.scores
    free = ~np.isin(view.messages, index.numbers(query.exclude))
    if not free.any():
        return
    least = _least(ranking, query, free, room, weights)
    wanted = np.flatnonzero((scores >= least) & free[view.message_of])
    while len(wanted):
        values = scores[wanted]
        is_next = values >= (np.partition(values, -AT_ONCE)[-AT_ONCE] if len(values) > AT_ONCE else values.min())
        passages, wanted = wanted[is_next], wanted[~is_next]
        passages = passages[np.argsort(-scores[passages], kind="stable")]
        positions = view.message_of[passages]
        whole = (view.is_user[positions] | ranking.for_answers) & (view.tokens[positions] <= WHOLE_SHARE * room)
        columns = (
            positions,
            view.messages[positions],
            view.at[positions],
            passages - view.first[positions],
            scores[passages],
            whole,
        )
        yield from map(_Found, *(column.tolist() for column in columns))


@dataclass(frozen=True, slots=True)
class _Chosen:
    """Which runs of a message's passages are recalled."""

    message: IndexedMessage
    runs: tuple[tuple[int, int], ...] = ()  # half-open, of passages, in order
    score: float = 0.0

    def grown(self, passage: int, score: float, *, whole: bool) -> "_Chosen":
        """With this passage as well, or all of the message."""
        spans = self.message.spans
        if any(start <= passage < end for start, end in self.runs):
            return self
        if len(spans) == 1 or whole:
            return _Chosen(self.message, ((0, len(spans)),), score)
        runs: list[tuple[int, int]] = []
        for start, end in sorted((*self.runs, (passage, passage + 1))):
            if runs and runs[-1][1] == start:
                runs[-1] = (runs[-1][0], end)
            else:
                runs.append((start, end))
        return _Chosen(self.message, tuple(runs), max(self.score, score))

    def texts(self) -> list[str]:
        text, spans = self.message.text, self.message.spans
        if self.runs == ((0, len(spans)),):
            return [text]
        return [text[spans[start][0] : spans[end - 1][1]] for start, end in self.runs]

    def excerpts(self, count: Callable[[str], int], framing: int) -> list[Excerpt]:
        said = self.message
        return [
            Excerpt(said.link, said.role, text, said.turn, said.session, said.at, self.score, count(text) + framing)
            for text in self.texts()
        ]
