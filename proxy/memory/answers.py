"""What a note takes from the assistant: an answer behind its question, or what it said where the user said nothing.

An answer stands behind a question only if it is told that it answers that one; it keeps its yes or no.
"""

import re

from proxy.memory.cuts import concreteness, sentences
from proxy.memory.noted import speaks_to_you, told
from proxy.memory.referents import names
from proxy.memory.signals import folded

_ANSWERED = 16  # words of an answer
_SENTENCES = 4  # of an answer that are looked at
_SHARED = 2  # words that a question and its answer have in common
_TELLING, _NAMED = 2.0, 4  # how concrete an answer must be, or how much it must name
_LEAST_SAID = 3  # words of meaning in what the assistant said

_YES_NO = re.compile(r"\W*(?:yes|no|yep|nope|si)\b(?=[,.:;])")
_POLAR = re.compile(
    r"(?:is|are|was|were|do|does|did|should|can|could|will|would|has|have|puedo|se puede"
    r"|conviene|es|son|hay|hace falta|l[ao]s?|el|me conviene|sirve|vale)\b"
)
_STANDS_FOR_IT = re.compile(r"(?:it|they|that|those)\b")
_AMOUNT = re.compile(r"\b(?:how (?:much|many|long|often|far|\w+)|when|cuant[oa]s?|cuando|a que hora)\b")
_NUMBER = re.compile(r"\d|\b(?:one|two|three|four|five|six|ten|un[ao]?|dos|tres|cuatro|cinco|seis|diez|media)\b")


def answer_to(question: str, text: str) -> str:
    """What an answer opens with, if it answers `question` and is concrete; else ""."""
    first = next(iter(sentences(text)), "")
    found = told(first, _ANSWERED, question) if ":" not in first else ""
    if not found or not (concreteness(found) >= _TELLING or len(names(found)) >= _NAMED):
        return ""
    yes_no = _YES_NO.match(folded(first))
    asked = folded(question).lstrip("¿ ")
    if yes_no and _POLAR.match(asked):
        opening = first[: yes_no.end()].strip(" ¡!¿")
        return found if found.startswith(opening) else f"{opening}, {found}"
    shared = len(set(names(question)) & set(names(found)))
    needed = min(_SHARED, max(1, len(set(names(question))) // 2))
    counts = _AMOUNT.search(asked) is not None and _NUMBER.search(folded(found)) is not None
    return found if shared >= needed or counts or _STANDS_FOR_IT.match(folded(found)) else ""


def volunteered(user: str, assistant: str, after: str) -> str:
    """The most telling sentence of an answer whose question cannot be told; `after`: what the user said then. ""
    if none speaks of what either said or names anything."""
    mine, later = set(names(user)), set(names(after))
    best, most = "", 0.0
    for at, sentence in enumerate(sentences(assistant)[:_SENTENCES]):
        clause = told(sentence, _ANSWERED)
        said = set(names(clause))
        if len(said) < _LEAST_SAID or speaks_to_you(clause):
            continue
        is_told_of = bool(said & (mine | later)) or concreteness(clause) >= _TELLING or len(said) >= _NAMED
        worth = min(concreteness(clause), 4) + 0.8 * len(said) + 0.5 * len(said & (mine | later)) - 0.7 * at
        if is_told_of and worth > most:
            best, most = clause, worth
    return best
