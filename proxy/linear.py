"""Linear models over features, learned from examples: weights and scores.

Each model defines its own features (`reuse/cacheable.py`, `memory/clauses.py`, `memory/voice.py`,
`memory/ending.py`). Most are hashed: the index of a feature's weight is its hash. Nothing here is random.
"""

import math
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Scores = npt.NDArray[np.floating[Any]]  # (classes,)


@dataclass(frozen=True, slots=True)
class LinearModel:
    """A linear model with quantised weights. Scores have the precision of `scale`."""

    weights: npt.NDArray[np.integer[Any]]  # (features, classes)
    scale: Scores  # (classes,): factor of the integer weights
    intercept: Scores

    def scores(self, vector: Mapping[int, float]) -> Scores:
        """Returns the score of each class. `vector`: amount of each feature, by index."""
        if not vector:
            return self.intercept
        kind, count = self.scale.dtype, len(vector)
        rows = self.weights[np.fromiter(vector, dtype=np.intp, count=count)]
        by = np.fromiter(vector.values(), dtype=kind, count=count)
        found: Scores = by @ rows.astype(kind) * self.scale + self.intercept
        return found

    def likelihood(self, vector: Mapping[int, float]) -> float:
        """Returns the probability of the only class, 0 to 1, of a logistic regression."""
        return 1 / (1 + math.exp(-float(self.scores(vector)[0])))  # `sigmoid` inlined: this runs for every clause


def load_models(file: Path, *names: str) -> tuple[LinearModel, ...]:
    """Loads models from the arrays `{name}_weights`, `{name}_scale` and `{name}_intercept` of an .npz file."""
    with np.load(file) as arrays:
        return tuple(
            LinearModel(*(arrays[f"{name}_{part}"] for part in ("weights", "scale", "intercept"))) for name in names
        )


def sigmoid(score: float) -> float:
    """Returns the probability of a score, 0 to 1."""
    return 1 / (1 + math.exp(-score))


def softmax(scores: Scores) -> Scores:
    """Returns the probability of each class."""
    powers = np.exp(scores - scores.max())
    likely: Scores = powers / powers.sum()
    return likely


def bucket(feature: str, buckets: int) -> int:
    """Returns the index of a hashed feature."""
    return zlib.crc32(feature.encode()) % buckets


def hashed(groups: Iterable[tuple[Sequence[str], float]], buckets: int) -> dict[int, float]:
    """Returns groups of features, each with its weight, as a vector. The weight of a group does not depend on the
    number of its features."""
    vector: dict[int, float] = {}
    for group, weight in groups:
        distinct = set(group)
        share = weight / math.sqrt(max(len(distinct), 1))
        for feature in distinct:
            place = bucket(feature, buckets)
            vector[place] = vector.get(place, 0.0) + share
    return vector
