"""Reads a question into tokens, the form in which two of them are compared.

Its canonical text is read into tokens: content words with their lemma and the part they play, numbers, and function
words, which count for little. Small words that change the answer (not, before, only, more, …) are operators and stand
apart.
"""

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, NamedTuple

from proxy.language.language import Language, Lexicon, language_of
from proxy.language.tables import everywhere, languages
from proxy.language.text import fold
from proxy.language.words import lemma
from proxy.language.words import warm as load_words
from proxy.reuse.canonical import canonical, is_small_talk

Kind = Literal["content", "function", "number"]

# Beyond, a text is compared as a whole: no reading of it word by word would be safe, or quick.
MAX_WORDS = 200
MAX_CHARACTERS = 2_000

_REMEMBERED = 4_096  # questions, at some 10 kB each
_TOKEN = re.compile(r"\d+(?:[.,:/]\d+)*(?:[^\W\d_]+[+#]*)?|[^\W_]+(?:['.-][^\W_]+)*[+#]*|[%$€£=+*/<>^,-]")
_QUOTED = re.compile(r'"([^"]+)"')
_CAPITALIZED = re.compile(r"(?<![^\W_])[^\W\d_a-z][^\W_]*")  # or begins with a letter that is none of a to z
_INSIDE = re.compile(r"[\s(\"'-]*[^\s.?!:¿¡(\"'…\n]")  # of what stands before, read backwards
_WORD = re.compile(r"[^\W_]+")
_ACRONYM = re.compile(r"\b[A-ZÁÉÍÓÚÑ]{2,6}\b")
_LETTER = re.compile(r"(?<=[a-záéíóúñ] )[A-HJ-Z]\b(?! [A-ZÁ])")
_CLITICS = frozenset(" ".join(everywhere("comparison", "clitics")).split())
_SYMBOLS = frozenset("%$€£=+*/<>^")
_ORDINALS = frozenset(" ".join(everywhere("comparison", "ordinals")).split())


class Token(NamedTuple):  # there is one for every word: a frozen dataclass takes five times as long to make
    """A word of a question, with what is known of it."""

    word: str  # folded
    written: str  # lower case, with its accents
    lemma: str  # folded; the word that stands for its synonyms, if it has any
    kind: Kind
    position: int
    clause: int  # clauses are counted by punctuation
    marker: str = ""  # the preposition before it: which part it plays
    condition: str = ""  # the clause's opening word, if it is "if", "when", …
    is_capital: bool = False
    is_coordinated: bool = False  # "and" or "or" stands beside it

    @property
    def is_content(self) -> bool:
        """Tells whether the word carries content."""
        return self.kind == "content"


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """There is one for a text in a language, as long as it is remembered. Equal `original` or `text` mean: asked in the
    same words."""

    original: str
    language: Language
    folded: str = ""  # without what says nothing, accents and contractions
    text: str = ""  # the same, frames rewritten
    is_long: bool = False  # not read: only the same text is the same question
    tokens: tuple[Token, ...] = ()
    content: tuple[Token, ...] = ()  # those of them that carry content
    words: frozenset[str] = frozenset()  # of all tokens
    forms: frozenset[str] = frozenset()  # the same, and their lemmas
    asks: str = "none"  # what for: how, why, when, …, yesno
    operators: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()  # in their order, "?" where the question word stands between them
    tense: str = "present"  # past, perfect, future, used to, becoming
    pronouns: tuple[str, ...] = ()
    joins: frozenset[str] = frozenset()  # "and", "or"
    quoted: tuple[str, ...] = ()
    acronyms: frozenset[str] = frozenset()
    clitics: frozenset[str] = frozenset()  # to whom
    asks_what_it_does: bool = False  # "what does a router do": the verb is a function word
    about_somebody: bool = False  # "if someone …": not the asker


def warm() -> None:
    """Load what the first question would wait for: dictionaries, tables, expressions. Takes about two seconds."""
    compared = [language_of(code) for code in languages("lexicon")]
    load_words(compared)
    for language in compared:
        analyse("?", language)
        is_small_talk("thanks", language)


