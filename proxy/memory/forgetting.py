"""Selection of the facts that a command to forget means, and the remainder of a fact that says more than it names.

The words of a command and of a fact are compared as concepts that English and Spanish share: a relative, an attribute
("what I earn", "mi sueldo"), a word that both languages have ("tattoo", "tatuaje").
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from proxy.language.phrases import expression
from proxy.language.tables import union
from proxy.language.words import terms
from proxy.memory.analysis import ATTRIBUTE_NAMES, KIN, KIN_NAMES, ME, RELATIVES, Analysis, analyse, subjects
from proxy.memory.facts import fact_id, sayable
from proxy.memory.forget_orders import says_something
from proxy.memory.predictions import topics
from proxy.memory.signals import folded, spoken_in
from proxy.types.memory import Fact, Forgetting

_TABLES = union("orders_to_forget")
_SHARED_BY_LANGUAGES = 1 / 3  # of a command's concepts
_ABOUT_THE_SAME = 0.8  # cosine of the topics of a command and a fact
_REASON = expression(_TABLES, r"[,.;:]\s|\s{reasons}\b", re.IGNORECASE)
_OF_ORDERS = frozenset(terms(_TABLES["of_orders"])) - {""}
_RULE = expression(_TABLES, r"\b{rule_words}\b")


def forgotten(facts: Iterable[Fact], forgetting: Forgetting) -> tuple[Fact, ...]:
    """Selects the facts to remove, superseded ones too: those of the named holder that match all of the command's
    concepts, or, if none does, most of them. Returns none if it is ambiguous which of several facts is meant."""
    every = tuple(facts)
    if not forgetting.what.strip():
        return every
    for what in dict.fromkeys((forgetting.what, _REASON.split(forgetting.what, maxsplit=1)[0])):
        if found := _meant(every, what):
            return _sharing(found, what) if forgetting.by_term else found
    return ()


def _sharing(facts: Iterable[Fact], what: str) -> tuple[Fact, ...]:
    """Returns the facts that a term of the command may mention: the others are only the nearest to it."""
    named = frozenset(terms(what)) - _OF_ORDERS
    return tuple(fact for fact in facts if not named.isdisjoint(sayable(fact)))


def _meant(facts: Sequence[Fact], what: str) -> tuple[Fact, ...]:
    about, wanted = analyse(what), concepts(what)
    theirs = _of_whom(facts, about, what)
    if _RULE.search(folded(what)):
        theirs = [fact for fact in theirs if fact.pinned]
        if not wanted:
            return tuple(theirs) if len(theirs) == 1 else ()
    if not wanted:
        return tuple(fact for fact in facts if _is_of_kin(fact, subjects(what) & RELATIVES))
    shared = {fact.id: _shared(wanted, fact) for fact in theirs}
    best = max(shared.values(), default=0)
    agree = [fact for fact in theirs if best and shared[fact.id] == best]
    agree = [fact for fact in agree if not _lacks(fact, wanted)]
    if agree and (2 * best > len(wanted) or any(about.names & _names(fact) for fact in agree)):
        return tuple(agree)
    if len(agree) == 1 and (2 * best >= len(wanted) or _is_translated(what, agree[0], best / len(wanted))):
        return tuple(agree)
    alike = [fact for fact in theirs if fact.superseded_by is None and _is_alike(about, analyse(fact.value))]
    if len(alike) == 1 or best:
        return tuple(alike) if len(alike) == 1 else ()
    if kin := subjects(what) & RELATIVES:
        of_kin = tuple(fact for fact in facts if _is_of_kin(fact, kin))
        if wanted == {"name"}:
            return tuple(fact for fact in of_kin if _names(fact))
        return of_kin if len(of_kin) == 1 and _is_translated(what, of_kin[0], 1.0) else ()
    if wanted & _ATTRIBUTES or len(wanted) > 1:
        return ()
    # No word agrees: "my address", "where I live".
    now = (fact for fact in theirs if fact.superseded_by is None)
    near = tuple(fact for fact in now if float(topics(what) @ topics(fact.value)) >= _ABOUT_THE_SAME)
    return near if len(near) == 1 else ()


def _lacks(fact: Fact, wanted: frozenset[str]) -> bool:
    """Tells whether a command names an attribute that the fact does not: "my wife's age" is not where she works."""
    has = _concepts(fact.value)
    named = has | {"name"} if _names(fact) else has
    asked = wanted & _ATTRIBUTES
    return bool(asked) and not asked & named


def _is_translated(what: str, fact: Fact, share: float) -> bool:
    """Tells whether a match is as large as texts in two languages can have."""
    return share >= _SHARED_BY_LANGUAGES and spoken_in(what) != spoken_in(fact.value)


def _of_whom(facts: Sequence[Fact], about: Analysis, what: str) -> list[Fact]:
    """Returns the facts about whom the command names; the user's own if it says "I" or "my"."""
    kin = about.holder or (subjects(what) & RELATIVES)
    if kin:
        named = [fact for fact in facts if _is_of_kin(fact, kin) or about.names & analyse(fact.value).names]
        return named or ([] if about.holder else list(facts))
    if about.names and (named := [fact for fact in facts if about.names & _names(fact)]):
        return named
    return [fact for fact in facts if not about.is_own or _is_own(fact)]


