"""The words of a statement, and the terms that are left of them: words that say something, phrases that stand for one
notion, names, people, numbers.

Left out are articles, pronouns, fillers ("la verdad es que"), runs between two marks that say nothing ("mira, te
cuento, …"), titles before names, and verbs that only join.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from proxy.language.words import fold
from proxy.memory.claim_numbers import counted
from proxy.memory.claim_words import Wording, longest
from proxy.memory.roots import Root, is_irregular, rooted
from proxy.types.memory import Language

Kind = Literal["word", "name", "number", "person", "light", "doing", "operator"]

OWN: Mapping[Language, str] = {"es": "mi", "en": "my"}
USER: Mapping[Language, str] = {"es": "yo", "en": "i"}
ARTICLES = frozenset(["el", "la", "los", "las", "the"])
_TOKEN = re.compile(r"[$€£]?\d+(?:[.,:/]\d+)*(?:[^\W\d_]+|%)?|[^\W_]+(?:'[^\W_]+)*[+#]*|[$€£.;:!?,()\u2026\u2014]")
_SHORT = {"m": "am", "re": "are", "ve": "have", "ll": "will", "d": "would"}
_IS = frozenset(["it", "that", "he", "she", "there", "what", "who", "here", "where", "how"])
_SIGNS = {"$": "dollars", "€": "euros", "£": "pounds"}
_DENYING = {"can't": "can", "won't": "will", "shan't": "shall"}
_NO_NAMES = frozenset(["i", "i'm", "i've", "i'd", "i'll", "ok"])
_JOINS = frozenset(["and", "y", "e", "but", "pero"])
_TURNS = frozenset(["than", "que", "to", "a", "al", "over"])  # behind which stands what something is compared with
_OF = frozenset(["de", "del", "of"])
_GOT = frozenset(["get", "gets", "got"])
_DID = frozenset(["do", "does", "did", "would"])
_MORE = frozenset(["mas", "menos", "mejor", "peor", "mayor", "menor", "antes"])
_RATHER = frozenset(["than", "prefer", "prefers", "over", "rather"])
_PARTICIPLE = re.compile(r"\w+(?:[ai]do|to|cho|so)$")
_LEAST_PARTICIPLE = 5  # letters of a word in "-ed": "red" is none
_BETWEEN = frozenset(["already", "ever", "yet", "recently", "only", "always", "ya"])  # "have" and its participle


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a statement."""

    raw: str
    said: str  # folded
    is_name: bool
    segment: int  # number of the run between two marks that it stands in


@dataclass(frozen=True, slots=True)
class Term:
    """A word of a claim, or a phrase that stands for one notion."""

    said: str  # folded
    root: Root
    notions: frozenset[str]
    kind: Kind
    part: int  # number of the part of the sentence it stands in: joins divide them
    behind: str  # the preposition before it; "" if none
    turned: bool  # it stands behind "than"
    is_denied: bool  # a negation stands before it


# --- words ------------------------------------------------------------------------------------------------------------


def words_of(text: str, table: Wording) -> list[Word]:
    """Returns the words of a statement without fillers; the user is "I", and what is the user's "my"."""
    found: list[Word] = []
    begins, segment = True, 0
    for token in _TOKEN.findall(text):
        written = _SIGNS.get(token, token)
        if not (written[0].isalnum() or written[0] in _SIGNS):
            segment += 1
            begins = begins or (written in ".!?" and not (found and found[-1].said in table.titles))
            continue
        is_name = written[0].isupper() and not begins and written.lower() not in _NO_NAMES
        begins = False
        found += [Word(each, fold(each), is_name and each[0].isupper(), segment) for each in _expanded(written, table)]
    return _without_fillers(list(_without_idle(found, table)), table)


