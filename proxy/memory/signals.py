"""Signals of a statement in its words: the patterns of phrases that signal facts, a set for each language
(`proxy/language/<code>/signals.txt` explains each table); its language, and what of it introduces it only."""

import re
from dataclasses import dataclass, fields
from typing import NamedTuple

from proxy.language.detect import language
from proxy.language.phrases import expression, phrases, prefix_tree, words
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
    if text.isascii():
        return text.lower()  # six times as fast
    low = text.lower().translate(_ACCENTS)
    return low if len(low) == len(text) else text.translate(_ACCENTS)


# Tables that count only where a sentence begins.
_OPENING = frozenset(
    {"imagine", "task", "asks", "others", "standing_opens", "decides_opens", "hypothetical_opens", "refers"}
)
# Attributes in the order of trial, and their domains; the others are "personal". A key that ends in "-" is followed by
# its topic.
_SLOTS = """
name nickname allergy- diet residence origin age birthday job schedule- boss budget- deadline- project- marital goal-
family- pets- children- health- language-
"""
_DOMAINS = {
    "nickname": "preferences",
    **dict.fromkeys(("job", "schedule-", "boss"), "work"),
    **dict.fromkeys(("budget-", "deadline-", "project-", "goal-"), "projects"),
}


def _compiled(code: Language) -> Signals:
    written = dict(tables(code, "signals"))
    written["slot-family-"] = written["family"]
    names = [field.name for field in fields(Signals) if field.name in written and field.name not in ("leads", "tails")]
    return Signals(
        **{name: _phrases(written[name], opening=name in _OPENING) for name in names},
        slots=tuple(
            Slot(key, _DOMAINS.get(key, "personal"), phrases(written[f"slot-{key}"])) for key in _SLOTS.split()
        ),
        leads=expression(written, r"\W*(?:{leads}(?:[,.:;!…]+\s*|\s+-\s+)|{leads_that}\s+)"),
        tails=expression(written, r"(?:[\s,.;:!¿?]+{tails})?[\s,.;:!¿?…]*\Z"),
    )


def _phrases(table: str, *, opening: bool) -> re.Pattern[str]:
    return re.compile(rf" [.?](?: ,)* {prefix_tree(table)}(?= )") if opening else phrases(table)


SIGNALS: dict[Language, Signals] = {"es": _compiled("es"), "en": _compiled("en")}

WORD = re.compile(r"[^\W_]+(?:[-_/.][^\W_]+)*")


def without_signal(text: str, signals: Signals) -> str:
    """Strips the introduction and the polite ending of a statement."""
    plainly = folded(text)
    start = lead(plainly, signals)
    end = tail(plainly, signals)
    return text[start:end].strip(" ,;:¡!") if end > start else ""


def lead(plainly: str, signals: Signals) -> int:
    """Returns the position in `folded` text behind greetings and "remember that"."""
    start = 0
    while (introduction := signals.leads.match(plainly, start)) and introduction.end() > start:
        start = introduction.end()
    return start


def tail(plainly: str, signals: Signals) -> int:
    """Returns the position in `folded` text before a closing "please" and marks."""
    end = signals.tails.search(plainly)
    return end.start() if end else len(plainly)


# The commonest words of each language, which even short messages have.
_SPANISH, _ENGLISH = (words(tables(code, "function_words")["commonest"]) for code in ("es", "en"))


def spoken_in(text: str) -> Language:
    """Detects the language of `text`; too short or mixed a text counts as the one with more of the commonest words."""
    if (spoken := language(text)) is not None:
        return spoken
    said = [word.lower() for word in WORD.findall(text)]
    spanish, english = (sum(word in common for word in said) for common in (_SPANISH, _ENGLISH))
    return "es" if spanish > english else "en"
