"""Messages that can be understood without what was said before them.

Asked of a question that comes after others: only what stands alone may be answered from another conversation. What
points outside are pronouns and demonstratives, words of sequence, comparisons without their other half, orders that
work on an answer, a Spanish verb without a subject, and definite descriptions that nothing in the message completes
("the author", but "the author of Ulysses").

A question that is merely about the topic of the conversation ("What is the role of melatonin?") does stand alone.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, TypeVar

from proxy.language.detect import language
from proxy.language.language import read_part
from proxy.language.phrases import phrases
from proxy.language.tables import function_words, table
from proxy.reuse.sentence import Grammar, Sentence, is_understood

_LONGEST = 2000  # characters: nobody asks that much twice
_AMOUNT = "$0123456789"
_LATEST = 2  # position of a question word that no comma comes before: "¿desde hace cuánto…?"

G = TypeVar("G", bound=Grammar)


def stands_alone(text: str) -> bool:
    """Tells whether `text` asks something that whoever reads nothing else understands. False in doubt."""
    spoken = language(text)
    return spoken is not None and len(text) <= _LONGEST and is_understood(text, _GRAMMARS[spoken])


@dataclass(frozen=True, slots=True, eq=False)
class English(Grammar):
    """The rules of English."""

    subjects: frozenset[str]
    inverting: frozenset[str]
    identifying: frozenset[str]
    bounds: frozenset[str]
    of_it: frozenset[str]
    expletive: re.Pattern[str]
    resumed: re.Pattern[str]
    unbounded: re.Pattern[str]
    nothing_else: re.Pattern[str]
    how_much: re.Pattern[str]
    superlative: re.Pattern[str]
    plural: re.Pattern[str]

    def is_verb(self, _token: str, before: str) -> bool:
        """By its subject before it."""
        return before in self.subjects

    def asks(self, sentence: Sentence) -> bool:
        """By how it begins, or by a question in it."""
        return self.asks_first.match(f" .{sentence.text}") is not None or sentence.says(self.asks_inside)

    def is_whole(self, sentence: Sentence) -> bool:
        """With a name, two things named, or one that it is clearly about."""
        anchors = sentence.anchors
        if self.nothing_else.match(sentence.text) and not any(map(sentence.is_name, sentence.tokens)):
            return False
        if len(anchors) != 1:
            return bool(anchors)
        return sentence.is_name(sentence.tokens[anchors[0]]) or self._is_about_one(sentence, anchors[0])

    def _is_about_one(self, sentence: Sentence, anchor: int) -> bool:
        """With one thing named, is it clear of what it is asked? Not in "Do I need a visa?", "What did critics think?",
        "Which members are alive?", "Are batteries included?"."""
        if sentence.says(self.how_much):
            return False
        if sentence.says(self.situated):  # a particular thing to do is the second one: "Can I freeze bread?"
            return any(sentence.is_content(token) for at, token in enumerate(sentence.tokens) if at != anchor)
        of_it = any(word in self.of_it for word in sentence.tokens[max(anchor - 3, 0) : anchor])
        return of_it or self.about_one.match(sentence.text) is not None

    def points(self, sentence: Sentence) -> bool:
        """By a pointer, half of a comparison, or "the" before what nothing completes."""
        text = self.resumed.sub(r"\g<named>", self.expletive.sub("", sentence.text))
        if self.pointers.search(text) or self.unbounded.match(sentence.text):
            return True
        if sentence.says(self.halves) and not sentence.says(self.other_half):
            return True
        return any(
            token in self.articles and not self._is_told_which(sentence, at) for at, token in enumerate(sentence.tokens)
        )

    def _is_told_which(self, sentence: Sentence, article: int) -> bool:
        """Tells whether the noun phrase that begins with this article says which one it means."""
        tokens = sentence.tokens
        end = article + 1
        while sentence.token(end)[:1].isalnum() and tokens[end] not in self.function:
            end += 1
        phrase = tokens[article + 1 : end]
        if sentence.token(article + 1) in self.unique or " ".join(phrase[:2]) in self.unique_pairs:
            return True
        if not phrase:
            return False
        completed = sentence.token(end) in self.completes or (
            sentence.token(end) == "and" and sentence.token(end + 2) in self.completes
        )
        named = any(sentence.is_name(token) or token[0].isdigit() for token in phrase)
        if phrase[0] in self.mentions and len(phrase) > 1:
            return True
        if self._is_subject(sentence, article):  # its verb can't be told from its noun
            general = sentence.is_general(phrase[0]) and not sentence.is_name(phrase[0])
            return sentence.token(end) == "of" or (named and not general)
        if len(phrase) == 1 and sentence.is_general(phrase[0]) and not completed:
            return self._is_bounded(sentence, end)  # "the Museum" is as bare as "the museum"
        return named or completed or self._is_bounded(sentence, end) or self._describes(sentence, phrase)

    def _is_subject(self, sentence: Sentence, article: int) -> bool:
        before = sentence.token(article - 1)
        identifying = before in self.identifying and sentence.token(article - 2) in self.identified
        return before in self.inverting and not identifying

    def _is_bounded(self, sentence: Sentence, end: int) -> bool:
        bound = sentence.token(end + 1)
        definite = (
            sentence.is_name(bound) or bound in ("a", "an", "my") or bound.endswith("ing") or bound[:1] in _AMOUNT
        )
        return bound != "" and sentence.token(end) in self.bounds and definite

    def _describes(self, sentence: Sentence, phrase: list[str]) -> bool:
        """Tells whether it is a compound of particular nouns ("the stock market") or the most of its kind."""
        while phrase and phrase[-1] in self.plain:
            phrase = phrase[:-1]
        if len(phrase) < len(("stock", "market")) or sentence.is_general(phrase[-1]):
            return False
        if self.superlative.match(phrase[0]):
            is_adjective = phrase[0] in ("most", "least") and not phrase[2:] and not self.plural.search(phrase[1])
            return not is_adjective
        return phrase[0] not in self.plain and not sentence.is_general(phrase[0])


@dataclass(frozen=True, slots=True, eq=False)
class Spanish(Grammar):
    """The rules of Spanish.

    Spanish leaves out pronouns that are subjects, and has articles where English has none. So a verb of the third
    person needs a subject that is said, and of the nouns with an article those that are general, or of something, need
    more.
    """

    orders: frozenset[str]
    before_noun: frozenset[str]
    no_clitic: frozenset[str]
    determiners: frozenset[str]
    prepositions: frozenset[str]
    question_words: frozenset[str]
    with_noun: frozenset[str]
    clitics: frozenset[str]
    of: frozenset[str]
    copulas: frozenset[str]
    acts: frozenset[str]
    verb_follows: frozenset[str]
    noun_follows: frozenset[str]
    abstract: re.Pattern[str]
    infinitive: re.Pattern[str]
    clitic: re.Pattern[str]
    ordered: re.Pattern[str]
    first_person: re.Pattern[str]
    defines: re.Pattern[str]

    def asks(self, sentence: Sentence) -> bool:
        """Also a question that begins with its subject: "¿Un perro puede comer uvas?"."""
        if self.asks_first.match(f" .{sentence.text}") or sentence.says(self.asks_inside):
            return True
        return any(token in self.copulas or token in self.acts for token in sentence.tokens[1:])

    def is_whole(self, sentence: Sentence) -> bool:
        """With a subject, and a name, two things named, or one that needs no more."""
        anchors = sentence.anchors
        if not anchors or not self._has_subject(sentence):
            return False
        return (
            len(anchors) > 1
            or sentence.is_name(sentence.tokens[anchors[0]])
            or not self._needs_more(sentence, anchors[0])
        )

    def _needs_more(self, sentence: Sentence, anchor: int) -> bool:
        """With one thing named, would it still be asked of something: "¿Necesito visa?", "¿Qué integrantes quedan?"?"""
        if sentence.says(self.situated):  # a particular thing to do is the second one: "¿Puedo congelar pan?"
            return not any(sentence.is_content(token) for at, token in enumerate(sentence.tokens) if at != anchor)
        if any(
            word in self.with_noun and noun not in self.plain and sentence.is_general(noun)
            for word, noun in pairwise(sentence.tokens)
        ):
            return True
        of_it = any(word in self.of for word in sentence.tokens[max(anchor - 2, 0) : anchor])
        return not of_it and sentence.tokens[0] not in self.orders and self.about_one.match(sentence.text) is None

    def _has_subject(self, sentence: Sentence) -> bool:
        """Tells whether it is said who or what does it. An order, the first and the second person need no word for
        it."""
        tokens = sentence.tokens
        if (
            tokens[0] in self.orders
            or sentence.says(self.first_person)
            or sum(token[0].isdigit() for token in tokens) > 1
        ):
            return True
        free = list(self._free(sentence))
        question = next((at for at, token in enumerate(tokens) if self._is_question_word(sentence, at, token)), None)
        if question is None:
            # "¿Los estudiantes tienen descuento?"
            if tokens[0] in ("los", "las") and not self._names_something_else(sentence):
                return False
            with_article = sum(led for _, led in free)
            begins_with_act = tokens[0] in self.acts or (tokens[0] == "se" and sentence.token(1) in self.acts)
            return with_article > 0 and (len(free) > 1 or not begins_with_act)
        identified = tokens[question] in self.identified
        start = question + 1
        while sentence.token(start) in self.clitics:
            start += 1
        described = sentence.token(start) in self.copulas and not identified  # "¿Por qué es azul?"
        if tokens[question] in self.with_noun and self._begins_with_noun(sentence, start):
            start += 1
            if sentence.token(start) == "se":  # "¿Qué idiomas se hablan…?": the noun is the subject
                return True
        return any(at > start and (led or not described) for at, led in free) or "si" in tokens

    def _is_question_word(self, sentence: Sentence, at: int, token: str) -> bool:
        return token in self.question_words and (at < _LATEST or sentence.token(at - 1) == ",")

    def _begins_with_noun(self, sentence: Sentence, at: int) -> bool:
        """Tells whether it is `que` with a noun ("¿Qué población tiene…?") rather than with a verb."""
        word, following = sentence.token(at), sentence.token(at + 1)
        if sentence.is_general(word):
            return True
        return word not in self.plain and (following in self.plain or not following or sentence.token(at + 2) == "")

    def _free(self, sentence: Sentence) -> Iterator[tuple[int, bool]]:
        """Positions of what is named and that no preposition governs. With each: has it an article, or needs it
        none?"""
        governed = led = False
        for at, token in enumerate(sentence.tokens):
            if token in self.prepositions:
                governed, led = True, False
            elif token in self.determiners:
                governed, led = governed and sentence.token(at - 1) in self.prepositions, True
            elif token in self.function or not token[0].isalnum():
                governed = led = False
            elif not governed and (
                at in sentence.anchors or (sentence.is_general(token) and sentence.token(at + 1) in self.of)
            ):
                yield at, led or sentence.is_name(token) or self.infinitive.fullmatch(token) is not None

    def points(self, sentence: Sentence) -> bool:
        """By a pointer, half of a comparison, a clitic, or an article before what nothing completes."""
        tokens = sentence.tokens
        if sentence.says(self.pointers) or (sentence.says(self.halves) and not sentence.says(self.other_half)):
            return True
        if self.ordered.match(sentence.text) or any(map(self._has_clitic, tokens)):
            return True
        return any(token in self.articles and not self._is_told_which(sentence, at) for at, token in enumerate(tokens))

    def _has_clitic(self, token: str) -> bool:
        return self.clitic.fullmatch(token) is not None and token not in self.no_clitic

    def _is_told_which(self, sentence: Sentence, article: int) -> bool:
        """Tells whether the noun phrase that begins with this article says which one it means, or means its kind."""
        at = article + 1
        while sentence.token(at) in self.before_noun:
            at += 1
        noun, following = sentence.token(at), sentence.token(at + 1)
        if noun in self.function or not noun[:1].isalnum():
            return False
        if any(sentence.is_name(token) or token[:1].isdigit() for token in (noun, following)):
            return True
        if noun in self.unique or noun in self.mentions or f"{noun} {following}" in self.unique_pairs:
            return True
        completes = self.completes if article else self.of  # "¿El bucle para…?": a verb
        if following in completes or (sentence.token(at + 2) in completes and sentence.is_content(following)):
            return True
        if sentence.is_general(noun):
            return False
        if sentence.tokens[article] in ("los", "las") or self.abstract.search(noun) or self.infinitive.fullmatch(noun):
            return True
        if self.defines.search(" ".join(sentence.tokens[:article])) or (sentence.is_content(following) and article > 0):
            return True
        return self._names_something_else(sentence)

    def _names_something_else(self, sentence: Sentence) -> bool:
        return any(map(sentence.is_name, sentence.tokens)) or any(
            word in ("un", "una", "mi", "mis") and sentence.is_content(noun) for word, noun in pairwise(sentence.tokens)
        )

    def is_verb(self, token: str, before: str) -> bool:
        """Also an infinitive, where no noun follows."""
        if before in self.verb_follows:
            return True
        return self.infinitive.fullmatch(token) is not None and before not in self.noun_follows


def _grammar(kind: type[G], code: str) -> G:
    found = {
        name.replace("-", "_"): phrases(table(code, "standing", name))
        for name in ("asks-inside", "pointers", "halves", "other-half")
    }
    return read_part(
        kind,
        code,
        "standing",
        function=function_words(code, "standing"),
        unique_pairs=frozenset(table(code, "standing", "unique-pairs").split(" | ")),
        asks_first=phrases(table(code, "standing", "asks"), opening=True),
        **found,
    )


_GRAMMARS: Final[Mapping[str, Grammar]] = {"en": _grammar(English, "en"), "es": _grammar(Spanish, "es")}
