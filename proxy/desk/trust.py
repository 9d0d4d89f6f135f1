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
MOST_WORDS = 400_000  # of a conversation that are compared


_TELLING = re.compile(r"(?<![.!?:\n] )(?<!\A)(?<!\n)\b[A-Z\u00c0-\u00de][\w&.-]*\w|\b[A-Z]{2,}\b|\S*(?:\d|://|@)\S*")
SHARE = 1 / 3  # of the new words
LEAST = 2  # new words


def quotes_others(text: str, messages: Sequence[Message], before: str = "") -> bool:
    """Tells whether `text` quotes handed-over text: results of tools, what the user pasted. `messages`: the
    conversation's, originals. `before`: what stood there already, which was allowed once."""
    others, own = _spoken(messages)
    if not others:
        return False
    said = _all_terms((*own, before))
    return _shares_runs(_words(text), others, said) or _shares_words(text, others, (*own, before), said)


def _shares_runs(words: Sequence[str], others: Sequence[str], said: frozenset[str]) -> bool:
    """Tells whether a run of words stands in others' texts that the user has not said, each of its words somewhere."""
    length = min(RUN if len(words) > FEW else SHORT, max(1, len(words)))
    runs = {hash(run): run for run in _runs(words, length) if not said.issuperset(terms(" ".join(run)))}
    theirs = {hash(run) for text in _bounded(others) for run in _runs(text, length)} if runs else set()
    return not theirs.isdisjoint(runs)


def _shares_words(text: str, others: Sequence[str], own: Sequence[str], said: frozenset[str]) -> bool:
    """Tells whether a name, a number or a third of the words are others' alone."""
    theirs, heard = _all_words(others), _all_words(own)
    telling = {word for found in _TELLING.finditer(text) for word in _words(found.group())}
    if any(word in theirs and word not in heard for word in telling if len(word) > 1 or word.isdigit()):
        return True
    new = {term for term in terms(text) if term not in said}
    return len(new & _all_terms(others)) >= max(LEAST, SHARE * len(new))


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


def _runs(words: Sequence[str], length: int) -> Iterator[tuple[str, ...]]:
    return (tuple(words[at : at + length]) for at in range(len(words) - length + 1))


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
