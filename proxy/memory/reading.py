"""Decision whether one clause of a user's own words is kept as a fact.

A model gives the probability that it states something lasting; signs of the clause set the threshold. A request to
remember, or a standing instruction, lowers it; an apparent order, a reason or a change sets it higher or lower; a
question, a supposition or a report of the other side is never kept.
"""

import re
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property, partial

from proxy.language.phrases import expression
from proxy.language.tables import union
from proxy.language.words import STOP, plain
from proxy.memory.claims import claim
from proxy.memory.clauses import Clause, split
from proxy.memory.forget_orders import is_about_forgetting, says_something
from proxy.memory.predictions import Guess, about, guess, signs
from proxy.memory.remember_contents import is_by_user
from proxy.memory.shapes import HANDOVER
from proxy.memory.signals import SIGNALS, WORD, Analysis, Signals, Slot, analyse, folded, spoken_in, without_signal
from proxy.types.memory import Language

# Least probability for a clause to be kept. Chosen on messages of the development half.
LIKELY = 0.42
LIKELY_BESIDE = 0.5  # beside handed-over text
SIGNED = 0.12  # with a sign: a request to remember, a standing instruction, a slot with the user as subject
CHANGED = 0.25  # where it reports a change or end of something of the user's
REASON = 0.7  # where it gives a reason
SURE = 0.8  # where it looks like an order
TUCKED = 0.7  # where it is part of a question
NOBODY = 0.97  # beside handed-over text, where it names no holder
_LEAST_WORDS = 2  # of a statement
_INSTRUCTION = "instruction"  # the topic

_find = partial(expression, union("statements"))

_FIRST = _find(" {first} ")
# "Don't forget I'm coeliac": one word is enough.
_STATES = _find(" {states} (?!not |no )[a-z]")
# A Spanish sentence that begins with its verb, in the first person.
_VERB = _find(r"(?:{before_verb}\s)*\w{2,}{first_verbs}\b")
_JOINED = _find(r"\W*(?:{conjunctions}\b\W*)+")
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


@dataclass(frozen=True, eq=False)  # no slots: `cached_property` keeps its values in `__dict__`
class Read:
    """A clause with its features and the decision whether it is kept. Each is computed when it is first asked for: most
    clauses are decided by few of them."""

    clause: Clause
    predicted: Callable[[], Guess]
    spoken: Language
    hands_over: bool  # the message holds somebody else's text
    is_first: bool  # it begins its sentence
    in_question: bool = False  # its sentence asks, behind it

    def but(self, **features: bool) -> "Read":
        """Returns a copy in which these features have other values."""
        made = copy(self)
        vars(made).update(features)
        return made

    @cached_property
    def guess(self) -> Guess:
        """Returns the models' prediction."""
        return self.predicted()

    @cached_property
    def kept(self) -> bool:
        """Tells whether it is a fact to be kept."""
        # What needs no model comes first, and what excludes most: a question, words of no weight.
        if not may_state(self.clause, is_first=self.is_first) or self.guess.fact <= SIGNED:
            return False
        return not self._is_excluded and self.guess.fact > self._least

    @cached_property
    def said(self) -> Analysis:
        """Returns the analysis of its words."""
        return analyse(self.clause.text)

    @cached_property
    def explicit(self) -> bool:
        """Tells whether the user asks to remember it."""
        return self._shows("remember")

    @cached_property
    def imagined(self) -> bool:
        """Tells whether it opens something imagined."""
        return self._shows("imagine") and not self._shows("remember")

    @cached_property
    def doubted(self) -> bool:
        """Tells whether it is a supposition, a report of the other side, or from a story."""
        return not self._shows("remember") and bool(
            self._shows("hypothetical")
            or self._shows("reported")
            or self.signals.hypothetical_opens.match(self._core)
            or (self.signals.others.match(self._core) and not self.said.people)
        )

    @cached_property
    def standing(self) -> bool:
        """Tells whether it is an instruction for every answer."""
        return self._orders or self._is_instruction

    @cached_property
    def sure(self) -> bool:
        """Tells whether a sign makes its confidence high: explicit, standing, decision, a slot with one value."""
        return (
            self._shows("remember") or self._orders or self.decides or (self.slot != "" and not self.slot.endswith("-"))
        )

    @cached_property
    def decides(self) -> bool:
        """Tells whether it reports a decision."""
        if self._shows("decides"):
            return True
        return self._shows("decides_opens") and self.signals.decides_opens.match(self._whole) is not None

    @cached_property
    def keeps(self) -> bool:
        """Tells whether it says that something still holds."""
        return self._shows("keeps")

    @property
    def asks_for_work(self) -> bool:
        """Tells whether it looks like a question or an order for the task at hand."""
        asks, task = self.signals.asks.match(self._core), self.signals.task.match(self._core)
        return bool(asks or task or HANDOVER["orders"].match(self._plainly))

    @property
    def slot(self) -> str:
        """Returns the key of its slot of the tables of signals; "" if none."""
        return self._attribute.key if self._attribute else ""

    @property
    def domain(self) -> str:
        """Returns the domain of its slot; "" if none."""
        return self._attribute.domain if self._attribute else ""

    @property
    def signals(self) -> Signals:
        """Returns the tables of its language."""
        return SIGNALS[self.spoken]

    @cached_property
    def _signs(self) -> tuple[str, ...]:
        return signs(self.clause.text, self.spoken)

    def _shows(self, table: str) -> bool:
        return f"g={table}" in self._signs

    @cached_property
    def _whole(self) -> str:
        return plain(self.clause.text)

    @cached_property
    def _value(self) -> str:
        return without_signal(self.clause.text, self.signals)

    @cached_property
    def _core(self) -> str:
        return plain(self._value)

    @cached_property
    def _plainly(self) -> str:
        return folded(self._value)

    @property
    def _is_instruction(self) -> bool:
        if self.guess.about != _INSTRUCTION or self._shows("remember") or self._attribute is not None:
            return False
        # Nobody orders what was; "respondé" is written like a past.
        return self.said.orders or self.said.aspects != frozenset() or claim(self.clause.text).tense != "past"

    @cached_property
    def _orders(self) -> bool:
        return bool(self._shows("standing") or self.signals.standing_opens.match(self._core))

    @cached_property
    def _attribute(self) -> Slot | None:
        return next((slot for slot in self.signals.slots if self._shows(slot.key)), None)

    @cached_property
    def _is_of_user(self) -> bool:
        return _FIRST.search(self._whole) is not None or _VERB.match(self._plainly) is not None

    @property
    def _is_excluded(self) -> bool:
        """Tells whether it is never kept, however likely a fact."""
        return bool(
            not says_something(self._value)
            or asks(self._value, is_first=self.is_first, in_question=self.in_question)
            or introduces(self._value)
            or _ASKS_FOR.match(self._plainly)
            or (_PROPOSES.match(self._plainly) and not self.decides)
            or (self.doubted and not self._orders)
            or (self._shows("remember") and _points_back(self._whole, self.signals))
            or is_about_forgetting(self.clause.text)
        )

    @property
    def _least(self) -> float:
        """Returns the threshold of probability that its signs set."""
        if self.clause.asked:
            return TUCKED
        least = self._least_by_signs
        if _REASON.match(folded(self.clause.text)):
            least = max(least, REASON)
        if self.hands_over and not (self._is_of_user or self.said.holder):
            least = max(least, NOBODY)
        return least

    @property
    def _least_by_signs(self) -> float:
        if self._shows("remember") or self._orders or (self._attribute is not None and self._is_of_user):
            return SIGNED
        if self.asks_for_work:
            return SURE
        if self._is_of_user and (self.said.changes or self.said.ends):
            return CHANGED
        return LIKELY_BESIDE if self.hands_over else LIKELY


