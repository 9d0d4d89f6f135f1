"""References to an item of a list that the assistant gave, by the wording of a message: "dame más info del segundo",
"the last one", "option 4", "the second hotel", "el de la terraza".

An ordinal in another sense ("the second world war", "espera un segundo", "the first time I went") is none. Which item
is meant, `list_items` finds.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from proxy.language.phrases import expression, words
from proxy.language.tables import named, union
from proxy.language.words import STOP, plain, terms

Kind = Literal["place", "noun", "attribute"]

LONGEST = 160  # characters of a message that is read; a longer one says itself what it is about
MOST_ATTRIBUTE = 4  # terms of what an item has
SHORT = 12  # words: so short a message is about the item that it points at, and nothing else
_NOUN_WORDS = 3  # of a noun phrase, at most
_LEAST_MISSPELT = 5  # letters

_TABLES = union("list_items")


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference to items of a list."""

    kind: Kind
    places: tuple[int, ...] = ()  # from 1; negative: from the end
    terms: tuple[str, ...] = ()  # stems of the noun, or of the attribute
    newest: bool = True  # the newest list will do where none has the noun
    closes: bool = True  # nothing is meant but the item: without a list, nothing


def _misspelt(known: Mapping[str, int]) -> dict[str, int]:
    """Returns these words with a letter left out or two exchanged, but for those that are other words."""
    found: dict[str, int] = {}
    for word, place in known.items():
        if len(word) < _LEAST_MISSPELT or " " in word:
            continue
        for at in range(1, len(word)):
            found.setdefault(word[:at] + word[at + 1 :], place)
            found.setdefault(word[:at] + word[at : at + 2][::-1] + word[at + 2 :], place)
    excluded = STOP | words(_TABLES["no_typos"]) | known.keys()
    return {word: place for word, place in found.items() if word not in excluded}


def _places() -> dict[str, int]:
    known = {word: int(place) for word, place in named(_TABLES["ordinals"]).items()}
    for line in _TABLES["from_end"].splitlines():
        place, _, entries = line.partition(": ")
        known |= dict.fromkeys(entries.split("|"), int(place))
    return _misspelt(known) | known


