"""Small conversations in an index, with vectors that say what a text is about."""

from collections.abc import Callable, Sequence

import numpy as np

from proxy.language.words import terms
from proxy.memory.recall import Query, rank
from proxy.memory.selecting import select
from proxy.memory.turn_index import TurnIndex
from proxy.types import ArchivedTurn, Excerpt, Utterance, Vector

DIMENSIONS = 64


def link(name: int | str) -> bytes:
    return str(name).encode().rjust(16, b"-")


def turn(number: int, *texts: str, session: str = "s", prefix: str = "") -> ArchivedTurn:
    """User and assistant in alternation; messages are linked by the turn's number and their place in it."""
    said = tuple(
        Utterance("assistant" if at % 2 else "user", text, link(f"{prefix}{number}.{at}"))
        for at, text in enumerate(texts)
    )
    return ArchivedTurn(said[-1].link, b"", session, number, float(number), b"[]", said)


def path(*turns: ArchivedTurn) -> tuple[bytes, ...]:
    return tuple(said.link for each in turns for said in each.utterances)


def vector(text: str) -> Vector:
    """Texts that share terms are near each other."""
    found = np.full(DIMENSIONS, 1e-3, dtype=np.float32)
    for term in terms(text):
        found[sum(term.encode()) % DIMENSIONS] += 1
    unit: Vector = found / np.linalg.norm(found)
    return unit


def index_of(turns: Sequence[ArchivedTurn], *, embedded: bool = False) -> TurnIndex:
    index = TurnIndex()
    for each in turns:
        index.add(each, np.array([vector(text) for text in index.texts(each)]) if embedded else None)
    return index


TALK = (
    turn(1, "I named my boat Marigold last spring", "A fine name for it"),
    turn(2, "What should we cook tonight, soup or rice?", "Soup, it is cold outside"),
    turn(3, "The dentist moved me to Thursday", "Shall I write that down?"),
    turn(4, "Our printer is out of toner again", "Order two of them"),
    turn(5, "My cousin plays the trumpet badly", "Buy yourself earplugs"),
)


def search(index: TurnIndex, query: Query, *, budget_tokens: int, count: Callable[[str], int]) -> tuple[Excerpt, ...]:
    """Returns the excerpts that are selected from the ranking of `query`."""
    return select(index, rank(index, query), query, budget_tokens=budget_tokens, count=count)
