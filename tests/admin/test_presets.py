"""Presets of what-if: for every profile they are numbers that it may have, and move it where they say."""

from dataclasses import asdict
from typing import Any

import pytest

from proxy.admin.presets import presets
from proxy.admin.what_if import changed
from proxy.config.builtin_profiles import BUILT_IN
from proxy.config.profiles import Profile
from tests.builders import config


def moved(profile: str, preset: str) -> Profile:
    """The profile with the changes of the preset, held to the rules of a file."""
    changes = presets(BUILT_IN[profile])[preset]  # type: ignore[index]  # one of them
    return changed(config(), profile, changes).profiles[profile]


@pytest.mark.parametrize("name", BUILT_IN)
@pytest.mark.parametrize("preset", ["save", "balanced", "remember"])
def test_every_profile_may_have_them(name: str, preset: str) -> None:
    assert moved(name, preset).base == name


@pytest.mark.parametrize("name", BUILT_IN)
def test_to_save_is_less_of_everything_and_to_remember_is_more(name: str) -> None:
    less, now, more = moved(name, "save"), BUILT_IN[name], moved(name, "remember")
    sizes: list[tuple[Any, ...]] = [
        (each.budget, each.window.turns, each.window.tokens, each.recall.cap) for each in (less, now, more)
    ]
    for small, usual, large in zip(*sizes, strict=True):
        assert small == usual == large == "economic" or small < usual < large
    assert less.summaries == now.summaries
    assert more.summaries.slots == 2 * now.summaries.slots


@pytest.mark.parametrize(("name", "usual"), [("lean", "balanced"), ("conversation", "balanced"), ("agent", "agent")])
def test_balanced_is_the_built_in_profile(name: str, usual: str) -> None:
    told = asdict(moved(name, "balanced"))
    assert {**told, "base": usual} == asdict(BUILT_IN[usual])


def test_what_is_so_already_is_no_change() -> None:
    assert presets(BUILT_IN["balanced"])["balanced"] == {}
    assert "summaries.tokens" not in presets(BUILT_IN["lean"])["save"]
    assert "tool_results.fold_first" not in presets(BUILT_IN["agent"])["save"]
