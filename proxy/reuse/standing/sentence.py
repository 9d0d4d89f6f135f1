"""A sentence of plain text, read for what it is about."""

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cached_property

QUOTED = "quoted"  # what plain text has in the place of quoted words

_ADVERB = re.compile("[a-z]{3,}(?:ly|mente)(?<!family)(?<!italy)(?<!assembly)")


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The words of a language by the part they play in a sentence."""

    nouns: Collection[str]  # in the singular: they need to be told which
    function: Collection[str]
    plain: Collection[str]
    is_verb: Callable[[str, str], bool]  # of a word and the one before it


@dataclass(frozen=True)
class Sentence:
    """A sentence of plain text with its names."""

    text: str  # plain, between " " and " . "
    names: frozenset[str]
    vocabulary: Vocabulary

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
            if self.is_name(token) or (self.is_content(token) and not self.vocabulary.is_verb(token, befores[at]))
        ]
        return sorted(found + numbers[1:])

    def is_name(self, token: str) -> bool:
        """Tells whether a word is a name or a quotation."""
        return token in self.names or token == QUOTED

    def is_content(self, token: str) -> bool:
        """Tells whether a word says what the sentence is about."""
        words = self.vocabulary
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
        nouns = self.vocabulary.nouns
        if token in nouns or token.removesuffix("s") in nouns or token.removesuffix("es") in nouns:
            return True
        return token.endswith(("ies", "ces")) and (f"{token[:-3]}y" in nouns or f"{token[:-3]}z" in nouns)

    def token(self, at: int) -> str:
        """The token at a position, or nothing outside of the sentence."""
        return self.tokens[at] if 0 <= at < len(self.tokens) else ""

    def says(self, *patterns: re.Pattern[str]) -> bool:
        """Tells whether one of the patterns is found in the sentence."""
        return any(pattern.search(self.text) for pattern in patterns)


@dataclass(frozen=True, slots=True)
class Grammar:
    """The rules by which a language's sentences are found to stand alone."""

    vocabulary: Vocabulary
    asks: Callable[[Sentence], bool]  # is it a question or an order?
    is_whole: Callable[[Sentence], bool]  # and does it name what it is about?
    points: Callable[[Sentence], bool]  # does something in it stand for what was said elsewhere?
