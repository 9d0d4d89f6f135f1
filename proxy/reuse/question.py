"""What a question says, word by word, in the form in which two of them are compared.

Greetings, thanks and small talk are dropped, polite frames are taken off ("could you tell me how …"), and what is said
in several ways is said in one ("what is the best way to" is "how to"). What remains is read into tokens: content words
with their lemma and the part they play, numbers, and function words, which count for little. Small words that change
the answer (not, before, only, more, …) are operators and stand apart.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Literal

from proxy.reuse.filler import is_filler
from proxy.reuse.frames import unframe
from proxy.reuse.lexicon import Language, Lexicon, Rewrites, lexicon, words
from proxy.reuse.spelling import mended
from proxy.reuse.tense import Tense, tense_of
from proxy.reuse.words import fold, lemma
from proxy.reuse.words import warm as load_words

Kind = Literal["content", "function", "number"]

# Beyond, a text is compared as a whole: no reading of it word by word would be safe, or quick.
MAX_WORDS = 200
MAX_CHARACTERS = 2_000

_REMEMBERED = 4_096  # questions, at some 10 kB each
_TOKEN = re.compile(r"\d+(?:[.,:/]\d+)*(?:[^\W\d_]+[+#]*)?|[^\W_]+(?:['.-][^\W_]+)*[+#]*|[%$€£=+*/<>^,-]")
_SEGMENT_END = re.compile(r"(?<!\b[A-Za-z])[.?!;:…\n](?=\s|$)|[¿¡]|,(?!\d)|\s[\u2013\u2014-]\s|\(|\)")
_MARKS = re.compile(r"[¿?¡!;:…()\[\]]|\.(?=\s|$)|(?<!\d),|,(?!\d)|(?<=\s)[\u2013\u2014-](?=\s)")
_QUOTED = re.compile(r'"([^"]+)"')
_PLAIN_QUOTES = (("\u2019", "'"), ("\u00b4", "'"), *((quote, '"') for quote in "“”«»"))
_REPEATED = re.compile(r"([a-zA-Z])\1{2,}")
_NAME = re.compile(r"(?<=[^\W_] )(?!I\b)[A-ZÁÉÍÓÚÑ]")
_INSIDE = re.compile(r"[^\s.?!:¿¡(\"'…\n][\s(\"'-]*$")
_SPOKEN = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
_WORD = re.compile(r"[^\W_]+")
_ACRONYM = re.compile(r"\b[A-ZÁÉÍÓÚÑ]{2,6}\b")
_LETTER = re.compile(r"(?<=[a-záéíóúñ] )[A-HJ-Z]\b(?! [A-ZÁ])")
_STRONG = re.compile(r"\b(?:él|ella|ellas|ellos)\b")
_SYMBOLS = frozenset("%$€£=+*/<>^")
_AUXILIARIES = words("is are was were do does did can could should would will has have had may must am shall might")
_ATTACHED = words("for para with con without sin")
_ORDINALS = words("st nd rd th er ro do to ra da ta º ª")
_ASKS_WHAT_IT_DOES = {
    "en": re.compile(
        r"\bwhat (?:do|does|did|can|should|to)\b.* do\b|\bwhat\b(?! (?:is|are)\b).* does(?=$| ,)"
        r"|\bused for(?=$| ,)|\bwhat is it like\b"
    ),
    "es": re.compile(r"\bque hacen?\b"),
}
_SOMEBODY = re.compile(r"\b(?:if|when|that) (?:somebody|someone|anyone|anybody)\b")


@dataclass(frozen=True, slots=True)
class Token:
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
        return self.kind == "content"


@dataclass(frozen=True, slots=True)
class Question:
    """Equal `original` or `text` mean: asked in the same words."""

    original: str
    language: Language
    text: str = ""  # folded, without what says nothing, frames rewritten
    is_long: bool = False  # not read: only the same text is the same question
    tokens: tuple[Token, ...] = ()
    asks: str = "none"  # what for: how, why, when, …, yesno
    operators: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()  # in their order, "?" where the question word stands between them
    tense: Tense = "present"
    pronouns: tuple[str, ...] = ()
    joins: frozenset[str] = frozenset()  # "and", "or"
    quoted: tuple[str, ...] = ()
    acronyms: frozenset[str] = frozenset()
    clitics: frozenset[str] = frozenset()  # Spanish "me", "le", "les"
    asks_what_it_does: bool = False  # "what does a router do": the verb is a function word
    about_somebody: bool = False  # "if someone …": not the asker

    @property
    def content(self) -> tuple[Token, ...]:
        return tuple(token for token in self.tokens if token.kind == "content")


def warm() -> None:
    """Load what the first question would wait for: dictionaries, tables, expressions. Takes about two seconds."""
    load_words()
    analyse("?", "en")
    analyse("?", "es")


def analyse(text: str, language: Language) -> Question:
    """What `text` asks. Never raises; the time it takes is bounded whatever the text."""
    if len(text) > MAX_CHARACTERS or len(text.split(None, MAX_WORDS)) > MAX_WORDS:
        return Question(original=text, language=language, is_long=True)
    return _analyse(text, language)


@lru_cache(_REMEMBERED)
def _analyse(text: str, language: Language) -> Question:
    tables = lexicon(language)
    said = " ".join(_said(_tidied(text), language))
    folded = _rewritten(mended(_folded(said), language), tables.contractions)
    canonical = _rewritten(unframe(folded, language), tables.rewrites)
    asks = _kind_of(canonical, said, language)
    reader = _Reader(language, tables, asks, said)
    for match in _TOKEN.finditer(canonical):
        reader.read(match.group())
    return Question(
        original=text,
        language=language,
        text=canonical,
        tokens=tuple(reader.tokens),
        asks=asks,
        operators=tuple(sorted(reader.operators)),
        numbers=_inner(reader.numbers) if "," not in canonical else tuple(sorted({*reader.numbers} - {"?"})),
        tense=tense_of(folded, language),
        pronouns=tuple(reader.pronouns) + (tuple(_STRONG.findall(said.lower())) if language == "es" else ()),
        joins=frozenset(reader.joins),
        quoted=tuple(sorted(fold(quote).strip(" .,;:!?¿¡") for quote in _QUOTED.findall(said))),
        acronyms=reader.acronyms,
        clitics=frozenset(canonical.split()) & {"me", "le", "les"},
        asks_what_it_does=bool(_ASKS_WHAT_IT_DOES[language].search(canonical)),
        about_somebody=language == "en" and bool(_SOMEBODY.search(canonical)),
    )


def _tidied(text: str) -> str:
    for fancy, plain in _PLAIN_QUOTES:
        text = text.replace(fancy, plain)
    return _REPEATED.sub(r"\1", text).strip()


def _said(text: str, language: Language) -> list[str]:
    """The segments of `text` that say something about the question; all of them if none does."""
    segments = [segment.strip() for segment in _segments(text)]
    if len(segments) < 2:
        return segments or [text]
    return [segment for segment in segments if not _is_empty_talk(segment, language)] or segments


def _segments(text: str) -> Iterator[str]:
    start = 0
    for end in _SEGMENT_END.finditer(text):
        if _WORD.search(text, start, end.end()):
            yield text[start : end.end()]
        start = end.end()
    if _WORD.search(text, start):
        yield text[start:]


def _is_empty_talk(segment: str, language: Language) -> bool:
    tables = lexicon(language)
    spoken = _SPOKEN.findall(fold(segment))
    # Whom it is for, what with: that is no greeting, whoever is greeted.
    if spoken[0] in _ATTACHED:
        return False
    if all(word in tables.filler for word in spoken):
        return True
    # What asks is the question itself, or a part of it.
    if segment.endswith("?") or not tables.asking.isdisjoint(spoken) or spoken[0] in _AUXILIARIES:
        return False
    if all(word in tables.filler or word in tables.function for word in spoken):
        return True
    # A name may be what the question is about, whatever stands around it.
    return not _NAME.search(segment) and is_filler(segment, language)


def _folded(said: str) -> str:
    # What is quoted is a guard's business; its marks end no clause: "what does "entropy" mean".
    folded = " ".join(_MARKS.sub(" , ", fold(said).replace('"', " ")).split())
    return folded.strip(" ,")


def _rewritten(folded: str, rules: Rewrites) -> str:
    for pattern, replacement in rules:
        rewritten, times = pattern.subn(f" {replacement} ", folded)
        if times:
            folded = " ".join(rewritten.split()).strip(" ,")
    return folded


def _kind_of(canonical: str, said: str, language: Language) -> str:
    for kind, pattern in lexicon(language).kinds:
        if pattern.search(canonical):
            return kind
    if language == "es":
        return "yesno" if "?" in said else "none"
    firsts = (clause.split(None, 1)[:1] for clause in canonical.split(","))
    return "yesno" if any(first and first[0] in _AUXILIARIES for first in firsts) else "none"


def _inner(numbers: list[str]) -> tuple[str, ...]:
    """Where the question word stands matters only between numbers: "20 percent of 85", "20 is what percent of 85"."""
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
        for word in _WORD.findall(self.said.lower()):
            self._accented.setdefault(fold(word), word)
        # The first word of a sentence is a capital anyway.
        self._capitals = frozenset(
            fold(word.group())
            for word in _WORD.finditer(self.said)
            if word.group()[0].isupper() and _INSIDE.search(self.said, 0, word.start())
        )
        self._letters = frozenset(letter.lower() for letter in _LETTER.findall(self.said))
        if not self.said.isupper():
            self.acronyms = frozenset(fold(word) for word in _ACRONYM.findall(self.said))

    def read(self, found: str) -> None:
        if found == ",":
            self._clause += 1
            self._marker = self._condition = ""
            return
        word, is_possessor = (found[:-2], True) if found.endswith("'s") else (found, False)
        word = word.strip("'.-") or ("" if found == "-" else found)
        if not word:
            return
        if word in self.tables.joins:
            self._join(self.tables.joins[word])
        elif word[0].isdigit():
            self._digits(word)
        elif word in self.tables.numbers and word not in self._articles:
            self._number(self.tables.numbers[word], spelled=True)
        elif word in self.tables.operators:
            self._operator(word)
        elif word in _SYMBOLS:
            self.operators.append(word)
        elif self._is_function(word):
            self._function(word)
        else:
            if is_possessor:
                self._marker = "of"
            self._content(word)

    @property
    def _articles(self) -> frozenset[str]:
        return frozenset({"un", "una", "one"})

    def _is_function(self, word: str) -> bool:
        if len(word) == 1 and word in self._letters:
            return False
        return word in self.tables.function and not (word in {"who", "it", "us"} and word in self.acronyms)

    def _join(self, join: str) -> None:
        self.joins.append(join)
        self._joined = True
        if self.tokens:
            self.tokens[-1] = replace(self.tokens[-1], is_coordinated=True)

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
        thousands = "," if self.language == "en" else "."
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
        if word in self.tables.pronouns:
            self.pronouns.append(self.tables.pronouns[word])
        if word in self.tables.conditions and word != self.asks:
            self._condition = word
        if word in self.tables.markers:
            self._marker = word
        if word in self.tables.asking and self.numbers and not self._clause:
            self.numbers.append("?")
        self._add(Token(word, word, word, "function", len(self.tokens), self._clause))

    def _content(self, word: str) -> None:
        for piece in self.tables.short.get(word, (word,)):
            if piece in self.tables.function:
                continue
            if piece in self.tables.operators:
                self.operators.append(self.tables.operators[piece])
                continue
            written = self._accented.get(piece, piece)
            base = lemma(written, self.language)
            base = self.tables.synonyms.get(base) or self.tables.synonyms.get(piece) or base
            self._add(
                Token(
                    word=piece,
                    written=written,
                    lemma=base,
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
