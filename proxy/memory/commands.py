"""Commands to forget: recognised by the words of one user message, and pending until storage has carried them out.

Only the author's own short text counts. A single command ("forget that …") may stand beside other text. A command that
wipes all memory counts only if it is the whole message: as a line of a longer text it may be somebody else's. What a
pending command names is hidden from all readers.
"""

import logging
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import chain, pairwise

from proxy.conversation.blocks import without_ours
from proxy.language.phrases import expression, prefix_tree
from proxy.language.tables import union
from proxy.language.values import normal
from proxy.lru import Lru
from proxy.memory.clauses import sentences
from proxy.memory.extract import extract
from proxy.memory.forget_orders import TOLD_YOU, Parsed, may_order, parse, without_telling
from proxy.memory.forgetting import forgotten, rests
from proxy.memory.own_words import own_words
from proxy.memory.signals import folded
from proxy.types import ChatRequest, Fact, Forgetting, Identity, Statement

log = logging.getLogger(__name__)

LONGEST = 2_000  # characters of an own text that may be a command; what is longer was pasted
MOST_ADDED = 64 * 2**10  # characters, our own blocks included: longer messages are not searched for blocks
RETRIED_WITHIN = 600.0  # seconds within which a client may send a command again
MOST_MEANT = 1_000  # commands, and scopes with recent ones, in memory
MOST_RECENT = 32  # commands of a scope
_RESULTS = frozenset({"tool", "function"})

_TABLES = union("orders_to_forget")
_MAY_BE = re.compile(prefix_tree(_TABLES["may_be"]))  # a command has one of these; its sentence decides
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
    if len(own) > LONGEST:
        return ()
    # Every request is asked this. To look for seventy words takes some microseconds, to search for the expressions a
    # hundred, to read whose words a text is a thousand.
    if not _has_word(own) or not any(_has_word(said) and may_order(said) for said in _sentences(own)):
        return ()
    parts = [without_ours(part) for part in texts]
    before = without_ours(before).strip() if len(before) <= LONGEST else ""
    if sum(bool(part.strip()) for part in parts) == 1 and _is_whole(own):
        return tuple(_orders(own, before))
    found = (order for passage in own_words(*parts).passages for order in _orders(passage, before))
    return tuple(order for order in found if order.what != "")


def _has_word(text: str) -> bool:
    return _MAY_BE.search(text.lower()) is not None


def _sentences(text: str) -> Iterator[str]:
    return (text[start:end] for start, end in sentences(text))


def is_command(said: str) -> bool:
    """Tells whether a user message contains a command to forget: then the message itself must be forgotten."""
    return bool(commands((said,)))


def _is_whole(own: str) -> bool:
    """Tells whether a message consists of commands, greetings and thanks alone."""
    if _HANDED_OVER.search(own):
        return False
    # A number alone is no sentence: the text between sentences counts too.
    cuts = sorted({0, len(own), *chain.from_iterable(sentences(own))})
    said = [own[start:end] for start, end in pairwise(cuts)]
    return all(_is_courtesy(each) or parse(each) is not None for each in said)


def _is_courtesy(said: str) -> bool:
    words = _WORDS_ALONE.search(said)
    return words is None or _COURTESY.fullmatch(words.group()) is not None


def _orders(passage: str, before: str) -> Iterator[Forgetting]:
    found = list(_sentences(passage))
    alone = sum(not _is_courtesy(each) for each in found) == 1
    for at, sentence in enumerate(found):
        if (given := parse(sentence, alone=alone)) is None:
            continue
        if not given.back:
            yield from map(Forgetting, _objects(given.what) if given.what else [""])
        else:
            yield from map(Forgetting, _pointed_at(given, found[:at], before, alone=alone))


def _pointed_at(given: Parsed, said: Sequence[str], before: str, *, alone: bool) -> Sequence[str]:
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


# --- a history that is read again -------------------------------------------------------------------------------------


def mark(value: str) -> bytes:
    """Returns the digest, 16 bytes, under which a forgotten value is stored among the links of forgotten messages."""
    return blake2b(normal(value).encode(), digest_size=16, person=b"olvido-forgotten").digest()


def meant(said: Sequence[tuple[int, Statement]], orders: Iterable[tuple[int, Forgetting]]) -> frozenset[int]:
    """Returns the positions in `said` of the statements that `orders` forget. Each comes with the index of its message:
    a command concerns what was said before."""
    gone: set[int] = set()
    for at, what in orders:
        before = (
            _fact(str(place), index, statement)
            for place, (index, statement) in enumerate(said)
            if index < at and place not in gone
        )
        gone.update(int(fact.id) for fact in forgotten(before, what))
    return frozenset(gone)


def outlived(known: Iterable[Fact]) -> frozenset[str]:
    """Returns the values of facts, in normal form, that later ones ended or may have ended: stated by an old message
    that is read again, they are no news."""
    values: dict[bool, set[str]] = {True: set(), False: set()}  # those that hold, and those that do not
    for fact in known:
        values[fact.superseded_by is None and fact.doubted_by is None].add(normal(fact.value))
    return frozenset(values[False] - values[True])


