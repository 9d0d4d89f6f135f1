"""The terms that old messages are found by: stems of words, and numbers and identifiers as they are written.

A conversation mixes languages, and a short question does not tell which it is in. So every word goes through both
stemmers, English first: that is no proper stem of either language, but the same one wherever the word stands.
"""

import re
import threading
from functools import lru_cache

import snowballstemmer

from proxy.language.tables import function_words, languages
from proxy.language.text import fold

_REMEMBERED = 50_000  # words and their terms: 8 MB
_WORD = re.compile(r"\d+(?:[.,:/]\d+)*|\w+")
_LONGEST = 40  # characters; what is longer is a key or base64, and found by its beginning
_STEMMERS = (snowballstemmer.stemmer("english"), snowballstemmer.stemmer("spanish"))
_STEMMING = threading.Lock()

# What a sentence is made of in either language: it tells nothing about what the sentence is about. Folded.
STOP = frozenset().union(*(function_words(code, "terms") for code in languages("function")))


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
    with _STEMMING:  # a stemmer keeps the word in itself
        for stemmer in _STEMMERS:
            word = stemmer.stemWord(word)
    return (fold(word),)
