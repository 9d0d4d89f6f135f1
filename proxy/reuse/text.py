"""The form of a message that the tables of `patterns` and `effects` are read against, and how a table is compiled.

Plain text is lower case, without accents, with one space around every word and mark; sentences stand between ` . ` and
` ? `. Quoted words are left out: who asks what "today" means asks for no news. So a table needs no word boundaries, no
alternatives of spelling and no thought about where a message begins.
"""

import re
from collections import defaultdict
from itertools import pairwise

# One replacement after the other costs a third of str.translate on text that is not ASCII (8 against 25 µs).
_PLAIN = (
    *zip("áéíóúüñàèìòùâêôçã\u2019\u00b4", "aeiouunaeiouaeoca''", strict=True),
    *((mark, "") for mark in "\u0301\u0303\u0308*_"),
    *((mark, " ? ") for mark in "¿?"),
    *((mark, " . ") for mark in "¡!;:\n…"),
    *((mark, " , ") for mark in ",)[]\u2013\u2014"),
    ("...", " . "),
    (". ", " . "),
    ("(", "( "),  # now( is the name of a function
)
_QUOTED = re.compile(
    r"\"[^\"\n]{1,80}\"|“[^”\n]{1,80}”|«[^»\n]{1,80}»|`[^`\n]{1,80}`|(?<![a-z])'[^'\n]{1,80}'(?![a-z])"
)
_SYNTAX = frozenset(("", *"([.\\\\|"))
_QUANTIFIERS = frozenset("?*+{")
_OPENING = r" [.?](?: (?:,|y|e|and|so|but|pero|che|hola|hi|hey|hello|buenas|oye|oiga|perdon|sabes si|sabe si))*"
_QUOTES = frozenset("\"“«`'")


def plain(text: str) -> str:
    """`text` in the form that every table here is written for. It begins and ends with a sentence mark."""
    text = text.lower()
    if not _QUOTES.isdisjoint(text):
        text = _QUOTED.sub(" quoted ", text)
    for mark, replacement in _PLAIN:
        text = text.replace(mark, replacement)
    body = " ".join(text.split()).rstrip(" .")
    return f" . {body} . " if body else " . "


def phrases(*tables: str, opening: bool = False) -> re.Pattern[str]:
    """What finds any entry of `tables`. The literal space in front lets the engine jump from word to word, and the
    entries are merged into a prefix tree, so that a word costs a few comparisons however large the tables are.
    `opening`: only where a sentence begins."""
    return re.compile(f"{_OPENING if opening else ''} {prefix_tree(*tables)}(?= )")


def prefix_tree(*tables: str) -> str:
    """The expression for all entries of `tables`, for use as a part of a larger one."""
    variants = {variant for table in tables for entry in _entries(table) for variant in _variants(entry)}
    return _merge(sorted(variants))


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
    # A leading group is multiplied out, so that every variant begins with a letter.
    if not entry.startswith("(") or entry.startswith("(?"):
        return [entry]
    depth, cuts = 0, [0]
    for at, character in enumerate(entry):
        depth += (character == "(") - (character == ")")
        if depth == 0 or (depth == 1 and character == "|"):
            cuts.append(at)
        if depth == 0:
            break
    firsts = (entry[left + 1 : right] for left, right in pairwise(cuts))
    return [variant for first in firsts for variant in _variants(first + entry[cuts[-1] + 1 :])]


def words(table: str) -> frozenset[str]:
    return frozenset(table.split())


def sentence(text: str, position: int) -> str:
    """The sentence of plain `text` that `position` is in, with a space at either end."""
    start = max(text.rfind(" . ", 0, position + 1), text.rfind(" ? ", 0, position + 1))
    ends = (text.find(" . ", position + 1), text.find(" ? ", position + 1))
    return text[max(start, 0) + 2 : min((end for end in ends if end >= 0), default=len(text)) + 1]
