"""Which requests are mirrored. What they go through: tests/pipeline/test_mirror.py."""

from dataclasses import replace
from time import perf_counter
from typing import Any

import pytest

from proxy.protocol.request import parse
from proxy.quality.choosing import is_candidate, is_drawn, most_of, question_of
from proxy.types import Delivery, Directives, Exchange, Plan, PromptTokens, ReuseMiss
from tests.builders import assistant, body, identity, incoming, messages, user

REQUEST = parse(body(user("hi"), model="m"))
PLAN = Plan("managed", PromptTokens(1_000, 200), messages=tuple(REQUEST.messages))
DELIVERY = Delivery("complete", 200, "up", "m", streamed=False)


def exchange(**differing: Any) -> Exchange:
    made = Exchange(
        incoming(), REQUEST, identity(REQUEST), Directives(), ReuseMiss("absent"), PLAN, "up", perf_counter()
    )
    return replace(made, **differing)


@pytest.mark.parametrize(
    ("differing", "delivery", "may"),
    [
        ({}, DELIVERY, True),
        ({"plan": replace(PLAN, kind="over-budget")}, DELIVERY, True),
        ({"plan": replace(PLAN, messages=None)}, DELIVERY, False),
        ({"plan": replace(PLAN, kind="fail-open")}, DELIVERY, False),
        ({"directives": Directives(store=False)}, DELIVERY, False),
        ({"directives": Directives(remember=False)}, DELIVERY, False),
        ({"directives": Directives(mode="meter")}, DELIVERY, False),
        ({"request": parse(body(user("hi"), model="m", n=2))}, DELIVERY, False),
        ({}, replace(DELIVERY, outcome="client_gone"), False),
        ({}, replace(DELIVERY, status=500), False),
    ],
)
def test_a_request_is_mirrored_only_if_it_was_rewritten_answered_and_may_be_kept(
    differing: dict[str, Any], delivery: Delivery, *, may: bool
) -> None:
    assert is_candidate(exchange(**differing), delivery) is may


def test_a_scope_that_no_upstream_has_answered_is_not_mirrored() -> None:
    made = exchange()
    assert not is_candidate(replace(made, identity=replace(made.identity, is_answered=False)), DELIVERY)


def test_the_choice_is_a_share_and_stable() -> None:
    links = [number.to_bytes(16) for number in range(5_000)]
    drawn = [link for link in links if is_drawn("a/", link, 0.1)]
    assert 400 < len(drawn) < 600
    assert drawn == [link for link in links if is_drawn("a/", link, 0.1)]
    assert not any(is_drawn("a/", link, 0.0) for link in links)
    assert all(is_drawn("a/", link, 1.0) for link in links)


def test_who_is_chosen_at_a_share_is_chosen_at_a_larger_one() -> None:
    links = [number.to_bytes(16) for number in range(1_000)]
    assert {link for link in links if is_drawn("a/", link, 0.1)} <= {
        link for link in links if is_drawn("a/", link, 0.3)
    }


@pytest.mark.parametrize(
    ("fields", "tokens", "prompt", "completion"),
    [({}, 100, 1_250, 1_024), ({}, 1_000, 1_250, 4_000), ({"max_tokens": 200}, 1_000, 1_250, 200)],
)
def test_money_is_set_aside_for_the_whole_prompt_and_a_longer_answer(
    fields: dict[str, Any], tokens: int, prompt: int, completion: int
) -> None:
    most = most_of(exchange(request=parse(body(user("hi"), model="m", **fields))), tokens)
    assert (most.prompt, most.completion) == (prompt, completion)


def test_the_question_is_the_newest_user_message() -> None:
    assert question_of(messages(user("one"), assistant("two"), user("three"))) == "three"
    assert question_of(messages(assistant("two"))) == ""
