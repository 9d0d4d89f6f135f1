"""Slugs of conversations, by which people find their snapshots: the words that tell most of what is said, or what a
model calls it."""

import re
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime

from proxy.language.words import STOP, fold, terms

SLUG = 60  # characters of a slug, at most
WORDS = 4  # of a slug
_MOST_SAID = 1_000  # characters of a name that a model gives; what is behind them is left out
_WIDEST = 24  # characters of one
_ROOM = 4  # characters of a slug for the number of one that is taken
_WORD = re.compile(r"[^\W_]{3,}")
_FOREIGN = re.compile(r"[^a-z0-9]+")


def telling(texts: Iterable[str]) -> tuple[str, ...]:
    """Returns the few words that tell most of what texts are about: those that come back in most of them, in the order
    in which they come first."""
    within, often = Counter[str](), Counter[str]()  # by stem: texts, times
    written: dict[str, str] = {}  # by stem: the word as it was written first
    for text in texts:
        found = [(stem, word) for word in _WORD.findall(text) for stem in terms(word)[:1]]
        found = [
            (stem, word.lower())
            for stem, word in found
            if len(word) <= _WIDEST and not word.isdigit() and fold(word) not in STOP
        ]
        within.update({stem for stem, _ in found})
        for stem, word in found:
            often[stem] += 1
            written.setdefault(stem, word)
    place = {stem: at for at, stem in enumerate(written)}
    best = sorted(place, key=lambda stem: (-within[stem], -often[stem], -len(written[stem]), place[stem]))[:WORDS]
    return tuple(written[stem] for stem in sorted(best, key=place.__getitem__))


def slug(at: float, words: Iterable[str]) -> str:
    """Returns the slug of a conversation that ended then, with as many of the words as it has room for."""
    name = f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d}"
    for word in (part for each in words for part in parts(each)):
        if len(name) + 1 + len(word) <= SLUG - _ROOM:
            name = f"{name}-{word}"
    return name


def parts(text: str) -> list[str]:
    """Returns the words of a text as they may be part of a name."""
    return [part for part in _FOREIGN.split(fold(text)) if part]


def name_of(said: str) -> str:
    """Returns a name that a model has given as it may be part of a file's; "" if nothing of it may."""
    return "-".join(parts(said[:_MOST_SAID]))[:SLUG].strip("-")
