import pytest

from tests.bench.reuse_data import Pair
from tests.bench.reuse_plot import FLOORS, curve
from tests.bench.reuse_stage import Decision
from tests.bench.reuse_table import Group, Target, false_hits, grouped, macro


def decision(result: str, *, label: int = 0, phenomenon: str = "negation", b: str = "b", gate: str = "") -> Decision:
    pair = Pair("en", phenomenon, "a", b, label)
    return Decision(pair, result, gate, kept=not gate, cosine=0.9, cpu=0.1)


def group(hits: int, n: int) -> Group:
    return Group("authored", "en", "negation", 0, n, hits, n, {})


def test_a_macro_mean_weighs_every_phenomenon_alike() -> None:
    assert macro([group(1, 2), group(0, 1000)])[0] == pytest.approx(0.25)


@pytest.mark.parametrize("groups", [[group(3, 100)], [group(3, 100), group(0, 20)], [group(0, 5), group(0, 7)]])
def test_a_macro_mean_is_bounded_from_above(groups: list[Group]) -> None:
    mean, bound = macro(groups)
    assert mean < bound <= 1


def test_a_macro_mean_is_as_uncertain_as_its_smallest_phenomena() -> None:
    small, large = macro([group(0, 10), group(0, 10_000)])[1], macro([group(0, 5_000), group(0, 5_000)])[1]
    assert small > 10 * large


def test_pairs_that_a_gate_stopped_are_told_apart() -> None:
    (found,) = grouped([decision("hit"), decision("negation"), decision("emotional", gate="emotional")])
    assert (found.n, found.hits, found.open_n) == (3, 1, 2)
    assert found.reasons == {"negation": 1, "emotional": 1}


def test_an_identical_pair_that_is_labelled_as_two_questions_is_no_false_hit() -> None:
    macro_line, pooled, worst = false_hits([decision("hit", b=" A"), decision("negation")], "en")
    assert (macro_line.value, pooled.value, worst.value) == (0, 0, 0)
    assert "50.00%" in pooled.note


@pytest.mark.parametrize(
    ("target", "value", "met", "aimed"),
    [
        (Target(0.03, 0.005), 0.03, True, False),
        (Target(0.03, 0.005), 0.031, False, False),
        (Target(0.3, 0.5, at_least=True), 0.5, True, True),
        (Target(0.3, 0.5, at_least=True), 0.29, False, False),
    ],
)
def test_a_target_is_met_from_its_side(target: Target, value: float, met: bool, aimed: bool) -> None:
    assert (target.is_met(value), target.is_aimed(value)) == (met, aimed)


@pytest.mark.parametrize(("floor", "recall", "precision"), [(0.4, 0.5, 2 / 3), (0.5, 0.5, 1), (0.95, 0.25, 1)])
def test_a_higher_floor_serves_fewer(floor: float, recall: float, precision: float) -> None:
    points = {point.floor: point for point in curve([(0.45, False), (0.6, True), (0.95, True)], positives=4)}
    assert points[floor].recall == pytest.approx(recall)
    assert points[floor].precision == pytest.approx(precision)


def test_a_curve_ends_where_nothing_is_served() -> None:
    assert curve([(0.6, True)], positives=1)[-1].floor == 0.6 < FLOORS[-1]
