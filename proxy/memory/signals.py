"""Patterns of phrases that signal facts, compiled from `proxy/language/<code>/signals.txt`, which explains each
table."""

import re
from dataclasses import dataclass, fields
from typing import NamedTuple

from proxy.language.phrases import expression, phrases, prefix_tree
from proxy.language.tables import tables
from proxy.types.memory import Language

_ACCENTS = str.maketrans("áéíóúüñàèìòù\u2019\u0130", "aeiouunaeiou'i")


class Slot(NamedTuple):
    """An attribute of a person with the pattern that recognises it."""

    key: str
    domain: str
    table: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Signals:
    """The compiled patterns of one language, for plain text unless said otherwise."""

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
    refers: re.Pattern[str]  # beginnings that continue the sentence before
    states: re.Pattern[str]  # predicates of a project
    slots: tuple[Slot, ...]
    leads: re.Pattern[str]  # of `folded` text
    tails: re.Pattern[str]  # of `folded` text


def folded(text: str) -> str:
    """Returns `text` in lower case and without accents; every character keeps its position."""
    low = text.lower().translate(_ACCENTS)
    return low if len(low) == len(text) else text.translate(_ACCENTS)


# Tables that count only where a sentence begins.
_OPENING = frozenset(
    {"imagine", "task", "asks", "others", "standing_opens", "decides_opens", "hypothetical_opens", "refers"}
)
# The domain of each key. A key that ends in "-" is followed by its topic.
_DOMAINS = {
    "name": "personal",
    "nickname": "preferences",
    "allergy-": "personal",
    "diet": "personal",
    "residence": "personal",
    "origin": "personal",
    "age": "personal",
    "birthday": "personal",
    "job": "work",
    "schedule-": "work",
    "boss": "work",
    "budget-": "projects",
    "deadline-": "projects",
    "project-": "projects",
    "marital": "personal",
    "goal-": "projects",
    "family-": "personal",
    "pets-": "personal",
    "children-": "personal",
    "health-": "personal",
    "language-": "personal",
}


def _compiled(code: Language) -> Signals:
    written = dict(tables(code, "signals"))
    written["slot-family-"] = written["family"]
    names = [field.name for field in fields(Signals) if field.name in written and field.name not in ("leads", "tails")]
    return Signals(
        **{name: _phrases(written[name], opening=name in _OPENING) for name in names},
        slots=tuple(Slot(key, domain, phrases(written[f"slot-{key}"])) for key, domain in _DOMAINS.items()),
        leads=expression(written, r"\W*(?:{leads}(?:[,.:;!…]+\s*|\s+-\s+)|{leads_that}\s+)"),
        tails=expression(written, r"(?:[\s,.;:!¿?]+{tails})?[\s,.;:!¿?…]*\Z"),
    )


def _phrases(table: str, *, opening: bool) -> re.Pattern[str]:
    return re.compile(rf" [.?](?: ,)* {prefix_tree(table)}(?= )") if opening else phrases(table)


SIGNALS: dict[Language, Signals] = {"es": _compiled("es"), "en": _compiled("en")}
