"""A question that points at what it does not name, told with the noun phrase that it points to in front of it.

The phrase stands in what was said before; it is told by the answer, which names it again.
"""

from collections.abc import Sequence

from proxy.memory.cuts import sentences
from proxy.memory.noted import asked_outside
from proxy.memory.nouns import names_something, noun_phrases
from proxy.memory.referents import names
from proxy.memory.spoken import spoken_in

_READ = 500  # characters of each text before
_MOST = 5  # words of the phrase


def anchored(user: str, answer: str, before: Sequence[str]) -> str:
    """`before`: what was said before, the newest last. "" if the message asks nothing that points, or nothing that
    its answer names was said."""
    question = asked_outside(user)
    if not question:
        return ""
    heard, asked = frozenset(names(answer[:_READ])), frozenset(names(question))
    best, most = "", 0
    for text in reversed(before):
        language = spoken_in(text)
        for sentence in sentences(text[:_READ]):
            for phrase in noun_phrases(sentence, language):
                said = frozenset(names(phrase))
                taken = len(said & heard - asked) + (2 * len(said & asked) if said - asked else 0)
                if taken > most and len(phrase.split()) <= _MOST and names_something(phrase):
                    best, most = phrase, taken
    return f"{best}: {question}" if best else ""