_PLACES = _places()
_NUMBERS = {word: int(number) for word, number in named(_TABLES["numbers"]).items()}
_HINTS = frozenset(word for said in (*_PLACES, *_NUMBERS) for word in said.split())  # one is in all but attributes
_DIGIT = re.compile(r"\d")
_AMBIGUOUS = words(_TABLES["ambiguous"])
_PLACE = "|".join(sorted(_PLACES, key=len, reverse=True))
_DIGITS = r"\d{1,2}\.?(?:st|nd|rd|th|[\u00ba\u00aa\u00b0oa]|er[oa]?|[drtmvn][oa])"
_ORDINAL = rf"(?P<place>{_PLACE}|{_DIGITS})"
_WORDED = rf"(?P<place>{'|'.join(_NUMBERS)})"
_BY_PLACE = expression(
    _TABLES,
    rf" (?P<det>{{determiners}})(?: (?P<two>{{two}}))? {_ORDINAL}(?: (?P<both>{{two}}))?(?: (?P<one>{{one}}))?(?= )",
)
_ALSO = expression(_TABLES, rf" (?:and|or|with|to|vs|y|o|con|,)(?: {{determiners}})? {_ORDINAL}(?: {{one}})?(?= )")
_ALONE = expression(
    _TABLES, rf"(?: [.,?]| {{openers}})* (?:{{determiners}} )?{_ORDINAL}(?: {{one}})?(?: {{goes_on}})?(?: [.,?])* "
)
_BY_NUMBER = expression(_TABLES, r" (?:{number} |#|n[\u00ba\u00b0] ?)(?P<place>\d{1,2})(?= )")
_BY_ITEM = expression(_TABLES, r" (?:{items}|{kinds}) (?:{number} |#)?(?P<place>\d{1,2})(?= )")
_BY_WORD = expression(_TABLES, rf" {{worded}} {_WORDED}(?= )")
_EXPLAINED = expression(_TABLES, r" {explains}(?: {determiners})?(?: {number})? (?P<place>\d{1,2})(?= )")
_ALONE_NUMBER = expression(_TABLES, r"(?: [.,?]| {openers})* {determiners} (?P<place>\d{1,2})(?: [.,?])* ")
_GOES_ON = expression(_TABLES, r"(?: [.,?]| {goes_on} | {of_list} )")
_OF_LIST = expression(_TABLES, r" {of_list} ")
_VERBS = expression(_TABLES, r"{verbs}")
_PLURAL = ("los", "las")
_ONES_OWN = expression(_TABLES, r" {ones_own} ")
_OF_OTHER = expression(_TABLES, r" {of_other} ")
_IDIOM = expression(_TABLES, r"(?<= ){idioms} ")
_REGNAL = expression(_TABLES, r"\b([A-Z]\w+) {regnal} [A-Z]\w+")  # in a text as it is written
_NO_ITEM = expression(_TABLES, r" {no_item} ")
_NEVER = expression(_TABLES, r" {never} ")
_ITEMS = expression(_TABLES, r" {items} ")
_KINDS = expression(_TABLES, r" {kinds} ")
_MORE = expression(_TABLES, r" {more}(?= )")
_STARTS = expression(_TABLES, r"(?: [.,?])+(?: {openers})")
_ATTRIBUTE = expression(_TABLES, r" (?:{attribute}|(?P<opens>{attribute_opens})) ")
_NO_ATTRIBUTE = words(_TABLES["no_attribute"].replace("|", " "))
_DATING = expression(_TABLES, r".* {dating}")


@lru_cache(64)
def reference(text: str) -> Reference | None:
    """Returns the reference to a listed item in a user's message; None if there is none."""
    if len(text) > LONGEST or "\n" in text.strip():
        return None
    said = plain(text)
    if _DIGIT.search(said) or not _HINTS.isdisjoint(said.split()):
        said = _IDIOM.sub(", ", plain(_REGNAL.sub(_without_name, text)))
        found = _by_place(said) or _by_number(said)
        if found is not None:
            return found
    return _by_attribute(said)


def _without_name(found: re.Match[str]) -> str:
    """Returns "" for the name of a king, else what was found: "And the Second?"."""
    word = found[1].lower()
    return found[0] if word in STOP or _VERBS.fullmatch(word) else ""


def _by_place(said: str) -> Reference | None:
    if (alone := _ALONE.fullmatch(said)) is not None:
        return Reference("place", (_place(alone["place"]),))
    for found in _BY_PLACE.finditer(said):
        begins, end = found.span()
        is_more = _is_more(said, begins)
        if _ONES_OWN.match(said, end) or said.endswith(" a", 0, begins):
            continue
        is_dated = _DATING.fullmatch(said, 0, begins) and (found["place"][0].isdigit() or _ITEMS.match(said, end))
        if not is_more and (found["place"] in _AMBIGUOUS or (is_dated and not found["one"])):
            continue
        places = _two(_place(found["place"]), is_two=bool(found["two"] or found["both"]))
        if found["one"]:
            is_item = not _NO_ITEM.match(said, end)
        else:
            is_item = bool(_GOES_ON.match(said, end) or _ALSO.match(said, end))
            is_item = is_item and not (found["det"] in _PLURAL and len(places) == 1)
        if is_item:
            closes = is_more or bool(found["one"]) or bool(_OF_LIST.match(said, end)) or _is_short(said)
            return Reference("place", tuple(dict.fromkeys((*places, *_also(said, end)))), closes=closes)
        if (by_noun := _by_noun(said, end, places, is_more=is_more)) is not None:
            return by_noun
    return None


