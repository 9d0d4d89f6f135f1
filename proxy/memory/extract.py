"""Extraction of facts that a user message states about its author. Nothing is inferred.

Only the author's own words are read (`own_words`), clause by clause (`clauses`). Models tell which clauses state
something lasting, and about what (`reading`); what the user orders to be kept is, whatever they say
(`remember_orders`), and a credential never (`credentials`). One statement makes one fact: clauses are joined only
where the later one means nothing without the earlier.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, takewhile

from proxy.language.phrases import expression
from proxy.language.tables import union
from proxy.language.words import STOP, fold
from proxy.memory.credentials import has_credential
from proxy.memory.forget_orders import is_mishap
from proxy.memory.own_words import own_words
from proxy.memory.reading import Read, read, read_ordered
from proxy.memory.remember_contents import is_for_task, weigh, without_to
from proxy.memory.remember_orders import Ordered, orders
from proxy.memory.reminiscing import without_reminiscences
from proxy.memory.shapes import EDGE, enclosed
from proxy.memory.signals import (
    KIN,
    SELF,
    SINGLE,
    WORD,
    Analysis,
    analyse,
    folded,
    without_signal,
)
from proxy.types.memory import Confidence, Stance, Statement

LONGEST = 400  # characters of a value, up to which clauses are joined
STATEMENTS = 12  # of one message, at most
_VAGUE = 0.75  # least probability of a fact for a clause that names nothing, behind another clause
_VERY_LIKELY = 0.85  # the same, where it has a single content word, or stands beside a supposition
_TOLD = 0.2  # the same, for a clause that continues one that is kept, or stands before "it"
_REMEMBERED = 512  # messages whose statements are cached: summaries need them again
_LEAST_WORDS, _ANNOUNCEMENT = 2, 3  # content words: least of a vague statement, most of an announcement


# A question with a mark at which its passage may end.
_CUT_QUESTION = re.compile(r"(?:[:;]\s|\s[-\u2013\u2014]+\s|->|=>|\u2192)[^.!?\n]*\?")


@lru_cache(_REMEMBERED)
def extract(*parts: str) -> tuple[Statement, ...]:
    """Extracts the statements about its author from the text parts of a user message, in their order."""
    # Whose words they are takes longest to tell: it is asked only where something would be kept if all of them were the
    # author's own. Most messages only ask.
    whole = {part: read(part) for part in parts if len(part) <= EDGE}
    if not any(
        part not in whole or any(each.kept for each in whole[part]) or _is_of_parts(part) or orders(part)
        for part in parts
    ):
        return ()
    own = own_words(*parts)
    found: list[Statement] = []
    given = frozenset(each.what for part in parts for each in _orders(part[:EDGE]) if each.keeps)
    for passage in own.passages:
        reuse = not own.hands_over and passage in whole
        clauses = whole[passage] if reuse else read(passage, hands_over=own.hands_over)
        found += _statements(passage, clauses, _given(passage, clauses, given))
    return tuple(each for each in found[:STATEMENTS] if not has_credential(each.value))


def ordered(*parts: str) -> tuple[Statement, ...]:
    """Extracts those statements of a user message that it orders to be kept."""
    whole = frozenset(each.what for part in parts for each in _orders(part[:EDGE]) if each.keeps)
    found = (_ordered(_given(passage, read(passage), whole)) for passage in own_words(*parts).passages)
    return tuple(each for each in chain.from_iterable(found) if not has_credential(each.value))


def stated(text: str) -> Statement | None:
    """Returns the statement that a text makes if all of it is one, however unsure that would be in a conversation: for
    what a person writes down as a fact. None: it only asks, or says nothing."""
    found = read(text)
    return _statement(_Run(tuple(found))) if found else None


def _is_of_parts(text: str) -> bool:
    """Tells whether a clause of one of the passages of `text` may be none of its own: beside enclosed text, or where a
    question is cut."""
    return bool(enclosed(text)) or _CUT_QUESTION.search(text) is not None


def _statements(passage: str, found: list[Read], given: Sequence[Ordered]) -> list[Statement]:
    if not given and not any(each.kept for each in found):
        return []
    # Behind something imagined all is imagined.
    found = without_reminiscences(_with_reminders(list(takewhile(lambda each: not each.imagined, found))))
    return [*_ordered(given), *_stated(passage, [each for each in found if not _is_in(each, given)])]


def _orders(text: str) -> Iterator[Ordered]:
    """Yields the orders to remember in a text. One that is asked for politely is obeyed where models would have to
    decide of it: of a question they know nothing."""
    for each in orders(text):
        is_asked = each.content == "open" and text[each.start : each.end].rstrip().endswith("?")
        yield replace(each, content="fact") if is_asked else each


def _given(passage: str, found: Iterable[Read], whole: Collection[str]) -> tuple[Ordered, ...]:
    """Returns the orders to remember that say what is to be kept, or that nothing is. `whole`: what the orders of the
    whole message have kept; there it may belong to a role."""
    imagined = next((each.clause.start for each in found if each.imagined), len(passage))
    found_here = (each for each in _orders(passage) if each.start < imagined and each.content != "open")
    return tuple(each if each.what in whole else replace(each, content="nothing") for each in found_here)


def _ordered(given: Iterable[Ordered]) -> Iterator[Statement]:
    """Yields the statements that the user orders to be kept."""
    for each in given:
        if each.keeps:
            is_rule = each.content == "rule"
            what = without_to(each.what) if is_rule else each.what
            yield from map(_statement, _runs_of_order(read_ordered(what, is_rule=is_rule)))


def _is_in(each: Read, given: Iterable[Ordered]) -> bool:
    """Tells whether a clause stands in one of the orders `given`, which are read by themselves."""
    start, end = each.clause.start, each.clause.start + len(each.clause.text)
    return any(start < order.end and order.start < end for order in given)


def _stated(passage: str, found: list[Read]) -> list[Statement]:
    found = _without_vague(_without_supposed(_without_mishaps(_without_one_offs(found))))
    return [_statement(run) for run in _runs(_with_reminders(found), passage)]


def _without_one_offs(found: Sequence[Read]) -> list[Read]:
    """Drops instructions whose sentence says that they are for the task at hand: "for this email, no emoji"."""

    def sentence(each: Read) -> str:
        return " ".join(other.clause.text for other in found if other.clause.sentence == each.clause.sentence)

    return [
        each.but(kept=False)
        if each.kept and each.standing and not each.explicit and is_for_task(sentence(each))
        else each
        for each in found
    ]


def _without_mishaps(found: Sequence[Read]) -> list[Read]:
    """Drops clauses that go on from something forgotten: "I forgot my charger and have 4% left"."""
    before = (None, *found)

    def goes_on(each: Read, then: Read | None) -> bool:
        in_one = then is not None and then.clause.sentence == each.clause.sentence
        return in_one and then is not None and is_mishap(then.clause.text) and _ALONE.match(_beginning(each)) is None

    return [
        each.but(kept=False) if each.kept and goes_on(each, then) else each
        for each, then in zip(found, before, strict=False)
    ]


def _without_supposed(found: Sequence[Read]) -> list[Read]:
    """Drops clauses beside a supposition in the same sentence, unless they are nearly sure."""
    kept = {each.clause.sentence for each in found if each.kept}
    doubted = {each.clause.sentence for each in found if each.clause.sentence in kept and each.doubted}

    def holds(each: Read) -> bool:
        return each.explicit or (each.standing and not each.doubted) or each.guess.fact > _VERY_LIKELY

    return [
        each.but(kept=False) if each.kept and each.clause.sentence in doubted and not holds(each) else each
        for each in found
    ]


def _with_reminders(found: Sequence[Read]) -> list[Read]:
    """Marks a clause as explicit if "keep that in mind" follows it."""
    after = (*found[1:], None)
    return [
        each.but(explicit=True) if each.kept and then is not None and not then.kept and then.explicit else each
        for each, then in zip(found, after, strict=False)
    ]


def _without_vague(found: Sequence[Read]) -> list[Read]:
    """Drops a clause that names nothing ("it drives me mad"), unless it is surer than its neighbours."""
    kept = list(found)
    for at, each in enumerate(found):
        if not each.kept or each.guess.fact >= _VERY_LIKELY or not _is_vague(each):
            continue
        before = kept[at - 1] if at else None
        follows = before is not None and before.kept and before.clause.sentence == each.clause.sentence
        if (follows and each.guess.fact < _VAGUE) or len(_content(each.clause.text)) < _LEAST_WORDS:
            kept[at] = each.but(kept=False)
    return kept


def _is_vague(each: Read) -> bool:
    said = each.said
    return not (said.values or said.names or said.holder or said.ends or each.explicit or each.standing)


def _content(text: str) -> list[str]:
    return [word for word in WORD.findall(text) if fold(word) not in STOP]


# --- joining of clauses ----------------------------------------------------------------------------------------------

_TABLES = union("statements")
_CONJUNCTION = expression(_TABLES, r"^\W*(?:{conjunctions}\b\W*)+")
_CONNECTED = expression(_TABLES, r"^\W*(?:{connected}\b\s*)", re.IGNORECASE)
_REASON = expression(_TABLES, r"^\W*{reasons}\b")
# Beginnings of an independent clause, behind a conjunction.
_ALONE = expression(_TABLES, r"\b{alone}\b")
_OF_ANOTHER = expression(_TABLES, r"{of_another}\b")
_IT = expression(_TABLES, r"{it}\b")
_LABEL = re.compile(r"\s*([^:.!?\n]{2,40}):\s")
_MINE = expression(_TABLES, r"\b{mine}\b")
_NAMED = re.compile(r",?\s[A-Z\u00c1\u00c9\u00cd\u00d3\u00da\u00d1]\w+")


@dataclass(frozen=True, slots=True)
class _Run:
    """The clauses that make one statement."""

    clauses: tuple[Read, ...]
    lead: str = ""  # its subject, where its own words do not name it

    @property
    def text(self) -> str:
        said = " ".join(each.clause.text for each in self.clauses)
        return f"{self.lead} \u2026 {_CONNECTED.sub('', said)}" if self.lead else said


def _runs(found: Sequence[Read], passage: str) -> list[_Run]:
    """Groups the clauses that are kept into statements."""
    runs: list[_Run] = []
    announced: Read | None = None  # "We've decided:", right before the decision
    for at, each in enumerate(found):
        before = found[at - 1] if at and found[at - 1].clause.sentence == each.clause.sentence else None
        if not each.kept:
            if runs and before is runs[-1].clauses[-1] and _goes_on(each):
                runs[-1] = replace(runs[-1], clauses=(*runs[-1].clauses, each))
        elif announced is not None and announced is before:
            runs.append(_Run((announced, each)))
        elif _announces(each, found[at + 1 : at + 2]):
            announced = each
        else:
            _add(runs, found, at, passage)
    return runs


def _add(runs: list[_Run], found: Sequence[Read], at: int, passage: str) -> None:
    """Appends the clause `at` to the run that it continues, or as a run of its own."""
    each, before = found[at], found[at - 1] if at else None
    begins = _beginning(each)
    listed = _CONJUNCTION.match(folded(each.clause.text)) is not None
    in_sentence = before is not None and before.clause.sentence == each.clause.sentence
    if _IT.match(begins) and before is not None and not before.kept and _is_told(before):
        runs.append(_Run((before, each)))
    elif _OF_ANOTHER.match(begins):
        runs.append(_Run((each,), _last_named(passage[: each.clause.start])))
    elif not in_sentence or _ALONE.match(begins):
        runs.append(_Run((each,)))
    elif (lead := _lead(found, at, listed=listed)) is not None:
        runs.append(_Run((each,), lead))
    elif before is not None and before.kept and runs and len(runs[-1].text) + len(each.clause.text) <= LONGEST:
        runs[-1] = replace(runs[-1], clauses=(*runs[-1].clauses, each))
    else:
        runs.append(_Run((each,)))


def _is_told(each: Read) -> bool:
    """Tells whether a clause states something, rather than asks or orders it: "Had to push the wedding, it's 20
    September now"."""
    return each.guess.fact > _TOLD and not each.clause.asked and not each.doubted