def _fact(name: str, at: int, stated: Statement) -> Fact:
    return Fact(name, stated.domain, stated.key, stated.value, stated.confidence, "explicit", "", at, 0.0, 0.0)


# --- pending commands -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Order:
    """A command to forget, with the time and the messages of its request."""

    what: tuple[Forgetting, ...]
    at: float  # seconds since the epoch, of its request: later facts are not meant
    chain: tuple[bytes, ...] = ()  # links of the request's messages up to the command, which is the last

    @property
    def is_wipe(self) -> bool:
        """Tells whether the command wipes all memory."""
        return any(each.what == "" for each in self.what)

    def means(self, facts: Iterable[Fact]) -> tuple[Fact, ...]:
        """Selects those of `facts`, all facts of a scope, that the command removes."""
        known = tuple(fact for fact in facts if fact.created_at <= self.at)
        return tuple({fact.id: fact for each in self.what for fact in forgotten(known, each)}.values())

    def leaves(self, meant: Iterable[Fact]) -> tuple[Fact, ...]:
        """Returns the remainders of the facts `meant`, which say more than the command names."""
        return () if self.is_wipe else tuple(rests(meant, self.what))


def ordered(request: ChatRequest, identity: Identity, at: float) -> Order | None:
    """Returns the command to forget in the newest user message; None if there is none, or if the results of tools
    follow it: then an earlier request carried it out."""
    messages = request.messages
    newest = next((index for index in reversed(range(len(messages))) if messages[index].role == "user"), None)
    if newest is None or messages[-1].role in _RESULTS:
        return None
    before = next((said.text for said in reversed(messages[:newest]) if said.role == "user"), "")
    if not (what := commands(messages[newest].texts, before)):
        return None
    # Without the system prompt, which other conversations share.
    begins = next(index for index, said in enumerate(messages) if said.role == "user")
    return Order(what, at, identity.chain[begins : newest + 1])


class Orders:
    """The pending and recent commands of all scopes."""

    def __init__(self) -> None:
        self._given: dict[str, list[Order]] = {}  # by scope
        self._recent: Lru[str, tuple[Order, ...]] = Lru(MOST_MEANT)  # by scope, carried out or not
        # By scope and link of the command: its time, and the facts it meant. Sent again, it must not mean the next
        # nearest ones to its words.
        self._meant: Lru[tuple[str, bytes], tuple[float, dict[str, Fact]]] = Lru(MOST_MEANT)

    def __len__(self) -> int:
        return sum(map(len, self._given.values()))

    def give(self, scope: str, order: Order) -> None:
        """Registers a command as pending."""
        self._given.setdefault(scope, []).append(order)
        recent = [each for each in self._recent.get(scope, ()) if order.at - each.at <= RETRIED_WITHIN]
        self._recent.put(scope, (*recent[-MOST_RECENT:], order))

    def since(self, scope: str, at: float) -> tuple[Forgetting, ...]:
        """Returns the commands given in this scope after `at`, as far back as a request may last."""
        return tuple(what for order in self._recent.get(scope, ()) if order.at > at for what in order.what)

    def done(self, scope: str, order: Order) -> None:
        """Removes a command from the pending ones."""
        given = self._given.get(scope, [])
        if order in given:
            given.remove(order)
        if not given:
            self._given.pop(scope, None)

    def is_pending(self, scope: str) -> bool:
        """Tells whether a command of this scope is not carried out yet."""
        return scope in self._given

    def means(self, scope: str, order: Order, facts: Iterable[Fact]) -> tuple[Fact, ...]:
        """Selects those of `facts`, all facts of the scope, that the command removes; a retry selects the same."""
        known = {fact.id: fact for fact in facts}
        if order.is_wipe or not order.chain:
            return order.means(known.values())
        before = self._meant_before(scope, order)
        meant = order.means((before | known).values())
        if not meant:
            log.info("an order to forget names nothing that is known, or not which of several facts")
        self._meant.put((scope, order.chain[-1]), (order.at, before | {fact.id: fact for fact in meant}))
        return tuple(fact for fact in meant if fact.id in known)

    def spared(self, scope: str, facts: Sequence[Fact]) -> Sequence[Fact]:
        """Returns `facts`, all facts of the scope, without those that pending commands remove."""
        for order in self._given.get(scope, ()):
            meant = {fact.id for fact in self.means(scope, order, facts)}
            facts = [fact for fact in facts if fact.id not in meant]
        return facts

    def _meant_before(self, scope: str, order: Order) -> dict[str, Fact]:
        while self._meant:
            key, (at, _) = next(iter(self._meant.items()))
            if order.at - at <= RETRIED_WITHIN:
                break
            del self._meant[key]
        _, meant = self._meant.get((scope, order.chain[-1]), (0.0, {}))
        return meant
