"""Two statements of one fact: what may be one, and what is."""

from difflib import SequenceMatcher

from proxy.memory.superseding import normal

NEAR = 0.8  # least similarity of letters, or cosine


def nominated(one: str, other: str, cosine: float | None = None) -> bool:
    """Tells whether two values are alike enough to be compared."""
    return (cosine or 0.0) > NEAR or SequenceMatcher(None, normal(one), normal(other)).ratio() > NEAR


def same_fact(one: str, other: str, cosine: float | None = None) -> bool:
    """Tells whether two values state one fact."""
    return normal(one) == normal(other)