def _runs_of_order(found: Iterable[Read]) -> list[_Run]:
    """Groups the clauses of what is to be kept into statements, up to where something else is asked for. One that says
    nothing alone goes on from the one before."""
    runs: list[_Run] = []
    for each in takewhile(lambda each: each.kept, found):
        begins = _beginning(each)
        alone = _OF_ANOTHER.match(begins) or (_ALONE.match(begins) and not _IT.match(begins))
        says = alone and weigh(each.clause.text[-len(begins) :], verb="keeps", has_that=True, has_task=True) in (
            "fact",
            "rule",
        )
        if runs and not says and len(runs[-1].text) + len(each.clause.text) <= LONGEST:
            runs[-1] = replace(runs[-1], clauses=(*runs[-1].clauses, each))
        else:
            runs.append(_Run((each,)))
    return runs


def _announces(each: Read, after: Sequence[Read]) -> bool:
    goes_on = bool(after) and after[0].kept and after[0].clause.sentence == each.clause.sentence
    if not goes_on or len(_content(each.clause.text)) > _ANNOUNCEMENT:
        return False
    names_only = bool(each.said.holder) and not each.said.frame and not each.slot.endswith("-")
    return names_only or (_is_vague(each) and (each.decides or each.said.changes))


def _goes_on(each: Read) -> bool:
    """Tells whether a clause that was not kept by itself continues one that was ("…, 80,000 words")."""
    begins = _beginning(each)
    alone = _ALONE.match(begins) or _OF_ANOTHER.match(begins) or _REASON.match(folded(each.clause.text))
    return _is_told(each) and alone is None


