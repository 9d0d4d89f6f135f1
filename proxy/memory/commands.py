"""Commands to forget, recognised by the words of one user message; only its author's own short text counts.

A single command ("forget that …") may stand beside other text. A command that wipes all memory counts only if it is the
whole message: as a line of a longer text it may be somebody else's.
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
from proxy.memory.own_words import own_words
from proxy.memory.signals import folded
from proxy.memory.similarity import normal
from proxy.types.memory import Fact, Forgetting, Statement

LONGEST = 2_000  # characters of an own text that may be a command; what is longer was pasted
MOST_ADDED = 64 * 2**10  # characters, our own blocks included: longer messages are not searched for blocks

_TABLES = union("orders_to_forget")
# A command has one of these words; its sentence decides.
_MAY_BE = expression(_TABLES, "{may_be}", re.IGNORECASE)
_COURTESY = expression(_TABLES, "{greetings}(?:[ ,]+{greeted})*", re.IGNORECASE)
_WORDS_ALONE = re.compile(r"[^\W_].*[^\W_]|[^\W_]", re.DOTALL)
_HANDED_OVER = re.compile(r"[\"“”«»\u2018`<>|]|^\W*[-*•#]|\n\s*[-*•#]")  # quoted, tagged, or a line of a list


def commands(texts: Sequence[str], before: str = "") -> tuple[Forgetting, ...]:
    """Returns the commands to forget in a user message with these text parts. `Forgetting("")` means everything.
    `before`: the text of the previous user message, to which a command may refer. Takes a few milliseconds at most."""
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
    """Tells whether a user message contains a command to forget: then the message itself must be forgotten."""
    return bool(commands((said,)))


def _has_one_text(parts: list[str]) -> bool:
    return sum(bool(part.strip()) for part in parts) == 1


def _is_whole(own: str) -> bool:
    """Tells whether a message consists of commands, greetings and thanks alone."""
    if _HANDED_OVER.search(own):
        return False
    return all(_is_courtesy(own[start:end]) or order(own[start:end]) is not None for start, end in _said(own))


def _said(own: str) -> Iterator[tuple[int, int]]:
    """Yields the spans of the sentences of a message and of the text between them: a number alone is no sentence."""
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
    """Resolves a command that refers to something ("that one"): to the sentence before it, else to the one statement of
    the previous message; for "what I just told you" to all of its statements. "Forget it" mostly dismisses a question,
    so it means only a sentence that names something ("The car? Forget it.") or a previous message that states
    something, and only if nothing else is said; "delete that" mostly means a text."""
    if said:
        last = said[-1].strip()
        told = _TOPIC.match(folded(last)) or (TOLD_YOU.search(folded(last)) and not last.endswith("?"))
        return [without_telling(last)] if given.back in ("plainly", "wholly") or told else []
    if given.back in ("faintly", "nearby") and ("?" in before or not alone):
        return []
    stated = extract(before) if before else ()
    return [without_telling(each.value) for each in stated] if len(stated) == 1 or given.back == "wholly" else []


# A sentence that names something and states nothing about it.
_TOPIC = expression(_TABLES, r"(?:{and_about} )?{named} (?!(?:\w+ )?{question})[^.,!]{1,40}[?:\u2026]\W*$")


def _objects(what: str) -> list[str]:
    """Splits the object of a command into coordinated parts: "both my job and my address"."""
    return [part.strip() for part in _COORDINATED.split(_BOTH.sub("", what)) if part.strip(" ,")] or [what]


_BOTH = expression(_TABLES, r"^{both}\s+", re.IGNORECASE)
# Between two objects that each begin as one: a possessive, "that I …", "where I …".
_COORDINATED = expression(_TABLES, r"\s*(?:,|,?\s{or}(?:\s{object_of})?)\s+(?={objects}\b)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Said:
    """A statement with the index of the message that makes it."""

    at: int
    statement: Statement


@dataclass(frozen=True, slots=True)
class Ordered:
    """A command to forget with the index of its message: it concerns what was said before."""

    at: int
    what: Forgetting


def mark(value: str) -> bytes:
    """Returns the digest, 16 bytes, under which a forgotten value is stored among the links of forgotten messages."""
    return blake2b(normal(value).encode(), digest_size=16, person=b"olvido-forgotten").digest()


def meant(said: Sequence[Said], orders: Iterable[Ordered]) -> frozenset[int]:
    """Returns the positions in `said` of the statements that `orders` forget."""
    gone: set[int] = set()
    for given in orders:
        before = {str(place): each for place, each in enumerate(said) if each.at < given.at and place not in gone}
        gone.update(int(fact.id) for fact in forgotten(map(_fact, before, before.values()), given.what))
    return frozenset(gone)


def outlived(said: Statement, known: Collection[Fact]) -> bool:
    """Tells whether a statement of an old message is known already and was ended, or may have been, by a later one:
    read again, it is no news."""
    words = normal(said.value)
    same = [fact for fact in known if normal(fact.value) == words]
    return bool(same) and all(fact.superseded_by is not None or fact.doubted_by is not None for fact in same)


def _fact(name: str, said: Said) -> Fact:
    stated = said.statement
    return Fact(name, stated.domain, stated.key, stated.value, stated.confidence, "explicit", "", said.at, 0.0, 0.0)