def _expanded(written: str, table: Wording) -> list[str]:
    """Returns the words that one written in short stands for."""
    low = written.lower()
    if low in table.contractions:
        return [*table.contractions[low]]
    if "'" not in written:
        return [written]
    if low.endswith("n't"):
        return [_DENYING.get(low, written[:-3]), "not"]
    head, _, tail = written.partition("'")
    if tail in {"s", "S"}:
        return [head, "is" if head.lower() in _IS else "'s"]
    return [head, _SHORT[tail.lower()]] if tail.lower() in _SHORT else [written.replace("'", "")]


def _without_idle(words: Sequence[Word], table: Wording) -> Iterator[Word]:
    """Yields the words but those of runs that say nothing."""
    telling = table.discourse | table.intensity
    saying = telling | table.empty | table.small
    for _, group in groupby(words, key=lambda word: word.segment):
        run = list(group)
        said = {word.said for word in run}
        if not said <= saying or said.isdisjoint(telling):
            yield from run


def _without_fillers(words: Sequence[Word], table: Wording) -> list[Word]:
    said = [word.said for word in words]
    skipped = [each in table.empty for each in said]
    kept: list[Word] = []
    at = 0
    while at < len(words):
        found = longest(table.fillers, said, at, skipped)
        if found is None:
            kept.append(words[at])
            at += 1
            continue
        phrase, end = found
        if phrase.kind == "user":
            kept, end = _with_user(kept, words, end, table)
        at = end
    return kept


def _with_user(kept: list[Word], words: Sequence[Word], end: int, table: Wording) -> tuple[list[Word], int]:
    """Returns the words before "the user" with what stands for it, and where the words behind it go on."""
    own, user = (Word(each[table.code], each[table.code], False, words[end - 1].segment) for each in (OWN, USER))
    if end < len(words) and words[end].said == "'s":
        return [*kept, own], end + 1
    while kept and kept[-1].said in ARTICLES:
        kept = kept[:-1]
    if kept and kept[-1].said in _OF:  # "la madre del usuario" is "su madre"
        kept = kept[:-1]
        owned = next((at for at in range(len(kept) - 1, -1, -1) if kept[at].said in table.empty), None)
        return (kept if owned is None else [*kept[:owned], own, *kept[owned + 1 :]]), end
    return [*kept, user], end


# --- terms ------------------------------------------------------------------------------------------------------------


def terms_of(words: Sequence[Word], table: Wording) -> tuple[Term, ...]:
    """Returns the terms of a statement, in order."""
    return tuple(_Reader(words, table).terms())


def compares(words: Sequence[Word], table: Wording) -> bool:
    """Tells whether a statement compares two things."""
    said = {word.said for word in words}
    if table.code == "en":
        return not said.isdisjoint(_RATHER)
    return ("que" in said and not said.isdisjoint(_MORE)) or any(
        each.startswith(("prefier", "prefer")) for each in said
    )


Made = tuple[str, Root, frozenset[str], Kind]  # what a term is made of


