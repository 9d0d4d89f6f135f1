"""A statement made of joined clauses: its value, domain, key, stance and confidence."""

import re

from proxy.language.phrases import expression
from proxy.language.tables import union
from proxy.language.words import STOP, fold
from proxy.memory.analysis import SINGLE, Analysis, analyse
from proxy.memory.joining import LONGEST, Run
from proxy.memory.reading import ReadClause
from proxy.memory.signals import WORD, without_signal
from proxy.types.memory import Confidence, Stance, Statement

_LEADING = expression(union("statements"), r"^\W*(?:{leading}\b[\s,]*)+(?=\w)", re.IGNORECASE)
_DOMAINS = {
    **dict.fromkeys(("work", "schedule"), "work"),
    **dict.fromkeys(("project", "date", "money", "study"), "projects"),
    "decision": "decisions",
    **dict.fromkeys(("preference", "instruction"), "preferences"),
}


def statement(run: Run) -> Statement:
    """Returns the statement that joined clauses make."""
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


def _domain(head: ReadClause, about: ReadClause, *, standing: bool, decides: bool) -> str:
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
