"""The forms of text and of its words: plain text, by which word tables are read; a word's lemma, stem and sound, by
which questions are compared; and the terms that old messages are found by.

Plain text is lower case, without accents, with one space around every word and mark; sentences stand between ` . ` and
` ? `. Quoted words are left out: who asks what "today" means asks for no news. So a table needs no word boundaries.

The dictionaries (simplemma's, 130 MB once loaded, nearly all of it Spanish) take 1.5 s to load. `warm` does it in a
thread of its own; a word that is asked for before waits as long.

A term is a stem, or a number or an identifier as it is written. A conversation mixes languages, and a short question
does not tell which it is in. So every word goes through both stemmers, English first: that is no proper stem of either
language, but the same one wherever the word stands.
"""

import re
import threading
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import Stemmer

from proxy.language.language import Language
from proxy.language.tables import function_words_everywhere

_REMEMBERED = 50_000  # words in each of the tables below: 18 MB in all
_STEMMERS = {name: Stemmer.Stemmer(name) for name in ("english", "spanish")}
_STEMMING = threading.Lock()  # a stemmer keeps the word in itself
_DOUBLED = re.compile(r"(.)\1+")
_WORD = re.compile(r"\d+(?:[.,:/]\d+)*|\w+")
_LONGEST = 40  # characters; what is longer is a key or base64, and found by its beginning

# What a sentence is made of in either language: it tells nothing about what the sentence is about. Folded.
STOP = function_words_everywhere("terms")


def warm(compared: Iterable[Language]) -> None:
    """Load what the first question would wait for."""
    for language in compared:
        lemma("questions", language)
        is_known("questions", language)
        stem("questions", language)


@lru_cache(_REMEMBERED)
def lemma(word: str, language: Language) -> str:
    """The folded dictionary form of a lower-case word that still has its accents."""
    return fold(_dictionary().lemmatize(word, lang=language.code))


@lru_cache(_REMEMBERED)
def is_known(word: str, language: Language) -> bool:
    """Tells whether the dictionary has the word."""
    return bool(_dictionary().is_known(word, lang=language.code))


@lru_cache(_REMEMBERED)
def stem(word: str, language: Language) -> str:
    """Returns the stem of a folded word."""
    return stem_in(word, language.name)


def stem_in(word: str, name: str) -> str:
    """Returns the stem of a folded word in the language that Snowball calls `name`."""
    with _STEMMING:
        return str(_STEMMERS[name].stemWord(word))


@lru_cache(_REMEMBERED)
def sound(word: str, language: Language) -> str:
    """Returns the sound of a folded word, roughly: what is often written for each other becomes the same."""
    for written, heard in language.lexicon.sounds:
        word = word.replace(written, heard)
    return _DOUBLED.sub(r"\1", word)


def is_form_of(word: str, verb: str, regular: re.Pattern[str], infinitive: re.Pattern[str]) -> bool:
    """Tells whether a folded word is a regular form of the verb. The dictionary takes "saco" for a coat alone, and
    doesn't know a clitic without its accent ("pasame")."""
    if len(verb) < 4 or not word.startswith(verb[:-2]) or infinitive.search(verb) is None:
        return False
    return regular.fullmatch(word, len(verb) - 2) is not None


@lru_cache(1)
def _dictionary() -> Any:
    import simplemma  # noqa: PLC0415 (0.2 s that a process without intent reuse need not spend)

    return simplemma


# --- terms ------------------------------------------------------------------------------------------------------------


def terms(text: str) -> list[str]:
    """The terms of `text`, in its order, as often as they occur. An identifier has its parts as well: `codigo_publico`
    is found by `publico`."""
    return [term for word in _WORD.findall(text.lower()) for term in _terms(word)]


@lru_cache(_REMEMBERED)
def _terms(word: str) -> tuple[str, ...]:
    if not word.strip("_") or fold(word) in STOP:
        return ()
    if "_" in word:
        parts = (term for part in word.split("_") for term in _terms(part))
        return (fold(word[:_LONGEST]), *parts)
    if word[:1].isdigit() or len(word) > _LONGEST:
        return (fold(word[:_LONGEST]),)
    with _STEMMING:
        for stemmer in _STEMMERS.values():
            word = stemmer.stemWord(word)
    return (fold(word),)


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


def fold(text: str) -> str:
    """`text` in lower case and without accents."""
    text = text.lower()
    if text.isascii():
        return text
    return "".join(mark for mark in unicodedata.normalize("NFD", text) if not unicodedata.combining(mark))


def sentence(text: str, position: int) -> str:
    """The sentence of plain `text` that `position` is in, with a space at either end."""
    start = max(text.rfind(" . ", 0, position + 1), text.rfind(" ? ", 0, position + 1))
    ends = (text.find(" . ", position + 1), text.find(" ? ", position + 1))
    return text[max(start, 0) + 2 : min((end for end in ends if end >= 0), default=len(text)) + 1]
