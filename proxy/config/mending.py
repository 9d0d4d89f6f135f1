"""A configuration without its wrong settings: so that a file with several mistakes is told all of them at once, those
between settings included.

What is wrong is left out, or made up where it is required. A rule whose finding may only follow from that says nothing.
"""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from pydantic import ValidationError

from proxy.config.model import Config
from proxy.config.problems import schema_at
from proxy.config.rules import violations
from proxy.config.settings import key_hash
from proxy.config.source import Problem, Where

MOST_ROUNDS = 50  # settings that are left out one after another
_MADE_UP: Mapping[str, str] = {
    "name": "unnamed-{}",
    "base_url": "https://unnamed-{}.invalid/v1",
    "model": "unnamed-{}",
    "key": key_hash("unnamed-{}"),
}
# Findings about names, which say nothing once a thing of that name may have been left out.
_NAMES = {"no upstream is named": ("upstreams", 2), "no profile is named": ("profiles", 2)}


@dataclass(frozen=True, slots=True)
class Mended:
    """A configuration of the settings that are right. `gone`: the others. `errors`: pydantic's, of the first look."""

    config: Config | None  # None: they could not be left out
    gone: frozenset[Where]
    errors: Sequence[Any]


def mended(tree: Mapping[str, Any]) -> Mended:
    """Returns the configuration of what is right in a tree of settings."""
    rest: Any = tree
    gone: set[Where] = set()
    first: list[Any] = []
    for _ in range(MOST_ROUNDS):
        try:
            return Mended(Config.model_validate(rest), frozenset(gone), first)
        except ValidationError as error:
            errors: list[Any] = list(error.errors(include_url=False))
        if not gone:
            first = errors
            rest = copy.deepcopy(tree)
        wrong = [each for each in errors if each["type"] != "too_short" or not each["input"]]  # see `explained`
        left = [where for each in wrong if (where := _without(rest, each)) is not None]
        if not left:
            break
        gone.update(left)
    return Mended(None, frozenset(gone), first)


def broken_rules(found: Mended) -> list[Problem]:
    """Returns the rules that the rest breaks by itself."""
    if found.config is None:
        return []
    return [each for each in violations(found.config) if not _may_follow(each, found.gone)]


def _without(tree: Any, error: Mapping[str, Any]) -> Where | None:
    """Leaves out the setting that an error of pydantic means, or makes it up if it is missing. Returns its path; None
    if it can't be done."""
    where: Where = ()
    node, parent = tree, tree
    for part in error["loc"]:
        is_there = part in node if isinstance(node, dict) else isinstance(node, list) and part in range(len(node))
        if is_there:  # else it is the library's own mark of a union or a validator, or a key that is missing
            parent, node = node, node[part]
            where = (*where, part)
    name = error["loc"][-1] if error["loc"] else ""
    if error["type"] == "missing" and isinstance(node, dict) and name in _MADE_UP:
        node[name] = _MADE_UP[name].format(where[-1] if where else 0)
        return (*where, name)
    while where:
        if isinstance(parent, dict):
            parent.pop(where[-1], None)
            return where
        where = where[:-1]  # an item of a list: leaving it out would move the others
        parent = _at(tree, where[:-1])
    return None


def _at(tree: Any, where: Where) -> Any:
    for part in where:
        tree = tree[part]
    return tree


def _concerns(left_out: Where, section: Where, where: Where) -> bool:
    if section[: len(left_out)] == left_out:
        return True
    if left_out[: len(section)] != section:
        return False
    # An unknown key is nothing but itself, unless it was meant to be this one.
    return schema_at(left_out) is not None or bool(
        get_close_matches(str(left_out[len(section)]).lower(), [str(where[-1])])
    )


def _may_follow(problem: Problem, gone: frozenset[Where]) -> bool:
    """Returns True if a rule might not be broken had nothing been left out: it is about the same section."""
    where = problem.where
    section = where[:-1] or where[:1]
    if any(_concerns(each, section, where) for each in gone):
        return True
    named = next((value for text, value in _NAMES.items() if problem.text.startswith(text)), None)
    if named is None:
        return False
    top, depth = named
    return any(each[0] == top and (len(each) <= depth or each[depth] == "name") for each in gone)
