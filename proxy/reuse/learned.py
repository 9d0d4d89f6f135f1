"""Which messages' answers are of the day, of the heart or an order, as learned from sentences rather than listed.

Three linear scores of the features in `features`, of what the lists say and, where it is at hand, of the message's
embedding, each against the cacheable; the weights are in `learned.json`, made by `tests/bench/bypass_train.py`. The
lists know the words that were thought of; this knows what questions look like, and overrules them in both directions.
"""

import math
from functools import lru_cache
from pathlib import Path
from typing import Literal, TypeAlias, get_args

import msgspec
import numpy as np

from proxy.language.text import plain
from proxy.linear import LinearModel
from proxy.reuse.effects import side_effect
from proxy.reuse.features import framed, lexical, shapes_of, tokens_of
from proxy.reuse.feelings import emotional
from proxy.reuse.moment import SIGNS, signs, time_dependent
from proxy.types import Vector

Asked = Literal["time_dependent", "side_effect", "emotional"]
ASKED: tuple[Asked, ...] = get_args(Asked)
VERDICTS: tuple[str, ...] = (*ASKED, *SIGNS)
Scores: TypeAlias = tuple[float, float, float]  # in the order of ASKED


class Weights(msgspec.Struct, frozen=True):
    """Triples in the order of ASKED, in tenths of a score."""

    threshold: float  # a score: of a message with its embedding
    threshold_text: float  # of one without
    bias: tuple[int, int, int]
    verdicts: dict[str, tuple[int, int, int]]  # of what the lists say
    vector: tuple[list[int], list[int], list[int]]
    features: dict[str, tuple[int, int, int]]


_UNIT = 0.1
_WEIGHTS = msgspec.json.decode(Path(__file__).with_suffix(".json").read_bytes(), type=Weights)
_VERDICTS = {name: place for place, name in enumerate(_WEIGHTS.verdicts)}
_FEATURES = {name: place for place, name in enumerate(_WEIGHTS.features, len(_VERDICTS))}
_MODEL = LinearModel(
    weights=np.array([*_WEIGHTS.verdicts.values(), *_WEIGHTS.features.values()], np.int16),
    scale=np.full(len(ASKED), _UNIT),
    intercept=np.array(_WEIGHTS.bias) * _UNIT,
)
_VECTOR = np.array(_WEIGHTS.vector, np.float32) * np.float32(_UNIT)


def listed(said: str) -> Asked | None:
    """What the lists say of a message."""
    return next((asked for asked in ASKED if asked in verdicts(said)), None)


@lru_cache(maxsize=2048)  # what can be reused is asked again and again, and reading it takes 200 µs
def verdicts(said: str) -> tuple[str, ...]:
    """Which lists decide against reuse, and which have a word of the message at all."""
    text = plain(said)
    decided = (time_dependent(text), side_effect(text), emotional(text))
    return (*(asked for asked, so in zip(ASKED, decided, strict=True) if so), *signs(text))


def learned(said: str, vector: Vector | None = None, *, margin: float = 0.0) -> Asked | None:
    """What is asked for by a message of a few sentences, so that its answer must not be reused; None if it may be.
    `vector` is the embedding of `said` by the built-in model, `margin` what a score must be above its threshold."""
    scores, threshold = _of_text(said), _WEIGHTS.threshold_text
    if vector is not None and vector.shape == _VECTOR.shape[1:]:
        time, effect, feeling = _VECTOR @ vector
        scores = (scores[0] + float(time), scores[1] + float(effect), scores[2] + float(feeling))
        threshold = _WEIGHTS.threshold
    if max(scores) <= threshold + margin:
        return None
    return listed(said) or ASKED[scores.index(max(scores))]


@lru_cache(maxsize=2048)
def _of_text(said: str) -> Scores:
    vector = {_VERDICTS[verdict]: 1.0 for verdict in verdicts(said)}
    for group in grouped(said):
        share = 1 / math.sqrt(len(group) or 1)
        for place in filter(None, map(_FEATURES.get, group)):  # the first places are verdicts'
            vector[place] = vector.get(place, 0.0) + share
    time, effect, feeling = _MODEL.scores(vector).tolist()
    return time, effect, feeling


def grouped(said: str) -> tuple[list[str], list[str]]:
    """The features of a message: of its words, of its frame. Each group is scaled to length 1."""
    tokens = tokens_of(plain(said))
    return lexical(tokens), framed(shapes_of(said, tokens))
