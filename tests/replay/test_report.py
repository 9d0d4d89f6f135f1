"""Sums of what became of requests."""

from typing import Any

import pytest

from proxy.replay.report import Costs, Replayed, Report, total
from proxy.types import Mechanisms


def replayed_one(**differing: Any) -> Replayed:
    given: dict[str, Any] = {
        "line": 1, "at": 0.0, "model": "m", "upstream": "up", "conversation": "c", "kind": "managed", "reason": "",
        "tokens_full": 100, "tokens_sliding": 60, "tokens_sent": 40, "mechanisms": Mechanisms(window=70, recall=10),
        "costs": Costs(50, 40, 20), "ratio": 0.2, "price": 2.0,
    }  # fmt: skip
    return Replayed(**{**given, **differing})


def test_requests_are_summed() -> None:
    found = total(
        [
            replayed_one(),
            replayed_one(kind="over-budget", costs=Costs(50, 50, 90)),
            replayed_one(kind="fail-open", conversation="d", costs=Costs(100, 1, 90)),
        ]
    )
    assert (found.requests, found.conversations, found.over_budget, found.fail_open) == (3, 2, 1, 1)
    assert (found.tokens_full, found.tokens_sliding, found.tokens_sent) == (300, 180, 120)
    assert found.mechanisms == Mechanisms(window=210, recall=30)
    assert found.costs == Costs(200, 91, 200)
    assert found.dollars is not None
    assert (found.dollars.full, found.dollars.sliding, found.dollars.ours) == pytest.approx((4e-4, 1.82e-4, 4e-4))
    assert found.ratio == 1.0
    assert (found.worst, found.worst_in) == (1.1, "c")


def test_where_one_price_is_unknown_so_is_the_sum() -> None:
    assert total([replayed_one(), replayed_one(price=0.0)]).dollars is None


def test_nothing_costs_nothing() -> None:
    found = total([])
    assert (found.requests, found.ratio, found.worst) == (0, 1.0, 0.0)


def test_models_are_told_apart() -> None:
    report = Report((replayed_one(model="b"), replayed_one(model="a"), replayed_one(model="b")), {}, "")
    assert {model: each.requests for model, each in report.by_model.items()} == {"a": 1, "b": 2}
    assert report.total.requests == 3
