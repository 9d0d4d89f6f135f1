"""Two questions word by word: `accounted` has the words of a question, `Pairing` those in which two of them differ, for
which a licence has to account."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from proxy.language.language import Language, Lexicon
from proxy.language.tables import words_everywhere
from proxy.language.words import fold
from proxy.reuse.question import Question

_WORD = re.compile(r"\d+(?:[.,:/]\d+)*[^\W\d_]*|[^\W\d_][^\W_]*(?:['.][^\W_]+)*[+#]*|[%$€£=+*/<>^,]")
_WRITTEN = re.compile(r"[^\W_]+(?:['.][^\W_]+)*")
_QUOTED = re.compile(r'"[^"]+"')
_SIGNS = re.compile(r"&&|\|\||[|@#\[\]{}¥₹€£^~<>=]|(?<![\w)])-(?=\d)")
_THOUSANDS = re.compile(r"\d{1,3}(?:[.,]\d{3})+")
# The words of courtesy that are no part of a question; "por" may be.
_COURTESY = words_everywhere("lexicon", "courtesy") - {"por", "muchas", "you"} | {","}
_TEN, _HUNDRED, _THOUSAND = 10, 100, 1_000
_MOST_LEFT, _FEW_LEFT = 8, 5  # words of content that are not the same, of both questions; where none is


@dataclass(frozen=True, slots=True, eq=False)
class Said:
    """A question as it is accounted for: its words in canonical form, and how they are written."""

    question: Question
    words: tuple[str, ...]  # folded, in canonical form; a comma between clauses
    content: frozenset[str]  # those of them that say what it is about
    signs: tuple[str, ...]  # of code, currencies, and a number's minus
    mentioned: tuple[str, ...]  # words that are spoken of: a for loop, vitamin d
    written: Mapping[str, str]  # folded: as it is written, the first time
    accented: Mapping[str, tuple[str, ...]]  # folded: every way in which it is written, in lower case
    is_careful: bool  # begins with a capital
    has_accents: bool
    is_of_words: bool  # asks what a word means, or how it is said: then no word stands for another
    is_definition: bool
    is_how_to: bool
    is_of_somebody: bool  # how somebody does it, rather than how it is done: "cómo come", "cómo se come"

    def spelling(self, at: int) -> str:
        """Returns the word at a place as it is written."""
        return self.written.get(self.words[at], self.words[at])


@lru_cache(8_192)
def accounted(question: Question, is_framed: bool = False) -> Said:
    """The question as it is accounted for: without its frames, or `is_framed` with them."""
    language, licences, lexicon = question.language, question.language.licences, question.language.lexicon
    text = f" {question.folded if is_framed else question.text} "
    for rule in licences.rewrites:
        if rule.may_match(text):
            text = f" {' '.join(rule.pattern.sub(rule.form, text).split())} "
    written = {fold(word): word for word in reversed(_WRITTEN.findall(question.original))}
    if (found := licences.introduces.match(text)) and written.get(found[1], "")[:1].isupper():
        text = f" {text[found.end() :]}"
    words: list[str] = []
    for word in _WORD.findall(text.replace("-", " ")):
        words += licences.written_apart.get(word, (word,))
    words = _counted(words, lexicon)
    words = [part for word in words for part in _number_and_unit(word, language)]
    thousands = "." if "decimal-comma" in language.traits else ","
    words = [word.replace(thousands, "") if _THOUSANDS.fullmatch(word) else word for word in words]
    while words and words[-1] in _COURTESY:
        words.pop()
    while words and words[0] in _COURTESY:
        words.pop(0)
    accented: dict[str, tuple[str, ...]] = {}
    for word in _WRITTEN.findall(question.original.lower()):
        accented[fold(word)] = tuple(sorted((*accented.get(fold(word), ()), word)))
    bare = question.original.lstrip(" ¿¡\"'(")
    return Said(
        question=question,
        words=tuple(words),
        content=frozenset(words) - lexicon.function - lexicon.operators - lexicon.joins - {","},
        signs=tuple(sorted(_SIGNS.findall(question.original))),
        mentioned=tuple(sorted(map("".join, licences.mentioned.findall(fold(question.original))))),
        written=written,
        accented=accented,
        is_careful=bare[:1].isupper() and not question.original.isupper(),
        has_accents=fold(question.original) != question.original.lower(),
        is_of_words=bool(_QUOTED.search(question.said) or licences.of_words.search(question.folded)),
        is_definition=licences.definition.match(question.text) is not None,
        is_how_to=licences.how_to.match(question.text) is not None,
        is_of_somebody=words[:1] == [licences.opens_how_to]
        and licences.of_somebody.search("".join(words[1:2])) is not None
        and not licences.impersonal.search(question.folded),
    )


def _counted(words: Sequence[str], lexicon: Lexicon) -> list[str]:
    """The words with numbers in digits: "two hundred and five" is 205."""
    numbers, found, at = lexicon.numbers, list[str](), 0
    while at < len(words):
        total, part, start = 0, 0, at
        while at < len(words):
            joined = part > _TEN and words[at] in lexicon.joins
            more = numbers.get(words[at + joined], "") if at + joined < len(words) else ""
            if not more.isdigit():
                break
            if (value := int(more)) >= _THOUSAND:
                total, part = total + max(1, part) * value, 0
            elif value == _HUNDRED and 0 < part < _TEN:
                part *= value
            elif part == 0 or (part > _TEN and value < _round(part)):
                part += value
            else:
                break
            at += 1 + joined
        if at > start:
            found.append(str(total + part))
        else:
            found.append(numbers.get(words[at], words[at]))
            at += 1
    return found


def _round(number: int) -> int:
    """Returns the largest power of ten that a number is a multiple of."""
    return int("1" + "0" * (len(str(number)) - len(str(number).rstrip("0"))))


def _number_and_unit(word: str, language: Language) -> tuple[str, ...]:
    if not word[0].isdigit() or word[-1].isdigit():
        return (word,)
    number = word.rstrip("abcdefghijklmnopqrstuvwxyz")
    return (number, word[len(number) :]) if word[len(number) :] in language.lexicon.units else (word,)


class Side:
    """One of two questions: the places of its words that are not accounted for, and a label for every word, which is ""
    where the word may be missing and the same for words that stand for each other."""

    __slots__ = ("labels", "left", "said", "words")

    def __init__(self, said: Said, other: Said) -> None:
        self.said = said
        self.words = said.words
        self.labels = [*said.words]
        more = Counter(said.words) - Counter(other.words)
        self.left: list[int] = []
        for at in range(len(said.words) - 1, -1, -1):
            if (word := said.words[at]) != "," and more[word] > 0:
                more[word] -= 1
                self.left.insert(0, at)

    def account(self, at: int, label: str = "") -> None:
        """Takes a place out."""
        if at in self.left:
            self.left.remove(at)
        self.labels[at] = label

    def before(self, at: int) -> str:
        """Returns the word before a place; of the first place, its own."""
        return self.words[max(at - 1, 0)]


Place = tuple[Side, int]
Test = Callable[["Pairing", int, int], bool]


class Pairing:
    """Two questions and the places of the words that are not accounted for. A licence takes places out, and gives the
    words of a pair one label."""

    def __init__(self, asked: Said, earlier: Said) -> None:
        self.asked, self.earlier = Side(asked, earlier), Side(earlier, asked)
        self.language = asked.question.language
        self.is_of_words = asked.is_of_words or earlier.is_of_words
        self.is_how_to = asked.is_how_to and earlier.is_how_to
        self.has_plural = False

    @property
    def sides(self) -> tuple[Side, Side]:
        """Both questions."""
        return self.asked, self.earlier

    @property
    def ways(self) -> tuple[tuple[Side, Side], tuple[Side, Side]]:
        """One question and the other, both ways round."""
        return (self.asked, self.earlier), (self.earlier, self.asked)

    @property
    def is_hopeless(self) -> bool:
        """So many words of content are left that no licence is worth its time."""
        if not self.left():
            return False
        small = self.language.lexicon.function
        left, left_earlier = (sum(side.words[at] not in small for at in side.left) for side in self.sides)
        matched = sum(word not in small for word in self.asked.words) - left
        return left + left_earlier > min(_MOST_LEFT, _FEW_LEFT + matched)

    def left(self) -> int:
        """Returns the number of words that are not accounted for."""
        return len(self.asked.left) + len(self.earlier.left)

    def at(self, at: int, other: int) -> tuple[Place, Place]:
        """Returns a place of either question, with its side."""
        return (self.asked, at), (self.earlier, other)

    def pair(self, test: Test) -> None:
        """Pairs each word that is left with the nearest of the other question that passes the test."""
        for at in [*self.asked.left]:
            near = sorted(self.earlier.left, key=lambda other: abs(other - at))
            other = next((other for other in near if test(self, at, other)), None)
            if other is not None:
                self.asked.left.remove(at)
                self.earlier.account(other, self.asked.labels[at])

    def drop(self, test: Callable[[Side, int], bool]) -> None:
        """Takes out the places that pass the test."""
        for side in self.sides:
            for at in [*side.left]:
                if test(side, at):
                    side.account(at)

    def reason(self) -> str:
        """Returns the reason of the comparison that the words that are left amount to."""
        left = {side.words[at] for side in self.sides for at in side.left}
        if any(word[:1].isdigit() or word in self.language.lexicon.numbers for word in left):
            return "numbers"
        return "wording" if left.isdisjoint(self.language.lexicon.operators) else "operators"

    def over(self) -> str:
        """Returns the words that are left, as `these / those`."""
        return " / ".join(" ".join(side.words[at] for at in side.left) for side in self.sides)
