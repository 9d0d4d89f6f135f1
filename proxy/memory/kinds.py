"""The kinds of needs that a fact answers: "I live in Cork" tells a residence, "my son is six" a child and an age."""

from collections.abc import Mapping
from functools import lru_cache

from proxy.memory.learned import guess
from proxy.memory.subject import gist

# What a fact says, as the kinds of what a question needs.
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
    "residence": "residence",
    "diet": "diet",
    "allergy": "diet",
    "health": "health",
    "job": "work",
    "schedule": "schedule",
    "age": "age",
    "language": "language",
    "budget": "money",
    "project": "project",
    "pets": "pet",
    "children": "child",
    "name": "name",
}


@lru_cache(4_096)
def kinds(value: str) -> Mapping[str, float]:
    """The kinds of needs that a fact answers, each with how surely, 0 to 1."""
    said = gist(value)
    found: dict[str, float] = {}
    # In one language: the words say what a fact is about, and by the fact's own language nothing more was found.
    for attribute, share in guess([value], 0, "en").abouts:
        for kind in _KINDS.get(attribute, (attribute,)):
            found[kind] = max(found.get(kind, 0.0), share)
    sure = [_SLOTS[slot] for slot in said.slots if slot in _SLOTS]
    sure += [_HOLDERS[holder] for holder in said.holder if holder in _HOLDERS]
    found |= dict.fromkeys(sure, 1.0)
    return {kind: share for kind, share in found.items() if kind != "belief" or share}
