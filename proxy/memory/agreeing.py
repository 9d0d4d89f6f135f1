"""Two words that say the same: of one root, of one notion, made from one another, or the same misspelt."""

from functools import lru_cache

from proxy.language.tables import pairs as written_for
from proxy.memory.claim_terms import Term
from proxy.memory.roots import are_of_one

_LEAST_MISSPELT, _LONG = 5, 7  # letters of a word that may be misspelt
_VOWELS = frozenset("aeiou")
# Letters that are written for each other, in this order: written=heard.
_LETTERS = written_for(
    "qu=k q=k ph=f ew=u ch=C h= v=b w=b ll=y z=s ce=se ci=si c=k gue=ge gui=gi x=s ge=je gi=ji i=y nb=mb np=mp",
)

Pairs = list[tuple[Term, Term, str]]  # with how they agree: "root", "notion", "form", "spelling"


def agreeing(one: Term, other: Term, how: str, endings: frozenset[str]) -> bool:
    """Tells whether two terms say the same: by their "root", a "notion", their "form" or their "spelling"."""
    if how == "root":
        return one.said == other.said or (one.root == other.root and "name" not in (one.kind, other.kind))
    kinds = {one.kind, other.kind}
    if "number" in kinds or ("operator" in kinds and how != "notion"):
        return False
    if how == "notion":
        return not one.notions.isdisjoint(other.notions) and ("person" not in kinds or len(kinds) == 1)
    if how == "form":
        return kinds.isdisjoint({"name", "person"}) and are_of_one(one.said, other.said, endings)
    if sounding(one.said).removesuffix("s") == sounding(other.said).removesuffix("s"):
        return True
    return kinds.isdisjoint({"name", "person"}) and _misspelt(one.said, other.said)


@lru_cache(8_192)
def sounding(word: str) -> str:
    """Returns the sound of a folded word, roughly, in either language."""
    for written, heard in _LETTERS:
        word = word.replace(written, heard)
    return "".join(mark for at, mark in enumerate(word) if not at or word[at - 1] != mark)


def _misspelt(one: str, other: str) -> bool:
    """Tells whether one word is the other with two letters in the wrong order, or with another vowel or one letter
    less or more inside of a long word."""
    if min(len(one), len(other)) < _LEAST_MISSPELT or one[0] != other[0] or one[-1] != other[-1]:
        return False
    at = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    if len(one) == len(other):
        if one[at : at + 2] == other[at : at + 2][::-1] and one[at + 2 :] == other[at + 2 :]:
            return True
        return len(one) >= _LONG and one[at] in _VOWELS and other[at] in _VOWELS and one[at + 1 :] == other[at + 1 :]
    short, long = sorted((one, other), key=len)
    return len(short) >= _LONG - 1 and short[at:] == long[at + 1 :]
