"""Roots of words, one for all persons of a verb; words that are made from one another.

A root is no word of its language, only what the forms of one share: "vivo", "vive" and "vivir".
"""

import re
from collections.abc import Mapping
from functools import cache, lru_cache

from proxy.language.tables import tables
from proxy.language.words import stem_in
from proxy.types.memory import Language

_REMEMBERED = 16_384  # words whose roots are cached
NAMES: Mapping[Language, str] = {"es": "spanish", "en": "english"}  # as Snowball calls them
# Letters that are written for each other at the end of a root: "buscar", "busqué"; "organise", "organize".
_ENDS = {
    "es": (("zc", "c"), ("q", "c"), ("qu", "c"), ("gu", "g"), ("z", "c"), ("j", "g")),
    "en": (("our", "or"), ("is", "iz"), ("yz", "ys"), ("enc", "ens"), ("y", "i")),
}
_DIPHTHONGS = (("ie", "e"), ("ue", "o"))
_LEAST_ENDING = 4  # letters of a root whose ending is read
_VOWELS = "aeiou"

_SUPERLATIVE = re.compile(r"(?<=\w\w\w)isim[oa]s?$")
# An infinitive or an order with its pronoun.
_JOINED = re.compile(r"(\w+[aei]r(?=[mtsnl])|\w{3,}[ae](?=me$))(?:me|te|se|nos|l[aeo]s?)")

Root = str


def rooted(word: str, code: Language, keep: frozenset[str]) -> Root:
    """Returns the root of a folded word; those in `keep` are their own."""
    return word if word in keep else root(word, code)


@lru_cache(_REMEMBERED)
def root(word: str, code: Language) -> Root:
    """Returns the root of a folded word."""
    return _regular(irregular(code).get(word, word), code)


def is_irregular(form: str) -> bool:
    """Tells whether a folded English word is the past or the participle of an irregular verb."""
    verb = irregular("en").get(form, form)
    return verb != form and not form.endswith(("ing", "s", "er", "ers"))


def _regular(word: str, code: Language) -> Root:
    if len(word) < _LEAST_ENDING:
        return f"{word[:-1]}i" if code == "en" and word.endswith("y") else word  # "fly", "flies"
    return _of_spanish(word) if code == "es" else _written_alike(stem_in(word, NAMES[code]), code)


def _of_spanish(word: str) -> Root:
    if (joined := _JOINED.fullmatch(word)) is not None:
        word = irregular("es").get(joined[1], joined[1])
    word = _SUPERLATIVE.sub("", word)
    if len(word) > _LEAST_ENDING and word.endswith("is"):
        word = word.removesuffix("s")  # "vivís"
    found = stem_in(word, NAMES["es"])
    found = _written_alike(found.rstrip(_VOWELS) or found, "es")
    for written, heard in _DIPHTHONGS:
        at = found.rfind(written)
        if at > 0 and not any(mark in _VOWELS for mark in found[at + 2 :]):
            return found[:at] + heard + found[at + 2 :]
    return found


def _written_alike(found: Root, code: Language) -> Root:
    """Returns a root with its end as it is most written."""
    if len(found) < _LEAST_ENDING - 1:
        return found
    heard = next(((written, heard) for written, heard in _ENDS[code] if found.endswith(written)), None)
    return found if heard is None else found.removesuffix(heard[0]) + heard[1]


@cache
def irregular(code: Language) -> Mapping[str, str]:
    """Returns the forms of irregular verbs, each with its verb."""
    lines = (line.partition(": ") for line in tables(code, "claims")["irregular"].splitlines())
    found: dict[str, str] = {}
    for verb, _, forms in lines:
        for form in forms.split():
            found.setdefault(form, verb)
    return found


def are_of_one(one: str, other: str, endings: frozenset[str]) -> bool:
    """Tells whether two folded words are made from one another: "traducir", "traducción"."""
    shared = _shared(one, other)
    least = _LEAST_ENDING if min(len(one), len(other)) > _LEAST_ENDING else _LEAST_ENDING - 1
    if shared < least:
        return False
    return any(_ends(one, at, endings) and _ends(other, at, endings) for at in range(shared, least - 1, -1))


def _ends(word: str, at: int, endings: frozenset[str]) -> bool:
    """Tells whether what stands behind a place is an ending; before it a letter may be doubled: "drummer"."""
    rest = word[at:]
    return not rest or rest in endings or (rest[0] == word[at - 1] and rest[1:] in endings)


def _shared(one: str, other: str) -> int:
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