def _is_more(said: str, upto: int) -> bool:
    """Tells whether what stands before the place asks for more of the item, and for nothing else."""
    before = said[: upto + 1]
    return any(more.end() >= upto for more in _MORE.finditer(before)) or _STARTS.fullmatch(before, 0, upto) is not None


def _also(said: str, end: int) -> Iterator[int]:
    """Yields the places that are named right behind another: "the first and the third"."""
    while (also := _ALSO.match(said, end)) is not None:
        yield _place(also["place"])
        end = also.end()


def _by_noun(said: str, start: int, places: tuple[int, ...], *, is_more: bool) -> Reference | None:
    """Returns the reference whose place has a noun: "the second hotel"."""
    if _NEVER.match(said, start):
        return None
    noun: list[str] = []
    end = start
    for word in said[start:].split()[:_NOUN_WORDS]:
        if not word.isalpha() or word in STOP or _GOES_ON.match(said, end) or _ONES_OWN.match(said, end):
            break
        noun.append(word)
        end += len(word) + 1
    if not noun or _ONES_OWN.match(said, end):
        return None
    is_item, is_kind = _ITEMS.match(said, start), _KINDS.match(said, start)
    if is_item or is_kind:
        if not _GOES_ON.match(said, (is_item or is_kind).end() - 1):  # type: ignore[union-attr]  # one of them is there
            return None
        return Reference("place" if is_item else "noun", places, tuple(terms(noun[0])))
    if not (is_more or _is_short(said)):
        return None
    return Reference("noun", places, tuple(terms(" ".join(noun))), newest=False, closes=is_more)


def _by_number(said: str) -> Reference | None:
    if (alone := _ALONE_NUMBER.fullmatch(said)) is not None:
        return Reference("place", (int(alone["place"]),))
    for pattern in (_BY_ITEM, _BY_WORD, _BY_NUMBER, _EXPLAINED):
        for found in pattern.finditer(said):
            begins, end = found.span()
            goes_on = _GOES_ON.match(said, end) is not None
            is_other = bool(_ONES_OWN.match(said, end) or _OF_OTHER.match(said, end))
            is_other = is_other or (pattern is _BY_NUMBER and not _is_free(said, begins))
            if (goes_on or pattern in (_BY_ITEM, _BY_NUMBER)) and (pattern is _EXPLAINED or not is_other):
                number = found["place"]
                return Reference("place", (_NUMBERS.get(number) or int(number),), closes=goes_on)
    return None


def _is_free(said: str, upto: int) -> bool:
    """Tells whether no noun or adjective stands before a number, of which it would be ("atomic number 26")."""
    before = said[:upto].rpartition(" ")[2]
    return not before.isalpha() or before in STOP or _is_more(said, upto) or _VERBS.fullmatch(before) is not None


def _is_short(said: str) -> bool:
    return sum(map(str.isalnum, said.split())) <= SHORT


def _by_attribute(said: str) -> Reference | None:
    if not _is_short(said):
        return None
    for found in _ATTRIBUTE.finditer(said):
        if found["opens"] and not (_is_more(said, found.start()) or said[: found.start()].endswith((".", "?"))):
            continue
        rest = said[found.end() :]
        stop = min((at for mark in ".,?" if (at := rest.find(f" {mark} ")) >= 0), default=len(rest))
        has = tuple(dict.fromkeys(terms(rest[:stop])))[:MOST_ATTRIBUTE]
        if has and _NO_ATTRIBUTE.isdisjoint(rest.split()[:1]):
            return Reference("attribute", terms=has, newest=False, closes=False)
    return None


def _place(said: str) -> int:
    known = _PLACES.get(said)
    return known if known is not None else int("".join(filter(str.isdigit, said)))


def _two(place: int, *, is_two: bool) -> tuple[int, ...]:
    if not is_two:
        return (place,)
    return (place, place + 1) if place > 0 else (place - 1, place)