def read(passage: str, *, hands_over: bool = False) -> list[Read]:
    """Returns the clauses of a passage; none if each of them is a question."""
    clauses = split(passage)
    firsts = [at == 0 or clauses[at - 1].sentence != clause.sentence for at, clause in enumerate(clauses)]
    if not any(may_state(clause, is_first=is_first) for clause, is_first in zip(clauses, firsts, strict=True)):
        return []
    spoken = spoken_in(passage)
    texts = [clause.text for clause in clauses]
    asking = {clause.sentence for clause in clauses if clause.asked}
    return [
        Read(
            clause,
            partial(guess, texts, at, spoken),
            spoken,
            hands_over=hands_over,
            is_first=firsts[at],
            in_question=clause.sentence in asking and not clause.asked,
        )
        for at, clause in enumerate(clauses)
    ]


def read_ordered(said: str, *, is_rule: bool) -> list[Read]:
    """Returns the clauses of what the user orders to be kept, whatever the models say of them. What asks or orders
    something else, behind the first, is none of it. `is_rule`: it is an instruction for every answer."""
    spoken = spoken_in(said)
    clauses = split(said)
    texts = [clause.text for clause in clauses]
    found = []
    for at, clause in enumerate(clauses):
        each = Read(clause, partial(guess, texts, at, spoken), spoken, hands_over=False, is_first=at == 0)
        asks_more = clause.asked or (_goes_to_work(each) and not (is_rule or is_by_user(clause.text)))
        given = at == 0 or not asks_more
        topic = Guess(each.guess.fact, partial(_topic, clause.text, spoken, is_rule=is_rule))
        made = each.but(kept=given, explicit=True, doubted=False, imagined=False, standing=is_rule)
        vars(made)["guess"] = topic
        found.append(made)
    return found


def _goes_to_work(each: Read) -> bool:
    """Tells whether a clause asks for work behind its conjunction: "so suggest a name"."""
    joined = _JOINED.match(folded(each.clause.text))
    text = each.clause.text[joined.end() :] if joined else each.clause.text
    return Read(
        replace(each.clause, text=text), each.predicted, each.spoken, hands_over=False, is_first=True
    ).asks_for_work


def _topic(text: str, spoken: Language, *, is_rule: bool) -> str:
    """Returns the likeliest topic of a clause of which it is known whether it is an instruction."""
    if is_rule:
        return _INSTRUCTION
    return next(name for name, _ in about(text, spoken) if name != _INSTRUCTION)


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


def _points_back(whole: str, signals: Signals) -> bool:
    """Tells whether a clause is about the text before it: "Keep that in mind"."""
    besides = signals.remember.sub(" ", whole).split()
    content = sum(word[0].isalnum() and word not in STOP for word in besides)
    states = _STATES.search(f" {' '.join(besides)} ") is not None
    return content < (1 if states else 2) or _BACK.search(whole) is not None
