"""Holdings of an answer, in forms that can be compared: numbers, names and identifiers, words of meaning."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from proxy.language.tables import named, union
from proxy.language.words import fold, terms

MOST_READ = 40_000  # characters of an answer

_ITEM = re.compile(r"(?m)^[ \t]*(?:[-*+•][ \t]+)?\d{1,3}[.)][ \t]+")  # the number of a list's item
_FIGURE = re.compile(r"(?<![\w#])\d+(?:[.,:/]\d+)*")
_GROUPED = re.compile(r"\d{1,3}(?:[.,]\d{3})+")
_CODE = re.compile(r"```[^\n]*\n(.*?)(?:```|\Z)", re.DOTALL)
_SPAN = re.compile(r"`([^`\n]{1,200})`")
# A word with a mark or a figure in it that no prose has: an identifier, a path, a colour.
_IDENTIFIER = re.compile(r"(?<!\w)(?=[\w#./+-]*(?:[#_/+]|\w\.\w|[A-Za-z]\d))[#\w./+-]*\w")
_NAME = re.compile(r"(?<!\w)[A-ZÁÉÍÓÚÜÑ][\w'\u2019-]*\w")
_OPENS = re.compile(r"(?:^|[.!?:;¡¿\n«“\"(])\s*(?:[-*+•>#]+\s*|\d+[.)]\s+|\*\*)*$")
_WORD = re.compile(r"[^\W_]+")
_PLACEHOLDER = re.compile(r"\[[A-ZÁÉÍÓÚÑ][^\]\n]{1,30}\](?!\()")
_SMALL = frozenset({0, 1})  # "a" and "un" are articles as well
_COUNTED = 10  # up to here a number in words may only count what follows


@dataclass(frozen=True, slots=True)
class Holdings:
    """The holdings of an answer, folded."""

    numbers: frozenset[str]  # in figures, and large ones in words
    counts: frozenset[str]  # all of them: "three points" may be a list as well
    names: frozenset[str]  # names of people and things, and identifiers
    terms: frozenset[str]
    words: frozenset[str]  # all of them: where names are looked for
    code: str  # of fenced blocks, without white space
    has_placeholder: bool  # "[Name]": it is to be filled in


def holdings(text: str) -> Holdings:
    """Returns what a text holds."""
    text = _ITEM.sub("", text[:MOST_READ])
    fenced = "\n".join(_CODE.findall(text))
    prose = _CODE.sub(" ", text)
    numbers = frozenset(map(_number, _FIGURE.findall(prose)))
    spelt = frozenset(_spelt_in(fold(prose)))
    words = frozenset(_WORD.findall(fold(text)))
    return Holdings(
        numbers=numbers | frozenset(number for number in spelt if int(number) > _COUNTED),
        counts=numbers | spelt,
        names=frozenset(_names(prose)),
        terms=frozenset(terms(prose)),
        words=words,
        code="".join(fenced.split()),
        has_placeholder=_PLACEHOLDER.search(prose) is not None,
    )


def _spelt_in(text: str) -> Iterator[str]:
    numbers = _spelt()
    return (str(numbers[word]) for word in _WORD.findall(text) if word in numbers)


def _number(written: str) -> str:
    """Returns a number as it is compared: thousands are not parted, and the decimal mark is a point."""
    if _GROUPED.fullmatch(written):
        return re.sub(r"[.,]", "", written)
    number = written.replace(",", ".")
    return number.lstrip("0") or "0"


@lru_cache(1)
def _spelt() -> dict[str, str]:
    numbers = named(union("state")["numbers"])
    return {word: number for word, number in numbers.items() if int(number) not in _SMALL}


def _names(text: str) -> Iterator[str]:
    """Yields names and identifiers: what begins with a capital within a sentence, and what only code has."""
    for span in _SPAN.findall(text):
        yield from (fold(word) for word in _WORD.findall(span) if len(word) > 1)
    bare = _SPAN.sub(" ", text)
    for found in _IDENTIFIER.findall(bare):
        if any(map(str.isalpha, found)):
            yield from (fold(word) for word in _WORD.findall(found) if len(word) > 1)
    for match in _NAME.finditer(bare):
        if not _OPENS.search(bare, max(0, match.start() - 24), match.start()):
            yield from (fold(word) for word in _WORD.findall(match[0]) if len(word) > 1)
