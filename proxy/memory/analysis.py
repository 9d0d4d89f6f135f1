"""Analysis of a statement: its holder, its topic and its values.

It goes by words alone, in sets of folded stems: names, numbers, dates and places are values; words of change, of time
and of grammar count for nothing; the rest is the frame, which two statements about the same thing share.
"""

import re
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

from proxy.language.finding import Finder
from proxy.language.phrases import expression, words
from proxy.language.tables import named, union
from proxy.language.words import STOP, plain, terms
from proxy.memory.signals import SIGNALS, folded

_REMEMBERED = 4_096  # texts whose analyses are cached: a scope's facts are compared with every new statement
_NUMBER = re.compile(r"[$€£]?\d+(?:[.,:/-]\d+)*\s?%?[a-z]{0,3}\b")
_UPPER = "A-Z\u00c1\u00c9\u00cd\u00d3\u00da\u00d1"
_NAME = re.compile(rf"(?<=[^.!?:\n\u00bf\u00a1] )[{_UPPER}][\w'\u2019-]*")
_FIRST_NAME = re.compile(rf"^[^\w]*(?:(?:And|But|Y|El|La|Our|My)\s)?([{_UPPER}][\w-]+)")
_CALLED = re.compile(rf",?\s(?:is called |is named |se llama )?([{_UPPER}][\w-]+)")
_REASON = re.compile(r"[,.]? (?:porque|ya que|because|since|cos|mostly for|so that|para que) ")
# Slots with one value per person.
SINGLE = frozenset({"name", "nickname", "residence", "age", "birthday", "job", "boss", "diet", "marital", "origin"})


# Relatives and attributes: words, and the name that both languages share.
_KINSHIP = union("kinship")
KIN_NAMES, ATTRIBUTE_NAMES = named(_KINSHIP["relatives"]), named(union("attributes")["attributes"])
_KIN_TERMS = frozenset(term for word in KIN_NAMES for term in terms(word))
_KIN_WORDS = "|".join(sorted(map(re.escape, KIN_NAMES), key=len, reverse=True))
# "my son", "my eldest son", "mi hija mayor", "the twins"
KIN = expression(
    _KINSHIP,
    r"(?:(?<=^)(?={alone}\b)|\b{before_a_name} (?={without_article}\b)|\b{whose}\s+(?:[\w-]+\s)?)"
    rf"(?P<kin>{_KIN_WORDS})\b(?!-)",
)
# Relatives of whom a person may have several, distinguished by their names.
MANY = words("""
son daughter child brother sister siblings friend dog cat cousin neighbour colleague client teacher doctor nephew niece
uncle aunt grandson granddaughter pet horse flatmate
""")

_TABLES = union("subjects")
_SIGNS = {
    name: expression(_TABLES, rf"\b{{{name}}}\b")
    for name in ("self", "me", "third", "ordinals", "changes", "replacing", "ends", "adds", "returns", "orders")
}
SELF, ME, THIRD, ORDINAL, CHANGES, REPLACING, ENDS, ADDS, RETURNS, ORDERS = _SIGNS.values()
# By name: the aspects of answers that an instruction is about, and the slots that a verb expresses.
ASPECTS, SLOTS = (
    {name.removeprefix(kind): expression(_TABLES, rf"\b{{{name}}}\b") for name in _TABLES if name.startswith(kind)}
    for kind in ("aspect-", "slot-")
)
OTHER = expression(_TABLES, r"^\W*(?:{and}\s+)?{other}\b")
_COMMON = words(_TABLES["common"])
DATES = expression(_TABLES, r"\b{dates}\b")
DAY = re.compile(r"\b\d{1,2}(?:st|nd|rd|th)\b|\b\d{1,2}/\d{1,2}\b")
TIME = re.compile(r"\b\d{1,2}(?::\d\d| ?[ap]m\b|hs?\b)")
MONEY = expression(_TABLES, r"[$€£]|\b{money}\b")
PLACE = expression(_TABLES, r"\b{in_place}\s+((?:[\w'-]+)(?:\s(?!{behind_place})[\w'-]+)?)")
_CHANGING = frozenset(terms(_TABLES["changing"]))
SCOPE = expression(_TABLES, r"\b{for} ((?:{for_whose} )*[\w-]+)")
# All that an analysis looks for, in `folded` and in plain text.
_IN_FOLDED = Finder(
    {
        **_SIGNS,
        "dates": DATES,
        "money": MONEY,
        "places": PLACE,
        "scopes": SCOPE,
        **{f"aspect {name}": table for name, table in ASPECTS.items()},
        **{f"slot {name}": table for name, table in SLOTS.items()},
    }
)
_IN_PLAIN = Finder(
    {f"slot {slot.key.rstrip('-')} {code}": slot.table for code, signals in SIGNALS.items() for slot in signals.slots}
    | {f"changes {code}": signals.changes for code, signals in SIGNALS.items()}
)


