"""Loading of what the first question about the past would wait for: learned weights, tables, expressions."""

from functools import cache

from proxy.language.words import terms
from proxy.memory import choosing, recall, selecting
from proxy.memory.ageing import Decay
from proxy.memory.cues import cues
from proxy.memory.current import current
from proxy.memory.predictions import needs
from proxy.memory.signals import spoken_in
from proxy.memory.turn_index import TurnIndex
from proxy.types import ArchivedTurn, Fact, Utterance

QUESTIONS = ("Which boat did I tell you about, and what should I cook?", "¿De qué barco te hablé, y qué cocino?")
FOREVER = 1e12  # seconds


@cache
def warm() -> None:
    """Looks up what some questions are about in a memory that is made for that, once a process. Takes some 20 ms."""
    said, answered = (
        Utterance("user", "My boat is called Marigold.", b"u"),
        Utterance("assistant", "A fine name.", b"a"),
    )
    index = TurnIndex()
    index.add(ArchivedTurn(b"a", b"", "s", 1, 1.0, b"", (said, answered)))
    fact = Fact("f", "home", "boat", "My boat is called Marigold", "high", "explicit", "s", 1, 1.0, 1.0)
    known = current([fact], 2.0, Decay(FOREVER, FOREVER, FOREVER))
    for question in QUESTIONS:
        language = spoken_in(question)
        asked = choosing.Need(frozenset(terms(question)), asks=needs(question, language), language=language)
        choosing.relevant(known, asked, tokens=100, count=len)
        cues(question)
        query = recall.Query(question, None, (b"u", b"a"))
        found = recall.search(index, query)
        selecting.need(index, query, found)
        selecting.select(index, recall.ranked(found, query), query, budget_tokens=100, count=len)
