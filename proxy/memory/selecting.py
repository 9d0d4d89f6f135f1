"""Recall for a question: whether anything of the past is needed at all (the gate), and the excerpts of old messages,
from those that `recall` has ranked.

Recalled text is billed in full each time, so for ordinary talk the gate stays shut: a logistic regression over the
wording of the message (`cues`) and over evidence from the index: do its rare words occur in old turns and not in the
prompt, is an old turn nearer to it than anything in the prompt. Its weights come from `python -m
tests.bench.recall_gate`, which also measures them on a kind of conversation that they were not trained on.

Of the excerpts the best come first, as many as the budget holds, and none that is far less relevant than the best.
"""

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from typing import Literal, NamedTuple

import numpy as np

from proxy.memory.columns import Flags, Floats
from proxy.memory.cues import Cues, Extent, asks_for, cues
from proxy.memory.packing import IndexedMessage
from proxy.memory.recall import WEIGHTS, Query, Ranking, Search, Weights
from proxy.memory.spans import needed
from proxy.memory.turn_index import TurnIndex
from proxy.memory.view import spread
from proxy.types import Excerpt

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
_CUES = tuple(field.name for field in fields(Cues))

# Only what is almost as relevant as the best: for what the user has said since.
NEAR = Weights(floor=0.7, floor_per_filling=0.0, floor_by_words=0.0, floor_answers=9.0, floor_equals=0.0)
FRAMING = 3  # tokens of a line beside its text: its turn, and its speaker if not the user
WHOLE_SHARE = 0.4  # of the budget, up to which a message is recalled whole
FLOOR_LEAST, FLOOR_MOST = 0.18, 0.7
FLOOR_ASKING: Mapping[Extent, float] = {"one": 0.03, "some": 0.0, "many": -0.01, "all": 0.0}
# Factors of `Weights.share`, which limits the recalled share of the messages outside of the prompt, by the number of
# things asked for: in a short conversation all is about the same, and no score tells what answers. Beyond SHORT_HISTORY
# tokens the share rises with the square root of their size.
SHARE_ASKING: Mapping[Extent, float] = {"one": 0.85, "some": 1.0, "many": 1.25, "all": 1.5}
SHORT_HISTORY = 3_000
LEAST_SHARED = 260  # tokens that may be recalled of any conversation
NEAR_BEST = 0.7  # share of the best score from which a message is recalled whole
LEFT_OUT = "…"
AT_ONCE = 128  # passages that are sorted at a time
MOST_REFUSED = 40  # passages too long for what is left of the budget, before the search for a shorter one ends


# --- the gate --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Need:
    """The decision of the gate."""

    kind: NeedKind
    share: float  # of the budget of recall
    score: float  # log-odds


NONE = Need("none", 0.0, -math.inf)


def need(index: TurnIndex, query: Query, found: Search) -> Need:
    """Decides how much recall `query` needs, of messages in `found` that the prompt (`query.exclude`) does not
    hold."""
    shown = evidence(index, query, found)
    if shown is None:
        return NONE
    features = {**wording(cues(query.text)), **shown}
    score = _INTERCEPT + sum(weight * features[name] for name, weight in _WEIGHTS.items())
    if score < FAINT:
        return Need("none", 0.0, score)
    if score < SOME:
        return Need("faint", SOME_SHARE, score)
    return Need("past", 1.0, score) if score >= PAST else Need("some", SOME_SHARE, score)


def wording(said: Cues) -> dict[str, float]:
    """Returns the features of the message's wording, by name."""
    logged = math.log(max(1, min(said.words, 64)))
    counts = {"words": logged, "sentences": min(said.sentences, 4) - 1, "figures": min(said.figures, 3)}
    return {name: getattr(said, name) for name in _CUES} | counts


def evidence(index: TurnIndex, query: Query, found: Search) -> dict[str, float] | None:
    """Returns the features of the search result, by name; None if the prompt holds all of the history."""
    view = found.view
    outside = _free(index, found, query)[view.message_of]
    if not outside.any():
        return None
    inside = ~outside
    occurs = found.occurs[:_MOST_TERMS]
    passages, holding = len(view.passages), found.holding[:_MOST_TERMS]
    rarity = np.log(1 + (passages - holding + 0.5) / (holding + 0.5))
    total = float(rarity.sum()) or 1.0
    only_outside = (occurs & outside).any(axis=1) & ~(occurs & inside).any(axis=1)
    cosine, nearer = _COSINE, _NEARER
    if found.cosines is not None:
        best = float(found.cosines[outside].max())
        above = best - (float(found.cosines[inside].max()) if inside.any() else 0.0)
        # An awaited vector may be nearer than its words suggest.
        unknown = float(found.awaited[outside].mean())
        cosine = best + unknown * max(0.0, _COSINE - best)
        nearer = above + unknown * max(0.0, _NEARER - above)
    return {
        "rare": float(rarity[only_outside].sum()) / total,
        "match": float(found.words[outside].max()) / (2.2 * total),  # 1: all of its words, as good as alone
        "cosine": cosine,
        "nearer": nearer,
    }


# --- excerpts --------------------------------------------------------------------------------------------------------


