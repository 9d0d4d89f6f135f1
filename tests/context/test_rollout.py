"""Whether a conversation is managed: a table by rules, canary and what came of it; and what that changes."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.config.model import Context
from proxy.context.rollout import (
    LEAST_MANAGED,
    Advance,
    Held,
    decide,
    directed,
    has_turned_dearer,
    share_of,
    told,
    watched,
    weaker,
)
from proxy.types import Directives, Mode, Plan, PromptTokens, Sums

RULES = [
    {"key": "ana", "model": "gpt-*", "mode": "meter"},
    {"key": "ben*", "mode": "off"},
    {"key": "carla", "mode": "on", "canary": 0.0},
]


def decided(settings: dict[str, Any], key: str = "", model: str = "kimi", **how: Any) -> Held:
    asked = {"scope": "a/", "session": "s", "asked": "on", **how}
    return decide(Context.model_validate(settings), key=key, model=model, **asked)


@pytest.mark.parametrize(
    ("settings", "how", "held"),
    [
        ({}, {}, Held("on")),
        ({}, {"asked": "meter"}, Held("meter")),
        ({}, {"asked": "off"}, Held("off")),
        ({"mode": "meter"}, {}, Held("meter")),
        ({"mode": "off"}, {}, Held("off")),
        ({"rules": RULES}, {"key": "ana", "model": "gpt-5"}, Held("meter", "rule")),
        ({"rules": RULES}, {"key": "ana", "model": "kimi"}, Held("on")),
        ({"rules": RULES}, {"key": "benito"}, Held("off", "rule")),
        ({"rules": RULES}, {"key": "ana", "model": "gpt-5", "asked": "off"}, Held("off")),
        ({"mode": "meter", "rules": [{"key": "ana", "mode": "on"}]}, {"key": "ana"}, Held("on")),
        ({"mode": "meter", "rules": [{"key": "ana", "mode": "on"}]}, {"key": "ben"}, Held("meter")),
        ({"rules": RULES}, {"key": "carla"}, Held("meter", "canary")),
        ({"canary": 0}, {}, Held("meter", "canary")),
        ({"canary": 0}, {"asked": "off"}, Held("off")),
        ({"canary": 0, "rules": [{"model": "kimi", "canary": 1}]}, {}, Held("on")),
        ({}, {"returned": "dearer"}, Held("meter", "returned=dearer")),
        ({"canary": 0}, {"returned": "reported"}, Held("meter", "returned=reported")),
        ({}, {"returned": "dearer", "asked": "off"}, Held("off")),
    ],
)
def test_the_mode_of_a_conversation(settings: dict[str, Any], how: dict[str, Any], held: Held) -> None:
    assert decided(settings, **how) == held


@given(st.sampled_from(["on", "meter", "off"]), st.sampled_from(["on", "meter", "off"]))
def test_of_two_modes_the_weaker_one_counts_in_whatever_order(one: Mode, other: Mode) -> None:
    assert weaker(one, other) == weaker(other, one)
    assert weaker(one, one) == one
    assert weaker(one, "off") == "off"


@given(st.text(max_size=30), st.text(max_size=30), st.floats(0, 1), st.floats(0, 1))
def test_a_conversation_stays_in_or_out_and_a_larger_share_lets_none_fall_out(
    scope: str, session: str, less: float, more: float
) -> None:
    less, more = sorted((less, more))
    known = [decided({"canary": share}, scope=scope, session=session).mode for share in (less, more, less)]
    assert known[0] == known[2]
    assert known[1] == "on" or known[0] == "meter"
    assert 0 <= share_of(scope, session) < 1


def test_about_as_many_conversations_are_in_as_the_share_says() -> None:
    inside = sum(share_of("a/", f"session {number}") < 0.1 for number in range(5_000))
    assert 400 < inside < 600


def sums(cost: float, saved: float = 0.0, added: float = 0.0, managed: int = LEAST_MANAGED) -> Sums:
    return Sums(cost=cost, saved_context=saved, added_context=added, managed=managed)


@pytest.mark.parametrize(
    ("so_far", "limit", "is_dearer"),
    [
        (sums(1.2, added=0.2), 0.1, True),  # pass-through would have cost 1.0
        (sums(1.1, added=0.1), 0.1, False),
        (sums(1.2, added=0.2), 0.25, False),
        (sums(0.018, added=0.009), 0.1, False),  # twice as much, but less than a cent
        (sums(0.022, added=0.011), 0.1, True),
        (sums(1.2, added=0.2), 0.0, False),
        (sums(1.2, added=0.3, saved=0.15), 0.1, True),
        (sums(1.2, added=0.3, saved=0.25), 0.1, False),
        (sums(0.5, saved=0.5), 0.1, False),
        (sums(1.2, added=0.2, managed=LEAST_MANAGED - 1), 0.1, False),
        (sums(0.0), 0.1, False),
    ],
)
def test_a_conversation_that_costs_more_than_pass_through_by_more_than_the_limit_has_turned_dearer(
    so_far: Sums, limit: float, is_dearer: bool
) -> None:
    assert has_turned_dearer(so_far, limit) is is_dearer


@pytest.mark.parametrize(
    ("so_far", "before", "after"),
    [
        (sums(1.2, added=0.2, managed=20), None, Advance(0.2, 20)),
        (sums(1.5, added=0.5, managed=39), Advance(0.2, 20), Advance(0.2, 20)),  # its term is not over
        (sums(1.1, added=0.1, managed=40), Advance(0.2, 20), Advance(0.1, 40)),  # pays back: another term
        (sums(1.2, added=0.2, managed=40), Advance(0.2, 20), None),
        (sums(1.3, added=0.3, managed=90), Advance(0.2, 20), None),
    ],
)
def test_what_turns_dearer_has_as_many_requests_again_to_pay_it_back(
    so_far: Sums, before: Advance | None, after: Advance | None
) -> None:
    found = watched(so_far, before)
    assert (found and (round(found.share, 9), found.managed)) == (after and (after.share, after.managed))


@pytest.mark.parametrize(
    ("held", "mode", "lookup", "remember"),
    [
        (Held("on"), "on", True, True),
        (Held("meter"), "meter", True, True),
        (Held("meter", "rule"), "meter", True, True),
        (Held("meter", "canary"), "meter", False, True),
        (Held("meter", "returned=reported"), "meter", False, True),
        (Held("off", "rule"), "off", False, False),
    ],
)
def test_what_is_held_back_gets_no_answer_from_memory_and_what_is_off_is_not_remembered(
    held: Held, mode: Mode, lookup: bool, remember: bool
) -> None:
    found = directed(Directives(), held)
    assert (found.mode, found.lookup, found.remember, found.settled) == (mode, lookup, remember, True)
    assert not directed(replace(Directives(), lookup=False), held).lookup


def test_a_plan_says_why_it_is_none_and_what_it_would_have_sent() -> None:
    plan = Plan("untouched", PromptTokens(9, 9))
    assert told(plan, "canary").reason == "canary"
    metered = replace(plan, reason="meter;would_send=4")
    assert told(metered, "returned=dearer").reason == "returned=dearer;meter;would_send=4"
    assert told(metered, "") is metered
    managed = Plan("managed", PromptTokens(9, 4), "turns=2")
    assert told(managed, "canary") is managed


def test_comparing_answers_makes_no_conversation_cheaper_than_it_is() -> None:
    """Its cost is in the sum of costs, and no part of what pass-through would have come to."""
    plain = sums(1.2, added=0.2)
    assert has_turned_dearer(replace(plain, cost=plain.cost + 9.0, quality=9.0), 0.1)
