"""Comparison of a newer statement with older ones: the rules by which it replaces one.

Both must be about the same thing of the same holder, which the words show that differ: values may (numbers, dates,
names, a place), and words of change; if each has a word of its own besides, they are about two things ("the budget of
the trip", "the budget of the kitchen") and both stay. A negation ends what it denies, a verb like "sold" its object.
"""

import re
from collections.abc import Sequence
from itertools import groupby, pairwise

from proxy.memory.analysis import MANY, SINGLE, Analysis, analyse, terms_of

MOST_OF = 0.5  # least share of the shorter one's words that both have, where each has words of its own
_SOME_OF = 1 / 3  # least share of the older one's words that the object of "sold" must have
_BETWEEN = re.compile(r"[,;.:]\s+(?:(?:and|y|e)\s)?|\s(?:and|y|e)\s")  # the pieces of a list
_LOOSE_END = re.compile(r"[\s,;.:]+(?:(?:and|y|e)\s*)?\Z|\s(?:and|y|e)\s*\Z")
# Slots of which another value replaces the known one, even without words of change.
ONE_VALUE = frozenset({"name", "nickname", "residence", "age", "birthday", "marital"})


def replaces(new: Analysis, old: Analysis) -> bool:
    """Tells whether `new` replaces `old`."""
    if not same_holder(new, old) or (new.scope and old.scope and new.scope.isdisjoint(old.scope)):
        return False
    if new.words == old.words and new.ends == old.ends:
        return False
    if _orders_otherwise(new, old) or _ends(new, old) or _takes_away(new, old):
        return True
    slots = new.slots & old.slots & SINGLE
    if "residence" in slots:
        return bool(new.values) and new.values.isdisjoint(old.values)
    if slots:
        return new.changes or (bool(slots & ONE_VALUE) and new.values != old.values)
    if not new.frame & old.frame:
        return new.changes and _is_of_same_role(new, old)
    return _is_of_same_subject(new, old)


def is_of_one_thing(new: Analysis, old: Analysis) -> bool:
    """Tells whether `new` concerns all that `old` says. It does not if `old` says more ("40 hens and 12 sheep on 3
    acres", and then "27 hens"), if `new` may be about somebody else, or if it adds to it ("I also …")."""
    is_added = new.adds and not new.changes
    if is_added or old.aspects - new.aspects or (new.people - old.names and not old.people):
        return False
    rest = old.values - new.values
    is_of_same_name = "number" in new.kinds & old.kinds and not new.names.isdisjoint(old.names)
    if old.kinds <= new.kinds:
        return len(rest) <= max(1, len(new.values - old.values)) + is_of_same_name
    return len(rest) <= 1 and (new.ends or new.replacing)


def is_of_other(new: Analysis, old: Analysis) -> bool:
    """Tells whether each statement names a thing of its own, so that both may hold: two ports, two clients, two
    trainings. A `new` that says that something is over may name its replacement."""
    if new.slots & old.slots & SINGLE or (new.replacing and _is_mostly_of(new, old)):
        return False
    if new.orders and old.orders:
        return bool(new.names - old.names and old.names - new.names)
    extra_new, extra_old = new.frame - old.frame, old.frame - new.frame
    return bool(extra_new and extra_old)


def _is_mostly_of(new: Analysis, old: Analysis) -> bool:
    """Tells whether `new` names the topic of `old`, or most of its words."""
    both = new.words & old.words
    return bool(both & old.names) or len(both) >= MOST_OF * len(old.words)


def remainder(new: Analysis, value: str) -> str:
    """Returns the pieces of `value` that still hold after `new` has replaced a part of it ("I'm left-handed, I play
    bass and have a Jazzmaster": that was sold). Empty if the first piece is concerned, on which the others may
    depend."""
    pieces = _pieces(value)
    hit = _concerned(new, pieces)
    if hit[0] or not any(hit):
        return ""
    kept = [not is_hit and _stands_alone(new, said) for is_hit, (_, said) in zip(hit, pieces, strict=True)]
    runs = groupby(zip(kept, pieces, strict=True), key=lambda each: each[0])
    held = [_LOOSE_END.sub("", "".join(text for _, (text, _) in run)) for is_kept, run in runs if is_kept]
    return " \u2026 ".join(held) if held and len(analyse(held[0]).words) > 1 else ""


def says_more(new: Analysis, value: str) -> bool:
    """Tells whether a piece of `value` states something that `new` does not concern ("I run in Asics and I've entered
    the marathon", and then "I'm not running the marathon")."""
    pieces = _pieces(value)
    hits = zip(_concerned(new, pieces), pieces, strict=True)
    return len(pieces) > 1 and any(not is_hit and bool(said.words) for is_hit, (_, said) in hits)


def _pieces(value: str) -> list[tuple[str, Analysis]]:
    cuts = [0, *(found.end() for found in _BETWEEN.finditer(value)), len(value)]
    return [(value[start:end], analyse(value[start:end])) for start, end in pairwise(cuts)]


