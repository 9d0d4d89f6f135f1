"""The forms of a word that questions are compared by: its lemma, its stem, how it sounds.

The dictionaries (simplemma's, 130 MB once loaded, nearly all of it Spanish) take 1.5 s to load. `warm` does it in a
thread of its own; a word that is asked for before waits as long.
"""

import re
import threading
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from proxy.language.language import Language
from proxy.language.text import fold

_REMEMBERED = 50_000  # forms in each of the tables below: 10 MB in all
_STEMMING = threading.Lock()
_DOUBLED = re.compile(r"(.)\1+")


def warm(languages: Iterable[Language]) -> None:
    """Load what the first question would wait for."""
    for language in languages:
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
    with _STEMMING:  # a stemmer keeps the word in itself
        return str(_stemmer(language.name).stemWord(word))


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
    import simplemma  # noqa: PLC0415  # 0.2 s that a process without intent reuse need not spend

    return simplemma


@lru_cache(4)
def _stemmer(name: str) -> Any:
    import snowballstemmer  # noqa: PLC0415  # as above

    return snowballstemmer.stemmer(name)
