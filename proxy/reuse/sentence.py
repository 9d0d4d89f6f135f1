"""A sentence of plain text, read for what it is about, and a text of them: is it understood on its own?

The rule says what must be there, and doubt says no: a request that is whole, something it is about that is named in it,
and nothing that points outside of it. The words and rules of a language are a `Grammar` (`standing`).
"""

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

from proxy.language.phrases import phrases
from proxy.language.tables import everywhere, words_everywhere
from proxy.language.words import plain

# A first sentence of that much introduces what the next ones point at.
_INTRODUCTION_WORDS = 12
_INTRODUCTION_ANCHORS = 4

_PREFACE = re.compile(f"{phrases(*everywhere('standing', 'preface')).pattern}(?= [.?,])")
_OPENERS = phrases(*everywhere("standing", "openers"), opening=True)
_SENTENCE_END = re.compile(r" [.?](?= )")
_IS = re.compile(r"(?<!\w)[Ee]stá[ns]?(?!\w)")  # no demonstrative, but without its accent it would be one
_CAPITALISED = re.compile(r"(?<=[\w,:'\u2019] )(?!I\b)[A-ZÁÉÍÓÚÑÜ][\w.+#'\u2019-]*|\b[A-Z][A-Z0-9]+\b")
_NO_NAMES = words_everywhere("standing", "no-names") | {".", ",", "?"}
QUOTED = "quoted"  # what plain text has in the place of quoted words

_ADVERB = re.compile("[a-z]{3,}(?:ly|mente)(?<!family)(?<!italy)(?<!assembly)")


@dataclass(frozen=True)
class Sentence:
    """A sentence of plain text with its names."""

    text: str  # plain, between " " and " . "
    names: frozenset[str]
    grammar: "Grammar"

    @cached_property
    def tokens(self) -> list[str]:
        """Returns the words and marks of the sentence, without its end."""
        return self.text.split()[:-1]

    @cached_property
    def anchors(self) -> list[int]:
        """Positions of the words that tell what this is about. One number alone tells nothing."""
        tokens = self.tokens
        numbers = [at for at, token in enumerate(tokens) if token[0].isdigit() and not self.is_name(token)]
        befores = ["", *tokens]
        found = [
            at
            for at, token in enumerate(tokens)
            if self.is_name(token) or (self.is_content(token) and not self.grammar.is_verb(token, befores[at]))
        ]
        return sorted(found + numbers[1:])

    def is_name(self, token: str) -> bool:
        """Tells whether a word is a name or a quotation."""
        return token in self.names or token == QUOTED

    def is_content(self, token: str) -> bool:
        """Tells whether a word says what the sentence is about."""
        words = self.grammar
        return (
            len(token) > 1
            and token[0].isalpha()
            and token not in words.function
            and token not in words.plain
            and not _ADVERB.fullmatch(token)
            and not self.is_general(token)
        )

    def is_general(self, token: str) -> bool:
        """Tells whether it is one of the nouns that need to be told which."""
        nouns = self.grammar.nouns
        if token in nouns or token.removesuffix("s") in nouns or token.removesuffix("es") in nouns:
            return True
        return token.endswith(("ies", "ces")) and (f"{token[:-3]}y" in nouns or f"{token[:-3]}z" in nouns)

    def token(self, at: int) -> str:
        """The token at a position, or nothing outside of the sentence."""
        return self.tokens[at] if 0 <= at < len(self.tokens) else ""

    def says(self, *patterns: re.Pattern[str]) -> bool:
        """Tells whether one of the patterns is found in the sentence."""
        return any(pattern.search(self.text) for pattern in patterns)


@dataclass(frozen=True, slots=True, eq=False)
class Grammar(ABC):
    """The words of a language by the part they play in a sentence, its sections of `standing.txt`, and its rules."""

    nouns: frozenset[str]  # in the singular: they need to be told which
    function: frozenset[str]
    plain: frozenset[str]
    unique: frozenset[str]
    unique_pairs: frozenset[str]
    articles: frozenset[str]
    mentions: frozenset[str]
    identified: frozenset[str]
    completes: frozenset[str]
    asks_first: re.Pattern[str]
    asks_inside: re.Pattern[str]
    pointers: re.Pattern[str]
    halves: re.Pattern[str]
    other_half: re.Pattern[str]
    about_one: re.Pattern[str]
    situated: re.Pattern[str]

    @abstractmethod
    def is_verb(self, token: str, before: str) -> bool:
        """Tells whether a word is a verb by the one before it."""

    @abstractmethod
    def asks(self, sentence: Sentence) -> bool:
        """Tells whether it is a question or an order."""

    @abstractmethod
    def is_whole(self, sentence: Sentence) -> bool:
        """Tells whether it names what it is about."""

    @abstractmethod
    def points(self, sentence: Sentence) -> bool:
        """Tells whether something in it stands for what was said elsewhere."""


def is_understood(text: str, grammar: Grammar) -> bool:
    """Tells whether a text of this grammar asks something that whoever reads nothing else understands."""
    said = _without_preface(plain(_IS.sub(" es ", text)).replace(" , ? ", " , "))
    if _OPENERS.match(said):
        return False
    names = frozenset(plain(" ".join(_CAPITALISED.findall(text))).split()) - _NO_NAMES
    sentences = [
        Sentence(f"{sentence} . ", names, grammar) for sentence in _SENTENCE_END.split(said) if sentence.strip(" ,")
    ]
    introduced = len(sentences) > 1 and _introduces(sentences[0])
    asked = any(
        grammar.asks(sentence) and (grammar.is_whole(sentence) or (introduced and at > 0))
        for at, sentence in enumerate(sentences)
    )
    return asked and not any(grammar.points(sentence) for sentence in sentences[: 1 if introduced else None])


def _without_preface(said: str) -> str:
    rest = said.lstrip(" .?,")
    while preface := _PREFACE.match(f" {rest}"):
        rest = rest[preface.end() - 1 :].lstrip(" .?,")
    return f" . {rest}"


def _introduces(sentence: Sentence) -> bool:
    return len(sentence.tokens) >= _INTRODUCTION_WORDS and len(sentence.anchors) >= _INTRODUCTION_ANCHORS
