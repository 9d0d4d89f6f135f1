"""A question that points at what it does not name, told with the noun phrase that it points to in front of it.

The phrase stands in what was said before; it is told by the answer, which names it again.
"""

import re
from collections.abc import Sequence, Set

from proxy.memory.cuts import sentences
from proxy.memory.noted import asked_outside
from proxy.memory.nouns import names_something, noun_phrases
from proxy.memory.referents import names
from proxy.memory.spoken import spoken_in

_CONTRACTED = re.compile(r"\s\w+['\u2019](?:d|ll|re|ve|m)\b.*")  # begins a clause
_READ = 500  # characters of each text before
_MOST = 5  # words of the phrase


def anchored(user: str, answer: str, users: Sequence[str], assistants: Sequence[str]) -> str:
    """`users`, `assistants`: what each said before, the newest last. "" if the message asks nothing that points, or
    nothing that its answer names was said. The user's phrase goes first; the assistant's must name more fully what is
    asked about."""
    question = asked_outside(user)
    if not question:
        return ""
    heard, asked = frozenset(names(answer[:_READ])), frozenset(names(question))
    phrase = _fullest(users, heard - asked) or _fullest(assistants, asked, beyond=asked)
    return f"{phrase}: {question}" if phrase else ""


def _fullest(texts: Sequence[str], wanted: Set[str], beyond: Set[str] = frozenset()) -> str:
    """The newest phrase that names most of `wanted`, and something `beyond` it."""
    best, most = "", 0
    for text in reversed(texts):
        language = spoken_in(text)
        for sentence in sentences(text[:_READ]):
            for found in noun_phrases(sentence, language):
                phrase = _CONTRACTED.sub("", found)
                said = frozenset(names(phrase))
                is_more = len(said & wanted) > most and not said <= beyond
                if is_more and len(phrase.split()) <= _MOST and (beyond or names_something(phrase)):
                    best, most = phrase, len(said & wanted)
    return best
