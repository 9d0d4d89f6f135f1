"""Decision whether one clause of a user's own words is kept as a fact.

A model gives the probability that it states something lasting; signs of the clause set the threshold. A request to
remember, or a standing instruction, lowers it; an apparent order, a reason or a change sets it higher or lower; a
question, a supposition or a report of the other side is never kept.
"""

import re
from dataclasses import dataclass
from functools import partial

from proxy.language.phrases import expression
from proxy.language.tables import union
from proxy.language.words import STOP, plain
from proxy.memory.clauses import Clause, Guess
from proxy.memory.forget_orders import is_about_forgetting, says_something
from proxy.memory.shapes import HANDOVER
from proxy.memory.signals import WORD, Analysis, Signals, analyse, folded, without_signal

# Least probability for a clause to be kept. Chosen on messages of the development half.
LIKELY = 0.42
LIKELY_BESIDE = 0.5  # beside handed-over text
SIGNED = 0.12  # with a sign: a request to remember, a standing instruction, a slot with the user as subject
CHANGED = 0.25  # where it reports a change or end of something of the user's
REASON = 0.7  # where it gives a reason
SURE = 0.8  # where it looks like an order
TUCKED = 0.7  # where it is part of a question
NOBODY = 0.97  # beside handed-over text, where it names no holder
NEVER = 1.1  # above every probability
_LEAST_WORDS = 2  # of a statement

_find = partial(expression, union("statements"))

_FIRST = _find(" {first} ")
# "Don't forget I'm coeliac": one word is enough.
_STATES = _find(" {states} (?!not |no )[a-z]")
# A Spanish sentence that begins with its verb, in the first person.
_VERB = _find(r"(?:{before_verb}\s)*\w{2,}{first_verbs}\b")
_REASON = _find(r"^\W*(?:{reasons}|{purposes})\b")
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


@dataclass(frozen=True, slots=True)
class Read:
    """A clause with its features and the decision whether it is kept."""

    clause: Clause
    guess: Guess
    said: Analysis
    kept: bool
    doubted: bool  # it is a supposition, a report of the other side, or from a story
    explicit: bool  # the user asks to remember it
    standing: bool  # it is an instruction for every answer
    sure: bool  # a sign makes its confidence high: explicit, standing, decision, a slot with one value
    decides: bool  # it reports a decision
    keeps: bool  # it says that something still holds
    slot: str  # of the tables of signals; "" if none
    domain: str  # of the slot


def read(
    clause: Clause, guess: Guess, signals: Signals, *, hands_over: bool, is_first: bool, in_question: bool = False
) -> Read:
    """Reads one clause. `is_first`: it begins its sentence. `in_question`: its sentence asks, behind it. `hands_over`:
    the message holds somebody else's text."""
    whole, value = plain(clause.text), without_signal(clause.text, signals)
    core = plain(value)
    explicit = signals.remember.search(whole) is not None
    standing = bool(signals.standing.search(whole) or signals.standing_opens.match(core))
    slot = next((slot for slot in signals.slots if slot.table.search(whole)), None)
    said = analyse(clause.text)
    doubted = not explicit and bool(
        signals.hypothetical.search(whole)
        or signals.hypothetical_opens.match(core)
        or signals.reported.search(whole)
        or (signals.others.match(core) and not said.people)
    )
    decides = (signals.decides.search(whole) or signals.decides_opens.match(whole)) is not None
    points_back = explicit and _points_back(whole, signals)
    of_user = _FIRST.search(whole) is not None or _VERB.match(folded(value)) is not None
    nobody = hands_over and not (of_user or said.holder)
    if (
        len(WORD.findall(clause.text)) < _LEAST_WORDS
        or (doubted and not standing)
        or points_back
        or not says_something(value)
        or (clause.asked and is_first)
        or _ASKS_FOR.match(folded(value)) is not None
        or is_about_forgetting(clause.text)
        or asks(value, is_first=is_first, in_question=in_question)
        or introduces(value)
        or (not decides and _PROPOSES.match(folded(value)) is not None)
    ):
        least = NEVER
    elif clause.asked:
        least = TUCKED
    else:
        signed = explicit or standing or (slot is not None and of_user)
        least = _least(core, value, said, signals, signed=signed, of_user=of_user, hands_over=hands_over)
        if _REASON.match(folded(clause.text)):
            least = max(least, REASON)
        if nobody:
            least = max(least, NOBODY)
    return Read(
        clause,
        guess,
        said,
        kept=guess.fact > least,
        doubted=doubted,
        explicit=explicit,
        standing=standing or (guess.about == "instruction" and not explicit and slot is None),
        sure=explicit or standing or decides or (slot is not None and not slot.key.endswith("-")),
        decides=decides,
        keeps=signals.keeps.search(whole) is not None,
        slot=slot.key if slot else "",
        domain=slot.domain if slot else "",
    )


def _least(
    core: str, value: str, said: Analysis, signals: Signals, *, signed: bool, of_user: bool, hands_over: bool
) -> float:
    """Returns the threshold of probability that the signs of a clause set."""
    if signed:
        return SIGNED
    if signals.asks.match(core) or signals.task.match(core) or HANDOVER["orders"].match(folded(value)):
        return SURE
    if (said.changes or said.ends) and of_user:
        return CHANGED
    return LIKELY_BESIDE if hands_over else LIKELY


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


def _points_back(whole: str, signals: Signals) -> bool:
    """Tells whether a clause is about the text before it: "Keep that in mind"."""
    besides = signals.remember.sub(" ", whole).split()
    content = sum(word[0].isalnum() and word not in STOP for word in besides)
    states = _STATES.search(f" {' '.join(besides)} ") is not None
    return content < (1 if states else 2) or _BACK.search(whole) is not None
