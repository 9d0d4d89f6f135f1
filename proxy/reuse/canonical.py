"""A question in the form in which it is read.

Greetings, thanks and small talk are dropped, polite frames are taken off ("could you tell me how …"), what is written
in a hurry is spelt out, and what is said in several ways is said in one ("what is the best way to" is "how to").
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from proxy.language.rules import Rule, rules
from proxy.language.text import fold
from proxy.reuse.filler import is_filler
from proxy.reuse.frames import unframe
from proxy.reuse.lexicon import Language, lexicon, words
from proxy.reuse.spelling import mended

_SEGMENT_END = re.compile(r"(?<!\b[A-Za-z])[.?!;:…\n](?=\s|$)|[¿¡]|,(?!\d)|\s[\u2013\u2014-]\s|\(|\)")
_MARKS = re.compile(r"[¿?¡!;:…()\[\]]|\.(?=\s|$)|(?<!\d),|,(?!\d)|(?<=\s)[\u2013\u2014-](?=\s)")
_PLAIN_QUOTES = (("\u2019", "'"), ("\u00b4", "'"), *((quote, '"') for quote in "“”«»"))
_REPEATED = re.compile(r"([a-zA-Z])\1{2,}")
_NAME = re.compile(r"(?<=[^\W_] )(?!I\b)[A-ZÁÉÍÓÚÑ]")
_SPOKEN = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
_WORD = re.compile(r"[^\W_]+")
_AUXILIARIES = words("is are was were do does did can could should would will has have had may must am shall might")
_ATTACHED = words("for para with con without sin")


@dataclass(frozen=True, slots=True)
class Canonical:
    said: str  # as it is written, without what says nothing
    folded: str  # without accents and contractions
    text: str  # without frames, one way of saying it for several
    asks: str  # what for: how, why, when, …, yesno


@dataclass(frozen=True, slots=True)
class _Grammar:
    contractions: tuple[Rule, ...]
    rewrites: tuple[Rule, ...]
    kinds: tuple[Rule, ...]


def canonical(text: str, language: Language) -> Canonical:
    grammar = _grammar_of(language)
    said = " ".join(_said(_tidied(text), language))
    folded = _rewritten(mended(_folded(said), language), grammar.contractions)
    asked = _rewritten(unframe(folded, language), grammar.rewrites)
    return Canonical(said, folded, asked, _kind_of(asked, said, language))


@cache
def _grammar_of(language: Language) -> _Grammar:
    tables = lexicon(language)
    return _Grammar(
        contractions=rules(tables.contractions),
        rewrites=rules(tables.rewrites),
        kinds=rules((pattern, kind) for kind, pattern in tables.kinds),
    )


def _tidied(text: str) -> str:
    if not text.isascii():
        for fancy, plain in _PLAIN_QUOTES:
            text = text.replace(fancy, plain)
    return _REPEATED.sub(r"\1", text).strip()


def _said(text: str, language: Language) -> list[str]:
    """The segments of `text` that say something about the question; all of them if none does."""
    segments = [segment.strip() for segment in _segments(text)]
    if len(segments) < 2:
        return segments or [text]
    return [segment for segment in segments if not _is_empty_talk(segment, language)] or segments


def _segments(text: str) -> Iterator[str]:
    start = 0
    for end in _SEGMENT_END.finditer(text):
        if _WORD.search(text, start, end.end()):
            yield text[start : end.end()]
        start = end.end()
    if _WORD.search(text, start):
        yield text[start:]


def _is_empty_talk(segment: str, language: Language) -> bool:
    tables = lexicon(language)
    spoken = _SPOKEN.findall(fold(segment))
    # Whom it is for, what with: that is no greeting, whoever is greeted.
    if spoken[0] in _ATTACHED:
        return False
    if tables.filler.issuperset(spoken):
        return True
    # What asks is the question itself, or a part of it.
    if segment.endswith("?") or not tables.asking.isdisjoint(spoken) or spoken[0] in _AUXILIARIES:
        return False
    if all(word in tables.filler or word in tables.function for word in spoken):
        return True
    # A name may be what the question is about, whatever stands around it.
    return not _NAME.search(segment) and is_filler(segment, language)


def _folded(said: str) -> str:
    # What is quoted is a guard's business; its marks end no clause: "what does "entropy" mean".
    folded = " ".join(_MARKS.sub(" , ", fold(said).replace('"', " ")).split())
    return folded.strip(" ,")


def _rewritten(folded: str, rewrites: tuple[Rule, ...]) -> str:
    for rule in rewrites:
        if rule.may_match(folded):
            rewritten, times = rule.pattern.subn(f" {rule.form} ", folded)
            if times:
                folded = " ".join(rewritten.split()).strip(" ,")
    return folded


def _kind_of(text: str, said: str, language: Language) -> str:
    for rule in _grammar_of(language).kinds:
        if rule.found_in(text):
            return rule.form
    if language == "es":
        return "yesno" if "?" in said else "none"
    firsts = (clause.split(None, 1)[:1] for clause in text.split(","))
    return "yesno" if any(first and first[0] in _AUXILIARIES for first in firsts) else "none"
