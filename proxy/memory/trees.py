"""Boosted binary trees of at most 8 leaves, that score many rows at once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

_ALL = 255  # a set of all leaves of a tree
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Trees:
    """Boosted binary trees of at most 8 leaves, read without a walk from node to node: an inner node whose threshold is
    exceeded excludes the leaves on its left, and a row reaches the first leaf that is not excluded (Lucchese et al.,
    "QuickScorer", SIGIR 2015)."""

    feature: npt.NDArray[np.intp]  # (questions,): many trees ask the same
    threshold: Floats  # the same
    question: npt.NDArray[np.intp]  # (inner nodes of a tree * trees,), those of the roots first
    holds: npt.NDArray[np.uint8]  # the same: the leaves that are not on its left, a bit each
    value: Floats  # (trees * 256,): of the first leaf of every set of leaves
    base: float

    @classmethod
    def of(cls, nodes: Mapping[str, npt.NDArray[Any]], base: float) -> "Trees":
        """Makes trees of arrays of trees by nodes, `feature`, `threshold`, `left`, `right` and `value`: an inner node
        leads to the left where its feature is at most its threshold; a leaf leads to itself."""
        count, size = nodes["left"].shape
        holds = np.full((count, size), _ALL, np.uint8)
        value = np.zeros((count, _ALL + 1))
        firsts = [(each & -each).bit_length() - 1 for each in range(1, _ALL + 1)]
        for tree in range(count):
            left, right = nodes["left"][tree].tolist(), nodes["right"][tree].tolist()
            ordered = _leaves(left, right, 0)
            place = {leaf: 1 << at for at, leaf in enumerate(ordered)}
            for node in _leaves(left, right, 0, inner=True):
                holds[tree, node] = _ALL - sum(place[leaf] for leaf in _leaves(left, right, left[node]))
            says = nodes["value"][tree, ordered]
            value[tree, 1:] = says[np.minimum(firsts, len(ordered) - 1)]
        # Every tree has room for as many inner nodes as the largest needs.
        order = np.argsort(holds == _ALL, axis=1, kind="stable")[:, : max(1, int((holds != _ALL).sum(axis=1).max()))]
        asked = [np.take_along_axis(nodes[name], order, axis=1).T.ravel() for name in ("feature", "threshold")]
        questions, question = np.unique(np.stack(asked), axis=1, return_inverse=True)
        held = np.take_along_axis(holds, order, axis=1).T.ravel()
        return cls(questions[0].astype(np.intp), questions[1], question.ravel(), held, value.ravel(), base)

    def scores(self, rows: Floats) -> Floats:
        """Returns the log odds of each row."""
        goes_left = np.where(rows.take(self.feature, axis=1) <= self.threshold, np.uint8(_ALL), np.uint8(0))
        count = len(self.value) // (_ALL + 1)
        left_over = (goes_left.take(self.question, axis=1) | self.holds).reshape(len(rows), -1, count)
        starts = np.arange(count) * (_ALL + 1)
        # Summed up tree by tree: the last digits depend on it.
        found: Floats = self.base + self.value.take((np.bitwise_and.reduce(left_over, axis=1) + starts).T).sum(axis=0)
        return found


def _leaves(left: Sequence[int], right: Sequence[int], node: int, *, inner: bool = False) -> list[int]:
    """Returns the leaves below a node from left to right, or its inner nodes."""
    if left[node] == node:
        return [] if inner else [node]
    below = [each for side in (left, right) for each in _leaves(left, right, side[node], inner=inner)]
    return [node, *below] if inner else below
