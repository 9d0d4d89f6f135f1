"""Value, key and language of a statement."""

import re

from proxy.language.detect import language
from proxy.language.phrases import words as listed
from proxy.language.tables import tables
from proxy.language.text import fold
from proxy.language.words import STOP
from proxy.memory.signals import Signals, folded
from proxy.memory.subject import SINGLE, Analysis
from proxy.types.memory import Language

WORD = re.compile(r"[^\W_]+(?:[-_/.][^\W_]+)*")


def key(said: Analysis, slot: str, about: str, value: str, *, standing: bool) -> str:
    """Returns the key of a statement: holder, attribute and topic, lower case, joined by "-". An attribute that a
    person has one of needs no topic."""
    single = slot.rstrip("-") in SINGLE
    attribute = "rule" if standing else slot.rstrip("-") or about
    subject = [] if single else [word for word in topical(value) if word not in said.holder][:2]
    if standing and said.aspects:
        subject = sorted(said.aspects)[:1]
    return "-".join([*sorted(said.holder), attribute, *subject])


def topical(value: str) -> list[str]:
    """Returns the content words of `value`, folded, in their order, without numbers."""
    words = dict.fromkeys(map(fold, WORD.findall(value)))
    return [word for word in words if len(word) > 1 and not word[0].isdigit() and word not in STOP]


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
_SPANISH, _ENGLISH = (listed(tables(code, "function_words")["commonest"]) for code in ("es", "en"))


def spoken_in(text: str) -> Language:
    """Detects the language of `text`; too short or mixed a text counts as the one with more of the commonest words."""
    if (spoken := language(text)) is not None:
        return spoken
    said = [word.lower() for word in WORD.findall(text)]
    spanish, english = (sum(word in common for word in said) for common in (_SPANISH, _ENGLISH))
    return "es" if spanish > english else "en"
