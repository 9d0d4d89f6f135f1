"""Choice of the facts that go into a prompt: standing ones, those that the question needs, and those that answer it by
themselves.

A question needs a fact that it mentions, and a fact that a good answer depends on though it is not mentioned ("a bakery
near me?"). Models tell whether a question depends on such a fact, and of which kind (`clauses.needs`).
"""

import math
from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from heapq import heapify, heappop

from proxy.language.phrases import expression
from proxy.language.tables import union
from proxy.language.words import plain, terms
from proxy.memory.cues import asks_for, asks_for_answers, cues, last_question
from proxy.memory.facts import Decay, later, sayable, status
from proxy.memory.predictions import Needs, about
from proxy.memory.signals import analyse, terms_of
from proxy.types.memory import Fact, Language

_COVERED = 0.8  # share of a fact's terms that a text must have to contain the fact
_RELEVANT = 0.25  # least relevance of a fact that the question mentions
_OF_VECTORS = 0.7  # weight of the cosine; the rest is that of shared words
_OF_DOMAIN = 0.05  # added where the question's domain is the fact's
# Least probability that a question depends on a fact it does not mention, for such facts to be sent; by the question's
# language. With these about as many of the labelled questions that need none pass in either (15 % of hard ones).
_PERSONAL: Mapping[Language, float] = {"en": 0.4, "es": 0.3}
_IMPLIED = 0.0  # least relevance of a fact that is not mentioned
_MOST_IMPLIED = 8  # facts, where some may be not mentioned
_OF_WORDS = 0.6  # weight of shared words beside kinds
_OF_COSINE, _ORDINARY_COSINE = 0.5, 0.25  # weight of a cosine above the ordinary one
_SPOKEN_OF = 2  # least terms that a question must share with a fact to mention it
_MOST_REFUSED = 10  # facts too long for what is left of the budget, before the search for a shorter one ends

# The kinds of needs (`clauses.KINDS`) that a fact answers, by its attribute, its holder and its slot.
_KINDS: Mapping[str, tuple[str, ...]] = {
    "allergy": ("diet", "health"),
    "diet": ("diet",),
    "origin": ("residence", "language"),
    "date": ("travel", "project", "study"),
    "decision": ("project", "travel", "home"),
    "relationship": ("partner",),
    "family": ("child", "partner", "parent", "sibling"),
    "person": ("friend", "health"),
    "preference": ("diet", "hobby"),
    "instruction": (),
    "other": (),
}
_HOLDERS: Mapping[str, str] = {
    **dict.fromkeys(
        ("son", "daughter", "child", "baby", "twins", "grandson", "granddaughter", "nephew", "niece"), "child"
    ),
    **dict.fromkeys(("wife", "husband", "partner", "girlfriend", "boyfriend", "fiance", "ex"), "partner"),
    **dict.fromkeys(("mother", "father", "parents", "grandmother", "grandfather", "inlaw", "aunt", "uncle"), "parent"),
    **dict.fromkeys(("brother", "sister", "siblings", "cousin"), "sibling"),
    **dict.fromkeys(("friend", "neighbour", "flatmate", "colleague", "boss", "teacher", "client"), "friend"),
    **dict.fromkeys(("dog", "cat", "horse", "pet"), "pet"),
}
_SLOTS: Mapping[str, str] = {
    **{name: name for name in ("residence", "diet", "health", "schedule", "age", "language", "project", "name")},
    "allergy": "diet",
    "job": "work",
    "budget": "money",
    "pets": "pet",
    "children": "child",
}

_MOST_ANSWERS = 2  # facts that answer; more of them are no single answer
_LONGEST_QUESTION = 200  # characters of a question that one fact may answer

