"""What a sentence is a sign of: the tables of `signals_es` and `signals_en`, compiled.

    REMEMBER     the user asks to keep it            STANDING   holds for every answer
    DECIDES      a decision                          PREFERS    likes and dislikes
    SLOTS        what it is about, as (key, domain, table)       IS         what a project's sentences say of it
    CHANGES      something else was said before      KEEPS      what was said before still holds
    IMAGINE, HYPOTHETICAL, PASSING, REPORTED, OTHERS, TASK, ASKS, CASUAL: no facts
    LEADS, LEADS_THAT, TAILS: what stands around a value

A line that is indented goes on with the entry before it. A table whose name ends in `_OPENS` counts only where a
sentence begins.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, fields
from itertools import accumulate
from textwrap import dedent
from types import ModuleType
from typing import NamedTuple

from proxy.language.phrases import phrases, prefix_tree
from proxy.memory import signals_en, signals_es
from proxy.types.memory import Language

_GOES_ON = "\n  "  # so begins a line that goes on with the entry of the line before
_ACCENTS = str.maketrans("áéíóúüñàèìòù\u2019\u0130", "aeiouunaeiou'i")


class Slot(NamedTuple):
    key: str
    domain: str
    table: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Signals:
    """Patterns for plain text, unless said otherwise."""

    remember: re.Pattern[str]
    standing: re.Pattern[str]
    standing_opens: re.Pattern[str]
    decides: re.Pattern[str]
    decides_opens: re.Pattern[str]
    prefers: re.Pattern[str]
    changes: re.Pattern[str]
    keeps: re.Pattern[str]
    imagine: re.Pattern[str]
    hypothetical: re.Pattern[str]
    hypothetical_opens: re.Pattern[str]
    passing: re.Pattern[str]
    lately: re.Pattern[str]
    reported: re.Pattern[str]
    others: re.Pattern[str]
    task: re.Pattern[str]
    asks: re.Pattern[str]
    casual: re.Pattern[str]
    family: re.Pattern[str]
    refers: re.Pattern[str]  # what begins so goes on from the sentence before
    states: re.Pattern[str]  # what a project's sentences say of it
    slots: tuple[Slot, ...]
    leads: re.Pattern[str]  # of `folded` text
    tails: re.Pattern[str]  # of `folded` text


def folded(text: str) -> str:
    """`text` in lower case and without accents, every character where it was."""
    low = text.lower().translate(_ACCENTS)
    return low if len(low) == len(text) else text.translate(_ACCENTS)


_OPENING_TABLES = (
    "imagine",
    "task",
    "asks",
    "others",
    "standing_opens",
    "decides_opens",
    "hypothetical_opens",
    "refers",
)


def _phrases(table: str, *, opening: bool = False) -> re.Pattern[str]:
    """What finds an entry of `table`, anywhere or where plain text begins."""
    written = "\n".join(variant for entry in _entries(table) for variant in _without_option(entry))
    return re.compile(rf" [.?](?: ,)* {prefix_tree(written)}(?= )") if opening else phrases(written)


def _without_option(entry: str) -> list[str]:
    """`entry` with and without the group that it begins with, if that may be left out: a prefix tree needs to know
    what an entry begins with."""
    if not entry.startswith("("):
        return [entry]
    depths = accumulate((character == "(") - (character == ")") for character in entry)
    end = next(at for at, depth in enumerate(depths, start=1) if depth == 0)
    if entry[end : end + 1] != "?":
        return [entry]
    return [entry[:end] + entry[end + 1 :], *_without_option(entry[end + 1 :])]


def _compiled(table: ModuleType) -> Signals:
    named = {field.name: field.name.upper() for field in fields(Signals)}
    patterns = {
        name: _phrases(getattr(table, written), opening=name in _OPENING_TABLES)
        for name, written in named.items()
        if name not in _OTHERWISE
    }
    one, lasting = _joined(table.LEADS), _joined(table.LEADS_THAT)
    return Signals(
        **patterns,
        states=_phrases(table.IS),
        slots=tuple(Slot(key, domain, _phrases(written)) for key, domain, written in table.SLOTS),
        leads=re.compile(rf"\W*(?:(?:{one})(?:[,.:;!…]+\s*|\s+-\s+)|(?:{lasting})\s+)"),
        tails=re.compile(rf"(?:[\s,.;:!¿?]+{table.TAILS})?[\s,.;:!¿?…]*\Z"),
    )


_OTHERWISE = frozenset({"states", "slots", "leads", "tails"})


def _joined(table: str) -> str:
    return "".join(table.split("\n")).strip()


def _entries(table: str) -> Iterator[str]:
    return (
        entry.strip() for entry in re.split(r" \| |\n", dedent(table).strip().replace(_GOES_ON, "")) if entry.strip()
    )


SIGNALS: dict[Language, Signals] = {"es": _compiled(signals_es), "en": _compiled(signals_en)}
