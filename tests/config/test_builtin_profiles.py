from typing import Any

import pytest
from pydantic import TypeAdapter

from proxy.config.builtin_profiles import BUILT_IN, with_overrides
from proxy.config.profiles import Profile


def merged(given_profiles: dict[str, Any]) -> dict[str, Profile]:
    return TypeAdapter(dict[str, Profile]).validate_python(with_overrides(given_profiles))


def test_the_built_in_profiles_pass_their_own_validation() -> None:
    assert merged({}) == dict(BUILT_IN)


@pytest.mark.note("2.1/1", "2.1/2", "2.1/3", "2.1/8")
def test_lean_is_the_architecture_note_to_the_letter() -> None:
    lean = BUILT_IN["lean"]
    window = lean.window
    assert (lean.budget, lean.pressure * 4_000) == (4_000, 3_000)
    assert (window.turns, window.min_turns, window.max_turns, window.tokens) == (6, 4, 8, 1_200)
    assert window.continuity_turns == 2
    assert (lean.summaries.segment_turns, lean.summaries.slots, lean.summaries.tokens) == (3, 4, 50)
    assert lean.summaries.slots * lean.summaries.tokens == 200
    assert (lean.facts.tokens, lean.facts.said_turns) == (150, 3)
    assert lean.recall.tokens == "rest"


@pytest.mark.note(
    "v2 Resumen/6",
    "v2 Buffer/1",
    "v2 Buffer/2",
    "v2 Buffer/3",
    "v2 Buffer/4",
    "v2 Niveles/2",
    "v2 Configuración/3",
    "v2 Configuración/4",
    "v2 Configuración/5",
)
@pytest.mark.parametrize(
    ("name", "short_term", "long_term", "budget", "pressure"),
    [
        ("conversation", 10, 50, 4_000, 0.8),
        ("conversation-short", 5, 20, 2_000, 0.8),
        ("conversation-long", 15, 100, 6_000, 0.8),
        ("conversation-few-workers", 5, 50, 4_000, 0.5),
    ],
)
def test_profiles_of_three_levels_keep_the_turns_of_their_presets(
    name: str, short_term: int, long_term: int, budget: int, pressure: float
) -> None:
    profile = BUILT_IN[name]
    window, summaries = profile.window, profile.summaries
    assert {window.min_turns, window.turns, window.max_turns} == {short_term}
    assert window.answer_tokens == 0  # in full
    assert summaries.slots * summaries.segment_turns == long_term
    assert (profile.budget, profile.pressure, profile.fold) == (budget, pressure, "economic")


@pytest.mark.parametrize("profile", BUILT_IN.values(), ids=BUILT_IN)
def test_every_summary_and_fact_of_a_small_budget_has_its_place(profile: Profile) -> None:
    held = profile.summaries.slots * profile.summaries.tokens + profile.facts.tokens
    if profile.budget != "economic":
        assert held + 20 <= profile.head_share * profile.budget <= 0.21 * profile.budget
        assert profile.window.tokens + profile.head_share * profile.budget < profile.pressure * profile.budget


def test_every_profile_is_its_own_base() -> None:
    assert {name: profile.base for name, profile in BUILT_IN.items()} == {name: name for name in BUILT_IN}


def test_one_number_can_be_overridden_and_the_others_stay() -> None:
    lean = merged({"lean": {"window": {"turns": 5}}})["lean"]
    assert lean.window.turns == 5
    assert (lean.window.tokens, lean.budget) == (BUILT_IN["lean"].window.tokens, BUILT_IN["lean"].budget)
    assert BUILT_IN["lean"].window.turns == 6


@pytest.mark.parametrize(
    ("given_base", "base"), [({"base": "lean"}, "lean"), ({"base": "agent"}, "agent"), ({}, "balanced")]
)
def test_an_added_profile_starts_from_its_base(given_base: dict[str, str], base: str) -> None:
    profiles = merged({"mine": {**given_base, "facts": {"tokens": 7}}})
    assert set(profiles) == {*BUILT_IN, "mine"}
    assert profiles["mine"].facts.tokens == 7
    assert (profiles["mine"].base, profiles["mine"].window) == (base, BUILT_IN[base].window)