_TABLES = union("answers")
# The kinds of value that a wording asks for, in the order of trial.
_ASKED = (
    (expression(_TABLES, " {time} "), frozenset({"time"})),
    (expression(_TABLES, " {date} "), frozenset({"date"})),
    (expression(_TABLES, " {number} "), frozenset({"number", "money"})),
    (expression(_TABLES, " {name} "), frozenset({"name"})),
    (expression(_TABLES, " (?:{place}|{which} {places}) "), frozenset({"place", "name"})),
)
_ASKING = frozenset(terms(_TABLES["asking"]))
# Asks for an earlier state, which a current fact does not tell.
_EARLIER = expression(_TABLES, " {earlier} ")
_OWN = expression(_TABLES, " {own} ")

ONE_LINE = 400  # characters of a rendered fact
_BRACKETS = str.maketrans("<>", "\u2039\u203a")
_LATER_SHOWN = 80  # characters of the quotation of a later fact


@dataclass(frozen=True, slots=True)
class Current:
    """The facts of a scope that are valid at one moment, in the order in which prompts take them."""

    facts: tuple[Fact, ...]  # all facts of the scope
    ids: frozenset[str]  # theirs
    decay: Decay
    standing: tuple[Fact, ...]  # pinned, valid for every answer: one per key, the last confirmed first; marked
    others: tuple[Fact, ...]  # that a question may need, in the same order; without marks
    ended: Mapping[str, Fact]  # by a fact's id: the newest fact that may have ended it
    since: float  # seconds since the epoch
    until: float  # the same: when the first fact changes its status

    def marked(self, fact: Fact) -> Fact:
        """Returns `fact` with a mark of what may have ended it."""
        return marked(fact, self.ended.get(fact.id))

    def line(self, fact: Fact) -> str:
        """Returns the rendered line of `fact` with this mark."""
        later = self.ended.get(fact.id)
        return _line(fact.domain, fact.value) if later is None else _marked_line(fact.domain, fact.value, later.value)


def current(facts: Iterable[Fact], now: float, decay: Decay, before: Current | None = None) -> Current:
    """Returns the facts that are valid at `now`. `before`, the result for an earlier request, is returned again if
    neither the facts nor any status has changed."""
    every = tuple(facts)
    if before is not None and before.since <= now < before.until and before.decay == decay and before.facts == every:
        # Read from storage anew they are equal, and from then on the same.
        return before if before.facts is every else replace(before, facts=every)
    known = {fact.id: fact for fact in every}
    newer = {fact.id: after for fact in known.values() if (after := later(fact, known)) is not None}
    may: list[Fact] = []
    stand: list[Fact] = []
    for fact in known.values():
        # What may have been ended by something that is no instruction waits for a question.
        after = newer.get(fact.id)
        is_now = status(fact, now, decay)
        if fact.pinned and is_now == "active" and (after is None or after.pinned):
            stand.append(fact)
        elif is_now in ("active", "retrieval-only"):
            may.append(fact)
    ended = {name: _newest(name, newer) for name in newer}
    limits = (decay.unconfirmed_after, decay.stale_after, decay.drop_low_after)
    ends = (fact.last_confirmed_at + limit for fact in every if fact.superseded_by is None for limit in limits)
    return Current(
        facts=every,
        ids=frozenset(known),
        decay=decay,
        standing=tuple(marked(fact, ended.get(fact.id)) for fact in _one_of_each(stand)),
        others=_one_of_each(may),
        ended=ended,
        since=now,
        until=min((end for end in ends if end >= now), default=math.inf),
    )


def marked(fact: Fact, later: Fact | None) -> Fact:
    """Returns `fact` with a mark in its value that quotes the `later` fact, which may have ended it."""
    return fact if later is None else replace(fact, value=_with_mark(fact.value, later.value))


def _with_mark(value: str, later: str) -> str:
    mark = f' (later: "{cut(" ".join(later.split()), _LATER_SHOWN)}")'
    return cut(value, ONE_LINE - len(mark)) + mark


def cut(text: str, most: int) -> str:
    """Returns `text` cut to `most` characters; the last one is an ellipsis if something was cut."""
    return text if len(text) <= most else f"{text[: most - 1]}\u2026"


def _newest(name: str, newer: Mapping[str, Fact]) -> Fact:
    """Follows the chain of facts that may have ended the fact with the id `name`; returns the last one."""
    found = newer[name]
    seen = {name, found.id}
    while (after := newer.get(found.id)) is not None and after.id not in seen:
        seen.add(after.id)
        found = after
    return found


