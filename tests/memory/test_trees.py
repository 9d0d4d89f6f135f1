"""Boosted trees are read as if they were walked."""

import numpy as np
import pytest

from proxy.memory.trees import Trees


def test_trees_are_walked_to_their_leaves() -> None:
    # Two trees: a single leaf, and one that asks for feature 1 first, then, on its right, for feature 0.
    nodes = {
        "feature": np.array([[0, 0, 0, 0, 0], [1, 0, 0, 0, 0]], np.int16),
        "threshold": np.array([[0.0] * 5, [0.5, 0.0, 2.0, 0.0, 0.0]]),
        "left": np.array([[0] * 5, [1, 1, 3, 3, 4]], np.int16),
        "right": np.array([[0] * 5, [2, 1, 4, 3, 4]], np.int16),
        "value": np.array([[0.1, 0, 0, 0, 0], [0, -1.0, 0, 2.0, 3.0]]),
    }
    trees = Trees.of(nodes, base=-0.5)
    rows = np.array([[9.0, 0.5], [2.0, 0.6], [2.1, 0.6]])
    assert trees.scores(rows) == pytest.approx([-1.4, 1.6, 2.6])
