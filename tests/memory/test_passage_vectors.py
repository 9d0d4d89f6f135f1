"""Vectors of passages: near to what they were made of, at an eighth of the bytes, and gone when they are removed."""

import numpy as np
import pytest

from proxy.memory.columns import Columns
from proxy.memory.passage_vectors import PassageVectors
from proxy.types import Vector

ALL = np.arange(4)


def table(rows: int = 4) -> Columns:
    passages = Columns(scale=np.float32)
    for _ in range(rows):
        passages.append(scale=0.0)
    return passages


def vectors(count: int, seed: int = 1) -> Vector:
    rows = np.random.default_rng(seed).standard_normal((count, 16)).astype(np.float32)
    made: Vector = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return made


def test_a_passage_is_as_near_as_its_vector_and_one_without_is_not() -> None:
    held, given = PassageVectors(table()), vectors(2)
    assert held.cosines(given[0], ALL) is None
    held.put(1, given)
    assert held.has(ALL).tolist() == [False, True, True, False]
    found = held.cosines(given[0], ALL)
    assert found is not None
    assert found == pytest.approx([0.0, 1.0, given[0] @ given[1], 0.0], abs=0.01)


def test_what_is_removed_has_no_vector() -> None:
    held = PassageVectors(table())
    held.put(0, vectors(4))
    held.remove(1, 2)
    assert held.has(ALL).tolist() == [True, False, False, True]


def test_what_is_unpacked_is_what_was_packed() -> None:
    passages, given = table(), vectors(2)
    held = PassageVectors(passages)
    assert held.packed() == (0, b"")
    held.put(2, given)
    dimensions, rows = held.packed()
    assert (dimensions, len(rows)) == (16, 32)
    again = PassageVectors(passages, rows, dimensions)
    one, other = again.cosines(given[1], ALL), held.cosines(given[1], ALL)
    assert one is not None
    assert other is not None
    assert one.tolist() == other.tolist()


def test_vectors_of_another_model_are_refused() -> None:
    held = PassageVectors(table())
    held.check(vectors(1))
    held.put(0, vectors(1))
    held.check(vectors(2))
    with pytest.raises(ValueError, match="a vector of 8 dimensions, not 16"):
        held.check(vectors(1)[:, :8])
