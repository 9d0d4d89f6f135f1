"""Kinds of needs that a fact answers: what a question may depend on without mentioning it (`predictions.KINDS`)."""

from collections.abc import Generator, Iterable, Mapping
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from proxy.lru import Lru
from proxy.memory.analysis import analyse
from proxy.memory.predictions import KINDS, about

# The kinds that a fact answers, by its attribute, its holder and its slot.
_KINDS: Mapping[str, tuple[str, ...]] = {
    "allergy": ("diet", "health"),
    "diet": ("diet",),
    "origin": ("residence", "language"),
    "date": ("travel", "project", "study"),
    "decision": ("project", "travel", "home"),
    "relationship": ("partner",),
    "family": ("child", "partner", "parent", "sibling"),
    "person": ("friend", "health"),
    "preference": ("diet", "hobby"),
    "instruction": (),
    "other": (),
}
_HOLDERS: Mapping[str, str] = {
    **dict.fromkeys(
        ("son", "daughter", "child", "baby", "twins", "grandson", "granddaughter", "nephew", "niece"), "child"
    ),
    **dict.fromkeys(("wife", "husband", "partner", "girlfriend", "boyfriend", "fiance", "ex"), "partner"),
    **dict.fromkeys(("mother", "father", "parents", "grandmother", "grandfather", "inlaw", "aunt", "uncle"), "parent"),
    **dict.fromkeys(("brother", "sister", "siblings", "cousin"), "sibling"),
    **dict.fromkeys(("friend", "neighbour", "flatmate", "colleague", "boss", "teacher", "client"), "friend"),
    **dict.fromkeys(("dog", "cat", "horse", "pet"), "pet"),
}
_SLOTS: Mapping[str, str] = {
    **{name: name for name in ("residence", "diet", "health", "schedule", "age", "language", "project", "name")},
    "allergy": "diet",
    "job": "work",
    "budget": "money",
    "pets": "pet",
    "children": "child",
}


Shares: TypeAlias = npt.NDArray[np.float64]
_known: Lru[str, Shares] = Lru(4_096)


def kinds(value: str) -> Mapping[str, float]:
    """Maps each kind of need that a fact answers to its probability, 0 to 1."""
    said = analyse(value)
    found: dict[str, float] = {}
    # Always in one language: the words tell the topic; the fact's own language found nothing more.
    for attribute, share in about(value, "en"):
        for kind in _KINDS.get(attribute, (attribute,)):
            found[kind] = max(found.get(kind, 0.0), share)
    sure = [_SLOTS[slot] for slot in said.slots if slot in _SLOTS]
    sure += [_HOLDERS[holder] for holder in said.holder if holder in _HOLDERS]
    found |= dict.fromkeys(sure, 1.0)
    return {kind: share for kind, share in found.items() if kind != "belief" or share}


def shares(value: str) -> Shares:
    """Returns the same as an array, in the order of KINDS."""
    if (known := _known.used(value)) is not None:
        return known
    found = kinds(value)
    made = np.array([found.get(kind, 0.0) for kind in KINDS])
    _known.put(value, made)
    return made


def known(value: str) -> Shares | None:
    """Returns the same if it was computed before; None if it was not."""
    return _known.get(value)


def learn(value: str, found: Shares) -> None:
    """Takes what another process has computed."""
    _known.put(value, found)


def read(values: Iterable[str]) -> Generator[None, None, None]:
    """Computes `shares` of these values, one a step, so that the next question does not wait for them."""
    for value in values:
        shares(value)
        yield
