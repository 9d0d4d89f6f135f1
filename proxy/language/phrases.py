"""Compiles tables of expressions into patterns and sets.

An entry ends at ` | ` or at a line's end.
"""

import re
from collections import defaultdict
from collections.abc import Mapping
from itertools import pairwise

_SYNTAX = frozenset(("", *"([.\\\\|"))
_QUANTIFIERS = frozenset("?*+{")
_REFERENCE = re.compile(r"\{([a-z][\w-]*)\}")
_OPENING = r" [.?](?: (?:,|y|e|and|so|but|pero|che|hola|hi|hey|hello|buenas|oye|oiga|perdon|sabes si|sabe si))*"


def phrases(*tables: str, opening: bool = False) -> re.Pattern[str]:
    """Compiles a pattern that finds any entry of `tables` in plain text (`proxy.language.text`). The literal space in
    front lets the engine jump from word to word, and the entries are merged into a prefix tree, so that a word costs a
    few comparisons however large the tables are. `opening`: only where a sentence begins."""
    return re.compile(f"{_OPENING if opening else ''} {prefix_tree(*tables)}(?= )")


def prefix_tree(*tables: str) -> str:
    """The expression for all entries of `tables`, for use as a part of a larger one."""
    variants = {variant for table in tables for entry in _entries(table) for variant in _variants(entry)}
    return _merge(sorted(variants))


def expression(tables: Mapping[str, str], written: str, flags: int = 0) -> re.Pattern[str]:
    """The pattern `written`, in which `{name}` stands for the entries of the table of that name, in their order, as one
    group; so it does in the entries themselves."""
    return re.compile(_filled(tables, written), flags)


def _filled(tables: Mapping[str, str], written: str) -> str:
    return _REFERENCE.sub(lambda found: f"(?:{_filled(tables, '|'.join(_entries(tables[found[1]])))})", written)


def _merge(entries: list[str]) -> str:
    by_initial: defaultdict[str, list[str]] = defaultdict(list)
    for entry in entries:
        # Only a plain character is split off; what a quantifier or a class begins stays whole.
        plain_initial = entry[:1] not in _SYNTAX and entry[1:2] not in _QUANTIFIERS
        by_initial[entry[0] if plain_initial else ""].append(entry[1:] if plain_initial else entry)
    whole = by_initial.pop("", [])
    branches = [initial + (_merge(rests) if len(rests) > 1 else rests[0]) for initial, rests in by_initial.items()]
    return f"(?:{'|'.join(branches + whole)})"


def _entries(table: str) -> list[str]:
    return [entry.strip() for entry in re.split(r" \| |\n", table.strip())]


def _variants(entry: str) -> list[str]:
    # A leading group is multiplied out, so that every variant begins with a letter; one that may be missing is left
    # out as well.
    if not entry.startswith("(") or entry.startswith("(?"):
        return [entry]
    depth, cuts = 0, [0]
    for at, character in enumerate(entry):
        depth += (character == "(") - (character == ")")
        if depth == 0 or (depth == 1 and character == "|"):
            cuts.append(at)
        if depth == 0:
            break
    if entry[cuts[-1] + 1 : cuts[-1] + 2] == "?":
        rest = entry[cuts[-1] + 2 :]
        return [*_variants(entry[: cuts[-1] + 1] + rest), *_variants(rest)]
    firsts = (entry[left + 1 : right] for left, right in pairwise(cuts))
    return [variant for first in firsts for variant in _variants(first + entry[cuts[-1] + 1 :])]


def words(table: str) -> frozenset[str]:
    """Returns the words of a table that has neither expressions nor phrases."""
    return frozenset(table.split())
