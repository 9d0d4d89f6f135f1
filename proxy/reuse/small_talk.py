"""Small talk beside a question: greetings, thanks, what can be left out.

It must show itself. Greetings, thanks, apologies and how somebody came to ask change no answer. An illness, a
version, a place, a budget, what was tried, the form that is wanted do, and nobody can list them. So it takes a phrase
of small talk, and hardly a word that is neither of small talk nor said of anything. Doubt is context: taken for small
talk it is a wrong answer, the contrary a reuse that is missed. Weights for words, pairs and topics (logistic regression
on the rows of tests/bench/fillers.jsonl) recognised more of it. But in medical questions, a field they had not seen,
they took some 4 % of the clauses for small talk that were none; the tables take 1 in 500.
"""

import re

from proxy.language.language import Language, SmallTalk
from proxy.language.tables import everywhere, words_everywhere
from proxy.language.words import fold, plain

REPEATED = re.compile(r"([a-zA-Z])\1{2,}")
_NAME = re.compile(r"(?<=[^\W_] )(?!I\b)[A-ZÁÉÍÓÚÑ]")
_SPOKEN = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
_AUXILIARIES = words_everywhere("lexicon", "auxiliaries")
_ATTACHED = words_everywhere("lexicon", "attached")
_LONGEST_TALK = 200  # characters; whoever writes more says something
_UNKNOWN = 2  # words of small talk
_NO_NAME = "|".join(rf"{entry}\b" for text in everywhere("smalltalk", "no-name") for entry in text.split(" | "))
_NAMED = re.compile(rf"(?<=[^\W_] )(?!{_NO_NAME})[A-ZÁÉÍÓÚÑ][\w'\u2019-]+")
_NO_PLACE = re.compile("|".join(everywhere("smalltalk", "no-place")).replace(" | ", "|"))
_TALK_WORD = re.compile(r"[^\W\d_][^\W_]*(?:'[a-z]+)?|[\u2600-\u27bf\U0001f300-\U0001faff]+")
_TALK_MARK = re.compile(r"(?<= )[.,?](?= )")
_DIGIT = re.compile(r"\d")


def is_empty_talk(segment: str, language: Language) -> bool:
    """Tells whether `segment`, a sentence or clause, says nothing about the question beside it."""
    lexicon = language.lexicon
    spoken = _SPOKEN.findall(fold(segment))
    # Whom it is for, what with: that is no greeting, whoever is greeted.
    if spoken[0] in _ATTACHED:
        return False
    if lexicon.filler.issuperset(spoken):
        return True
    # What asks is the question itself, or a part of it.
    if segment.endswith("?") or not lexicon.asking.isdisjoint(spoken) or spoken[0] in _AUXILIARIES:
        return False
    if all(word in lexicon.filler or word in lexicon.function for word in spoken):
        return True
    # A name may be what the question is about, whatever stands around it.
    return not _NAME.search(segment) and is_small_talk(segment, language)


def is_small_talk(segment: str, language: Language) -> bool:
    """Tells whether `segment`, a sentence or clause beside the question itself, can be left out."""
    if len(segment) > _LONGEST_TALK or _DIGIT.search(segment):
        return False
    text = REPEATED.sub(r"\1", plain(_NAMED.sub(_marked, segment)))
    clauses = [f" . {clause.strip()} . " for clause in _TALK_MARK.split(text) if _TALK_WORD.search(clause)]
    return bool(clauses) and all(_says_nothing(clause, language.small_talk()) for clause in clauses)


def _says_nothing(clause: str, tables: SmallTalk) -> bool:
    said = set(_TALK_WORD.findall(clause))
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
    """Returns names with "named" before each: "in named Chile"."""
    return name[0] if _NO_PLACE.match(name[0]) else f"named {name[0]}"