def analyse(text: str, language: Language) -> Question:
    """Reads `text` as a question. Never raises; the time it takes is bounded whatever the text."""
    if len(text) > MAX_CHARACTERS or len(text.split(None, MAX_WORDS)) > MAX_WORDS:
        return Question(original=text, language=language, is_long=True)
    return _analyse(text, language)


@lru_cache(_REMEMBERED)
def _analyse(original: str, language: Language) -> Question:
    comparison = language.comparison
    form = canonical(original, language)
    said, text = form.said, form.text
    reader = _Reader(language, language.lexicon, form.asks, said)
    for found in _TOKEN.findall(text):
        reader.read(found)
    strong = comparison.strong.findall(said.lower()) if comparison.strong else ()
    words = frozenset([token.word for token in reader.tokens])
    return Question(
        original=original,
        language=language,
        folded=form.folded,
        text=text,
        tokens=tuple(reader.tokens),
        content=tuple([token for token in reader.tokens if token.kind == "content"]),
        words=words,
        forms=words.union([token.lemma for token in reader.tokens]),
        asks=form.asks,
        operators=tuple(sorted(reader.operators)),
        numbers=_inner(reader.numbers) if "," not in text else tuple(sorted({*reader.numbers} - {"?"})),
        tense=tense_of(form.folded, language),
        pronouns=(*reader.pronouns, *strong),
        joins=frozenset(reader.joins),
        quoted=tuple(sorted(fold(quote).strip(" .,;:!?¿¡") for quote in _QUOTED.findall(said))),
        acronyms=reader.acronyms,
        clitics=_CLITICS.intersection(text.split()),
        asks_what_it_does=comparison.what_it_does.found_in(text),
        about_somebody=comparison.somebody is not None and comparison.somebody.found_in(text),
    )


def tense_of(folded: str, language: Language) -> str:
    """The time that a folded text asks about, by its auxiliaries."""
    for tense, sign in language.comparison.tenses:
        if sign.search(folded):
            return tense
    return "present"


def _inner(numbers: list[str]) -> tuple[str, ...]:
    """Returns the place of the question word, which matters only between numbers: "20 percent of 85", "20 is what
    percent of 85"."""
    first = next((at for at, number in enumerate(numbers) if number != "?"), len(numbers))
    last = next((at for at in range(len(numbers), 0, -1) if numbers[at - 1] != "?"), 0)
    return tuple(numbers[first:last])


