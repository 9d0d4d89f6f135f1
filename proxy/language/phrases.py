"""Compiles tables of expressions into patterns, sets and rules.

An entry of a table ends at ` | ` or at a line's end; `phrases` merges all of one into a pattern.

A rule is an expression that is tried only on a text that has what it needs: `what (?:do|does) .*cost` needs "what " and
"cost". A question is read with some fifty expressions, and hardly one of them finds anything. To look for a word is
twenty times cheaper than to search for an expression, so each is given the words without which it cannot match. They
are read off the expression itself; where nothing can be told, it needs nothing and is always tried.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise

_SYNTAX = frozenset(("", *"([.\\\\|"))
_QUANTIFIERS = frozenset("?*+{")
_MOST_NEEDS = 2  # more of them cost more than they spare
_ITEM = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\((?:\?(?:[:=!]|<[=!]))?|[?*+][?+]?|\{\d*,?\d*\}[?+]?|.", re.DOTALL)
_UNREAD = re.compile(r"\(\?(?![:=!]|<[=!])")  # flags, names, conditions
_UNREAD_FLAGS = re.IGNORECASE | re.VERBOSE
_OPTIONAL = ("?", "*", "{0", "{,")
_NO_LITERALS = frozenset(".^$")
_REFERENCE = re.compile(r"\{([a-z][\w-]*)\}")
_OPENING = r" [.?](?: (?:,|y|e|and|so|but|pero|che|hola|hi|hey|hello|buenas|oye|oiga|perdon|sabes si|sabe si))*"


def phrases(*tables: str, opening: bool = False) -> re.Pattern[str]:
    """Compiles a pattern that finds any entry of `tables` in plain text (`proxy.language.words`). The literal space in
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


# --- rules ------------------------------------------------------------------------------------------------------------

Options = tuple[str, ...]  # one of them is in every text that the expression matches


@dataclass(frozen=True, slots=True)
class Rule:
    """An expression with the words without which it cannot match."""

    pattern: re.Pattern[str]
    form: str  # what becomes of a match
    needs: tuple[Options, ...]

    def may_match(self, text: str) -> bool:
        """Tells whether a text has the words that the expression needs."""
        for options in self.needs:
            for option in options:
                if option in text:
                    break
            else:
                return False
        return True


def rules(table: Iterable[tuple[str | re.Pattern[str], str]]) -> tuple[Rule, ...]:
    """Compiles a table of expressions and what becomes of their matches."""
    compiled = ((re.compile(written), form) for written, form in table)
    return tuple(Rule(pattern, form, needs(pattern)) for pattern, form in compiled)


def needs(pattern: re.Pattern[str]) -> tuple[Options, ...]:
    """Returns the words that `pattern` needs to match, the most telling first."""
    if pattern.flags & _UNREAD_FLAGS or _UNREAD.search(pattern.pattern):
        return ()
    found = _group(_ITEM.findall(pattern.pattern)[::-1])
    telling = (options for options in dict.fromkeys(found) if all(option.strip() for option in options))
    return tuple(sorted(telling, key=_worth, reverse=True)[:_MOST_NEEDS])


def _group(items: list[str]) -> list[Options]:
    """Returns the needs of the group that `items`, in reverse, end with, and takes it away with its parenthesis."""
    branches: list[list[Options]] = []
    found: list[Options] = []
    run = ""
    while items and (item := items.pop()) != ")":
        inner: list[Options] = []
        literal = ""
        if item.startswith("("):
            inner = _group(items) if item in {"(", "(?:"} else _group(items)[:0]
        elif item != "|":
            literal = _literal(item)
        quantifier = items.pop() if items and items[-1][0] in _QUANTIFIERS else ""
        is_optional = quantifier.startswith(_OPTIONAL)
        if not is_optional:
            run += literal
        if literal and not quantifier:
            continue
        found += [(run,)] if run else []
        run = ""
        if not is_optional:
            found += inner
        if item == "|":
            branches.append(found)
            found = []
    branches.append([*found, (run,)] if run else found)
    return branches[0] if len(branches) == 1 else _either(branches)


def _literal(item: str) -> str:
    if item[0] == "\\":
        return "" if item[1].isalnum() else item[1]
    return item if len(item) == 1 and item not in _NO_LITERALS else ""


def _either(branches: list[list[Options]]) -> list[Options]:
    if not all(branches):
        return []
    options = {option for found in branches for option in max(found, key=_worth)}
    # Where "how" is looked for, "how many" need not be.
    return [tuple(sorted(one for one in options if not any(other != one and other in one for other in options)))]


def _worth(options: Options) -> tuple[int, int]:
    return min(map(len, options)), -len(options)