def select(
    index: TurnIndex,
    ranking: Ranking,
    query: Query,
    *,
    budget_tokens: int,
    count: Callable[[str], int],
    known: Callable[[int, str], int | None] = lambda _at, _text: None,
    weights: Weights = WEIGHTS,
) -> tuple[Excerpt, ...]:
    """Selects excerpts from a ranking. `known`: the number of tokens of a whole message's text, by its position in the
    path, where it is known without counting."""
    counted = cache(count)
    known_tokens: dict[str, int] = {}

    def cost(text: str) -> int:
        return counted(text) if (tokens := known_tokens.get(text)) is None else tokens

    chosen: dict[int, tuple[_Chosen, int]] = {}  # by position of the message, with what it costs
    left, refused = _room(ranking, query, free := _free(index, ranking, query), budget_tokens, weights), 0
    for found in _best_first(ranking, query, free, budget_tokens, weights):
        if left <= FRAMING or refused == MOST_REFUSED:
            break
        taken, paid = chosen.get(found.position) or (None, 0)
        if taken is None:
            taken = _Chosen(message := index.message(found.message))
            if found.at >= 0 and (tokens := known(found.at, message.text)) is not None:
                known_tokens[message.text] = tokens
        if taken.has(found.offset):
            continue
        grown = taken.grown(found.offset, found.score, _also(found, taken.message, ranking))
        price = cost(grown.text()) + FRAMING
        if price - paid <= left:
            chosen[found.position] = grown, price
            left -= price - paid
        else:
            refused += 1
    return tuple(chosen[position][0].excerpt(chosen[position][1]) for position in sorted(chosen))


def _also(found: "_Found", message: IndexedMessage, ranking: Ranking) -> Collection[int]:
    """Returns the passages of a message that are recalled beside the one that was found."""
    passages = len(message.spans)
    if passages == 1 or not found.whole:
        return ()
    if found.score >= NEAR_BEST * float(ranking.scores.max()):
        return range(passages)
    first = int(ranking.view.first[found.position])
    matched: Flags = np.asarray(ranking.occurs[:, first : first + passages].any(axis=0))
    return needed(message.text, message.spans, matched.tolist())


class _Found(NamedTuple):
    """A passage that may be recalled. A tuple, since there are many."""

    position: int  # of its message in the view
    message: int  # number in the index
    at: int  # position in the path
    offset: int  # of the passage in its message
    score: float
    whole: bool  # the message may be recalled as a whole


def floor(text: str, *, fillings: float, by_words: float = 0.0, weights: Weights = WEIGHTS) -> float:
    """Returns the share of the best score below which nothing is recalled. `fillings`: how often the free history would
    fill the budget; `by_words`: the share of it without vectors, 0 to 1."""
    chance = weights.floor_per_filling * math.log(max(1.0, fillings))
    share = weights.floor + chance + FLOOR_ASKING[asks_for(text)] + by_words * weights.floor_by_words
    return min(max(share, FLOOR_LEAST), FLOOR_MOST)


def _least(ranking: Ranking, query: Query, free: Flags, room: int, weights: Weights) -> float:
    """Returns the score below which nothing is recalled. `free`: messages that the prompt does not hold."""
    view = ranking.view
    may_be = free[view.message_of]
    by_words = 1.0 if ranking.cosines is None else float(ranking.awaited[may_be].mean())
    fillings = float(view.tokens[free].sum()) / max(1, room)
    return float(ranking.scores.max()) * floor(query.text, fillings=fillings, by_words=by_words, weights=weights)


def _free(index: TurnIndex, found: Search, query: Query) -> Flags:
    """Returns a flag for each message that the prompt does not hold."""
    return ~index.flags(query.exclude)[found.view.messages]


def _room(ranking: Ranking, query: Query, free: Flags, tokens: int, weights: Weights) -> int:
    """Returns the number of `tokens` that excerpts may take."""
    there = float(ranking.view.tokens[free].sum())
    share = weights.share * SHARE_ASKING[asks_for(query.text)] * max(1.0, math.sqrt(there / SHORT_HISTORY))
    return min(tokens, max(round(share * there), LEAST_SHARED))


def _best_first(ranking: Ranking, query: Query, free: Flags, room: int, weights: Weights) -> Iterator[_Found]:
    view, scores = ranking.view, ranking.scores
    if not free.any():
        return
    least = _least(ranking, query, free, room, weights)
    answers = 0.0 if ranking.for_answers else weights.floor_answers * ranking.asking
    dearer = np.where(view.is_user, 0, answers) + weights.floor_equals * (1 - ranking.asking)
    floors: Floats = (least * (1 + dearer)).astype(np.float32)
    wanted = np.flatnonzero((scores >= spread(floors, view)) & free[view.message_of])
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
    """The passages of one message that are recalled."""

    message: IndexedMessage
    runs: tuple[tuple[int, int], ...] = ()  # half-open, of passages, in order
    score: float = 0.0

    def has(self, passage: int) -> bool:
        return any(start <= passage < end for start, end in self.runs)

    def grown(self, passage: int, score: float, also: Collection[int]) -> "_Chosen":
        """Adds a passage, and those in `also`."""
        if len(self.message.spans) == 1:
            return _Chosen(self.message, ((0, 1),), score)
        taken = {passage, *also, *(at for start, end in self.runs for at in range(start, end))}
        return _Chosen(self.message, runs(sorted(taken)), max(self.score, score))

    def text(self) -> str:
        """Returns the recalled text of the message, with a mark where something is left out."""
        text, spans = self.message.text, self.message.spans
        if self.runs == ((0, len(spans)),):
            return text
        cut = f"\n{LEFT_OUT}\n".join(text[spans[start][0] : spans[end - 1][1]] for start, end in self.runs)
        before = f"{LEFT_OUT} " if self.runs[0][0] else ""
        return f"{before}{cut} {LEFT_OUT}" if self.runs[-1][1] < len(spans) else f"{before}{cut}"

    def excerpt(self, tokens: int) -> Excerpt:
        said = self.message
        return Excerpt(said.link, said.role, self.text(), said.turn, said.session, said.at, self.score, tokens)


def runs(numbers: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Groups ascending numbers into half-open runs."""
    starts = [at for at in numbers if at - 1 not in set(numbers)]
    ends = [at + 1 for at in numbers if at + 1 not in set(numbers)]
    return tuple(zip(starts, ends, strict=True))
