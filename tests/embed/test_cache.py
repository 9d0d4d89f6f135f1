import numpy as np
import pytest

from proxy.embed.cache import VectorCache, text_key
from tests.embed.engines import vector, vectors


@pytest.mark.note("5.1/3")
def test_the_least_recently_used_vector_leaves() -> None:
    cache = VectorCache(entries=2)
    cache.put(b"a", vector("a"))
    cache.put(b"b", vector("b"))
    assert cache.get(b"a") is not None  # now `b` is the oldest
    cache.put(b"c", vector("c"))
    assert [cache.get(key) is not None for key in (b"a", b"b", b"c")] == [True, False, True]
    assert len(cache) == 2


def test_putting_a_vector_again_takes_no_second_place() -> None:
    cache = VectorCache(entries=2)
    for text in ("a", "b", "a", "a"):
        cache.put(text.encode(), vector(text))
    assert cache.get(b"b") is not None


def test_a_kept_vector_is_its_own_and_not_a_part_of_its_run() -> None:
    run = vectors(["a", "b"])
    cache = VectorCache()
    cache.put(b"a", run[0])
    run[0] = 0
    kept = cache.get(b"a")
    assert kept is not None
    assert kept.base is None
    np.testing.assert_array_equal(kept, vector("a"))


def test_texts_have_keys_of_their_own() -> None:
    assert text_key(b"a") == text_key(b"a") != text_key(b"b")
    assert len(text_key(b"a" * 10_000)) == 16
