"""Decides which statements of a history are not learnt from it: those that an order to forget further down in it means,
or one that was given while its request was under way, and those that were forgotten before.

A history comes back with another beginning (a new date in its system prompt, its first turns cut off), so its messages
have other links than those that were forgotten; what they state is known by its words.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from proxy.memory.forgetting import forgotten
from proxy.memory.likeness import normal
from proxy.types.memory import Fact, Forgetting, Statement


@dataclass(frozen=True, slots=True)
class Said:
    """A statement, and the index of the message that makes it."""

    at: int
    statement: Statement


@dataclass(frozen=True, slots=True)
class Ordered:
    """An order to forget, and the index of its message: it means what stands before it."""

    at: int
    what: Forgetting


def mark(value: str) -> bytes:
    """A name for what was forgotten, 16 bytes, that stands among the links of forgotten messages."""
    return blake2b(normal(value).encode(), digest_size=16, person=b"olvido-forgotten").digest()


def meant(said: Sequence[Said], orders: Iterable[Ordered]) -> frozenset[int]:
    """Places in `said` of what `orders` want forgotten."""
    gone: set[int] = set()
    for order in orders:
        before = {str(place): each for place, each in enumerate(said) if each.at < order.at and place not in gone}
        gone.update(int(fact.id) for fact in forgotten(map(_fact, before, before.values()), order.what))
    return frozenset(gone)


def outlived(said: Statement, known: Collection[Fact]) -> bool:
    """Was it said before, and may something that was said later have ended it? An old message is no news."""
    words = normal(said.value)
    same = [fact for fact in known if normal(fact.value) == words]
    return bool(same) and all(fact.superseded_by is not None or fact.doubted_by is not None for fact in same)


def _fact(name: str, said: Said) -> Fact:
    stated = said.statement
    return Fact(name, stated.domain, stated.key, stated.value, stated.confidence, "explicit", "", said.at, 0.0, 0.0)
