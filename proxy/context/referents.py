"""References of a clause to something that it does not name: "keep that", "¿cómo los controlo?", "these two options".

Readers of a note have not read the text before it. They understand a pronoun or demonstrative only if the thing that it
stands for is named earlier in the same clause. There is no parser: neighbouring words decide what a word is; in doubt
the clause points outside, and is left out.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from proxy.context.nouns import NOUN_WORDS
from proxy.language.phrases import expression, words
from proxy.language.tables import tables, union
from proxy.language.words import STOP
from proxy.memory.signals import folded
from proxy.types.memory import Language

_WORD = re.compile(r"[^\W_](?:[\w'\u2019./:%-]*\w)?|[^\w\s]")
_STEM = 6  # letters
REMEMBERED = 1_000  # clauses: a segment asks for the same ones repeatedly
_REMEMBERED_WORDS = 20_000
_LETTERS = 2  # of a word of meaning, at least
_DESCRIBED = 3  # words of meaning behind "this"
_ENOUGH = 2  # things named before "these options" that suffice

_BOTH = union("references")  # people mix languages within a clause
_LIGHT, _BEFORE_VERB, _TIMES = (words(_BOTH[name]) for name in ("light", "before_verb", "times"))
_EN, _ES = ({name: words(table) for name, table in tables(code, "references").items()} for code in ("en", "es"))
_OBJECTS = (["it"], ["this"], ["that"], ["them"], ["these"])
_IDIOM = expression(_BOTH, r"\b{idioms}\b")
# A demonstrative before a thing that is named or described right behind it: "this “not found” error", "that mail to the
# bank", "the problem that I have", "esa carta para el banco".
_DEFINED = expression(
    _BOTH, r"\b{demonstratives}\s(?=[\"“«]\w|(?:[\w-]+\s){1,2}{user}\s\w|[\w-]+\s{of}\s(?:{the}|[A-Z])\b)"
)
_EMPTY_IT = expression(_BOTH, "{empty_it}")
_HANGING = expression(_BOTH, "{hanging}")
_ACCENTED_IS = re.compile(r"\b[Ee]stá\b")  # Spanish "is"; without its accent it would read as "this"


class _At(NamedTuple):
    """A word of a clause, with its neighbours. A tuple, since there are many."""

    said: Sequence[str]  # words and marks, folded
    place: int
    named: int  # number of things named before it

    @property
    def word(self) -> str:
        return self.said[self.place]

    @property
    def before(self) -> str:
        return self.said[self.place - 1] if self.place else ""

    @property
    def after(self) -> str:
        return self.said[self.place + 1] if self.place + 1 < len(self.said) else ""

    @property
    def is_last(self) -> bool:
        return not self.after[:1].isalnum()


@lru_cache(REMEMBERED)
def names(text: str) -> tuple[str, ...]:
    """Returns the stems of the words of meaning in `text`, folded."""
    return tuple(word[:_STEM] for word in _said(text) if _is_telling(word))


@lru_cache(REMEMBERED)
def things(text: str, language: Language) -> tuple[str, ...]:
    """Returns the words in `text` that name things, folded: neither verbs nor words of grammar nor placeholders."""
    known = NOUN_WORDS[language]
    rest = (word for word in _said(text) if _is_telling(word) and word not in known.verbs)
    return tuple(word for word in rest if word not in known.closed and word not in known.vague)


@lru_cache(REMEMBERED)
def points_outside(clause: str, language: Language) -> bool:
    """True if `clause` points at something that is not named earlier in it."""
    if clause.lower().startswith("él "):
        return True
    said = _said(_DEFINED.sub(" ", _IDIOM.sub(" ", _ACCENTED_IS.sub("es", clause))))
    points, verbs = (_points_es if language == "es" else _points_en), NOUN_WORDS[language].verbs
    named = 0
    for place, word in enumerate(said):
        if points(_At(said, place, named)):
            return True
        is_verb = word in verbs or word.endswith(("ly", "mente")) or (place > 0 and said[place - 1] in _BEFORE_VERB)
        is_verb = is_verb or (place == 0 and said[1:2] in _OBJECTS)
        named += _is_telling(word) and not is_verb
    return False


def _said(text: str) -> list[str]:
    return _WORD.findall(folded(text).replace("\u2019", "'"))


@lru_cache(_REMEMBERED_WORDS)
def _is_telling(word: str) -> bool:
    if len(word) < _LETTERS or not word[0].isalnum() or word in STOP or word in _LIGHT:
        return False
    stem, mark, ending = word.partition("'")
    return not (mark and (stem in STOP or stem in _LIGHT or ending == "t"))


def _points_en(at: _At) -> bool:
    word = at.word
    if word in _EN["he"] and at.named < _ENOUGH:
        return at.named == 0 or _EN["persons"].isdisjoint(at.said[: at.place])
    if word in _EN["it"]:
        return at.named == 0 and not _EMPTY_IT.match(" ".join(at.said[at.place : at.place + 7]))
    if word == "that" or word.startswith("that'"):
        return _is_that(at)
    if word == "this" and at.before in _EN["before_this"] and (at.is_last or at.after in ("and", "or", "but")):
        return True
    if word in _EN["these"] or word == "ones":
        if word in ("this", "these") and _is_described(at):
            return False
        is_end = at.place == len(at.said) - 1 and at.before != "for"
        return is_end or (at.named < _ENOUGH and at.after not in _TIMES)
    if word in _EN["loose"]:
        return at.named == 0 and at.place > 0 and at.after not in _EN["is"] and at.before not in _EN["is"]
    if word == "one":
        return (at.is_last and at.place > 0 and at.before in _EN["haves"]) or (
            at.named < _ENOUGH and at.before in _EN["ordinals"]
        )
    if word == "then":
        return at.place == len(at.said) - 1
    return at.named == 0 and (word in _EN["they"] or (word in _EN["others"] and at.is_last))


def _is_described(at: _At) -> bool:
    """True if the rest of the clause describes the thing shown: "this painting to show my path as a painter"."""
    known = NOUN_WORDS["en"]
    is_thing = _is_telling(at.after) and at.after not in known.vague and at.after not in known.trailing
    return is_thing and sum(map(_is_telling, at.said[at.place + 1 :])) > _DESCRIBED


def _is_that(at: _At) -> bool:
    """True if "that" stands for a thing, and does not begin a clause."""
    if at.place == len(at.said) - 1:
        return True
    leads = at.before in _EN["leads_to_that"] or at.named > 0
    follows = at.before in _EN["before_that"]
    is_thing = at.is_last or not leads or at.word.startswith("that'") or follows
    is_thing = is_thing or (at.after in _EN["that_is"] and at.named == 0)
    return is_thing and at.after not in _TIMES and at.named < _ENOUGH + follows


def _points_es(at: _At) -> bool:
    word, known = at.word, NOUN_WORDS["es"]
    if word in _ES["eso"]:
        if word == "esto" and '"' in at.said[at.place + 1 :]:
            return False  # it introduces a quotation
        return at.named < _ENOUGH or (at.is_last and at.before in _ES["at_end"])
    if word in _ES["alla"]:
        return at.named == 0
    if word in _ES["este"]:
        leads_over = ":" in at.said[at.place + 1 : at.place + 4]
        is_verb = word == "esta" and at.named > 0 and not at.is_last
        return at.named < _ENOUGH and at.after not in _TIMES and not leads_over and not is_verb
    if _is_left_alone(at):
        return True
    if at.named:
        return False
    if word == "lo":
        return at.place == 0 and "lo" in at.said[2:] if at.after in ("de", "del") else at.after not in _ES["behind_lo"]
    if word in ("los", "las"):
        return at.after in known.verbs and at.after not in known.nouns
    if word in _ES["otros"]:
        return at.is_last
    return word in ("asi", "uno") or (word not in known.nouns and _HANGING.fullmatch(word) is not None)


def _is_left_alone(at: _At) -> bool:
    """True if the noun is left out: "unas con 900 km", "por la segunda"."""
    if at.word in ("una", "unos", "unas"):
        return at.named == 0 and at.after in ("con", "de", "para", "que")
    return at.word in _ES["ordinales"] and at.named < _ENOUGH and at.is_last and at.before in ("el", "la")
