"""Clauses joined into statements: one fact each. A clause goes on from the one before only where it means nothing
without it."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from proxy.language.phrases import expression
from proxy.language.tables import union
from proxy.memory.analysis import KIN, SELF, analyse
from proxy.memory.reading import ReadClause
from proxy.memory.remember_contents import weigh
from proxy.memory.signals import folded

LONGEST = 400  # characters of a value, up to which clauses are joined
_TOLD = 0.2  # least probability of a fact for a clause that continues one that is kept, or stands before "it"
_ANNOUNCEMENT = 3  # content words of an announcement, at most

_TABLES = union("statements")
_CONNECTED = expression(_TABLES, r"^\W*(?:{connected}\b\s*)", re.IGNORECASE)
_REASON = expression(_TABLES, r"^\W*{reasons}\b")
_OF_ANOTHER = expression(_TABLES, r"{of_another}\b")
_IT = expression(_TABLES, r"{it}\b")
_LABEL = re.compile(r"\s*([^:.!?\n]{2,40}):\s")
_MINE = expression(_TABLES, r"\b{mine}\b")
_NAMED = re.compile(r",?\s[A-Z\u00c1\u00c9\u00cd\u00d3\u00da\u00d1]\w+")


@dataclass(frozen=True, slots=True)
class Run:
    """The clauses that make one statement."""

    clauses: tuple[ReadClause, ...]
    lead: str = ""  # its subject, where its own words do not name it

    @property
    def text(self) -> str:
        """The words of the statement, with its subject in front where it lacks one."""
        said = " ".join(each.clause.text for each in self.clauses)
        return f"{self.lead} \u2026 {_CONNECTED.sub('', said)}" if self.lead else said


def runs(found: Sequence[ReadClause], passage: str) -> list[Run]:
    """Groups the clauses that are kept into statements."""
    made: list[Run] = []
    announced: ReadClause | None = None  # "We've decided:", right before the decision
    for at, each in enumerate(found):
        before = found[at - 1] if at and found[at - 1].clause.sentence == each.clause.sentence else None
        if not each.kept:
            if made and before is made[-1].clauses[-1] and _goes_on(each):
                made[-1] = replace(made[-1], clauses=(*made[-1].clauses, each))
        elif announced is not None and announced is before:
            made.append(Run((announced, each)))
        elif _announces(each, found[at + 1 : at + 2]):
            announced = each
        else:
            _add(made, found, at, passage)
    return made


def _add(made: list[Run], found: Sequence[ReadClause], at: int, passage: str) -> None:
    """Appends the clause `at` to the run that it continues, or as a run of its own."""
    each, before = found[at], found[at - 1] if at else None
    begins = each.beginning
    in_sentence = before is not None and before.clause.sentence == each.clause.sentence
    if _IT.match(begins) and before is not None and not before.kept and _is_told(before):
        made.append(Run((before, each)))
    elif _OF_ANOTHER.match(begins):
        made.append(Run((each,), _last_named(passage[: each.clause.start])))
    elif not in_sentence or each.is_independent:
        made.append(Run((each,)))
    elif (lead := _lead(found, at, listed=each.conjunctions > 0)) is not None:
        made.append(Run((each,), lead))
    elif before is not None and before.kept and made and len(made[-1].text) + len(each.clause.text) <= LONGEST:
        made[-1] = replace(made[-1], clauses=(*made[-1].clauses, each))
    else:
        made.append(Run((each,)))


def _is_told(each: ReadClause) -> bool:
    """Tells whether a clause states something, rather than asks or orders it: "Had to push the wedding, it's 20
    September now"."""
    return each.guess.fact > _TOLD and not each.clause.asked and not each.doubted


def runs_of_order(found: Iterable[ReadClause]) -> list[Run]:
    """Groups the clauses of what is to be kept into statements, up to where something else is asked for. One that says
    nothing alone goes on from the one before."""
    made: list[Run] = []
    for each in takewhile(lambda each: each.kept, found):
        begins = each.beginning
        alone = _OF_ANOTHER.match(begins) or (each.is_independent and not _IT.match(begins))
        says = alone and weigh(each.clause.text[-len(begins) :], verb="keeps", has_that=True, has_task=True) in (
            "fact",
            "rule",
        )
        if made and not says and len(made[-1].text) + len(each.clause.text) <= LONGEST:
            made[-1] = replace(made[-1], clauses=(*made[-1].clauses, each))
        else:
            made.append(Run((each,)))
    return made


def _announces(each: ReadClause, after: Sequence[ReadClause]) -> bool:
    goes_on = bool(after) and after[0].kept and after[0].clause.sentence == each.clause.sentence
    if not goes_on or len(each.content) > _ANNOUNCEMENT:
        return False
    names_only = bool(each.said.holder) and not each.said.frame and not each.slot.endswith("-")
    return names_only or (each.is_vague and (each.decides or each.said.changes))


def _goes_on(each: ReadClause) -> bool:
    """Tells whether a clause that was not kept by itself continues one that was ("…, 80,000 words")."""
    begins = each.beginning
    alone = each.is_independent or _OF_ANOTHER.match(begins) or _REASON.match(folded(each.clause.text))
    return _is_told(each) and not alone


def _last_named(before: str) -> str:
    """Returns the relative that was mentioned last, in the user's words ("my sister Carla"); "" if none."""
    found = list(KIN.finditer(folded(before)))
    return _called(before, found[-1]) if found else ""


def _called(text: str, kin: re.Match[str]) -> str:
    named = _NAMED.match(text, kin.end())
    return text[kin.start() : named.end() if named else kin.end()].strip()


def _lead(found: Sequence[ReadClause], at: int, *, listed: bool) -> str | None:
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