def _is_own(fact: Fact) -> bool:
    """Tells whether a fact is about the user though it names a relative: "My PIN is my son's birthday"."""
    if not analyse(fact.value).holder:
        return True
    rest = KIN.sub(" ", folded(fact.value))
    return ME.search(rest) is not None


def _names(fact: Fact) -> frozenset[str]:
    return analyse(fact.value).names


def _is_of_kin(fact: Fact, kin: frozenset[str]) -> bool:
    said = analyse(fact.value)
    named = subjects(fact.value) & RELATIVES
    return bool(kin) and (kin == said.holder or (not said.holder and kin <= named) or kin == named)


# --- concepts --------------------------------------------------------------------------------------------------------

_WORD = re.compile(r"[^\W_]+(?:[-/.][^\W_]+)*")
_ATTRIBUTES = frozenset(ATTRIBUTE_NAMES.values())
# Phrases in which work is a place or a time, not a job.
_PLACES = expression(_TABLES, r"\b{at_work}\b")
_SAID_OTHERWISE = ((re.compile(r"\b(my|our|his|her) pay\b"), r"\1 salary"), (re.compile(r"\bcuantos anos\b"), "edad"))
_CALLED = expression(_TABLES, r"\b{called}\b")


def concepts(text: str) -> frozenset[str]:
    """Returns the concepts that `text` names, relatives apart: attributes by their names, other words by their
    stems."""
    return _concepts(text, is_order=True)


@lru_cache(4_096)
def _concepts(text: str, *, is_order: bool = False) -> frozenset[str]:
    plainly = _PLACES.sub(" ", folded(text))
    for pattern, instead in _SAID_OTHERWISE:
        plainly = pattern.sub(instead, plainly)
    found: set[str] = set()
    for word in _WORD.findall(plainly):
        if word in ATTRIBUTE_NAMES:
            found.add(ATTRIBUTE_NAMES[word])
        elif word not in KIN_NAMES:
            found.update(terms(word))
    if is_order:
        return frozenset(found - _OF_ORDERS)
    found |= analyse(text).slots & _ATTRIBUTES
    if _CALLED.search(plainly):
        found.add("nickname")
    return frozenset(found)


def _shared(wanted: frozenset[str], fact: Fact) -> int:
    has = _concepts(fact.value) | sayable(fact)
    return sum(_has(has, each) for each in wanted)


def _has(concepts_of_fact: Iterable[str], wanted: str) -> bool:
    if wanted in concepts_of_fact:
        return True
    return wanted not in _ATTRIBUTES and any(_is_cognate(wanted, each) for each in concepts_of_fact)


_SPELT = ((re.compile(r"(.)\1"), r"\1"), (re.compile(r"[aeiou]+$"), ""))
_LETTERS = (
    ("oo", "u"),
    ("ou", "u"),
    ("ph", "f"),
    ("th", "t"),
    ("ck", "k"),
    ("qu", "k"),
    ("c", "k"),
    ("y", "i"),
    ("v", "b"),
)
_LEAST_ALIKE, _WHOLE = 5, 4  # letters of a common beginning; and of a word that is all of the other's beginning
_MOST_OF = 0.6  # share of the longer word


