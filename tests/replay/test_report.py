"""Sums of what became of requests."""

from collections.abc import Sequence
from math import inf
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.replay.report import Costs, PrefixCache, Prompt, Replayed, Report, Weights, common, dearest, sliding, total
from proxy.types import Mechanisms, Message
from tests.builders import Said, assistant, messages, result, system, user


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


def cache() -> PrefixCache:
    """A message costs its characters and one more."""
    return PrefixCache(Weights(lambda said: len(said.data["content"]) + 1, len))


def prompt(*said: Said, tools: bytes = b"") -> Prompt:
    return Prompt(tools, 100, messages(*said))


A, B, C = user("aaaa"), assistant("bbbb"), user("cccc")


@pytest.mark.parametrize(
    ("before", "now", "held"),
    [
        ((A,), (A,), 105),
        ((A,), (A, B, C), 105),
        ((A, B, C), (A,), 105),
        ((A, B), (A, C), 105),  # another role: nothing in common
        ((A, user("ccxx")), (A, user("ccyy")), 107),
        ((A, user("cc")), (A, user("ccyy")), 107),
        ((user("x"), B), (A, B), 100),  # what follows a difference is not found
        ((), (A, B), 100),
    ],
)
def test_a_prompt_is_held_as_far_as_the_one_before_begins_like_it(
    before: Sequence[Said], now: Sequence[Said], held: int
) -> None:
    sent = cache()
    assert sent.send("one", prompt(*before), 0, 60) == 0
    assert sent.send("one", prompt(*now), 1, 60) == held


def test_nothing_is_held_for_another_customer_or_behind_other_tools() -> None:
    sent = cache()
    sent.send("one", prompt(A), 0, 60)
    assert sent.send("two", prompt(A), 1, 60) == 0
    assert sent.send("one", prompt(A, tools=b"[]"), 1, 60) == 0


@pytest.mark.parametrize(("ttl", "later", "held"), [(60, 60, 105), (60, 61, 0), (inf, 1e9, 105), (0, 0, 0)])
def test_it_lasts_for_its_time_to_live(ttl: float, later: float, held: int) -> None:
    sent = cache()
    sent.send("one", prompt(A), 0, ttl)
    assert sent.send("one", prompt(A), later, ttl) == held


def test_using_it_keeps_what_was_used_and_only_that() -> None:
    sent = cache()
    sent.send("one", prompt(A, B, C), 0, 60)
    assert sent.send("one", prompt(A), 50, 60) == 105
    assert sent.send("one", prompt(A, B, C), 100, 60) == 105


def test_every_branch_is_held() -> None:
    sent = cache()
    sent.send("one", prompt(A, B), 0, 60)
    sent.send("one", prompt(A, assistant("other")), 1, 60)
    assert sent.send("one", prompt(A, B, C), 2, 60) == 110


_said = st.builds(user, st.text("ab", max_size=4)) | st.builds(assistant, st.text("ab", max_size=4))


@given(st.lists(st.lists(_said, max_size=5), min_size=2, max_size=6))
def test_what_is_held_is_what_the_nearest_earlier_prompt_has_in_common(prompts: list[list[Said]]) -> None:
    sent = cache()
    for number, said in enumerate(prompts):
        held = sent.send("one", prompt(*said), 0, 1)
        assert held == max((_repeated(before, said) for before in prompts[:number]), default=0)


def _repeated(before: Sequence[Said], now: Sequence[Said]) -> int:
    """The same by its definition, for two prompts."""
    tokens = 100
    for ours, theirs in zip(now, before, strict=False):
        if ours == theirs:
            tokens += len(ours["content"]) + 1
        elif ours["role"] != theirs["role"]:
            break
        else:
            pairs = zip(ours["content"], theirs["content"], strict=False)
            same = [a == b for a, b in pairs]
            return tokens + (same.index(False) if False in same else len(same))
    return tokens


@given(st.text("ab", max_size=8), st.text("ab", max_size=8))
def test_common_characters_are_counted(one: str, other: str) -> None:
    size = common(one, other)
    assert one[:size] == other[:size]
    assert size == min(len(one), len(other)) or one[size] != other[size]


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ((system("s"), A, B, C), 4),
        ((system("s"), *(A, B) * 3, C), 6),  # 2 turns whole, the question, and the instructions
        ((*(A, B, result("x")) * 3, C), 7),
        ((A, system("late"), *(A, B) * 3, C), 6),
        ((), 0),
    ],
)
def test_a_sliding_window_keeps_instructions_and_the_newest_turns(said: Sequence[Said], kept: int) -> None:
    whole = messages(*said)
    left: tuple[Message, ...] = sliding(whole, 3)
    assert len(left) == kept
    assert {each.raw for each in whole if each.role == "system"} <= {each.raw for each in left}
    assert left[-1:] == whole[-1:]


@pytest.mark.parametrize(
    ("costs", "expected"),
    [
        ([], (0, 0)),
        ([(10, 5), (10, 20)], (25, 20)),
        ([(10, 12), (90, 10)], (12, 10)),
        ([(0, 0), (10, 10)], (10, 10)),
    ],
)
def test_the_worst_point_is_of_what_was_paid_so_far(
    costs: list[tuple[float, float]], expected: tuple[float, float]
) -> None:
    assert dearest(costs) == expected
