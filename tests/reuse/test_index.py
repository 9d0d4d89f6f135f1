"""A search finds what computing every cosine finds, whatever was added and removed before."""

import threading
from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.reuse.index import VectorIndex
from proxy.types import Vector

ROUNDING = 2**-11  # of a cosine, by float16, at most


def unit(vectors: Vector) -> Vector:
    scaled: Vector = vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
    return scaled


def random_vectors(count: int, dimensions: int = 64, seed: int = 0) -> Vector:
    return unit(np.random.default_rng(seed).standard_normal((count, dimensions), dtype=np.float32))


def near(vector: Vector, cosine: float, seed: int = 1) -> Vector:
    """A vector at this cosine from the given one."""
    other = np.random.default_rng(1_000 + seed).standard_normal(vector.size, dtype=np.float32)
    across = unit(other - (other @ vector) * vector)
    return unit(cosine * vector + np.sqrt(1 - cosine**2) * across)


def filled(vectors: Vector, index: VectorIndex | None = None) -> VectorIndex:
    index = VectorIndex() if index is None else index
    index.extend([str(n) for n in range(len(vectors))], vectors)
    return index


POOL = random_vectors(40, 4)
steps = st.lists(
    st.tuples(st.sampled_from(["add", "add", "remove"]), st.integers(0, 15), st.integers(0, len(POOL) - 1)), max_size=60
)


@given(steps=steps, asked=st.integers(0, len(POOL) - 1), k=st.integers(0, 6), min_cosine=st.floats(-1, 1))
def test_a_search_finds_what_computing_every_cosine_finds(
    steps: Sequence[tuple[str, int, int]], asked: int, k: int, min_cosine: float
) -> None:
    index, held = VectorIndex(block_rows=4), dict[str, Vector]()
    for step, number, vector in steps:
        entry_id = str(number)
        if step == "add":
            index.add(entry_id, POOL[vector])
            held[entry_id] = POOL[vector]
        else:
            assert index.remove(entry_id) == (held.pop(entry_id, None) is not None)
    assert len(index) == len(held)
    assert all(entry_id in index for entry_id in held)

    found = index.nearest(POOL[asked], k, min_cosine)
    cosines = {entry_id: float(vector @ POOL[asked]) for entry_id, vector in held.items()}
    assert len({entry_id for entry_id, _ in found}) == len(found)
    for entry_id, cosine in found:
        assert cosine == pytest.approx(cosines[entry_id], abs=ROUNDING)
    best = sorted(cosines.values(), reverse=True)[:k]
    surely = [cosine for cosine in best if cosine > min_cosine + ROUNDING]
    perhaps = [cosine for cosine in best if cosine > min_cosine - ROUNDING]
    assert len(surely) <= len(found) <= len(perhaps)
    assert [cosine for _, cosine in found] == pytest.approx(best[: len(found)], abs=ROUNDING)


@pytest.mark.parametrize("dimensions", [64, 384])
def test_where_not_every_cosine_is_computed_the_near_ones_are_found_all_the_same(dimensions: int) -> None:
    vectors = random_vectors(3_000, dimensions)
    index = filled(vectors, VectorIndex(reranked=60, block_rows=700))
    for number in range(0, 3_000, 50):
        query = near(vectors[number], 0.86, seed=number)
        (nearest, cosine), *_ = index.nearest(query, 5, 0.85)
        assert nearest == str(number)
        assert cosine == pytest.approx(0.86, abs=ROUNDING)


def test_of_more_near_ones_than_are_computed_the_nearest_are_found() -> None:
    query = random_vectors(1)[0]
    cosines = np.linspace(0.6, 0.999, 500)
    index = filled(
        np.stack([near(query, cosine, seed) for seed, cosine in enumerate(cosines)]), VectorIndex(reranked=40)
    )
    assert [entry_id for entry_id, _ in index.nearest(query, 3, 0.5)] == ["499", "498", "497"]


def test_the_same_vector_has_a_cosine_of_one_and_never_more() -> None:
    vectors = random_vectors(1_000, 384)
    index = filled(vectors)
    for number in (0, 1, 998, 999):
        ((nearest, cosine),) = index.nearest(vectors[number], 1, 1 - ROUNDING)
        assert nearest == str(number)
        assert 1 - ROUNDING <= cosine <= 1


def test_what_was_removed_takes_no_place_from_what_is_there() -> None:
    query = random_vectors(1)[0]
    index = VectorIndex(reranked=10)
    filled(random_vectors(200, seed=9), index)
    index.extend([f"gone {n}" for n in range(90)], np.repeat(query[np.newaxis], 90, axis=0))
    index.add("here", near(query, 0.95))
    for number in range(90):
        assert index.remove(f"gone {number}")
    assert [entry_id for entry_id, _ in index.nearest(query, 5, 0.9)] == ["here"]


def test_an_id_has_its_last_vector() -> None:
    first, second = random_vectors(2)
    index = VectorIndex()
    index.add("a", first)
    index.add("a", second)
    assert len(index) == 1
    assert index.nearest(first, 1, 0.9) == []
    assert [entry_id for entry_id, _ in index.nearest(second, 1, 0.9)] == ["a"]


def test_empty_it_finds_nothing_and_takes_no_memory() -> None:
    vectors = random_vectors(100)
    index = VectorIndex(block_rows=32)
    assert (len(index), index.row_bytes, index.nearest(vectors[0], 5)) == (0, 0, [])
    filled(vectors, index)
    assert index.row_bytes == 64 * 2 + 64
    for number in range(100):
        index.remove(str(number))
    assert (len(index), index.row_bytes, index.nearest(vectors[0], 5)) == (0, 0, [])
    assert not index.remove("0")


def test_a_vector_of_other_dimensions_is_refused_and_changes_nothing() -> None:
    index = filled(random_vectors(3, 64))
    with pytest.raises(ValueError, match="32 dimensions, not 64"):
        index.add("0", random_vectors(1, 32)[0])
    assert "0" in index
    assert len(index.nearest(random_vectors(3, 64)[0], 5)) == 3


@pytest.fixture
def busy() -> Iterator[tuple[VectorIndex, Vector]]:
    """An index that another thread adds to and removes from; id `n` always has vector `n`."""
    vectors = random_vectors(600)
    index, done = filled(vectors[:300], VectorIndex(reranked=50, block_rows=64)), threading.Event()

    def change() -> None:
        random = np.random.default_rng(2)
        while not done.is_set():
            number = int(random.integers(len(vectors)))
            if str(number) in index:
                index.remove(str(number))
            else:
                index.add(str(number), vectors[number])

    thread = threading.Thread(target=change)
    thread.start()
    yield index, vectors
    done.set()
    thread.join()


def test_a_search_while_another_thread_changes_it_tells_no_wrong_cosine(busy: tuple[VectorIndex, Vector]) -> None:
    index, vectors = busy
    found = 0
    for query in random_vectors(500, seed=3):
        for entry_id, cosine in index.nearest(query, 5, 0.2):
            assert cosine == pytest.approx(float(vectors[int(entry_id)] @ query), abs=ROUNDING)
            found += 1
    assert found > 500