def _beginning(each: Read) -> str:
    said = folded(each.clause.text)
    joined = _CONJUNCTION.match(said)
    return said[joined.end() :] if joined else said.lstrip(" ,;(-\u2013\u2014")


def _last_named(before: str) -> str:
    """Returns the relative that was mentioned last, in the user's words ("my sister Carla"); "" if none."""
    found = list(KIN.finditer(folded(before)))
    return _called(before, found[-1]) if found else ""


def _called(text: str, kin: re.Match[str]) -> str:
    named = _NAMED.match(text, kin.end())
    return text[kin.start() : named.end() if named else kin.end()].strip()


def _lead(found: Sequence[Read], at: int, *, listed: bool) -> str | None:
    """Returns the subject that a clause without one of its own takes from its sentence; None if it continues the whole
    clause before it."""
    first = next(each for each in found if each.clause.sentence == found[at].clause.sentence).clause.text
    label = _LABEL.match(first)
    if label is not None and not analyse(label[1]).changes and not found[at].decides:
        return label[1].strip()
    if not listed:
        return None
    plainly = folded(first)
    kin = KIN.search(plainly)
    if kin is not None and SELF.search(plainly, 0, kin.start()) is None:
        return _called(first, kin)
    mine = _MINE.search(plainly)
    return first[mine.start() : mine.end()] if mine is not None else None


