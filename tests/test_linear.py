"""Scores of linear models over features that have places of their own, or hashed ones."""

from pathlib import Path

import numpy as np
import pytest

from proxy.linear import LinearModel, bucket, hashed, load_models, sigmoid, softmax

WEIGHTS = np.array([[1, -2], [3, 4], [0, 5]], np.int8)
MODEL = LinearModel(WEIGHTS, np.array([0.5, 2.0], np.float32), np.array([0.25, -1.0], np.float32))


def test_a_score_is_what_there_is_of_each_feature_by_its_weight() -> None:
    assert MODEL.scores({0: 1.0, 1: 0.5}).tolist() == [0.5 * 2.5 + 0.25, 2.0 * 0.0 - 1.0]
    assert MODEL.scores({}).tolist() == [0.25, -1.0]


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_it_is_as_precise_as_its_scale(kind: type[np.floating]) -> None:
    model = LinearModel(WEIGHTS, np.full(2, 0.1, kind), np.zeros(2, kind))
    assert model.scores({0: 1 / 3}).dtype == kind


def test_the_likelihood_of_a_single_class_is_its_score_as_a_probability() -> None:
    assert MODEL.likelihood({0: 1.0}) == sigmoid(0.75)
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


def test_a_feature_is_always_in_the_same_bucket() -> None:
    # The weights were learnt with these; a hash that changes makes all of them wrong.
    assert [bucket(feature, 2**14) for feature in ("w=live", "w=vivo")] == [4958, 3515]


def test_groups_weigh_what_they_are_given_however_many_features_they_have() -> None:
    vector = hashed(((["a", "b", "c", "d", "d"], 1.0), (["e"], 0.5)), 2**14)
    assert sorted(vector.values()) == [0.5] * 5
    assert hashed(((["a"], 1.0), (["a"], 0.5)), 2**14) == {bucket("a", 2**14): 1.5}
