"""Searches a text for many patterns at once, and tries only those that can match it.

Hardly one of the patterns that a text is read with finds anything in it. How a match may begin is read off each
pattern: "remember", "don't f". One pass over the text finds the beginnings that are there, and with them the patterns
that are worth a search of their own. A pattern of which nothing can be told is always tried.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from importlib import import_module
from itertools import groupby
from typing import Any, NamedTuple

_PARSER: Any = import_module("re._parser")
_WORD = r"\b"  # where one begins
_LONGEST = 7  # characters of a beginning
_MOST = 2_000  # beginnings of a pattern; with more of them it is always tried
_MOST_OF_CLASS = 32  # characters of a class that are told apart


class Beginning(NamedTuple):
    """A way in which a match may begin."""

    written: str
    goes_on: bool = False  # anything may follow
    at_word: bool = False  # no character of a word stands before it


class Finder:
    """Named patterns that are searched for together."""

    def __init__(self, patterns: Mapping[str, re.Pattern[str]]) -> None:
        self._names = tuple(patterns)
        self._searches = tuple(pattern.search for pattern in patterns.values())
        always = set()
        # By the character in front: the beginnings behind it, and the patterns of each. "": where a word begins.
        by_mark: defaultdict[str, defaultdict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
        for number, pattern in enumerate(patterns.values()):
            begins = beginnings(pattern)
            if not begins or any(_is_of_word(each.written[0]) and not each.at_word for each in begins):
                always.add(number)
                continue
            for each in begins:
                mark = "" if each.at_word else each.written[0]
                by_mark[mark][each.written[len(mark) :]].add(number)
        self._always = frozenset(always)
        self._passes = tuple(
            (mark, re.compile(f"{re.escape(mark) or _WORD}(?=({_tree(begun)}))").findall, _with_shorter(begun))
            for mark, begun in by_mark.items()
        )

    def found(self, text: str) -> list[str]:
        """Returns the names of the patterns that match anywhere in `text`, in their order."""
        may = self._always.union(
            *(by[begun] for mark, find, by in self._passes if mark in text for begun in set(find(text)))
        )
        return [self._names[number] for number in sorted(may) if self._searches[number](text)]


def _with_shorter(by: Mapping[str, Iterable[int]]) -> dict[str, frozenset[int]]:
    """Returns what each beginning stands for, and the shorter ones that it begins with."""
    return {begun: frozenset().union(*(by.get(begun[:end], ()) for end in range(len(begun) + 1))) for begun in by}


def _tree(begun: Iterable[str]) -> str:
    """Returns the expression for the longest of `begun` that stands somewhere."""
    by_initial: defaultdict[str, list[str]] = defaultdict(list)
    for each in begun:
        by_initial[each[:1]].append(each[1:])
    ends = by_initial.pop("", [])
    branches = [re.escape(initial) + (_tree(rests) if any(rests) else "") for initial, rests in by_initial.items()]
    return f"(?:{'|'.join([*branches, *ends])})"


def beginnings(pattern: re.Pattern[str]) -> frozenset[Beginning]:
    """Returns the ways in which a match of `pattern` may begin; none if nothing can be told."""
    found = _of_all(_PARSER.parse(pattern.pattern, pattern.flags & ~re.UNICODE))
    begins = frozenset(Beginning(each.written, at_word=each.at_word) for each in found)
    return begins if not pattern.flags & re.IGNORECASE and all(each.written for each in begins) else frozenset()


_NOTHING = frozenset({Beginning("")})
_ANYTHING = frozenset({Beginning("", goes_on=True)})


def _of_all(items: Iterable[Any]) -> frozenset[Beginning]:
    found = _NOTHING
    for is_literal, run in groupby(items, key=lambda item: item[0] is _PARSER.LITERAL):
        if is_literal:
            found = _joined(found, frozenset({Beginning("".join(chr(value) for _, value in run))}))
            continue
        for kind, value in run:
            found = _joined(found, _of(str(kind), value))
        if all(each.goes_on for each in found):
            break
    return found


def _joined(found: frozenset[Beginning], then: frozenset[Beginning]) -> frozenset[Beginning]:
    made = [one for one in found if one.goes_on]
    for one in found:
        made += [_in_a_row(one, two) for two in then] if not one.goes_on else ()
    return frozenset(made) if len(made) <= _MOST else _ANYTHING


def _in_a_row(one: Beginning, two: Beginning) -> Beginning:
    written = one.written + two.written
    at_word = one.at_word if one.written else (one.at_word or two.at_word)
    at_word = at_word and (not written or _is_of_word(written[0]))
    return Beginning(written[:_LONGEST], two.goes_on or len(written) >= _LONGEST, at_word)


def _of(kind: str, value: Any) -> frozenset[Beginning]:
    match kind:
        case "IN":
            return _of_class(value)
        case "BRANCH":
            return frozenset().union(*map(_of_all, value[1]))
        case "SUBPATTERN":
            return _of_all(value[3]) if not value[1] else _ANYTHING
        case "ATOMIC_GROUP":
            return _of_all(value)
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            least, most, repeated = value
            found = _of_all(repeated)
            if most != 1:
                found = frozenset(each._replace(goes_on=True) for each in found)
            return found if least else found | _NOTHING
        case "AT":
            return frozenset({Beginning("", at_word=str(value) == "AT_BOUNDARY")})
        case "ASSERT" | "ASSERT_NOT":
            return _NOTHING
        case _:
            return _ANYTHING


def _of_class(members: Iterable[Any]) -> frozenset[Beginning]:
    found: set[str] = set()
    for kind, value in members:
        match str(kind):
            case "LITERAL":
                found.add(chr(value))
            case "RANGE" if value[1] - value[0] < _MOST_OF_CLASS:
                found.update(map(chr, range(value[0], value[1] + 1)))
            case _:
                return _ANYTHING
    return frozenset(map(Beginning, found))


def _is_of_word(character: str) -> bool:
    return character.isalnum() or character == "_"
