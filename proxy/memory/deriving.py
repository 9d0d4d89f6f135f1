"""Domain and key of a fact that a person writes down, derived from its words as extraction would, so that it takes the
place of what it contradicts. Whoever writes it can name others. Pure.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from msgspec import UNSET, UnsetType

from proxy.memory.edits import Draft
from proxy.memory.extract import extract, stated
from proxy.memory.statements import topical
from proxy.types import Confidence, Fact

NOTE, USUAL_DOMAIN = "note", "personal"  # of words that say nothing by themselves
_WORDS = 3  # content words that make a key where nothing is stated


@dataclass(frozen=True, slots=True)
class Derived:
    """The place of a fact among those that are known."""

    domain: str
    key: str  # lower case, its words joined by "-"
    pinned: bool  # a standing instruction or preference
    replaces: Fact | None = None  # that holds at this place now, if it says something else


def derived(value: str, known: Iterable[Fact]) -> Derived:
    """Derives the place of `value`, in a person's words."""
    whole = value.strip()
    found = extract(whole)
    statement = found[0] if found else stated(whole)
    # A standing instruction holds for every answer: an unsure one is none.
    if statement is None or (statement.pinned and not found):
        place = Derived(USUAL_DOMAIN, "-".join(topical(whole)[:_WORDS]) or NOTE, pinned=False)
    else:
        place = Derived(statement.domain, statement.key, statement.pinned)
    return Derived(place.domain, place.key, place.pinned, _standing(place, whole, known))


def drafted(
    value: str,
    known: Iterable[Fact],
    *,
    domain: str | UnsetType = UNSET,
    key: str | UnsetType = UNSET,
    pinned: bool | UnsetType = UNSET,
    confidence: Confidence = "high",
) -> Draft:
    """Returns a fact to add; what is unset is derived from `value`."""
    if domain is UNSET or key is UNSET or pinned is UNSET:
        place = derived(value, known)
        domain = place.domain if domain is UNSET else domain
        key = place.key if key is UNSET else key
        pinned = place.pinned if pinned is UNSET else pinned
    return Draft(domain, key, value, confidence, pinned)


def _standing(place: Derived, value: str, known: Iterable[Fact]) -> Fact | None:
    there = (fact for fact in known if (fact.domain, fact.key) == (place.domain, place.key))
    return next((fact for fact in there if fact.superseded_by is None and fact.value != value), None)
