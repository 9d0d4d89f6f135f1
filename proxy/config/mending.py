"""A configuration without its wrong settings: so that a file with several mistakes is told all of them at once, those
between settings included.

What is wrong is left out, or made up where it is required. A rule whose finding may only follow from that says nothing.
"""

import copy
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from proxy.config.model import Config
from proxy.config.reading import Reads, watched
from proxy.config.rules import RULES
from proxy.config.settings import key_hash
from proxy.config.source import Problem, Where

MOST_ROUNDS = 50  # settings that are left out one after another
_MADE_UP: Mapping[str, str] = {
    "name": "unnamed-{}",
    "base_url": "https://unnamed-{}.invalid/v1",
    "model": "unnamed-{}",
    "key": key_hash("unnamed-{}"),
}


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
    """Returns the rules that the rest breaks by itself: what they tell rests on no setting that was left out."""
    return [] if found.config is None else list(_broken(found.config, found.gone))


def _broken(config: Config, gone: Collection[Where]) -> Iterator[Problem]:
    for rule in RULES:
        reads = Reads()
        for where, text in rule(watched(config, reads)):
            may_follow = any(each[: len(where)] == where or where[: len(each)] == each for each in gone)
            if not may_follow and not any(map(reads.rest_on, gone)):
                yield Problem(where, text)


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
