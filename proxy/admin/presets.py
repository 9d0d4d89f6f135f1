"""Presets of what-if: three directions in which the numbers of a profile can be moved at once, for whoever does not
want to think of numbers. Each is a set of changes to a profile, by dotted names, as `what_if.py` takes them. Pure.

    save       smaller prompts: half the limit, fewer turns, less recall
    balanced   the numbers of the built-in profile that lets the economics decide
    remember   larger prompts: twice the limit, more turns, facts and recall
"""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Literal, TypeAlias

from proxy.config.builtin_profiles import BUILT_IN
from proxy.config.profiles import MOST_COUNT, MOST_TOKENS, Profile
from proxy.types import Json

Preset: TypeAlias = Literal["save", "balanced", "remember"]

_LEAST_TURNS, _LEAST_BUDGET = 2, 500


def presets(profile: Profile) -> Mapping[Preset, Mapping[str, Json]]:
    """Returns the changes of each preset to a profile; none where it is like that already."""
    usual = BUILT_IN["agent" if profile.base == "agent" else "balanced"]
    now = _numbers(profile)
    moved: tuple[tuple[Preset, Mapping[str, Json]], ...] = (
        ("save", _smaller(profile)),
        ("balanced", _numbers(usual)),
        ("remember", _larger(profile)),
    )
    return {name: {path: each for path, each in changes.items() if each != now[path]} for name, changes in moved}


def _numbers(profile: Profile) -> dict[str, Json]:
    """Returns the numbers of a profile by their dotted names."""
    found: dict[str, Json] = {}
    for name, value in asdict(profile).items():
        if isinstance(value, dict):
            found.update({f"{name}.{part}": each for part, each in value.items()})
        elif name != "base":
            found[name] = value
    return found


def _smaller(profile: Profile) -> Mapping[str, Json]:
    window, recall = profile.window, profile.recall
    held = profile.summaries.slots * profile.summaries.tokens + profile.facts.tokens
    return {
        "budget": _scaled(profile.budget, 0.5, least=max(_LEAST_BUDGET, held)),
        "window.turns": _turns(window.turns, 2 / 3),
        "window.min_turns": _turns(window.min_turns, 2 / 3),
        "window.max_turns": _turns(window.max_turns, 2 / 3),
        "window.tokens": _scaled(window.tokens, 0.5),
        "window.answer_tokens": _scaled(window.answer_tokens, 0.5),
        "recall.cap": _scaled(recall.cap, 0.5),
        "tool_results.fold_first": True,
        "tool_results.keep": min(profile.tool_results.keep, max(1, profile.tool_results.keep // 2)),
    }


def _larger(profile: Profile) -> Mapping[str, Json]:
    window, summaries = profile.window, profile.summaries
    return {
        "budget": _scaled(profile.budget, 2),
        "window.turns": _turns(window.turns, 3 / 2),
        "window.min_turns": _turns(window.min_turns, 3 / 2),
        "window.max_turns": _turns(window.max_turns, 3 / 2),
        "window.tokens": _scaled(window.tokens, 2),
        "window.answer_tokens": _scaled(window.answer_tokens, 2),
        "summaries.slots": min(MOST_COUNT, 2 * summaries.slots),
        "facts.tokens": _scaled(profile.facts.tokens, 2),
        "recall.cap": _scaled(profile.recall.cap, 2),
    }


def _turns(turns: int, factor: float) -> int:
    return min(MOST_COUNT, max(min(turns, _LEAST_TURNS), round(turns * factor)))


def _scaled(given: Any, factor: float, *, least: int = 0) -> Any:
    """Returns a number of tokens times `factor`; words as they are."""
    if not isinstance(given, int):
        return given
    return min(MOST_TOKENS, max(min(given, least), round(given * factor)))