class _Reader:
    """The words of a statement, read from the first to the last."""

    def __init__(self, words: Sequence[Word], table: Wording) -> None:
        self._words, self._table = words, table
        self._said = [word.said for word in words]
        self._numbers = counted(self._said, table)
        owns = [each in table.possessives or each == "'s" for each in self._said]
        self._roots = [
            OWN[table.code] if own else rooted(each, table.code, table.keep)
            for each, own in zip(self._said, owns, strict=True)
        ]
        self._skipped = [
            own or each in table.empty or each in table.intensity for each, own in zip(self._said, owns, strict=True)
        ]
        self._compares = compares(words, table)
        # Of the words so far: the preposition before the next one, and whether it is denied, turned, and joined.
        self._behind, self._is_denied, self._turned, self._joined = "", False, False, False

    def terms(self) -> Iterator[Term]:
        """Yields the terms."""
        at, part, last, before = 0, 0, "", ""
        while at < len(self._words):
            made, end = self._at(at)
            if not made:
                self._note(self._said[at])
                before = before if self._skipped[at] else ""
                at = end
                continue
            kind = made[0][3]
            if self._joined:  # "Rufus and Bea" are of one part
                part += kind != last or last not in {"name", "number", "person"}
            behind = self._behind or (before if kind == "name" else "")  # "con mi perra Luz"
            for said, root, notions, each in made:
                yield Term(said, root, notions, each, part, behind, self._turned, self._is_denied)
            last, before, self._joined = made[-1][3], behind, False
            self._is_denied &= kind == "operator"
            self._behind = self._behind if kind in {"operator", "person"} else ""
            at = end

    def _at(self, at: int) -> tuple[list[Made], int]:
        """Returns what stands at a place, nothing if it says nothing, and where it ends."""
        table, word = self._table, self._words[at]
        if at in self._numbers:
            figures, end = self._numbers[at]
            return [(each, each, frozenset(), "number") for each in figures], end
        if (found := longest(table.phrases, self._roots, at, self._skipped)) is not None:
            phrase, end = found
            name = " ".join(phrase.roots)
            kind: Kind = "person" if phrase.kind == "person" else "word"
            if all(each in table.be or each in table.light or each in table.small for each in phrase.roots):
                kind = "light"
            return [(name, name, frozenset(phrase.names), kind)], end
        if self._says_nothing(at):
            return [], at + 1
        if word.said in table.operators:
            return [(word.said, word.said, table.notions.get(word.said, frozenset()), "operator")], at + 1
        if (unit := _unit(word.said, table)) is not None:
            return [(unit, unit, frozenset(), "number")], at + 1
        return [self._word(at)], at + 1

    def _word(self, at: int) -> Made:
        table, word, root = self._table, self._words[at], self._roots[at]
        notions = table.notions.get(root, frozenset())
        if word.is_name:
            return word.said, word.said, notions, "name"
        if word.said in table.people:
            return word.said, root, notions, "person"
        kind: Kind = "light" if root in table.light else "doing" if root in table.doing else "word"
        return word.said, root, notions, kind

    def _note(self, said: str) -> None:
        """Notes what a word that says nothing alone says of the next one."""
        self._is_denied |= said in self._table.negations
        self._turned |= said in _TURNS and self._compares
        if said in _JOINS:
            self._joined, self._behind = True, ""
        elif said in self._table.small or said in {"al", "del"}:
            self._behind = {"al": "a", "del": "de"}.get(said, said)

    def _says_nothing(self, at: int) -> bool:
        table, said = self._table, self._said[at]
        if said in table.titles and any(word.is_name for word in self._words[at + 1 : at + 3]):
            return True
        if self._words[at].is_name and said not in ARTICLES:
            return False
        if self._skipped[at] or said in table.negations or said in table.small:
            return True
        return self._roots[at] in table.be or said in table.future or self._only_joins(at)

    def _only_joins(self, at: int) -> bool:
        """Tells whether a verb only helps the one behind it."""
        table, said = self._table, self._said[at]
        after = self._said[at + 1] if at + 1 < len(self._said) else ""
        if said in table.perfect:
            return is_perfect(self._said, at, table)
        if said in _GOT:
            if at and self._said[at - 1] in table.perfect:
                return True
            return after.endswith("ed") or is_irregular(after)
        return (said in table.going and after in {"a", "to"}) or (said in _DID and bool(after))


def is_perfect(said: Sequence[str], at: int, table: Wording) -> bool:
    """Tells whether a participle follows "have", which stands at a place of folded words."""
    between = table.intensity | table.negations | _BETWEEN
    after = next((each for each in said[at + 1 :] if each not in between), "")
    if after in _GOT:  # "have got" is "have"
        return False
    if table.code == "es":
        return _PARTICIPLE.fullmatch(after) is not None
    return (len(after) >= _LEAST_PARTICIPLE and after.endswith("ed")) or is_irregular(after)


def _unit(word: str, table: Wording) -> str | None:
    """Returns the unit that a word names: "kilos"."""
    forms = (each for each in (word, word.removesuffix("s")) if len(each) > 2)  # "m" is a letter
    return next((table.units[each] for each in forms if each in table.units), None)
