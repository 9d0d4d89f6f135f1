"""What a statement is about: its holder, its subject and attribute, and its values; and whether a newer one takes the
place of an older one.

It does only if both are about the same thing of the same holder, which the words show that differ: values may (numbers,
dates, names, a place), and words of change; if each has a word of its own besides, they are about two things ("the budget
of the trip", "the budget of the kitchen") and both stay. A negation ends what it denies.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from proxy.memory import subject_words as tables
from proxy.memory.signals import SIGNALS, folded
from proxy.memory.terms import STOP, terms
from proxy.reuse.text import plain

_REMEMBERED = 4_096
_NUMBER = re.compile(r"[$€£]?\d+(?:[.,:/-]\d+)*\s?%?[a-z]{0,3}\b")
_NAME = re.compile(r"(?<=[^.!?:\n\u00bf\u00a1] )[A-Z\u00c1\u00c9\u00cd\u00d3\u00da\u00d1][\w'\u2019-]*")
_FIRST_NAME = re.compile(r"^[^\w]*(?:(?:And|But|Y|El|La|Our|My)\s)?([A-Z\u00c1\u00c9\u00cd\u00d3\u00da\u00d1][\w-]+)")
_CALLED = re.compile(r",?\s(?:is called |is named |se llama )?([A-Z\u00c1\u00c9\u00cd\u00d3\u00da\u00d1][\w-]+)")
_MOST_OF = 0.5
SINGLE = frozenset({"name", "nickname", "residence", "age", "birthday", "job", "boss", "diet", "marital", "origin"})
_REPLACED_BY_ANY = frozenset({"name", "nickname", "residence", "age", "birthday", "marital"})


@dataclass(frozen=True, slots=True)
class Gist:
    """What a value says, as sets of folded stems."""

    holder: frozenset[str]  # whose it is, if not the user's: "son", "boss"
    is_own: bool  # told of "I", "my"
    is_of_another: bool  # told of "he", "she", "they"
    names: frozenset[str]
    who: frozenset[str]  # the names of its holder
    values: frozenset[str]  # terms of numbers, dates, names and places
    kinds: frozenset[str]  # of values: "money", "date", "time", "number", "name"
    frame: frozenset[str]  # all other terms: what it is about
    slots: frozenset[str]  # of the tables of signals
    aspects: frozenset[str]  # of answers, for standing instructions: "language", "length"
    scope: frozenset[str]  # what an instruction or a value is limited to: "for customers"
    orders: bool  # it is told to the assistant
    returns: bool  # it says that something is as it was before
    changes: bool  # it says that something was otherwise
    ends: bool  # it denies something
    replacing: bool  # its verb ends its object: "I sold the car"


@lru_cache(_REMEMBERED)
def gist(text: str) -> Gist:
    plainly = folded(text)
    whole = plain(text)
    named = frozenset(folded(name).strip("'\u2019").removesuffix("'s") for name in _NAME.findall(text)) - tables.COMMON
    names = named
    first = _FIRST_NAME.match(text)
    if first and folded(first[1]) not in tables.COMMON and folded(first[1]) not in STOP:
        names |= {folded(first[1])}
    who = frozenset({folded(first[1])}) & names if first else frozenset()
    kin = tables.KIN.search(plainly)
    if kin is not None and (called := _CALLED.match(text, kin.end())):
        who |= {folded(called[1])}
    holder, is_of_another = _holder(plainly)
    counted = (*_NUMBER.finditer(plainly), *tables.ORDINAL.finditer(plainly))
    numbers = frozenset(term for found in counted for term in terms(found.group()))
    dates = frozenset(tables.DATES.findall(plainly))
    places = frozenset(term for found in tables.PLACE.finditer(plainly) for term in terms(found[1]))
    slots = frozenset(
        slot.key.rstrip("-") for signals in SIGNALS.values() for slot in signals.slots if slot.table.search(whole)
    )
    slots |= frozenset(name for name, table in tables.SLOTS.items() if table.search(plainly))
    if "residence" not in slots:
        places = frozenset()
    values = (
        numbers | frozenset(t for d in dates for t in terms(d)) | frozenset(t for n in named for t in terms(n)) | places
    )
    about = frozenset(terms(_REASON_START.split(plainly, maxsplit=1)[0]))
    kinds = {
        name
        for name, found in (
            ("money", tables.MONEY.search(plainly)),
            ("date", bool(dates) or tables.DAY.search(plainly)),
            ("time", tables.TIME.search(plainly)),
            ("number", numbers),
            ("name", named),
            ("place", places),
        )
        if found
    }
    own_words = frozenset(term for word in holder for term in terms(word))
    return Gist(
        holder=holder,
        is_own=tables.SELF.search(plainly) is not None or tables.ME.search(plainly) is not None,
        is_of_another=is_of_another,
        names=names,
        who=who,
        values=values,
        kinds=frozenset(kinds),
        frame=about - values - tables.CHANGING - own_words - tables.KIN_TERMS,
        slots=slots,
        aspects=frozenset(name for name, table in tables.ASPECTS.items() if table.search(plainly)),
        scope=frozenset(term for found in tables.SCOPE.finditer(plainly) for term in terms(found[1])),
        orders=tables.ORDERS.search(plainly) is not None,
        returns=tables.RETURNS.search(plainly) is not None,
        changes=tables.CHANGES.search(plainly) is not None or any(s.changes.search(whole) for s in SIGNALS.values()),
        ends=tables.ENDS.search(plainly) is not None,
        replacing=tables.REPLACING.search(plainly) is not None,
    )


_REASON_START = re.compile(r"[,.]? (?:porque|ya que|because|since|cos|mostly for|so that|para que) ")


def _holder(plainly: str) -> tuple[frozenset[str], bool]:
    """Whose fact it is: who is named before the user is."""
    kin = tables.KIN.search(plainly)
    self_at = tables.SELF.search(plainly)
    if kin is not None and (self_at is None or kin.start() <= self_at.start()):
        # "The doctor changed my pills" is of the user.
        if tables.ME.search(plainly, kin.end()) is None or kin["kin"] in ("dog", "cat"):
            return frozenset({tables.KIN_NAMES[kin["kin"]]}), True
        return frozenset(), False
    if self_at is None and tables.ME.search(plainly) is None and tables.THIRD.search(plainly):
        return frozenset(), True
    if tables.OTHER.match(plainly) is not None and self_at is None and tables.ME.search(plainly) is None:
        return frozenset(), True
    return frozenset(), False


def replaces(new: Gist, old: Gist) -> bool:
    """Does what `new` says take the place of what `old` says?"""
    if not _same_holder(new, old):
        return False
    if new.scope and old.scope and new.scope.isdisjoint(old.scope):
        return False
    new_words, old_words = new.frame | new.values, old.frame | old.values
    if new_words == old_words and new.ends == old.ends:
        return False
    if new.aspects & old.aspects and (new.orders and old.orders or new.changes and "language" not in new.aspects):
        return True
    slots = new.slots & old.slots & SINGLE
    if new.ends and not old.ends:
        both = new_words & old_words
        least = min(len(new_words), len(old_words))
        if both and (len(both) >= _MOST_OF * least or slots or both & _terms_of(old.names)):
            return True
    both = new_words & old_words
    if new.replacing and both and not old.replacing:
        if both & old.names or 3 * len(both) >= len(old_words):
            return True
    if slots & _REPLACED_BY_ANY:
        if "residence" in slots:
            return bool(new.values) and new.values.isdisjoint(old.values)
        return new.values != old.values or new.changes
    if slots and new.changes:
        return True
    kinds = new.kinds & old.kinds
    shared = new.frame & old.frame
    extra_new, extra_old = new.frame - old.frame, old.frame - new.frame
    if not shared:
        # "Anjali's moved hers to June": of one who is named, and of one kind.
        if not new.changes:
            return False
        named = new.names & old.names
        if named and (new.is_of_another or old.is_of_another):
            return bool(kinds - {"name"}) or bool(new.names - named and old.names - named)
        # "My supervisor is Dr Lindqvist now."
        is_role = new.holder == old.holder and bool(new.holder) and not new.holder & tables.MANY
        return is_role and "name" in kinds and len(extra_new) <= 1 and len(extra_old) <= 1
    if new.changes or old.ends:
        if not extra_new or not extra_old:
            return bool(kinds) or new.changes or not new.ends
        least = min(len(new.frame), len(old.frame))
        return len(shared) > 1 and len(shared) >= _MOST_OF * least
    if extra_new or extra_old or not kinds:
        return False
    # Where a name differs and a number as well, the name says that it is about something else.
    return not (new.names - old.names and old.names - new.names) or new.values - _terms_of(
        new.names
    ) == old.values - _terms_of(old.names)


def _terms_of(names: frozenset[str]) -> frozenset[str]:
    return frozenset(term for name in names for term in terms(name))


def returns_from(new: Gist, before: Gist, between: Gist) -> bool:
    """`new` says that it is again as `before` said: does that end what `between` said in the meantime?"""
    if not new.returns or not between.changes or not _same_holder(new, between):
        return False
    said = new.frame | new.values
    if not said & (before.frame | before.values) or said & between.values:
        return False
    alike = between.frame & (before.frame | new.frame) or between.slots & (before.slots | new.slots)
    return bool(alike or between.kinds & new.kinds & before.kinds)


def _same_holder(new: Gist, old: Gist) -> bool:
    if new.holder and old.holder:
        named = new.who and old.who and new.holder <= tables.MANY
        return new.holder == old.holder and (not named or bool(new.who & old.who))
    if new.holder or old.holder:
        return bool(new.names & old.who or new.who & old.names) or (new.is_of_another and old.is_of_another)
    if new.is_of_another != old.is_of_another:
        return bool(new.names & old.who or new.who & old.names)
    return True