@dataclass(frozen=True, slots=True)
class Analysis:
    """The parts of a statement, as sets of folded stems, and its flags."""

    holder: frozenset[str]  # the person it is about, if not the user: "son", "boss"
    is_own: bool  # it says "I" or "my"
    is_of_another: bool  # it is about somebody else, by name or "she"
    names: frozenset[str]  # of persons, places, products
    who: frozenset[str]  # the names of its holder
    people: frozenset[str]  # names that are no places: not behind "in" or "to"
    values: frozenset[str]  # terms of numbers, dates, names and places
    kinds: frozenset[str]  # of values: "money", "date", "time", "number", "name", "place"
    frame: frozenset[str]  # all other terms: its topic
    words: frozenset[str]  # all terms: of the frame and of the values
    slots: frozenset[str]  # of the tables of signals
    aspects: frozenset[str]  # of answers, for standing instructions: "language", "length"
    scope: frozenset[str]  # what an instruction is limited to: "for customers"
    orders: bool  # it instructs the assistant
    returns: bool  # it says that something is as it was before
    changes: bool  # it says that something was otherwise
    ends: bool  # it denies something
    replacing: bool  # its verb ends its object: "I sold the car"
    adds: bool  # it says that it is one more: "I also coach …"


@lru_cache(_REMEMBERED)
def analyse(text: str) -> Analysis:
    """Analyses a statement in the user's words."""
    plainly = folded(text)
    found = frozenset(_IN_FOLDED.found(plainly))
    known = [name.split() for name in (*found, *_IN_PLAIN.found(plain(text)))]
    slots = frozenset(name[1] for name in known if name[0] == "slot")
    named = frozenset(folded(name).strip("'\u2019").removesuffix("'s") for name in _NAME.findall(text)) - _COMMON
    first = _FIRST_NAME.match(text)
    opening = {folded(first[1])} - _COMMON - STOP if first else set()
    kin = KIN.search(plainly)
    called = _CALLED.match(text, kin.end()) if kin else None
    dates = DATES.findall(plainly) if "dates" in found else []
    named -= set(dates)
    counted = (*(ORDINAL.findall(plainly) if "ordinals" in found else ()), *_NUMBER.findall(plainly))
    near = terms_of(each[1] for each in PLACE.finditer(plainly)) if "places" in found else frozenset()
    places = near if "residence" in slots else frozenset()
    values = terms_of((*counted, *dates, *named)) | places
    kinds = {
        "money": "money" in found,
        "date": dates or DAY.search(plainly),
        "time": TIME.search(plainly),
        "number": counted,
        "name": named,
        "place": places,
    }
    holder, is_of_another = _holder(plainly, kin, found)
    frame = terms_of([_REASON.split(plainly, maxsplit=1)[0]]) - values - _CHANGING - terms_of(holder) - _KIN_TERMS
    return Analysis(
        holder=holder,
        is_own="self" in found or "me" in found,
        is_of_another=is_of_another,
        names=named | opening,
        who=frozenset(opening | ({folded(called[1])} if called else set())),
        people=frozenset(name for name in named | opening if not terms_of([name]) <= near),
        values=values,
        kinds=frozenset(name for name, said in kinds.items() if said),
        frame=frame,
        words=frame | values,
        slots=slots,
        aspects=frozenset(name[1] for name in known if name[0] == "aspect"),
        scope=terms_of(each[1] for each in SCOPE.finditer(plainly)) if "scopes" in found else frozenset(),
        orders="orders" in found,
        returns="returns" in found,
        changes=any(name[0] == "changes" for name in known),
        ends="ends" in found,
        replacing="replacing" in found,
        adds="adds" in found,
    )


RELATIVES = frozenset(KIN_NAMES.values())
_SHARED_NAMES = {**ATTRIBUTE_NAMES, **KIN_NAMES}


def subjects(text: str) -> frozenset[str]:
    """Returns the relatives, animals and attributes that `text` names, by names shared by both languages: "mi sueldo",
    "my salary"."""
    return frozenset(_SHARED_NAMES[word] for word in re.findall(r"[\w-]+", folded(text)) if word in _SHARED_NAMES)


def terms_of(texts: Iterable[str]) -> frozenset[str]:
    """Returns the terms of several texts as one set."""
    return frozenset(chain.from_iterable(map(terms, texts)))


def _holder(plainly: str, kin: re.Match[str] | None, found: AbstractSet[str]) -> tuple[frozenset[str], bool]:
    """Returns the holder of a statement and whether it is about somebody else: whoever is named before the user is.
    `kin`: the first relative; `found`: the tables that match anywhere."""
    own = SELF.search(plainly) if "self" in found else None
    if kin is not None and (own is None or kin.start() <= own.start()):
        # "The doctor changed my pills" is of the user.
        if "me" not in found or ME.search(plainly, kin.end()) is None:
            return frozenset({KIN_NAMES[kin["kin"]]}), True
        return frozenset(), False
    of_another = own is None and "me" not in found
    return frozenset(), of_another and ("third" in found or OTHER.match(plainly) is not None)
