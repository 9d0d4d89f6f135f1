import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.storage.vectors import packed, packed_rows, unpacked, unpacked_rows
from proxy.types import Vector


@pytest.mark.parametrize("rows", [0, 1, 5])
def test_vectors_are_kept_as_float16(rows: int) -> None:
    vectors: Vector = np.random.default_rng(rows).standard_normal((rows, 384)).astype(np.float32)
    stored = packed_rows(vectors)
    assert stored is not None
    assert (stored[0], len(stored[1])) == (384, rows * 384 * 2)
    found = unpacked_rows(stored)
    assert found is not None
    assert found.shape == vectors.shape
    assert found.dtype == np.float32
    assert np.array_equal(found, vectors.astype(np.float16))


def test_no_vectors_are_none() -> None:
    assert packed_rows(None) is None
    assert unpacked_rows(None) is None


@given(st.lists(st.floats(-1, 1, width=32), min_size=2, max_size=400), st.integers(0, 2**32 - 1))
def test_a_vector_that_was_kept_has_almost_the_same_cosines(values: list[float], seed: int) -> None:
    vector = np.array([1.0, *values], np.float32)
    vector /= np.linalg.norm(vector)
    other = np.random.default_rng(seed).standard_normal(vector.size).astype(np.float32)
    other /= np.linalg.norm(other)
    kept = unpacked(packed(vector))
    assert len(packed(vector)) == 2 * vector.size
    assert float(kept @ other) == pytest.approx(float(vector @ other), abs=0.0005)
