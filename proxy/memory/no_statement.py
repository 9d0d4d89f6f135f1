"""Forms of a clause by which it states nothing itself: a question, with its mark or without, the name of a speaker, an
order that asks for a fact, a proposal, a pointer at the text before it."""

import re
from functools import partial

from proxy.language.phrases import expression
from proxy.language.tables import union
from proxy.language.words import STOP
from proxy.memory.clauses import Clause
from proxy.memory.signals import WORD, Signals, folded

_LEAST_WORDS = 2  # of a statement

_find = partial(expression, union("statements"))

# "Don't forget I'm coeliac": one word is enough.
_STATES = _find(" {states} (?!not |no )[a-z]")
_BACK = _find(r"\b{back}")
_PROPOSES = _find(r"{proposes}\b")
# A question in the form of an order: "Remind me when the war ended".
_ASKS_FOR = _find(r"{asks_for}\b[^,]{0,20}\b{asked}\b")
_BE = r"(?: {be}\b(?: not)?|'{be_short}\b)"
_DO = r" {do}\b"
# English asks by inversion: "where do I", "which car is my", but "where I live", "what I drive".
_INVERTS = _find(
    r"(?:{and}\b\W*)?(?:{at} )?"
    rf"(?:{{what_done}}{_DO} \w"
    rf"|{{what_is}}(?:{_BE}|{_DO}) {{asked_of}}\b"
    rf"|{{what_thing}}(?: (?!{{asked_of}}\b)[\w-]+){{1,3}}?(?:{_BE}|{_DO}) {{asked_of}}\b)"
)
# A relative clause, behind another one: "Umbrella, which is a bank".
_RELATES = _find(rf"{{relates}}{_BE} (?!{{persons}}\b)")
# Spanish marks its questions by an accent, which may be missing where only a question begins so.
_ASKS_BY_ACCENT = _find(r"\W*{accented}", re.IGNORECASE)
_ASKS_WITHOUT = _find(r"\W*{unaccented}")
# Says that somebody says or writes something, and not what.
_SAYS = _find(
    r"\W*(?:[\w'\u2019-]+ ){1,4}?(?:{to_me} )?"
    r"(?:{says}(?: {me})?(?: {this})?|{writes}(?: {writes_what}|(?=:)))\W*\Z"
)
_MESSAGE_OF = _find(r"\W*(?:{a} )?(?:{transcript} )?{messages} {of} (?:[\w'\u2019-]+ ?){1,4}\W*\Z")


def may_state(clause: Clause, *, is_first: bool) -> bool:
    """Tells whether a clause may be kept: it asks nothing, and has words enough. `is_first`: it begins its sentence."""
    return not (clause.asked and is_first) and len(WORD.findall(clause.text)) >= _LEAST_WORDS


def asks(text: str, *, is_first: bool, in_question: bool) -> bool:
    """Tells whether a clause begins as a question does; its mark may stand at the end of a later clause."""
    said = folded(text).lstrip(" ,;(-\u2013\u2014\u00bf\"'")
    if _INVERTS.match(said) and (is_first or _RELATES.match(said) is None):
        return True
    return in_question and bool(_ASKS_BY_ACCENT.match(text) or (is_first and _ASKS_WITHOUT.match(said)))


def introduces(text: str) -> bool:
    """Tells whether a clause only names the speaker of what follows: "My brother says", "audio de mi tía"."""
    said = folded(text)
    return _SAYS.match(said) is not None or _MESSAGE_OF.match(said) is not None


def points_back(whole: str, signals: Signals) -> bool:
    """Tells whether a clause is about the text before it: "Keep that in mind"."""
    besides = signals.remember.sub(" ", whole).split()
    content = sum(word[0].isalnum() and word not in STOP for word in besides)
    states = _STATES.search(f" {' '.join(besides)} ") is not None
    return content < (1 if states else 2) or _BACK.search(whole) is not None


def proposes(said: str) -> bool:
    """Tells whether a clause, folded, begins as a proposal: "let's meet at nine"."""
    return _PROPOSES.match(said) is not None


def asks_for(said: str) -> bool:
    """Tells whether a clause, folded, is a question in the form of an order."""
    return _ASKS_FOR.match(said) is not None