# --- making statements -----------------------------------------------------------------------------------------------

_LEADING = expression(_TABLES, r"^\W*(?:{leading}\b[\s,]*)+(?=\w)", re.IGNORECASE)
_DOMAINS = {
    **dict.fromkeys(("work", "schedule"), "work"),
    **dict.fromkeys(("project", "date", "money", "study"), "projects"),
    "decision": "decisions",
    **dict.fromkeys(("preference", "instruction"), "preferences"),
}


def _statement(run: _Run) -> Statement:
    head = run.clauses[0]
    value = without_signal(_LEADING.sub("", run.text), head.signals) or run.text
    about = next((each for each in run.clauses if each.slot), head)
    said = analyse(value)
    stance: Stance = "ends" if said.ends else "changes" if said.changes else "states"
    if any(each.keeps for each in run.clauses):
        stance = "keeps"
    standing = any(each.standing for each in run.clauses)
    decides = any(each.decides for each in run.clauses)
    explicit = any(each.explicit for each in run.clauses)
    confidence: Confidence = "high" if explicit or any(each.sure for each in run.clauses) else "medium"
    return Statement(
        domain=_domain(head, about, standing=standing, decides=decides),
        key=key(said, about.slot, head.guess.about, value, standing=standing),
        value=value[: 2 * LONGEST],
        confidence=confidence,
        pinned=standing,
        stance=stance,
    )


def _domain(head: Read, about: Read, *, standing: bool, decides: bool) -> str:
    if standing:
        return "preferences"
    if decides and about.domain != "work":
        return "decisions"
    return about.domain or _DOMAINS.get(head.guess.about, "personal")


def key(said: Analysis, slot: str, about: str, value: str, *, standing: bool) -> str:
    """Returns the key of a statement: holder, attribute and topic, lower case, joined by "-". An attribute that a
    person has one of needs no topic."""
    single = slot.rstrip("-") in SINGLE
    attribute = "rule" if standing else slot.rstrip("-") or about
    subject = [] if single else [word for word in topical(value) if word not in said.holder][:2]
    if standing and said.aspects:
        subject = sorted(said.aspects)[:1]
    return "-".join([*sorted(said.holder), attribute, *subject])


def topical(value: str) -> list[str]:
    """Returns the content words of `value`, folded, in their order, without numbers."""
    words = dict.fromkeys(map(fold, WORD.findall(value)))
    return [word for word in words if len(word) > 1 and not word[0].isdigit() and word not in STOP]
