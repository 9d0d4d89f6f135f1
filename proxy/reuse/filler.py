"""Is a part of a message mere courtesy or small talk, or may it be context that the answer depends on?

Greetings, thanks, apologies and how somebody came to ask change no answer. An illness, a version, a place, a budget,
what was tried, the form that is wanted do, and nobody can list them. So it is filler that must show itself: by a phrase
of small talk, and by hardly a word that is neither of small talk nor said of anything. Doubt is context: taken for
filler it is a wrong answer, the contrary a reuse that is missed.

The tables, `filler_en` and `filler_es`, are read against plain text (see `text`) and written as those of `patterns`:

    CONTEXT     may constrain an answer, whatever else is said; OPENS does where a clause begins
    POINTS      what follows is what the question is about, or for whom it is asked; OWNS: unless it is one of KIN
    SMALL_TALK  shows filler; CHATTER does if every word is known
    KNOWN       is said in small talk, or of anything; DECIDING never is

Weights for words, pairs and topics (logistic regression on the rows of tests/bench/fillers.jsonl) recognised more of
it. But in medical questions, a field they had not seen, they took some 4 % of the clauses for filler that were none;
the tables take 1 in 500.
"""

import re
from dataclasses import dataclass
from functools import cache
from types import ModuleType

from proxy.language.detect import Language
from proxy.language.phrases import phrases
from proxy.language.text import plain
from proxy.reuse import filler_en, filler_es

_LONGEST = 200  # characters; whoever writes more says something
_UNKNOWN = 2  # words of a filler

_NAMED = re.compile(r"(?<=[^\W_] )(?!I\b|AI\b|IA\b|TV\b)[A-ZÁÉÍÓÚÑ][\w'\u2019-]+")
_NO_PLACE = re.compile(
    "(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|Christmas|God|Dios|Navidad|Google|Wikipedia|ChatGPT|Internet"
)
_REPEATED = re.compile(r"([a-z])\1{2,}")
_WORD = re.compile(r"[^\W\d_][^\W_]*(?:'[a-z]+)?|[\u2600-\u27bf\U0001f300-\U0001faff]+")
_MARK = re.compile(r"(?<= )[.,?](?= )")
_DIGIT = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class _Tables:
    context: re.Pattern[str]
    opens: re.Pattern[str]
    points: re.Pattern[str]  # these two find the word that follows
    owns: re.Pattern[str]
    small_talk: re.Pattern[str]
    chatter: re.Pattern[str]
    kin: frozenset[str]
    known: frozenset[str]
    deciding: frozenset[str]


@cache  # compiled when the first question needs it: at import it would cost every start 0.1 s
def _tables_of(language: Language) -> _Tables:
    tables: ModuleType = filler_en if language == "en" else filler_es
    return _Tables(
        context=phrases(tables.CONTEXT),
        opens=phrases(tables.OPENS, opening=True),
        points=re.compile(f"(?= (?:{tables.POINTS}) ([a-z]+))"),
        owns=re.compile(f"(?= (?:{tables.OWNS}) ([a-z]+))"),
        small_talk=phrases(tables.SMALL_TALK),
        chatter=phrases(tables.CHATTER),
        kin=tables.KIN,
        known=tables.KNOWN,
        deciding=tables.DECIDING,
    )


def is_filler(segment: str, language: Language) -> bool:
    """Can `segment`, a sentence or clause beside the question itself, be left out and the same answer be right?"""
    if len(segment) > _LONGEST or _DIGIT.search(segment):
        return False
    text = _REPEATED.sub(r"\1", plain(_NAMED.sub(_marked, segment)))
    clauses = [f" . {clause.strip()} . " for clause in _MARK.split(text) if _WORD.search(clause)]
    return bool(clauses) and all(_says_nothing(clause, _tables_of(language)) for clause in clauses)


def _says_nothing(clause: str, tables: _Tables) -> bool:
    said = set(_WORD.findall(clause))
    unknown = said - tables.known
    return (
        len(unknown) <= _UNKNOWN
        and said.isdisjoint(tables.deciding)
        and (unknown | {"named"}).isdisjoint(tables.points.findall(clause))
        and (unknown - tables.kin).isdisjoint(tables.owns.findall(clause))
        and not tables.context.search(clause)
        and not tables.opens.search(clause)
        and (
            tables.small_talk.search(clause) is not None or (not unknown and tables.chatter.search(clause) is not None)
        )
    )


def _marked(name: re.Match[str]) -> str:
    """What seems to be one of a kind, with "named" before it: "in named Chile"."""
    return name[0] if _NO_PLACE.match(name[0]) else f"named {name[0]}"
