"""Other numbers in a profile, held to the configuration's own rules."""

from typing import Any

import pytest

from proxy.admin.changes import MOST_CHANGES, changed
from proxy.errors import BadRequest
from tests.builders import config


def test_numbers_are_named_by_their_path_and_the_rest_stays() -> None:
    before = config()
    after = changed(before, "lean", {"window.tokens": 2_000, "budget": "economic", "recall.cap": 0})
    lean = after.profiles["lean"]
    assert (lean.window.tokens, lean.budget, lean.recall.cap) == (2_000, "economic", 0)
    assert lean.window.turns == before.profiles["lean"].window.turns
    assert before.profiles["lean"].window.tokens == 1_200
    assert after.context == before.context
    assert changed(before, "lean", {}) == before


@pytest.mark.parametrize(
    ("name", "profile", "with_tools"),
    [("lean", "lean", "agent"), ("agent", "lean", "agent"), ("balanced", "balanced", "agent")],
)
def test_a_profile_that_no_request_has_takes_the_place_of_that_of_plain_chats(
    name: str, profile: str, with_tools: str
) -> None:
    after = changed(config(), name, {}).context
    assert (after.profile, after.profile_with_tools) == (profile, with_tools)


@pytest.mark.parametrize(
    ("changes", "param", "told"),
    [
        ({"window.tokns": 5}, "window.tokns", "did you mean `tokens`"),
        ({"windw.tokens": 5}, "windw", "did you mean `window`"),
        ({"window.tokens": -1}, "window.tokens", "greater than or equal to 0"),
        ({"window.tokens": "many"}, "window.tokens", "expected"),
        ({"window.tokens": None}, "window.tokens", "expected"),
        ({"window.turns": 1}, "window", "min_turns"),
        ({"window": 5}, "window", "expected"),
        ({"budget": 0}, "budget", "greater than or equal to 1"),
        ({"budget": 100}, "changes", "above the budget 100"),
        ({"budget.more": 1}, "budget.more", "leads nowhere"),
        ({"fold": "never"}, "fold", "economic"),
        ({"base": "agent"}, "base", "none of them"),
        ({"": 5}, "", "unknown"),
        ({f"x{number}": 1 for number in range(MOST_CHANGES + 1)}, "changes", "More than"),
    ],
)
def test_a_number_that_cannot_be_is_refused_by_name(changes: dict[str, Any], param: str, told: str) -> None:
    with pytest.raises(BadRequest) as refused:
        changed(config(), "lean", changes)
    assert told in refused.value.message
    assert refused.value.param == (param or refused.value.param)


def test_a_profile_that_is_not_there_is_told_with_those_that_are() -> None:
    with pytest.raises(BadRequest, match="lean, balanced, agent") as refused:
        changed(config(), "leen", {})
    assert refused.value.param == "profile"
