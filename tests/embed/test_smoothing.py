"""Smoothing moves a difficulty from activations to weights; their product stays."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from proxy.embed.smoothing import SAMPLES, smoothing

LARGEST = arrays(np.float32, 4, elements=st.floats(0, 1e4, width=32))


@given(LARGEST, LARGEST)
def test_factors_are_positive_and_finite(activations: np.ndarray, weights: np.ndarray) -> None:
    factors = smoothing(activations, weights)
    assert factors.dtype == np.float32
    assert np.isfinite(factors).all()
    assert (factors > 0).all()


def test_large_activations_are_made_smaller_and_their_weights_larger() -> None:
    factors = smoothing(np.array([100.0, 1.0], np.float32), np.array([1.0, 1.0], np.float32))
    assert factors[0] > 1
    assert factors[1] == 1


def test_samples_are_in_both_languages() -> None:
    assert any("¿" in text for text in SAMPLES)
    assert any(text.startswith("How") for text in SAMPLES)
