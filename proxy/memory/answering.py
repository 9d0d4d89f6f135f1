"""Facts that answer a question by themselves, so that no old turn is needed beside them.

In doubt none: a fact must have every content word of the question but those that ask ("how much", "which day"), be of
the same person, and hold a value of the kind that is asked for.
"""

import re
from collections.abc import Iterable

from proxy.language.text import plain
from proxy.memory.cues import asks_for, asks_for_answers, cues, last_question
from proxy.memory.facts import Decay, sayable, status
from proxy.memory.subject import gist
from proxy.memory.terms import terms
from proxy.types.memory import Fact

_MOST = 2  # facts that answer: more of them are not one answer
_LONGEST = 200  # characters of a question that one fact may answer

# Which kinds of value the wording asks for, in the order in which it is tried.
_ASKED = (
    (re.compile(r" (?:what time|a que hora|que hora) "), frozenset({"time"})),
    (re.compile(r" (?:when|what (?:day|date)|which day|cuando|que dia|que fecha|en que fecha) "), frozenset({"date"})),
    (
        re.compile(r" (?:how (?:much|many|old|long|far)|cuant[oa]s?|what percentage|que porcentaje) "),
        frozenset({"number", "money"}),
    ),
    (
        re.compile(
            r" (?:who|whom|whose|quien|quienes|como se llama(?:n|ba)?|what(?: is|s)? (?:\w+ ){0,3}name|que nombre) "
        ),
        frozenset({"name"}),
    ),
    (
        re.compile(r" (?:where|donde|adonde|(?:what|which|que) (?:city|town|country|ciudad|pueblo|pais|barrio)) "),
        frozenset({"place", "name"}),
    ),
)
_ASKING = frozenset(
    terms(
        "time hora horas day date día fecha much many old long far cuánto percentage porcentaje name names nombre llama"
        " llaman llamaba city town country ciudad pueblo país kind sort type tipo clase number número remind remember"
        " recordás recordame acordás tell decime said say told dije dijiste again nuevo currently today now ahora hoy"
        " actual actualmente know sabés"
    )
)
# It asks for what was before, which a fact that holds now does not tell.
_EARLIER = re.compile(
    r" (?:originally|original|first|initially|before|previous(?:ly)?|earlier|used to|antes|primero|primera|anterior"
    r"|al principio|originalmente|inicial(?:mente)?) "
)
_OWN = re.compile(r" (?:i|my|me|mine|we|our|us|mi|mis|me|yo|nos|nuestr[oa]s?|\w+(?:o|oy|amos|emos|imos)) ")


def answering(facts: Iterable[Fact], question: str, now: float, decay: Decay) -> tuple[Fact, ...]:
    """Active facts each of which answers `question`; none if it is not for one thing that the user has stated."""
    question = last_question(question)
    said = plain(question)
    if not question or len(question) > _LONGEST or asks_for(question) in ("many", "all"):
        return ()
    if _EARLIER.search(said) or asks_for_answers(question) or not _OWN.search(said):
        return ()
    read = cues(question)
    # "Have I …?" may have more than one answer, and "how should I format it?" wants none of the user's own.
    if not (read.asking_word or read.request) or read.advice or read.pointing:
        return ()
    wanted = frozenset(terms(question)) - _ASKING
    if not wanted:
        return ()
    asked = next((kinds for table, kinds in _ASKED if table.search(said)), frozenset[str]())
    holder = gist(question).holder
    found = [
        fact
        for fact in facts
        if wanted <= sayable(fact) and status(fact, now, decay) == "active" and _holds(fact, wanted, asked, holder)
    ]
    return tuple(found) if len(found) <= _MOST else ()


def _holds(fact: Fact, wanted: frozenset[str], asked: frozenset[str], holder: frozenset[str]) -> bool:
    """Its value is of the asked kind, or, if the wording asks for none, says more than the question does; and is of the
    same person."""
    said = gist(fact.value)
    if said.holder != holder and not (holder and said.who and "name" in asked):
        return False
    if asked:
        return bool(asked & said.kinds)
    return bool(frozenset(terms(fact.value)) - wanted - _ASKING)
