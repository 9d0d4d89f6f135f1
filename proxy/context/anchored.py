"""A question that points at what it does not name, told with the noun phrase that it points to in front of it; as it is
where it names it by a noun that was said right before.

The phrase is the only one that the user named in the message right before, and the answer says it again; the question
is all that its message says. Else it is not known what is meant, and the question is not told.
"""

import re

from proxy.context.cuts import sentences
from proxy.context.noted import asked_outside
from proxy.context.nouns import names_something, noun_phrases
from proxy.context.referents import names, points_outside, things_of
from proxy.memory.spoken import spoken_in

_CONTRACTED = re.compile(r"\s\w+['\u2019](?:d|ll|re|ve|m)\b.*")  # begins a clause
_POINTED = re.compile(r"\b(th(?:is|at|ese|ose)|est[ae]|es[ae]|est[oa]s|es[oa]s|ese|este)\s(\w{3,})", re.IGNORECASE)
_STEM = 4  # letters: the singular is the plural
_READ = 500  # characters of the answer
_MOST_READ = 500  # characters of the message before: in a longer one much more may be meant
_MOST = 5  # words of the phrase


def anchored(user: str, answer: str, before: str, heard: str = "") -> str:
    """`before`: the user's last message, `heard`: what was answered. "" if `user` asks nothing that points, or it is
    not sure what at."""
    question = asked_outside(user)
    if not question:
        return ""
    if _is_known(question, f"{before}\n{heard[:_READ]}"):
        return question
    if len(sentences(user)) > 1 or len(before) > _MOST_READ:
        return ""
    phrases = _named(before)
    if len(phrases) != 1 or len(phrases[0].split()) > _MOST:
        return ""
    meant = frozenset(names(phrases[0])) - frozenset(names(question))
    return f"{phrases[0]}: {question}" if meant & frozenset(names(answer[:_READ])) else ""


def _is_known(question: str, before: str) -> bool:
    """Tells whether a question points with nouns only ("those nodes"), all of which are named before it."""
    language = spoken_in(question)
    nouns = {noun for _, noun in _POINTED.findall(question)}
    if not nouns or points_outside(_POINTED.sub(r"\2", question), language):
        return False
    known = frozenset(things_of(before, spoken_in(before)))
    return all(any(each[:_STEM] == noun.lower()[:_STEM] for each in known) for noun in nouns)


def _named(message: str) -> list[str]:
    """The things that a message names, each once."""
    language = spoken_in(message)
    found: dict[frozenset[str], str] = {}
    for sentence in sentences(message):
        for phrase in (_CONTRACTED.sub("", each) for each in noun_phrases(sentence, language)):
            if names_something(phrase):
                found.setdefault(frozenset(names(phrase)), phrase)
    return list(found.values())
