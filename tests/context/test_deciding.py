"""Plans of what was looked up: where they are made, and those that the upstream would refuse."""

from dataclasses import replace
from typing import Any

import pytest

from proxy.context.deciding import INLINE_BYTES, INLINE_FACTS, INLINE_NEW_FACTS, Asked, Decider, Refusable, allowed
from proxy.memory.shelf import Shelf
from proxy.types import Plan, PromptTokens
from tests.builders import NOW, assistant, calling, chat, config, counter, identity, incoming, messages, result, user
from tests.builders import upstream_config as upstream
from tests.context.told import Teller, fact

TALK = [user("What is tea?"), assistant("A leaf."), user("And coffee?")]
REQUEST = chat(*TALK)
STATE = Teller().ask(*TALK[:1]).state


def asked(**differing: Any) -> Asked:
    """A request that goes on from its second message."""
    base = Asked(
        incoming(), REQUEST, identity(REQUEST), upstream(), "lean", 4_000, Shelf(), STATE, 2, frozenset(), False
    )
    return replace(base, **differing)


def with_facts(count: int) -> Shelf:
    facts = [fact(f"value {number}", name=f"f-{number}") for number in range(count)]
    return Shelf(facts={each.id: each for each in facts})


@pytest.mark.parametrize(
    ("differing", "is_short"),
    [
        ({}, True),
        ({"state": None}, False),  # all of it is new
        ({"request": chat(*TALK, assistant("x" * INLINE_BYTES))}, False),
        ({"shelf": with_facts(INLINE_NEW_FACTS)}, True),
        ({"shelf": with_facts(INLINE_NEW_FACTS + 1)}, False),
        ({"shelf": with_facts(INLINE_FACTS + 1)}, False),
    ],
)
def test_little_that_is_new_is_planned_on_the_event_loop(differing: dict[str, Any], *, is_short: bool) -> None:
    assert asked(**differing).is_short is is_short


def test_so_is_nothing_while_messages_are_to_be_removed() -> None:
    shelf = Shelf()
    shelf.leaving.append(frozenset({b"link"}))
    assert not asked(shelf=shelf).is_short


def test_each_step_leaves_the_loop_to_others_and_the_last_one_has_the_plan() -> None:
    taken, made = 0, None
    steps = Decider(config(), counter()).steps(asked(), "1", is_here=True)
    try:
        while True:
            next(steps)
            taken += 1
    except StopIteration as end:
        made = end.value
    assert taken > 0
    assert (made.kind, made.state.at) == ("untouched", NOW)


ORPHAN = messages(user("Look."), result("c"))
FINE = messages(user("Look."), calling("c"), result("c"))


def plan(planned: object) -> Plan:
    return Plan("managed", PromptTokens(1, 1), messages=planned)  # type: ignore[arg-type]  # None or messages


@pytest.mark.parametrize("planned", [None, FINE])
def test_a_plan_that_the_upstream_takes_is_for_its_dialect(planned: object) -> None:
    made = allowed(plan(planned), REQUEST, upstream())
    assert made is not None
    assert made.dialect == upstream().dialect


def test_a_plan_that_it_alone_would_refuse_is_an_error_and_none_is_made_where_it_refuses_the_client() -> None:
    with pytest.raises(Refusable):
        allowed(plan(ORPHAN), REQUEST, upstream())
    assert allowed(plan(ORPHAN), chat(user("Look."), result("c")), upstream()) is None