def _one_of_each(facts: Iterable[Fact]) -> tuple[Fact, ...]:
    newest_first = sorted(facts, key=lambda fact: (-fact.last_confirmed_at, -fact.created_at, fact.id))
    kept: dict[tuple[str, str], Fact] = {}
    for fact in newest_first:
        kept.setdefault((fact.domain, fact.key), fact)
    return tuple(kept.values())


@dataclass(frozen=True, slots=True)
class Need:
    """The newest question, in the form in which facts are compared with it."""

    terms: frozenset[str]
    domain: str = ""  # a domain of facts; "" if none is recognised
    cosines: Mapping[str, float] | None = None  # with the question, by the id of the fact
    said: tuple[str, ...] = ()  # texts of the last turns: facts they contain are not repeated
    asks: Needs | None = None  # prediction about facts that it does not mention; None: unknown
    language: Language = "en"  # of the question

    @property
    def is_personal(self) -> bool:
        """Tells whether a good answer is likely to depend on a fact that the question does not speak of."""
        return self.asks is not None and self.asks.any >= _PERSONAL[self.language]


def relevant(facts: Current, need: Need, *, tokens: int, count: Callable[[str], int]) -> tuple[Fact, ...]:
    """Selects the facts, other than standing ones, that the question needs: the most relevant first, their lines within
    `tokens` as counted by `count`. Facts of the status "retrieval-only" reach a prompt by this alone."""
    is_personal = need.is_personal
    least, most = (_IMPLIED, _MOST_IMPLIED) if is_personal else (_RELEVANT, len(facts.others))
    # A question that needs nothing of its user is about facts that it mentions: by name, or by several words.
    is_mention = need.asks is not None and not is_personal
    length = max(1.0, math.sqrt(len(need.terms)))
    scored = []  # the best come first off the heap; few of many facts are looked at
    for fact in facts.others:
        shared = len(need.terms & sayable(fact))
        if is_mention and shared < _SPOKEN_OF:
            continue
        by_words = min(1.0, shared / length)
        score = by_words if is_mention else relevance(fact, need, by_words)
        if score >= least:
            scored.append((-score, -fact.last_confirmed_at, fact.id, fact))
    heapify(scored)
    said = terms_of(need.said) if scored else frozenset[str]()
    chosen: list[Fact] = []
    refused = 0
    while scored and len(chosen) < most and refused < _MOST_REFUSED:
        fact = heappop(scored)[-1]
        if _is_said(fact, said):
            continue
        if (line := count(facts.line(fact))) <= tokens:
            chosen.append(facts.marked(fact))
            tokens -= line
        else:
            refused += 1
    return tuple(chosen)


def unsaid(facts: Iterable[Fact], texts: Iterable[str]) -> tuple[Fact, ...]:
    """Returns the facts whose content none of `texts` contains."""
    stated = tuple(facts)
    said = terms_of(texts) if stated else frozenset[str]()
    return tuple(fact for fact in stated if not _is_said(fact, said))


def relevance(fact: Fact, need: Need, by_words: float) -> float:
    """Scores a fact against a question, 0 to about 1: by shared words (`by_words`), cosine where vectors are known, and
    kind where the models told which kinds the question needs."""
    same_domain = _OF_DOMAIN if need.domain and need.domain == fact.domain else 0.0
    cosine = None if need.cosines is None else need.cosines.get(fact.id)
    if need.asks is None:
        if cosine is None:
            return by_words + same_domain
        return _OF_VECTORS * max(cosine, 0.0) + (1 - _OF_VECTORS) * by_words + same_domain
    asked, by_kind = need.asks.kinds, 0.0
    for kind, share in kinds(fact.value).items():
        by_kind += share * asked[kind]
    by_meaning = _OF_COSINE * max((cosine or 0.0) - _ORDINARY_COSINE, 0.0)
    return by_kind + _OF_WORDS * by_words + by_meaning + same_domain


