"""What the tables of a language hold, and how they are written down.

    function     words that carry no content: they may be there or not
    operators    small words that change the answer: said by one question, they must be said by the other
    numbers      numbers that are written as words
    synonyms     words that mean the same nearly anywhere, under the first of their line
    short        what people write for a longer word
    filler       what a clause may consist of and still say nothing about the question
    optional     content that may be missing on one side
    praise       adjectives that mean little in a question for an explanation: "the main reasons", "a good way"
    pronouns     third persons, which a question must agree in
    markers      words that tell which part the next content plays
    conditions   the markers that open a clause
    joins        words that coordinate what stands beside them
    asking       words that a question asks with
    kinds        what a question asks for, the first that its text has
    chat         how words of grammar are written in a hurry
    units        what stands behind a number
    contractions what is written as one word, written out
    suffixes     endings of derivation, longest first
    sounds       letters that are written for each other

Every word is written without accents and in lower case.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

Language = Literal["es", "en"]
Rewrites = tuple[tuple[re.Pattern[str], str], ...]


@dataclass(frozen=True, slots=True)
class Lexicon:
    function: frozenset[str]
    operators: Mapping[str, str]
    numbers: Mapping[str, str]
    synonyms: Mapping[str, str]
    short: Mapping[str, tuple[str, ...]]
    filler: frozenset[str]
    optional: frozenset[str]
    praise: frozenset[str]
    pronouns: Mapping[str, str]
    markers: frozenset[str]
    conditions: frozenset[str]
    joins: Mapping[str, str]
    asking: frozenset[str]
    kinds: tuple[tuple[str, re.Pattern[str]], ...]
    chat: Mapping[str, str]
    units: Mapping[str, str]
    contractions: Rewrites
    rewrites: Rewrites
    suffixes: re.Pattern[str]
    sounds: tuple[tuple[str, str], ...]


@cache
def lexicon(language: Language) -> Lexicon:
    """The tables of `language`, made when they are first asked for."""
    if language == "es":
        from proxy.reuse import lexicon_es  # noqa: PLC0415  # its tables need this module to be written down

        return lexicon_es.LEXICON
    from proxy.reuse import lexicon_en  # noqa: PLC0415  # as above

    return lexicon_en.LEXICON


def words(table: str) -> frozenset[str]:
    return frozenset(table.split())


def groups(table: str) -> dict[str, str]:
    """Every word of a line to the first of its line."""
    return {word: line.split()[0] for line in table.strip().splitlines() for word in line.split()}


def shorthand(table: str) -> dict[str, tuple[str, ...]]:
    """`short other = its words`, entries apart by a bar or a line's end."""
    entries = (entry.split("=") for line in table.strip().splitlines() for entry in line.split("|"))
    return {short: tuple(long.split()) for shorts, long in entries for short in shorts.split()}


def rewrites(table: str) -> Rewrites:
    """`pattern => replacement`, a rule a line, in the order in which they are applied."""
    rules = (line.split("=>") for line in table.strip().splitlines())
    return tuple((re.compile(pattern.strip()), replacement.strip()) for pattern, replacement in rules)


def kinds(table: str) -> tuple[tuple[str, re.Pattern[str]], ...]:
    """`kind: pattern`, a kind a line; the first that is found in a question is its kind."""
    rules = (line.split(":", 1) for line in table.strip().splitlines())
    return tuple((kind.strip(), re.compile(rf"(?:^|(?<= ))(?:{pattern.strip()})(?= |$)")) for kind, pattern in rules)


def suffixes(table: str) -> re.Pattern[str]:
    return re.compile(f"(?:{'|'.join(sorted(table.split(), key=len, reverse=True))})$")


def sounds(table: str) -> tuple[tuple[str, str], ...]:
    return tuple((written, heard) for written, heard in (pair.split("=") for pair in table.split()))
