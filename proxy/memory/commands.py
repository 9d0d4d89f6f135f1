"""Commands to forget: recognised by the words of one user message, of which only its author's own short text counts.

A single command ("forget that …") may stand beside something else. One that wipes all memory is obeyed only if it is
the whole message: as a line of a text that is handed over, it is somebody else's.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from proxy.conversation.blocks import without_ours
from proxy.language.phrases import expression
from proxy.language.tables import union
from proxy.memory.clauses import sentences
from proxy.memory.extract import extract
from proxy.memory.forget_orders import TOLD_YOU, Order, order, without_telling
from proxy.memory.forgetting import forgotten
from proxy.memory.handed import own_words
from proxy.memory.likeness import normal
from proxy.memory.signals import folded
from proxy.types.memory import Fact, Forgetting, Statement

LONGEST = 2_000  # characters of an own text that may be a command; what is longer was pasted
MOST_ADDED = 64 * 2**10  # characters with the blocks that we have added, which are looked for only below that

_TABLES = union("orders_to_forget")
# A command has one of these words; whether it is one, its sentence says.
_MAY_BE = expression(_TABLES, "{may_be}", re.IGNORECASE)
_COURTESY = expression(_TABLES, "{greetings}(?:[ ,]+{greeted})*", re.IGNORECASE)
_WORDS_ALONE = re.compile(r"[^\W_].*[^\W_]|[^\W_]", re.DOTALL)
_HANDED_OVER = re.compile(r"[\"“”«»\u2018`<>|]|^\W*[-*•#]|\n\s*[-*•#]")  # quoted, tagged, or a line of a list


def commands(texts: Sequence[str], before: str = "") -> tuple[Forgetting, ...]:
    """The orders to forget in a user message of these texts. `Forgetting("")` is everything. `before`: the text of the
    user message before it, to which an order may point back. Takes a few milliseconds at most."""
    said = "\n".join(texts)
    if len(said) > MOST_ADDED:
        return ()
    own = without_ours(said).strip()
    if len(own) > LONGEST or _MAY_BE.search(own) is None:
        return ()
    parts = [without_ours(part) for part in texts]
    before = without_ours(before).strip() if len(before) <= LONGEST else ""
    if _has_one_text(parts) and _is_whole(own):
        return tuple(_orders(own, before))
    found = (order for passage in own_words(*parts).passages for order in _orders(passage, before))
    return tuple(order for order in found if order.what != "")


def is_command(said: str) -> bool:
    """Whether `said`, the text of a user message, orders to forget something: then it must be forgotten itself."""
    return bool(commands((said,)))


def _has_one_text(parts: list[str]) -> bool:
    return sum(bool(part.strip()) for part in parts) == 1


def _is_whole(own: str) -> bool:
    """Is nothing in it but commands, greetings and thanks?"""
    if _HANDED_OVER.search(own):
        return False
    return all(_is_courtesy(own[start:end]) or order(own[start:end]) is not None for start, end in _said(own))


def _said(own: str) -> Iterator[tuple[int, int]]:
    """The sentences of a message, and what stands between two: a number alone is no sentence, and no command."""
    before = 0
    for start, end in sentences(own):
        if before < start:
            yield before, start
        yield start, end
        before = end
    if before < len(own):
        yield before, len(own)


def _is_courtesy(said: str) -> bool:
    words = _WORDS_ALONE.search(said)
    return words is None or _COURTESY.fullmatch(words.group()) is not None


def _orders(passage: str, before: str) -> Iterator[Forgetting]:
    found = [passage[start:end] for start, end in sentences(passage)]
    alone = sum(not _is_courtesy(each) for each in found) == 1
    for at, sentence in enumerate(found):
        if (given := order(sentence, alone=alone)) is None:
            continue
        if not given.back:
            yield from map(Forgetting, _objects(given.what) if given.what else [""])
        else:
            yield from map(Forgetting, _pointed_at(given, found[:at], before, alone=alone))


def _pointed_at(given: Order, said: Sequence[str], before: str, *, alone: bool) -> Sequence[str]:
    """Resolves "that one": to the sentence before it, or else the one thing that the message before states; to all of
    these for "what I just told you". "Forget it" is said of a question more often, so it means a sentence that only
    names something ("The car? Forget it."), or a message that only states something, and only if nothing else is
    said; and "delete that" is said of texts."""
    if said:
        last = said[-1].strip()
        told = _TOPIC.match(folded(last)) or (TOLD_YOU.search(folded(last)) and not last.endswith("?"))
        return [without_telling(last)] if given.back in ("plainly", "wholly") or told else []
    if given.back in ("faintly", "nearby") and ("?" in before or not alone):
        return []
    stated = extract(before) if before else ()
    return [without_telling(each.value) for each in stated] if len(stated) == 1 or given.back == "wholly" else []


# Names something, and says nothing of it.
_TOPIC = expression(_TABLES, r"(?:{and_about} )?{named} (?!(?:\w+ )?{question})[^.,!]{1,40}[?:\u2026]\W*$")


def _objects(what: str) -> list[str]:
    """Splits what an order names into its objects: "both my job and my address"."""
    return [part.strip() for part in _COORDINATED.split(_BOTH.sub("", what)) if part.strip(" ,")] or [what]


_BOTH = expression(_TABLES, r"^{both}\s+", re.IGNORECASE)
# Between two objects that each begin as one: a possessive, "that I …", "where I …".
_COORDINATED = expression(_TABLES, r"\s*(?:,|,?\s{or}(?:\s{object_of})?)\s+(?={objects}\b)", re.IGNORECASE)


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
    for given in orders:
        before = {str(place): each for place, each in enumerate(said) if each.at < given.at and place not in gone}
        gone.update(int(fact.id) for fact in forgotten(map(_fact, before, before.values()), given.what))
    return frozenset(gone)


def outlived(said: Statement, known: Collection[Fact]) -> bool:
    """Was it said before, and may something that was said later have ended it? An old message is no news."""
    words = normal(said.value)
    same = [fact for fact in known if normal(fact.value) == words]
    return bool(same) and all(fact.superseded_by is not None or fact.doubted_by is not None for fact in same)


def _fact(name: str, said: Said) -> Fact:
    stated = said.statement
    return Fact(name, stated.domain, stated.key, stated.value, stated.confidence, "explicit", "", said.at, 0.0, 0.0)
