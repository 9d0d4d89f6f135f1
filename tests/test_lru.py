"""A bounded dictionary: what leaves, when, and what it costs."""

from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from operator import itemgetter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.lru import Lru


@pytest.mark.note("5.1/3")
def test_the_least_recently_used_leaves() -> None:
    known: Lru[str, int] = Lru(2)
    known.put("a", 1)
    known.put("b", 2)
    assert known.used("a") == 1  # now `b` is the oldest
    known.put("c", 3)
    assert (known.used("a"), known.used("b"), known.used("c")) == (1, None, 3)


def test_who_only_looks_keeps_nothing_from_leaving() -> None:
    known: Lru[str, int] = Lru(2)
    known.put("a", 1)
    known.put("b", 2)
    assert known.get("a") == 1
    known.put("c", 3)
    assert list(known) == ["b", "c"]


def test_a_value_that_is_replaced_gives_its_room_back() -> None:
    known: Lru[str, str] = Lru(cost=len, most_cost=10)
    known.put("a", "x" * 6)
    known.put("a", "x" * 4)
    known.put("b", "y" * 6)
    assert (list(known), known.cost) == (["a", "b"], 10)
    known.put("c", "z")
    assert (list(known), known.cost) == (["b", "c"], 7)
    assert (known.drop("b"), known.drop("b"), known.cost) == ("y" * 6, None, 1)


def test_a_value_that_is_too_large_is_not_kept() -> None:
    known: Lru[str, str] = Lru(cost=len, most_cost=3)
    known.put("a", "x")
    known.put("b", "y" * 4)
    assert (list(known), known.cost) == ([], 0)


STEPS = st.lists(st.tuples(st.sampled_from(["put", "used", "drop"]), st.integers(0, 6), st.integers(0, 5)))


@given(STEPS, st.integers(1, 5), st.integers(0, 12))
def test_it_is_bounded_by_entries_and_by_cost_and_counts_right(
    steps: list[tuple[str, int, int]], most: int, most_cost: int
) -> None:
    known: Lru[int, tuple[int, int]] = Lru(most, cost=itemgetter(1), most_cost=most_cost)
    model: OrderedDict[int, tuple[int, int]] = OrderedDict()
    for number, (step, key, cost) in enumerate(steps):
        if step == "put":
            known.put(key, (number, cost))
            model.pop(key, None)
            model[key] = (number, cost)
            while len(model) > most or sum(each for _, each in model.values()) > most_cost:
                model.popitem(last=False)
        elif step == "used":
            if key in model:
                model.move_to_end(key)
            assert known.used(key) == model.get(key)
        else:
            assert known.drop(key) == model.pop(key, None)
        assert list(known.items()) == list(model.items())
        assert known.cost == sum(each for _, each in model.values())


def test_several_threads_may_use_it_at_once() -> None:
    known: Lru[int, bytes] = Lru(50, cost=len, most_cost=2_000)

    def work(seed: int) -> None:
        for number in range(3_000):
            key = (seed * 7 + number) % 97
            known.put(key, bytes(number % 90))
            known.used(key + 1)
            known.drop(key + 2)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    assert len(known) <= 50
    assert known.cost == sum(map(len, known.values())) <= 2_000
