"""Decision whether one clause of a user's own words is kept as a fact.

A model gives the probability that it states something lasting; signs of the clause set the threshold. A request to
remember, or a standing instruction, lowers it; an apparent order, a reason or a change sets it higher or lower; a
question, a supposition or a report of the other side is never kept.
"""

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from functools import cached_property, partial

from proxy.language.phrases import expression
from proxy.language.tables import union
from proxy.language.words import STOP, fold, plain
from proxy.memory.analysis import Analysis, analyse
from proxy.memory.claims import claim
from proxy.memory.clauses import Clause
from proxy.memory.forget_orders import is_about_forgetting, says_something
from proxy.memory.no_statement import asks, asks_for, introduces, may_state, points_back, proposes
from proxy.memory.predictions import Guess, signs
from proxy.memory.shapes import HANDOVER
from proxy.memory.signals import SIGNALS, WORD, Signals, Slot, folded, without_signal
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
INSTRUCTION = "instruction"  # the topic

_find = partial(expression, union("statements"))

_FIRST = _find(" {first} ")
_JOINED = _find(r"\W*(?:{conjunctions}\b\W*)+")
# Beginnings of an independent clause, behind a conjunction.
_ALONE = _find(r"\b{alone}\b")
# A Spanish sentence that begins with its verb, in the first person.
_VERB = _find(r"(?:{before_verb}\s)*\w{2,}{first_verbs}\b")
_REASON = _find(r"^\W*(?:{reasons}|{purposes})\b")


@dataclass(frozen=True, eq=False)  # no slots: `cached_property` keeps its values in `__dict__`
class ReadClause:
    """A clause with its features and the decision whether it is kept. Each is computed when it is first asked for: most
    clauses are decided by few of them."""

    clause: Clause
    predicted: Callable[[], Guess]
    spoken: Language
    hands_over: bool  # the message holds somebody else's text
    is_first: bool  # it begins its sentence
    in_question: bool = False  # its sentence asks, behind it

    def but(self, **features: bool) -> "ReadClause":
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

    @cached_property
    def content(self) -> list[str]:
        """Returns its content words."""
        return [word for word in WORD.findall(self.clause.text) if fold(word) not in STOP]

    @property
    def is_vague(self) -> bool:
        """Tells whether it names nothing: "it drives me mad"."""
        said = self.said
        return not (said.values or said.names or said.holder or said.ends or self.explicit or self.standing)

    @cached_property
    def conjunctions(self) -> int:
        """Returns the length of the conjunctions that it begins with, in characters; 0 if there are none."""
        joined = _JOINED.match(folded(self.clause.text))
        return joined.end() if joined else 0

    @cached_property
    def beginning(self) -> str:
        """Returns its text without these, folded."""
        said = folded(self.clause.text)
        return said[self.conjunctions :] if self.conjunctions else said.lstrip(" ,;(-\u2013\u2014")

    @cached_property
    def is_independent(self) -> bool:
        """Tells whether it begins, behind its conjunctions, as a clause that needs no other."""
        return _ALONE.match(self.beginning) is not None

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
        if self.guess.about != INSTRUCTION or self._shows("remember") or self._attribute is not None:
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
            or asks_for(self._plainly)
            or (proposes(self._plainly) and not self.decides)
            or (self.doubted and not self._orders)
            or (self._shows("remember") and points_back(self._whole, self.signals))
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
