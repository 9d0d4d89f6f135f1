from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from proxy.config.builtin_profiles import BUILT_IN, with_overrides
from proxy.config.profiles import Profile


def merged(given_profiles: dict[str, Any]) -> dict[str, Profile]:
    return TypeAdapter(dict[str, Profile]).validate_python(with_overrides(given_profiles))


@pytest.mark.parametrize(
    "changes",
    [
        {"window": {"turns": 9}},
        {"window": {"turns": 3}},
        {"window": {"min_turns": 7}},
        {"window": {"min_turns": 0}},
        {"window": {"low_continuity": 0.8}},
        {"window": {"shift": 1.1}},
        {"window": {"tokens": -1}},
        {"window": {"tokns": 1}},
        {"window": None},
        {"window": []},
        {"budget": 349},
        {"facts": {"tokens": 3_801}},
        {"budget": 0},
        {"budget": "unlimited"},
        {"summaries": {"slots": 100}},
        {"recall": {"tokens": "all"}},
        {"context_share": 0},
        {"head_share": 1.1},
        {"context_share": float("nan")},
        {"fold": "never"},
        {"base": "fat"},
        {"base": ["lean"]},
        "lean",
        None,
    ],
)
def test_numbers_that_cannot_be_are_refused(changes: object) -> None:
    with pytest.raises(ValidationError):
        merged({"lean": changes})


@pytest.mark.parametrize(
    "changes",
    [
        {"window": {"tokens": 5_000}},  # it gives way
        {"budget": 350},
        {"facts": {"tokens": 3_800}},
        {"budget": "economic", "window": {"tokens": 99_999}},
        {"recall": {"tokens": 0, "cap": 0}},
        {"summaries": {"slots": 0}},
        {"fold": "strict"},
    ],
)
def test_numbers_at_their_limits_are_taken(changes: dict[str, Any]) -> None:
    assert merged({"lean": changes})["lean"] != BUILT_IN["lean"]


@settings(deadline=None)
@given(st.integers(0, 12), st.integers(0, 12), st.integers(0, 12))
def test_a_window_is_valid_exactly_if_its_turns_are_in_order(low: int, turns: int, high: int) -> None:
    changes = {"lean": {"window": {"min_turns": low, "turns": turns, "max_turns": high}}}
    if 1 <= low <= turns <= high:
        assert merged(changes)["lean"].window.turns == turns
    else:
        with pytest.raises(ValidationError):
            merged(changes)
