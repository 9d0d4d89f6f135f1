"""Trust in what the model writes about a person: does it quote text that was handed over, and not the person?

What tools return and documents say is not the user's word, whatever it asks for. A text for the profile, or a fact,
waits for a person if what is new in it stands in such text and not in the user's own words: a run of words, a name or a
number, or a third of its words. Compared as folded text, so neither letter case, accents nor punctuation hide it. In
doubt it waits: that costs a click, the other mistake is an attacker's word in every later prompt.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from proxy.language.words import terms
from proxy.memory.own_words import own_words
from proxy.memory.signals import folded
from proxy.types import Message

RUN = 5  # words in a row that are a quotation
SHORT = 3  # the same for a text of few words
FEW = 12  # words
_WORD = re.compile(r"[^\W_]+")
# Runs of a long conversation are kept as hashes: 40 bytes a word.
MOST_WORDS = 400_000


_TELLING = re.compile(r"(?<![.!?:\n] )(?<!\A)(?<!\n)\b[A-Z\u00c0-\u00de][\w&.-]*\w|\b[A-Z]{2,}\b|\S*(?:\d|://|@)\S*")
SHARE = 1 / 3  # of the new words
LEAST = 2  # new words


def quotes_others(text: str, messages: Sequence[Message], before: str = "") -> bool:
    """Tells whether `text` quotes handed-over text: results of tools, what the user pasted. `messages`: the
    conversation's, originals. `before`: what stood there already, which was allowed once."""
    others, own = _spoken(messages)
    if not others:
        return False
    return _shares_runs(_words(text), _words(before), others, own) or _shares_words(text, before, others, own)


def _shares_runs(words: Sequence[str], before: Sequence[str], others: Sequence[str], own: Sequence[str]) -> bool:
    length = min(RUN if len(words) > FEW else SHORT, max(1, len(words)))
    allowed = set(_runs(before, length))
    runs = {run for run in _runs(words, length) if run not in allowed}
    theirs = runs & _all_runs(others, length) if runs else set()
    return bool(theirs) and not theirs <= _all_runs(own, length)


def _shares_words(text: str, before: str, others: Sequence[str], own: Sequence[str]) -> bool:
    theirs, said = _all_words(others), _all_words((*own, before))
    telling = {word for found in _TELLING.finditer(text) for word in _words(found.group())}
    if any(word in theirs and word not in said for word in telling if len(word) > 1 or word.isdigit()):
        return True
    said_terms = _all_terms((*own, before))
    new = {term for term in terms(text) if term not in said_terms}
    strange = new & _all_terms(others)
    return len(strange) >= max(LEAST, SHARE * len(new))


def _spoken(messages: Sequence[Message]) -> tuple[list[str], list[str]]:
    """Returns the texts of others in a conversation, and the user's own words."""
    others: list[str] = []
    own: list[str] = []
    for said in messages:
        if said.role in ("tool", "function"):
            others.append(said.written)
        elif said.role == "user":
            heard = own_words(*said.texts)
            own.extend(heard.passages)
            if heard.hands_over:
                others.append(_besides(said.written, heard.passages))
    return others, own


def _besides(text: str, passages: Iterable[str]) -> str:
    """Returns the text without these passages of it."""
    for passage in passages:
        text = text.replace(passage, "\n")
    return text


def _words(text: str) -> list[str]:
    return _WORD.findall(folded(text))


def _runs(words: Sequence[str], length: int) -> Iterator[int]:
    return (hash(tuple(words[at : at + length])) for at in range(len(words) - length + 1))


def _all_runs(texts: Iterable[str], length: int) -> set[int]:
    return {run for words in _bounded(texts) for run in _runs(words, length)}


def _all_words(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(word for words in _bounded(texts) for word in words)


def _all_terms(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(term for text in texts for term in terms(text[: MOST_WORDS * 10]))


def _bounded(texts: Iterable[str]) -> Iterator[list[str]]:
    left = MOST_WORDS
    for text in texts:
        if left <= 0:
            return
        words = _words(text)[:left]
        left -= len(words)
        yield words
