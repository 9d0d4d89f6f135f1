"""Two questions word by word: the words that are accounted for, and whether they stand in the same phrases.

`accounted` has the words of a question, `Pairing` those of two that differ, which licences account for (`licences`);
`reordered` compares the places of words that agree.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from proxy.language.language import Language
from proxy.language.tables import everywhere
from proxy.language.text import fold
from proxy.reuse.question import Question

_WORD = re.compile(r"\d+(?:[.,:/]\d+)*[^\W\d_]*|[^\W\d_][^\W_]*(?:['.][^\W_]+)*[+#]*|[%$€£=+*/<>^,]")
_WRITTEN = re.compile(r"[^\W_]+(?:['.][^\W_]+)*")
_QUOTED = re.compile(r'"[^"]+"')
_SIGNS = re.compile(r"&&|\|\||[|@#\[\]{}¥₹€£^~<>=]|(?<![\w)])-(?=\d)")
_THOUSANDS = re.compile(r"\d{1,3}(?:[.,]\d{3})+")
# The words of courtesy that are no part of a question; "por" may be.
_COURTESY = frozenset((*" ".join(everywhere("lexicon", "courtesy")).split(), ",")) - {"por", "muchas", "you"}
_MOST_LEFT, _FEW_LEFT = 8, 5  # words of content that are not the same, of both questions; where none is
_LONGEST_PART = 6  # words of what is coordinated, or moves


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
        words += licences.written_apart.get(word, (lexicon.numbers.get(word, word),))
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


# --- places -----------------------------------------------------------------------------------------------------------


def reordered(one: list[str], two: list[str], language: Language) -> str:
    """The phrases that stand in only one of two questions with the same words; "" if they have the same ones. A phrase
    may stand anywhere: it begins with a preposition, a conjunction, a question word or behind a comma. Inside of one
    nothing moves, but what is coordinated, adverbs, and what a question word turns round."""
    if one == two:
        return ""
    one, two = (_listed([word for word in words if not _is_movable(word, language)], language) for words in (one, two))
    if any(word[0].isdigit() for word in one) and language.licences.calculates.search(" ".join(one)):
        return f"{' '.join(one)} / {' '.join(two)}"
    phrases, phrases_earlier = (Counter(_phrases(words, language)) for words in (one, two))
    over, over_earlier = [*(phrases - phrases_earlier).elements()], [*(phrases_earlier - phrases).elements()]
    if not over and not over_earlier:
        return ""
    plain, plain_earlier = ([word for word in words if word != ","] for words in (one, two))
    if (
        _moved(plain, plain_earlier, language)
        or _moved(plain_earlier, plain, language)
        or _turned(plain, plain_earlier, language)
        or _turned(plain_earlier, plain, language)
        or _coordinated(plain, plain_earlier, language)
        or (len(over) == len(over_earlier) == 1 and _coordinated([*over[0]], [*over_earlier[0]], language))
    ):
        return ""
    return " | ".join(" ".join(phrase) for phrase in (*over, "/", *over_earlier) if phrase)


def _is_movable(word: str, language: Language) -> bool:
    return word in language.licences.movable or language.licences.adverb.search(word) is not None


def _phrases(words: list[str], language: Language) -> list[tuple[str, ...]]:
    found: list[list[str]] = [[]]
    for word in words:
        if word == ",":
            found.append([])
        elif _opens_phrase(word, language) and not all(each in language.lexicon.markers for each in found[-1]):
            found.append([word])
        else:
            found[-1].append(word)
    return [tuple(phrase) for phrase in found if phrase]


def _opens_phrase(word: str, language: Language) -> bool:
    return word in language.lexicon.markers or word in language.lexicon.asking or word in language.licences.opens_clause


def _listed(words: list[str], language: Language) -> list[str]:
    """A list of three and more single words is put in the order of the alphabet."""
    for at in range(3, len(words) - 1):
        if words[at] in language.lexicon.joins and words[at - 2] == ",":
            places = [at + 1, at - 1]
            while places[-1] >= 2 and words[places[-1] - 1] == ",":
                places.append(places[-1] - 2)
            listed = sorted(words[place] for place in places)
            words = [*words]
            for place, word in zip(sorted(places), listed, strict=True):
                words[place] = word
    return words


def _moved(one: list[str], two: list[str], language: Language) -> bool:
    """Tells whether they differ in a phrase that opens or closes one, and stands elsewhere in the other."""
    for length in range(2, min(len(one) - 1, _LONGEST_PART) + 1):
        for phrase, rest in ((one[-length:], one[:-length]), (one[:length], one[length:])):
            if not _opens_phrase(phrase[0], language) or phrase[0] in language.lexicon.asking:
                continue
            for at in range(len(rest) + 1):
                if two[at : at + length] == phrase and two[:at] + two[at + length :] == rest:
                    return True
    return False


def _turned(one: list[str], two: list[str], language: Language) -> bool:
    """Tells whether they differ in the place of the question word and its auxiliary, or in what is said before."""
    licences, asking = language.licences, language.lexicon.asking
    light = asking | licences.copulas | licences.inverted
    if [word for word in one if word not in light] == [word for word in two if word not in light]:
        return sum(word in asking for word in one) <= 1 and not (
            "not" in one and any(word in licences.quantifiers for word in one)
        )
    opening = next((at for at, word in enumerate(one) if word in asking), 0)
    if opening and one[opening - 1] in language.lexicon.markers:
        opening -= 1
    if "verb-tells-who" in language.traits and _has_subject_behind(one, two, licences.articles):
        return True
    topic, rest = one[:opening], one[opening:]
    return bool(topic) and any(
        two[at : at + opening] == topic and two[:at] + two[at + opening :] == rest
        for at in range(1, len(two) - opening + 1)
    )


def _has_subject_behind(one: list[str], two: list[str], articles: frozenset[str]) -> bool:
    """Tells whether they differ in that the subject stands before its verb in one: "por qué los gatos ronronean"?"""
    start = next((at for at, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), 0)
    return (
        one[start : start + 1] != []
        and one[start] in articles
        and any(
            two[start:stop] == [one[stop - 1], *one[start : stop - 1]] and one[stop:] == two[stop:]
            for stop in range(start + 3, min(start + 6, len(one)) + 1)
        )
    )


def _coordinated(one: list[str], two: list[str], language: Language) -> bool:
    """Tells whether they differ in that what stands before "and" or "or" in one stands behind it in the other."""
    if len(one) != len(two):
        return False
    infinitive = language.licences.infinitive
    joins = (at for at, word in enumerate(one) if word in language.lexicon.joins)
    return any(
        [*one[: at - before], *one[at + 1 : at + after], one[at], *one[at - before : at], *one[at + after :]] == two
        for at in joins
        for before in range(1, min(at, _LONGEST_PART) + 1)
        for after in range(2, min(len(one) - at, _LONGEST_PART + 1) + 1)
        if not (infinitive and infinitive.search(one[at + 1]) and infinitive.search(one[at - before]))  # first, then
    )
