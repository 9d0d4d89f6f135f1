"""Linear models over features, learned from examples: weights and scores.

Each model defines its own features (`reuse/cacheable.py`, `memory/clauses.py`, `memory/predictions.py`,
`memory/voice.py`, `memory/ending.py`). Most are hashed: a feature is the hash of its name, by which its weight is
found. Nothing here is random.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import accumulate, chain
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import numpy.typing as npt

Scores = npt.NDArray[np.floating[Any]]  # (classes,)
Hashes = npt.NDArray[np.uint32]  # (features,)


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

    def shares(self, features: Hashes, sizes: Sequence[int]) -> Scores:
        """Returns what groups of distinct hashed features add to the scores, (groups, classes), without the intercept.
        A group's part does not depend on the number of its features. `features`: of all groups, one group behind the
        other. `sizes`: number of features of each group. The number of weights is a power of two."""
        upto = np.zeros((len(features) + 1, self.weights.shape[1]), np.int32)
        np.cumsum(self.weights.take(features & len(self.weights) - 1, axis=0), axis=0, out=upto[1:])
        upto = upto.take([0, *accumulate(sizes)], axis=0)
        found: Scores = (upto[1:] - upto[:-1]) * self.scale / np.sqrt(np.maximum(sizes, 1))[:, None]
        return found


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


# --- hashed features --------------------------------------------------------------------------------------------------

_CHARACTERS = (3, 5)  # of a run of letters: least, most
_MOST_BYTES = 4  # of a character
# CRC-32 is linear. What a byte adds to the hash of a string depends on the number of bytes behind it, and on nothing
# else: (bytes behind, byte).
_ADDED = np.array(
    [
        [crc32(bytes([byte, *bytes(behind)])) ^ crc32(bytes(behind + 1)) for byte in range(256)]
        for behind in range(_CHARACTERS[1] * _MOST_BYTES)
    ],
    np.uint32,
)


def feature(name: str, begun: int = 0) -> int:
    """Returns a hashed feature: the CRC-32 of its name. `begun`: the feature of what stands before `name`."""
    return crc32(name.encode(), begun)


def word_runs(name: str, said: Sequence[bytes], length: int = 1) -> list[int]:
    """Returns the features of `name` and each run of `length` words, with spaces between them."""
    begun = feature(name)
    found = [crc32(word, begun) for word in said]
    for behind in range(1, length):
        found = [crc32(b" " + word, so_far) for so_far, word in zip(found, said[behind:], strict=False)]
    return found


def letter_runs(name: str, text: str) -> Hashes:
    """Returns the features of `name` and each run of three to five characters of `text`, each once."""
    raw, begun = np.frombuffer(text.encode(), np.uint8), feature(name)
    shortest, longest = _CHARACTERS
    widest = longest
    if len(raw) > len(text):
        begins = np.append(raw & 0xC0 != 0x80, True)  # of each byte, and of the end: whether a character begins there
        before, edges = begins.cumsum(), np.flatnonzero(begins)
        widest = int((edges[longest:] - edges[:-longest]).max(initial=longest * _MOST_BYTES * (len(edges) <= longest)))
    added = _ADDED[:widest].take(raw, axis=1)
    found, run = [np.empty(0, np.uint32)], added[0]
    for width in range(2, min(widest, len(raw)) + 1):
        run = added[width - 1, : len(raw) - width + 1] ^ run[1:]
        here = run ^ crc32(bytes(width), begun)
        if len(raw) > len(text):
            characters = before[width:] - before[:-width]
            is_run = (shortest <= characters) & (characters <= longest)
            here = here[is_run & begins[:-width] & begins[width:]]
        if width >= shortest:
            found.append(here)
    return distinct(np.concatenate(found))


def distinct(features: Hashes) -> Hashes:
    """Returns each feature once."""
    ordered = np.sort(features)
    return ordered[np.append(ordered[1:] != ordered[:-1], True)] if len(ordered) else ordered


def flat(groups: Sequence[AbstractSet[int]]) -> Hashes:
    """Returns the features of several groups, one group behind the other."""
    return np.fromiter(chain.from_iterable(groups), np.uint32, sum(map(len, groups)))


def hashed(groups: Iterable[tuple[Iterable[int], float]], buckets: int) -> dict[int, float]:
    """Returns groups of features, each with its weight, as a vector: bucket to amount. The amount of a group does not
    depend on the number of its features."""
    vector: dict[int, float] = {}
    for group, weight in groups:
        once = {int(each) for each in group}
        share = weight / math.sqrt(max(len(once), 1))
        for each in once:
            vector[each % buckets] = vector.get(each % buckets, 0.0) + share
    return vector
