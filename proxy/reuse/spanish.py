"""The rules of Spanish by which a question is understood on its own."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from proxy.reuse.sentence import Grammar, Sentence

_LATEST = 2  # position of a question word that no comma comes before: "¿desde hace cuánto…?"


@dataclass(frozen=True, slots=True, eq=False)
class Spanish(Grammar):
    """The words and the rules of Spanish.

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
