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
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from proxy.memory.cues import asks_for_answers
from proxy.memory.terms import terms
from proxy.memory.turn_index import Floats, IndexedMessage, TurnIndex, View
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


WEIGHTS = Weights()
LONG = 100  # tokens
MOST_TERMS = 32  # of a query; the rarest
FRAMING = 4  # tokens that a line takes beside its text: which turn, and who
WHOLE_SHARE = 0.4  # of the budget: what one message may take to be recalled whole
FLOOR = 0.25  # of the best score: what scores less is not recalled, even if there is room
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
    cosines: Floats | None
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
    return select(index, rank(index, query, weights), query, budget_tokens=budget_tokens, count=count, framing=framing)


def rank(index: TurnIndex, query: Query, weights: Weights = WEIGHTS) -> Ranking:
    view = index.view(query.path, others_than=query.others_than)
    if not len(view.passages):
        nothing = np.zeros(0, dtype=np.float32)
        return Ranking(view, nothing, nothing, None)
    words = _bm25(index, query.text, view, weights)
    cosines = None if query.vector is None else index.cosines(query.vector, view)
    scores: Floats = _scaled(words) ** weights.sharpness
    if cosines is not None:
        around = _beside(_best(cosines, view), view).sum(axis=0)
        meaning = cosines + weights.meaning_beside * around[view.message_of]
        scores = (1 - weights.meaning) * scores + weights.meaning * _scaled(np.maximum(meaning, 0))
    scores = scores + (weights.beside * _beside(_best(scores, view), view).max(axis=0))[view.message_of]
    asking, for_answers = _asking(view), asks_for_answers(query.text)
    stretch = weights.stretch_asking * asking + weights.stretch * (1 - asking)
    by_message = stretch * _scaled(_around(_best(scores, view), weights.stretch_messages))
    by_message += _priors(view, weights, asking=0.0 if for_answers else asking, for_answers=for_answers)
    return Ranking(view, scores + by_message[view.message_of], words, cosines, for_answers)


def _bm25(index: TurnIndex, text: str, view: View, weights: Weights) -> Floats:
    wanted = list(dict.fromkeys(terms(text)))
    own = index.frequencies(wanted, view)
    holding = (own > 0).sum(axis=1)
    rarest = np.argsort(holding, kind="stable")
    rarest = rarest[holding[rarest] > 0][:MOST_TERMS]
    own, holding = own[rarest], holding[rarest]
    passages = len(view.passages)
    lengths = index.lengths(view)
    # A long neighbour lends no more of its words than a short one.
    lent: Floats = (weights.words_beside * np.minimum(1, LONG / np.maximum(view.tokens, 1))).astype(np.float32)
    lengths = lengths + _beside(_sum(lengths, view) * lent, view).sum(axis=0)[view.message_of]
    mean = max(float(lengths.mean()), 1.0)
    norm = weights.saturation * (1 - weights.length + weights.length * lengths / mean)
    scores = np.zeros(passages, dtype=np.float32)
    for frequencies, times in zip(own, holding, strict=True):
        beside = _beside(_sum(frequencies, view) * lent, view).sum(axis=0)[view.message_of]
        seen = frequencies + beside
        rarity = np.log(1 + (passages - times + 0.5) / (times + 0.5))
        scores += rarity * seen * (weights.saturation + 1) / (seen + norm)
    return scores


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


# --- arrays of one item a message, or a passage ----------------------------------------------------------------------


def _scaled(values: Floats) -> Floats:
    least, most = values.min(), values.max()
    return (values - least) / (most - least) if most > least else np.zeros_like(values)


def _best(by_passage: Floats, view: View) -> Floats:
    best: Floats = np.maximum.reduceat(by_passage, view.first)
    return best


def _sum(by_passage: Floats, view: View) -> Floats:
    total: Floats = np.add.reduceat(by_passage, view.first)
    return total


def _beside(by_message: Floats, view: View) -> Floats:
    """What the message before has (first row) and the one after, 0 where there is none."""
    beside = np.zeros((2, len(by_message)), dtype=np.float32)
    beside[0, 1:] = np.where(view.begins[1:], 0, by_message[:-1])
    beside[1, :-1] = np.where(view.begins[1:], 0, by_message[1:])
    return beside


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
) -> tuple[Excerpt, ...]:
    view, scores = ranking.view, ranking.scores
    if not len(scores):
        return ()
    counted = cache(count)
    chosen: dict[int, _Chosen] = {}  # by position of the message
    left, refused = budget_tokens, 0
    for passage in np.argsort(-scores, kind="stable"):
        if left <= framing or refused == MOST_REFUSED or scores[passage] < FLOOR * scores.max():
            break
        position = int(view.message_of[passage])
        message = index.message(int(view.messages[position]))
        if message.link in query.exclude:
            continue
        taken = chosen.get(position) or _Chosen(message)
        whole = (view.is_user[position] or ranking.for_answers) and view.tokens[position] <= WHOLE_SHARE * budget_tokens
        grown = taken.grown(int(passage - view.first[position]), float(scores[passage]), whole=bool(whole))
        if grown is taken:
            continue
        more = grown.cost(counted, framing) - taken.cost(counted, framing)
        if more <= left:
            chosen[position] = grown
            left -= more
        else:
            refused += 1
    return tuple(excerpt for position in sorted(chosen) for excerpt in chosen[position].excerpts(counted, framing))


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

    def cost(self, count: Callable[[str], int], framing: int) -> int:
        return sum(count(text) + framing for text in self.texts()) if self.runs else 0

    def excerpts(self, count: Callable[[str], int], framing: int) -> list[Excerpt]:
        said = self.message
        return [
            Excerpt(said.link, said.role, text, said.turn, said.session, said.at, self.score, count(text) + framing)
            for text in self.texts()
        ]
