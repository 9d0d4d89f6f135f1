"""A question that points at what it does not name, told with the noun phrase that it points to in front of it.

The phrase is the only one that the user named in the message right before, and the answer says it again; the question
is all that its message says. Else it is not known what is meant, and the question is not told.
"""

import re

from proxy.memory.cuts import sentences
from proxy.memory.noted import asked_outside
from proxy.memory.nouns import names_something, noun_phrases
from proxy.memory.referents import names
from proxy.memory.spoken import spoken_in

_CONTRACTED = re.compile(r"\s\w+['\u2019](?:d|ll|re|ve|m)\b.*")  # begins a clause
_READ = 500  # characters of the answer
_MOST_READ = 500  # characters of the message before: in a longer one much more may be meant
_MOST = 5  # words of the phrase


def anchored(user: str, answer: str, before: str) -> str:
    """`before`: the user's last message. "" if `user` asks nothing that points, or it is not sure what at."""
    question = asked_outside(user)
    if not question or len(sentences(user)) > 1 or len(before) > _MOST_READ:
        return ""
    phrases = _named(before)
    if len(phrases) != 1 or len(phrases[0].split()) > _MOST:
        return ""
    meant = frozenset(names(phrases[0])) - frozenset(names(question))
    return f"{phrases[0]}: {question}" if meant & frozenset(names(answer[:_READ])) else ""


def _named(message: str) -> list[str]:
    """The things that a message names, each once."""
    language = spoken_in(message)
    found: dict[frozenset[str], str] = {}
    for sentence in sentences(message):
        for phrase in (_CONTRACTED.sub("", each) for each in noun_phrases(sentence, language)):
            if names_something(phrase):
                found.setdefault(frozenset(names(phrase)), phrase)
    return list(found.values())