@lru_cache(4_096)
def kinds(value: str) -> Mapping[str, float]:
    """Maps each kind of need (`clauses.KINDS`) that a fact answers to its probability, 0 to 1."""
    said = analyse(value)
    found: dict[str, float] = {}
    # Always in one language: the words tell the topic; the fact's own language found nothing more.
    for attribute, share in about(value, "en"):
        for kind in _KINDS.get(attribute, (attribute,)):
            found[kind] = max(found.get(kind, 0.0), share)
    sure = [_SLOTS[slot] for slot in said.slots if slot in _SLOTS]
    sure += [_HOLDERS[holder] for holder in said.holder if holder in _HOLDERS]
    found |= dict.fromkeys(sure, 1.0)
    return {kind: share for kind, share in found.items() if kind != "belief" or share}


def read(values: Iterable[str]) -> Generator[None, None, None]:
    """Computes `kinds` of these values into its cache, one a step, so that the next question does not wait for them."""
    for value in values:
        kinds(value)
        yield


def read_new(facts: Iterable[Fact], before: Current | None) -> Generator[None, None, None]:
    """The same for the facts that were learnt since the valid ones were last looked up."""
    known = before.ids if before is not None else frozenset[str]()
    return read([fact.value for fact in tuple(facts) if fact.id not in known])


def answering(facts: Iterable[Fact], question: str, now: float, decay: Decay) -> tuple[Fact, ...]:
    """Returns the active facts that each answer `question`; none if it asks for more than one thing the user stated."""
    question = last_question(question)
    wanted = frozenset(terms(question)) - _ASKING if len(question) <= _LONGEST_QUESTION else frozenset[str]()
    may = [fact for fact in facts if wanted <= sayable(fact)] if wanted else []
    if not may or asks_for(question) in ("many", "all"):
        return ()
    said = plain(question)
    if _EARLIER.search(said) or asks_for_answers(question) or not _OWN.search(said):
        return ()
    asks = cues(question)
    # "Have I …?" may have more than one answer, and "how should I format it?" wants none of the user's own.
    if not (asks.asking_word or asks.request) or asks.advice or asks.pointing:
        return ()
    asked = next((kinds for table, kinds in _ASKED if table.search(said)), frozenset[str]())
    holder = analyse(question).holder
    found = [fact for fact in may if status(fact, now, decay) == "active" and _holds(fact, wanted, asked, holder)]
    return tuple(found) if len(found) <= _MOST_ANSWERS else ()


def _holds(fact: Fact, wanted: frozenset[str], asked: frozenset[str], holder: frozenset[str]) -> bool:
    """Tells whether a fact answers: its value is of the asked kind or, if none is asked, says more than the question;
    and it is about the same person."""
    said = analyse(fact.value)
    if said.holder != holder and not (holder and said.who and "name" in asked):
        return False
    if asked:
        return bool(asked & said.kinds)
    return bool(frozenset(terms(fact.value)) - wanted - _ASKING)


@lru_cache(4_096)
def _said_by(value: str) -> tuple[frozenset[str], frozenset[str]]:
    """Returns the terms of a fact's value, and those of them that are numbers."""
    words = frozenset(terms(value))
    return words, frozenset(word for word in words if word[0].isdigit())


def _is_said(fact: Fact, said: frozenset[str]) -> bool:
    words, numbers = _said_by(fact.value)
    return bool(words) and numbers <= said and len(words & said) >= _COVERED * len(words)


def render(facts: Iterable[Fact]) -> str:
    """Renders facts as lines of a `<memory>` block, one a fact, with nothing in it that could close the block."""
    return "\n".join([_line(fact.domain, fact.value) for fact in facts])


@lru_cache(4_096)
def _line(domain: str, value: str) -> str:
    return f"- [{domain}] {cut(' '.join(value.split()).translate(_BRACKETS), ONE_LINE)}"


@lru_cache(4_096)
def _marked_line(domain: str, value: str, later: str) -> str:
    return _line(domain, _with_mark(value, later))
