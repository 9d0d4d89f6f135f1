"""Scores of linear models over features that have places of their own, or hashed ones."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.linear import (
    LinearModel,
    feature,
    flat,
    hashed,
    letter_runs,
    load_models,
    sigmoid,
    softmax,
    word_runs,
)

WEIGHTS = np.array([[1, -2], [3, 4], [0, 5]], np.int8)
MODEL = LinearModel(WEIGHTS, np.array([0.5, 2.0], np.float32), np.array([0.25, -1.0], np.float32))


def test_a_score_is_what_there_is_of_each_feature_by_its_weight() -> None:
    assert MODEL.scores({0: 1.0, 1: 0.5}).tolist() == [0.5 * 2.5 + 0.25, 2.0 * 0.0 - 1.0]
    assert MODEL.scores({}).tolist() == [0.25, -1.0]


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_it_is_as_precise_as_its_scale(kind: type[np.floating]) -> None:
    model = LinearModel(WEIGHTS, np.full(2, 0.1, kind), np.zeros(2, kind))
    assert model.scores({0: 1 / 3}).dtype == kind


def test_scores_become_probabilities() -> None:
    assert sigmoid(0) == 0.5
    assert softmax(np.zeros(4)).tolist() == [0.25] * 4


def test_models_are_read_from_one_file_by_their_names(tmp_path: Path) -> None:
    np.savez(
        tmp_path / "models.npz",
        one_weights=WEIGHTS,
        one_scale=MODEL.scale,
        one_intercept=MODEL.intercept,
        two_weights=WEIGHTS,
        two_scale=MODEL.scale,
        two_intercept=MODEL.scale,
    )
    one, two = load_models(tmp_path / "models.npz", "one", "two")
    assert one.scores({2: 1.0}).tolist() == MODEL.scores({2: 1.0}).tolist()
    assert two.intercept.tolist() == MODEL.scale.tolist()


def test_a_feature_is_always_the_same() -> None:
    # The weights were learnt with these; a hash that changes makes all of them wrong.
    assert [feature(name) % 2**14 for name in ("w=live", "w=vivo")] == [4958, 3515]
    assert feature("live", feature("w=")) == feature("w=live")
    assert word_runs("t=", [b"i", b"live", b"here", b"now"], 3) == [
        feature("t=i live here"),
        feature("t=live here now"),
    ]


@given(st.text(max_size=40))
def test_runs_of_letters_are_those_of_its_characters(text: str) -> None:
    runs = {text[start : start + size] for size in (3, 4, 5) for start in range(len(text) - size + 1)}
    found = letter_runs("c=", text).tolist()
    assert sorted(found) == sorted({feature(f"c={run}") for run in runs})


def test_groups_weigh_what_they_are_given_however_many_features_they_have() -> None:
    vector = hashed((([1, 2, 3, 4, 4], 1.0), ([5], 0.5)), 2**14)
    assert sorted(vector.values()) == [0.5] * 5
    assert hashed((([7], 1.0), ([7 + 2**14], 0.5)), 2**14) == {7: 1.5}


def test_shares_of_groups_are_those_of_their_vectors() -> None:
    model = LinearModel(np.arange(64, dtype=np.int8).reshape(32, 2), MODEL.scale, MODEL.intercept)
    groups = [frozenset({3, 35, 40}), frozenset[int](), frozenset({2**32 - 1})]
    shares = model.shares(flat(groups), [*map(len, groups)])
    for share, group in zip(shares, groups, strict=True):
        assert share + model.intercept == pytest.approx(model.scores(hashed([(group, 1.0)], 32)), rel=1e-6)
