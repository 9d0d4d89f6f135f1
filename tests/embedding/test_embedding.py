import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from proxy.embedding import (
    PROBES,
    DelegatingEmbedder,
    Embedder,
    EmbeddingOff,
    EmbeddingUnavailable,
    Vectors,
    checked,
    checked_probes,
)
from tests.embedding.engines import vector, vectors

TEXTS = ("one", "two", "three")


def with_row(row: float | list[float]) -> Vectors:
    rows = vectors(TEXTS)
    rows[1] = row
    return rows


@pytest.mark.parametrize(
    ("what", "rows"),
    [
        ("shape", vectors(TEXTS[:2])),
        ("shape", vector("one")),
        ("shape", np.empty((3, 0), np.float32)),
        ("dimensions", vectors(TEXTS, 9)),
        ("NaN", with_row(math.nan)),
        ("infinity", with_row([math.inf, *[0.5] * 7])),
        ("infinity", with_row([-math.inf, *[0.5] * 7])),
        ("zero", with_row(0.0)),
        ("one vector", np.stack([vector("same")] * 3)),
        ("one vector", np.stack([vector("same") * scale for scale in (1.0, 2.0, 0.5)]).astype(np.float32)),
    ],
)  # fmt: skip
def test_vectors_that_no_model_means_are_refused(what: str, rows: Vectors) -> None:
    with pytest.raises(EmbeddingUnavailable, match=what):
        checked(TEXTS, rows, 8)


@pytest.mark.parametrize(
    "texts",
    [("same",), ("Hola", "HOLA"), ("hola", "hola ", "HOLA", "  Hola\n")],
    ids=["one text", "two that a model need not tell apart", "one text in several cases and spacings"],
)
def test_one_vector_is_right_for_what_may_be_the_same_to_the_model(texts: tuple[str, ...]) -> None:
    rows = checked(texts, np.stack([vector("same")] * len(texts)))
    np.testing.assert_allclose(rows, [vector("same")] * len(texts), rtol=1e-6)


@given(
    rows=arrays(
        np.float32,
        array_shapes(min_dims=2, max_dims=2, max_side=6),
        elements=st.floats(allow_nan=False, allow_infinity=False, width=32),
    )
)
def test_what_passes_has_unit_length_and_its_direction(rows: Vectors) -> None:
    texts = [f"{row}" for row in range(len(rows))]
    try:
        units = checked(texts, rows)
    except EmbeddingUnavailable:
        return
    assert units.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(units.astype(np.float64), axis=1), 1, atol=1e-5)
    exact = rows.astype(np.float64)
    np.testing.assert_allclose(units, exact / np.linalg.norm(exact, axis=1, keepdims=True), atol=1e-5)


def test_probes_with_one_place_for_two_of_them_are_refused() -> None:
    assert checked_probes(vectors(PROBES)).shape == (3, 8)
    rows = vectors(PROBES)
    rows[2] = rows[0]
    with pytest.raises(EmbeddingUnavailable, match="nothing in common"):
        checked_probes(rows)


async def test_embedding_that_is_off_says_so_and_refuses() -> None:
    off: Embedder = EmbeddingOff()
    off.start()
    assert (off.state, off.detail, off.version) == ("off", "", "")
    with pytest.raises(EmbeddingUnavailable, match="off"):
        await off.embed(["a"])
    await off.close()


async def test_a_lent_embedder_says_what_its_owners_does_and_is_left_as_it_is() -> None:
    class Own(EmbeddingOff):
        closed = False

        async def close(self) -> None:
            self.closed = True

    own = Own()
    lent = DelegatingEmbedder(own)
    await lent.close()
    assert (lent.version, lent.state, lent.detail) == (
        own.version,
        own.state,
        own.detail,
    )
    assert not own.closed
    with pytest.raises(EmbeddingUnavailable):
        await lent.embed(["a text"])