def _is_cognate(one: str, other: str) -> bool:
    """Tells whether two stems are one word in two languages or in two forms: "route", "ruta"; "tattoo", "tatuaje"."""
    if not (one.isalpha() and other.isalpha()) or min(len(one), len(other)) < _WHOLE - 1:
        return False
    first, second = _spelt(one), _spelt(other)
    if first == second:
        return len(first) >= _WHOLE - 1
    short, long = sorted((first, second), key=len)
    same = next((at for at, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    if same == len(short):
        return same >= _WHOLE and same >= len(long) / 2
    return same >= _LEAST_ALIKE and same >= _MOST_OF * len(long)


@lru_cache(16_384)
def _spelt(word: str) -> str:
    """Returns a spelling that is the same for English and Spanish cognates."""
    for letters, instead in _LETTERS:
        word = word.replace(letters, instead)
    for pattern, instead in _SPELT:
        word = pattern.sub(instead, word) or word
    return word


def _is_alike(about: Analysis, said: Analysis) -> bool:
    return bool(about.slots & said.slots or (about.aspects & said.aspects and said.orders))


# --- remainders ------------------------------------------------------------------------------------------------------

# The separator before a piece of a statement that begins like a statement of its own.
_BETWEEN = expression(_TABLES, r",?\s+(?:{and_that}\s+(?={begins}\b)|(?={as_one}\b))", re.IGNORECASE)
_ATTACHED = expression(_TABLES, r"{with}\b", re.IGNORECASE)
_HAS = expression(_TABLES, r"\W*{has}(?={has_what}\b)", re.IGNORECASE)


def rests(meant: Iterable[Fact], orders: Iterable[Forgetting]) -> Iterator[Fact]:
    """Yields the remainders of the facts that `orders` mean. They have no message: those that stated them are
    forgotten."""
    named = tuple(order for order in orders if order.what.strip())
    for fact in meant:
        value = fact.value if fact.superseded_by is None and named else ""
        for order in named:
            if forgotten([replace(fact, value=value)], order) and value:
                value = left(value, order)
        if value and value != fact.value:
            key = _key_of_rest(fact, value)
            name = fact_id(fact.domain, key, value, b"")
            yield replace(fact, id=name, key=key, value=value, doubted_by=None, links=())


def _key_of_rest(fact: Fact, value: str) -> str:
    """Returns the fact's key without the words that were removed, by which it could be found again."""
    gone = frozenset(terms(fact.value)) - frozenset(terms(value))
    kept = [word for word in re.split(r"[-\s]+", fact.key) if gone.isdisjoint(terms(word))]
    return "-".join(kept) or fact.domain


def left(value: str, forgetting: Forgetting) -> str:
    """Returns a fact's `value` without the pieces that the command names; "" if no piece is complete by itself."""
    pieces = _BETWEEN.split(value)
    wanted, kin = concepts(forgetting.what), subjects(forgetting.what) & RELATIVES
    names = analyse(forgetting.what).names
    named = [_names_any(piece, wanted, kin, names) for piece in pieces]
    if not any(named) or all(named):
        return ""
    kept = [
        piece
        for at, (piece, is_named) in enumerate(zip(pieces, named, strict=True))
        if not is_named and not (at and _ATTACHED.match(piece))
    ]
    if not any(map(says_something, kept)):
        return ""
    lead = _HAS.match(value)
    said = " \u2026 ".join(kept)
    begins_alone = not named[0] or re.match(
        r"(?:i|i'm|we|as|como|my|mis?|tengo|soy|vivo|trabajo|uso|hago|doy)\b", kept[0], re.IGNORECASE
    )
    return said if begins_alone else f"{lead.group().strip()} \u2026 {said}" if lead else ""


def _names_any(piece: str, wanted: frozenset[str], kin: frozenset[str], names: frozenset[str]) -> bool:
    if kin & subjects(piece) or names & analyse(f"I {piece}").names:
        return True
    has = _concepts(piece)
    return any(_has(has, each) for each in wanted)