def _concerned(new: Analysis, pieces: Sequence[tuple[str, Analysis]]) -> list[bool]:
    """Tells of each piece whether `new` concerns it: shares words with it or, if several do, replaces it."""
    hit = [bool(new.words & said.words) for _, said in pieces]
    return [replaces(new, said) for _, said in pieces] if sum(hit) > 1 else hit


def _stands_alone(new: Analysis, said: Analysis) -> bool:
    """Tells whether a piece is understood without the one that was removed."""
    return bool(said.frame or said.names) or said.kinds.isdisjoint(new.kinds)


def returns_from(new: Analysis, before: Analysis, between: Analysis) -> bool:
    """Tells whether `new`, a return to what `before` said, ends what `between` said in the meantime."""
    if not new.returns or not between.changes or not same_holder(new, between):
        return False
    if not new.words & before.words or new.words & between.values:
        return False
    alike = between.frame & (before.frame | new.frame) or between.slots & (before.slots | new.slots)
    return bool(alike or between.kinds & new.kinds & before.kinds)


def goes_back(new: Analysis, before: Analysis, between: Analysis) -> bool:
    """Tells whether `new` repeats something that `before` said and `between` did not."""
    return not new.ends and not new.words.isdisjoint(before.words - between.words)


def is_said_instead(between: Analysis, before: Analysis) -> bool:
    """Tells whether `between` says of one thing what `before` says, but otherwise ("the logo is in green", "the logo is
    in blue"). Both may hold: only if the earlier one is stated once more, they are taken for alternatives."""
    if between.adds or not same_holder(between, before) or between.orders != before.orders:
        return False
    if between.scope and before.scope and between.scope.isdisjoint(before.scope):
        return False
    shared, least = between.frame & before.frame, min(len(between.frame), len(before.frame))
    is_of_one = bool(shared) and len(shared) >= MOST_OF * least
    is_other = bool(before.words - between.words and between.words - before.words)
    return is_other and (is_of_one or bool(between.slots & before.slots & SINGLE or between.aspects & before.aspects))


def _orders_otherwise(new: Analysis, old: Analysis) -> bool:
    """Tells whether `new` is another instruction on an aspect of answers that `old` instructs."""
    return bool(new.aspects & old.aspects) and (
        (new.orders and old.orders) or (new.changes and "language" not in new.aspects)
    )


def _ends(new: Analysis, old: Analysis) -> bool:
    both = new.words & old.words
    if not new.ends or old.ends or not both:
        return False
    least = min(len(new.words), len(old.words))
    return len(both) >= MOST_OF * least or bool(new.slots & old.slots & SINGLE or both & terms_of(old.names))


def _takes_away(new: Analysis, old: Analysis) -> bool:
    both = new.words & old.words
    if not new.replacing or old.replacing or not both:
        return False
    return bool(both & old.names) or len(both) >= _SOME_OF * len(old.words)


def _is_of_same_role(new: Analysis, old: Analysis) -> bool:
    """Tells whether two statements share their person and nothing else: "Anjali's moved hers to June", "My supervisor
    is Dr Lindqvist now"."""
    kinds, named = new.kinds & old.kinds, new.names & old.names
    if named and "number" in kinds and new.values != old.values and not new.holder and not old.holder:
        return True  # "We're switching to MariaDB 12"
    if named and (new.is_of_another or old.is_of_another):
        return bool(kinds - {"name"}) or bool(new.names - named and old.names - named)
    is_role = new.holder == old.holder and bool(new.holder) and not new.holder & MANY
    return is_role and "name" in kinds and len(new.frame - old.frame) <= 1 and len(old.frame - new.frame) <= 1


def _is_of_same_subject(new: Analysis, old: Analysis) -> bool:
    """Tells whether two statements with words of their frames in common are about one thing."""
    kinds, shared = new.kinds & old.kinds, new.frame & old.frame
    extra_new, extra_old = new.frame - old.frame, old.frame - new.frame
    if new.changes or old.ends:
        if not extra_new or not extra_old:
            return bool(kinds) or new.changes or not new.ends
        return len(shared) > 1 and len(shared) >= MOST_OF * min(len(new.frame), len(old.frame))
    if extra_new or extra_old or not kinds:
        return False
    # Where a name differs and a number as well, the name says that it is about something else.
    other_name = new.names - old.names and old.names - new.names
    return not other_name or new.values - terms_of(new.names) == old.values - terms_of(old.names)


def same_holder(new: Analysis, old: Analysis) -> bool:
    """Tells whether two statements are about the same person: the user, a relative, somebody named."""
    if new.holder and old.holder:
        named = new.who and old.who and new.holder <= MANY
        return new.holder == old.holder and (not named or bool(new.who & old.who))
    is_named = bool(new.names & old.who or new.who & old.names)
    if new.holder or old.holder:
        return is_named or (new.is_of_another and old.is_of_another)
    return new.is_of_another == old.is_of_another or is_named