@dataclass(slots=True)
class _Reader:
    """Reads the words of a canonical text one after the other."""

    language: Language
    tables: Lexicon
    asks: str
    said: str
    tokens: list[Token] = field(default_factory=list)
    operators: list[str] = field(default_factory=list)
    numbers: list[str] = field(default_factory=list)
    pronouns: list[str] = field(default_factory=list)
    joins: list[str] = field(default_factory=list)
    acronyms: frozenset[str] = frozenset()
    _accented: dict[str, str] = field(default_factory=dict)
    _capitals: frozenset[str] = frozenset()
    _letters: frozenset[str] = frozenset()
    _clause: int = 0
    _marker: str = ""
    _condition: str = ""
    _joined: bool = False
    _counting: bool = False  # the last word was a number written as a word

    def __post_init__(self) -> None:
        lower = self.said.lower()
        if not lower.isascii():
            for word in _WORD.findall(lower):
                self._accented.setdefault(fold(word), word)
        capitals = [word for word in _CAPITALIZED.finditer(self.said) if word.group()[0].isupper()]
        # The first word of a sentence is a capital anyway.
        self._capitals = frozenset(
            fold(word.group()) for word in capitals if _INSIDE.match(self.said[: word.start()][::-1])
        )
        if any(word.group().isupper() for word in capitals):
            self._letters = frozenset(letter.lower() for letter in _LETTER.findall(self.said))
            if not self.said.isupper():
                self.acronyms = frozenset(fold(word) for word in _ACRONYM.findall(self.said))

    def read(self, found: str) -> None:
        """Reads the next word or mark of the question."""
        if found.isalnum():
            self._word(found)
        elif found == ",":
            self._clause += 1
            self._marker = self._condition = ""
        elif found.endswith("'s"):
            self._word(found[:-2].strip("'.-") or found, is_possessor=True)
        elif found != "-":
            self._word(found.strip("'.-") or found)

    def _word(self, word: str, *, is_possessor: bool = False) -> None:
        tables = self.tables
        if word in tables.joins:
            self._join(tables.joins[word])
        elif word[0].isdigit():
            self._digits(word)
        elif word in tables.numbers:
            self._number(tables.numbers[word], spelled=True)
        elif word in tables.operators:
            self._operator(word)
        elif word in _SYMBOLS:
            self.operators.append(word)
        elif self._is_function(word):
            self._function(word)
        else:
            if is_possessor:
                self._marker = "of"
            self._content(word)

    def _is_function(self, word: str) -> bool:
        if len(word) == 1 and word in self._letters:
            return False
        return word in self.tables.function and not (word in {"who", "it", "us"} and word in self.acronyms)

    def _join(self, join: str) -> None:
        self.joins.append(join)
        self._joined = True
        if self.tokens:
            self.tokens[-1] = self.tokens[-1]._replace(is_coordinated=True)

    def _digits(self, word: str) -> None:
        match = re.fullmatch(r"([\d.,:/]*\d)([^\W\d_]*)[+#]*", word)
        digits, unit = match.groups() if match else (word, "")
        if unit == "k":
            self._number(f"{digits}000")
        elif not unit or unit in self.tables.units or unit in _ORDINALS:
            self._number(self._plain(digits))
            if unit in self.tables.units:
                self._content(self.tables.units[unit])
        else:
            self._content(word)

    def _plain(self, digits: str) -> str:
        thousands = "." if "decimal-comma" in self.language.traits else ","
        digits = re.sub(rf"(?<=\d){re.escape(thousands)}(?=\d\d\d(?!\d))", "", digits)
        return digits.replace(",", ".").lstrip("0") or "0"

    def _number(self, value: str, *, spelled: bool = False) -> None:
        if spelled and self._counting and self.numbers and value.isdigit() and self.numbers[-1].isdigit():
            before, after = int(self.numbers[-1]), int(value)
            value = str(before * after if after >= 100 and before < after else before + after)
            self.numbers.pop()
            self.tokens.pop()
        self.numbers.append(value)
        self._add(Token(value, value, value, "number", len(self.tokens), self._clause, self._marker, self._condition))
        self._counting = spelled

    def _operator(self, word: str) -> None:
        self.operators.append(self.tables.operators[word])
        if word in self.tables.markers:
            self._marker = word

    def _function(self, word: str) -> None:
        tables = self.tables
        if word in tables.pronouns:
            self.pronouns.append(tables.pronouns[word])
        if word in tables.conditions and word != self.asks:
            self._condition = word
        if word in tables.markers:
            self._marker = word
        if self.numbers and not self._clause and word in tables.asking:
            self.numbers.append("?")
        self._add(Token(word, word, word, "function", len(self.tokens), self._clause))

    def _content(self, word: str) -> None:
        tables = self.tables
        for piece in tables.short.get(word, (word,)):
            if piece in tables.function:
                continue
            if piece in tables.operators:
                self.operators.append(tables.operators[piece])
                continue
            written = self._accented.get(piece, piece)
            base = lemma(written, self.language)
            self._add(
                Token(
                    word=piece,
                    written=written,
                    lemma=tables.synonyms.get(base) or tables.synonyms.get(piece) or base,
                    kind="content",
                    position=len(self.tokens),
                    clause=self._clause,
                    marker=self._marker,
                    condition=self._condition,
                    is_capital=word in self._capitals,
                    is_coordinated=self._joined,
                )
            )
        self._joined = False
        if self._marker != self._condition:
            self._marker = ""

    def _add(self, token: Token) -> None:
        self.tokens.append(token)
        self._counting = False
