"""Facts that answer a question by themselves, so that no old turn is needed beside them.

In doubt none: a fact must have every content word of the question but those that ask ("how much", "which day"), be of
the same person, and hold a value of the kind that is asked for.
"""

from collections.abc import Iterable

from proxy.language.phrases import expression
from proxy.language.tables import union
from proxy.language.terms import terms
from proxy.language.text import plain
from proxy.memory.cues import asks_for, asks_for_answers, cues, last_question
from proxy.memory.facts import Decay, sayable, status
from proxy.memory.subject import gist
from proxy.types.memory import Fact

_MOST = 2  # facts that answer: more of them are not one answer
_LONGEST = 200  # characters of a question that one fact may answer

_TABLES = union("answers")
# Which kinds of value the wording asks for, in the order in which it is tried.
_ASKED = (
    (expression(_TABLES, " {time} "), frozenset({"time"})),
    (expression(_TABLES, " {date} "), frozenset({"date"})),
    (expression(_TABLES, " {number} "), frozenset({"number", "money"})),
    (expression(_TABLES, " {name} "), frozenset({"name"})),
    (expression(_TABLES, " (?:{place}|{which} {places}) "), frozenset({"place", "name"})),
)
_ASKING = frozenset(terms(_TABLES["asking"]))
# It asks for what was before, which a fact that holds now does not tell.
_EARLIER = expression(_TABLES, " {earlier} ")
_OWN = expression(_TABLES, " {own} ")


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
