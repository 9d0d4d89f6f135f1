"""The rules of English by which a question is understood on its own."""

import re
from dataclasses import dataclass

from proxy.reuse.sentence import Grammar, Sentence

_AMOUNT = "$0123456789"


@dataclass(frozen=True, slots=True, eq=False)
class English(Grammar):
    """The words and the rules of English."""

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
