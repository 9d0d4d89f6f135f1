"""Expressions that are tried only on a text that has what they need: `what (?:do|does) .*cost` needs "what " and
"cost".

A question is read with some fifty expressions, and hardly one of them finds anything. To look for a word is twenty
times cheaper than to search for an expression, so each is given the words without which it cannot match. They are read
off the expression itself; where nothing can be told, it needs nothing and is always tried.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

Options = tuple[str, ...]  # one of them is in every text that the expression matches

_MOST_NEEDS = 2  # more of them cost more than they spare
_ITEM = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\((?:\?(?:[:=!]|<[=!]))?|[?*+][?+]?|\{\d*,?\d*\}[?+]?|.", re.DOTALL)
_UNREAD = re.compile(r"\(\?(?![:=!]|<[=!])")  # flags, names, conditions
_UNREAD_FLAGS = re.IGNORECASE | re.VERBOSE
_QUANTIFIERS = frozenset("?*+{")
_OPTIONAL = ("?", "*", "{0", "{,")
_NO_LITERALS = frozenset(".^$")


@dataclass(frozen=True, slots=True)
class Rule:
    """An expression with the words without which it cannot match."""

    pattern: re.Pattern[str]
    form: str  # what becomes of a match, or what it tells
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

    def found_in(self, text: str) -> bool:
        """Tells whether the expression matches somewhere in a text."""
        return self.may_match(text) and self.pattern.search(text) is not None


def rule(expression: str | re.Pattern[str], form: str = "") -> Rule:
    """Compiles one expression."""
    pattern = re.compile(expression)
    return Rule(pattern, form, needs(pattern))


def rules(table: Iterable[tuple[str | re.Pattern[str], str]]) -> tuple[Rule, ...]:
    """Compiles a table of expressions and their forms."""
    return tuple(rule(expression, form) for expression, form in table)


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
