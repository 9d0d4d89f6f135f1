"""Noun phrases of a text: nouns with their adjectives, numbers and complements, verbatim.

A phrase begins behind a determiner, a preposition, a number, or a verb that takes its object bare, or with a name; it
ends before a word that cannot belong to it: words of grammar, forms of verbs, and words that do not agree. Ambiguous
words are left out, so a phrase is missed rather than cut in its middle.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from types import MappingProxyType

from proxy.language.phrases import words
from proxy.language.tables import tables, union
from proxy.language.words import fold, terms
from proxy.types.memory import Language


@dataclass(frozen=True, slots=True)
class NounWords:
    """Words that surround the noun phrases of a language: the tables of `nouns.txt`."""

    determiners: frozenset[str]  # a noun phrase begins behind them
    prepositions: frozenset[str]  # and behind these
    links: frozenset[str]  # prepositions that bind a complement to the noun before: "of", "de"
    takers: frozenset[str]  # verbs whose object follows without a determiner: "use", "tengo"
    closed: frozenset[str]  # no part of a noun phrase: pronouns, auxiliaries, adverbs, conjunctions
    verbs: frozenset[str]  # forms of verbs, some of them nouns elsewhere: behind a noun they end the phrase
    nouns: frozenset[str]  # end like a verb, and are none
    vague: frozenset[str]  # stand for anything: "thing", "tema"
    trailing: frozenset[str]  # never the last word of a phrase: "new", "mismo"


def _noun_words(code: Language) -> NounWords:
    written = tables(code, "nouns")
    listed = {field.name: words(written[field.name]) for field in fields(NounWords)}
    return NounWords(**{**listed, "verbs": listed["verbs"] | frozenset(_inflected(written))})


def _inflected(written: Mapping[str, str]) -> Iterator[str]:
    """Yields the forms of regular verbs, for languages whose tables list infinitives."""
    for infinitive in written.get("infinitives", "").split():
        yield infinitive
        endings = written["ar" if infinitive.endswith("ar") else "er-ir"]
        yield from (infinitive[:-2] + ending for ending in endings.split())


NOUN_WORDS: Mapping[Language, NounWords] = MappingProxyType({"en": _noun_words("en"), "es": _noun_words("es")})
MEASURES = words(union("nouns")["measures"])  # of dates and amounts

_TOKEN = re.compile(r"[$€£]?\d[\w.,:/%-]*[\w%]|[$€£]?\d%?|[^\W\d_][\w/@#+.'\u2019-]*\w|[^\W\d_]|[^\w\s]")
_MOST_WORDS = 8  # of a phrase
_MODIFIERS = 2  # Spanish adjectives behind their noun
_NAME = re.compile(r"[A-ZÁÉÍÓÚÑ]|\w[A-Z_/]|\w\.\w")
_UNIT = re.compile(r"%|\d")


@dataclass(frozen=True, slots=True)
class _Word:
    start: int
    end: int
    text: str
    plain: str  # folded

    @property
    def is_word(self) -> bool:
        return self.text[0].isalnum() or self.text[0] in "$€£"

    @property
    def is_number(self) -> bool:
        return any(map(str.isdigit, self.text))


def noun_phrases(text: str, language: Language, least: int = 2) -> list[str]:
    """Returns the longest noun phrases of `text`, in order, verbatim and without a leading determiner, each with at
    least `least` words of meaning."""
    reader = _READERS[language]
    said = [_Word(found.start(), found.end(), found[0], fold(found[0])) for found in _TOKEN.finditer(text)]
    found, at = [], 0
    while at < len(said):
        stop = reader.phrase(said, at) if reader.may_begin(said, at) else at
        if stop > at and reader.is_telling(said[at:stop], least):
            found.append(text[said[at].start : said[stop - 1].end])
        at = max(stop, at + 1)
    return found


def names_something(phrase: str) -> bool:
    """True if the phrase names a thing, and not just a date or an amount."""
    said = re.findall(r"[\w'\u2019./:-]*\w", phrase)
    telling = [word for word in said if terms(word) and fold(word) not in MEASURES and not _UNIT.search(word)]
    return len(telling) >= 2 or (
        len(telling) == 1 and len(telling) < sum(bool(terms(word)) for word in said) and bool(_NAME.match(telling[0]))
    )


class _Reader(ABC):
    """Boundaries of the noun phrases of one language."""

    def __init__(self, language: Language) -> None:
        self.words: NounWords = NOUN_WORDS[language]

    def may_begin(self, said: Sequence[_Word], at: int) -> bool:
        word = said[at]
        if not self._may_be(word) or not self._may_open(said, at):
            return False
        if word.is_number:
            return True
        before = said[at - 1] if at else None
        if before is None or not before.is_word:
            return False
        known = self.words.determiners | self.words.prepositions | self.words.takers
        return before.plain in known or self._is_name(said, at)

    def phrase(self, said: Sequence[_Word], at: int) -> int:
        """Returns the end of the phrase that begins at `at`."""
        stop = self._core(said, at)
        while stop < len(said) and stop - at < _MOST_WORDS:
            begin = self._complement(said, stop)
            end = self._core(said, begin) if begin else stop
            if end <= stop or end - at > _MOST_WORDS:
                break
            stop = end
        return self._trimmed(said, at, stop)

    def is_telling(self, phrase: Sequence[_Word], least: int) -> bool:
        telling = [word for word in phrase if terms(word.text) and word.plain not in self.words.vague]
        return len(telling) >= least and not all(word.is_number for word in telling)  # a phrase, not a word

    def _complement(self, said: Sequence[_Word], at: int) -> int:
        """Returns the index of the noun in the complement that begins at `at`; 0 if none begins there."""
        if said[at].plain not in self.words.links:
            return 0
        at += 1
        while at < len(said) and said[at].plain in self.words.determiners:
            at += 1
        return at if at < len(said) and self._may_be(said[at]) and self._may_open(said, at) else 0

    def _core(self, said: Sequence[_Word], at: int) -> int:
        stop = at + 1
        while stop < len(said) and self._may_be(said[stop]) and self._goes_on(said, at, stop):
            stop += 1
        return stop

    def _trimmed(self, said: Sequence[_Word], at: int, stop: int) -> int:
        while stop > at and (said[stop - 1].plain in self.words.trailing or not said[stop - 1].is_word):
            stop -= 1
        return stop

    def _may_be(self, word: _Word) -> bool:
        if not word.is_word or word.plain in self.words.closed:
            return False
        return word.plain not in self.words.determiners and word.plain not in self.words.prepositions

    @staticmethod
    def _is_name(said: Sequence[_Word], at: int) -> bool:
        return bool(_NAME.match(said[at].text))

    @abstractmethod
    def _may_open(self, said: Sequence[_Word], at: int) -> bool:
        """Tells whether a noun phrase may begin with the word at `at`."""

    @abstractmethod
    def _goes_on(self, said: Sequence[_Word], begin: int, at: int) -> bool:
        """Tells whether the phrase that begins at `begin` goes on with the word at `at`."""


class _Spanish(_Reader):
    _PLURAL = words("los las unos unas mis tus sus nuestros nuestras estos estas esos esas otros otras")
    _FEMALE = words("la una esta esa nuestra otra")
    _MALE_LOOKING = words("mano foto moto radio")
    _VERBAL = re.compile(
        r".+(?:[aei]r(?:me|te|se|l[aeo]s?|nos)*|[ai]ndo(?:me|te|se|l[aeo]s?|nos)*|[ae]mos|imos|aron|ieron|mente)"
    )
    _PLURAL_VERB = re.compile(r".{3,}[ae]n")  # "merecen": no adjective ends like that
    _STRESSED = re.compile(r".*(?:ó|é|í|ás|án|éis|áis)$")

    def _may_open(self, said: Sequence[_Word], at: int) -> bool:
        word, before = said[at], said[at - 1].plain if at else ""
        if word.is_number or self._is_name(said, at):
            return True
        if self._is_verbal(word):
            return False
        if before in self._PLURAL and word.plain[-1] != "s":
            return False
        if before in self._FEMALE and word.plain[-1] == "o" and word.plain not in self._MALE_LOOKING:
            return False
        bare = before not in self.words.determiners
        is_which = before == "que" and said[at - 1].text.lower() == "qué"
        return is_which or not (
            before in ("que", "como", "segun") or (bare and word.plain in self.words.verbs and before != "de")
        )

    def _goes_on(self, said: Sequence[_Word], begin: int, at: int) -> bool:
        word, head = said[at], said[begin]
        if word.is_number or self._is_name(said, at):
            return word.text[0] in "$€£" or not word.is_number or not head.is_number
        if word.plain in self.words.verbs or self._is_verbal(word) or self._PLURAL_VERB.fullmatch(word.text):
            return False
        last = said[at - 1]
        if last.is_number or self._is_name(said, at - 1):
            return last.is_number
        if at - begin > _MODIFIERS + head.is_number:
            return False
        return (word.plain[-1] == "s") == (last.plain[-1] == "s") or word.plain in self.words.nouns

    def _is_verbal(self, word: _Word) -> bool:
        if word.plain in self.words.nouns:
            return False
        if self._STRESSED.fullmatch(word.text.lower()):
            return len(word.text) > 3 or word.plain in self.words.verbs  # "té", "más"
        has_accent = word.text.lower() != word.plain and "ñ" not in word.text.lower()
        return not has_accent and self._VERBAL.fullmatch(word.plain) is not None


class _English(_Reader):
    def _may_open(self, said: Sequence[_Word], at: int) -> bool:
        word, before = said[at], said[at - 1].plain if at else ""
        if word.is_number or self._is_name(said, at):
            return True
        if word.plain.endswith("ly") and word.plain not in self.words.nouns:
            return False
        if before in self.words.determiners:
            return before not in ("that", "which", "what", "more", "most") or word.plain not in self.words.verbs
        return not (
            word.plain in self.words.takers or (word.plain.endswith("ing") and word.plain not in self.words.nouns)
        )

    def _goes_on(self, said: Sequence[_Word], begin: int, at: int) -> bool:  # noqa: ARG002 (Spanish asks how the phrase began)
        word, last = said[at], said[at - 1]
        after = said[at + 1] if at + 1 < len(said) else None
        if word.is_number:
            return word.text[0] not in "$€£" and self._is_name(said, at - 1)
        if word.plain in self.words.nouns or self._is_name(said, at):
            return True
        if word.plain.endswith("ly"):
            return False
        ends = after is None or not self._may_be(after)
        if word.plain.endswith("ed") and last.plain not in self.words.trailing:
            return False
        if word.plain.endswith("ing") and last.plain not in self.words.trailing:
            return not ends
        if word.plain in self.words.verbs:
            takes = after is not None and after.is_word
            return last.plain in self.words.trailing or last.is_number or not (takes or last.plain[-1] == "s")
        return True


_READERS: dict[Language, _Reader] = {"en": _English("en"), "es": _Spanish("es")}
