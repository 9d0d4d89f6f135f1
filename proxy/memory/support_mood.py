"""The mood of a quotation: it is meant as a question, a task, a condition, a wish, a joke, or as what somebody else
believes."""

import re
from itertools import pairwise

from proxy.memory.signals import folded
from proxy.memory.support_quoted import CLAUSE, NEAR, Quoted

_TAIL = 12  # characters behind a quotation that may limit it
_GOES_ON = re.compile(r"\A[\s,;:.\u2026-]*(?:(?:and|but|pero|y)\s)?")
_PART = re.compile(r"[,;:]\s+(?:so |and |but |y |pero )?")
_MARK = re.compile(r"\s*[,;:.\u2026)]")


def no_statement(quoted: Quoted) -> str:
    """Returns the reason why a quotation states nothing, "" if there is none."""
    marks, quote = quoted.marks, quoted.quote
    told = quoted.before + quote
    if marks.has("addressed", quote) or marks.has("believed", told) or marks.has("fiction", quoted.before):
        return "handed-over"
    if _is_asked(quoted):
        return "question"
    if marks.has("ironies", quoted.before[-NEAR:] + quote):
        return "irony"
    return "task" if _is_task(quoted) else _only_then(quoted)


def _is_asked(quoted: Quoted) -> bool:
    """Tells whether it is a question, or part of one; a statement before a question is not, nor what it takes as
    known: "what do I give my son, who is nine?"."""
    if quoted.takes_for_granted:
        return False
    marks, said = quoted.marks, quoted.said
    if "?" in quoted.quote or "\u00bf" in quoted.quote or marks.has("asks", quoted.quote):
        return True
    if not said.sentence.rstrip("\"')\u00bb ").endswith("?") or marks.has("tags", folded(said.sentence)):
        return False
    if any(map(str.isalnum, said.before)):
        last = folded(quoted.last)
        return marks.has("asks", last) and (marks.has("opinions", last) or not marks.has("presumed", quoted.quote))
    parts = [part.strip() for part in _PART.split(quoted.behind)[1:]]
    return not any(marks.has("asks", part) or marks.has("asks_on", part) for part in parts)


def _is_task(quoted: Quoted) -> bool:
    """Tells whether it is an order for what is at hand, not for all answers to come."""
    marks, quote = quoted.marks, quoted.quote
    if quoted.instructs and marks.has("at_hand", quote) and not marks.has("often", quote):
        return True
    orders = marks.has("tasks", quote) or (quoted.instructs and marks.has("tasks", folded(quoted.last)))
    if not orders or marks.has("standing", quoted.before + quote):
        return False
    tells = marks.has("first", quote) or marks.has("clitic", quote) or any(map(str.isdigit, quoted.value))
    return quoted.instructs or not tells


# --- conditions and wishes --------------------------------------------------------------------------------------------


def _only_then(quoted: Quoted) -> str:
    """Returns "condition" or "wish" if it holds only then, or not yet."""
    marks, quote, last = quoted.marks, quoted.quote, folded(quoted.last)
    if quoted.instructs or quoted.takes_for_granted:
        return ""
    said = map(marks.without_affirmation, (quoted.said.quote, quoted.said.before))
    if any(marks.has("conditions", each) for each in said) or _is_restricted_behind(quoted):
        return "condition"
    is_limited = marks.has("limits", quote) or marks.has("limits", _GOES_ON.sub("", quoted.behind)[:_TAIL])
    if is_limited and not marks.has("limits", quoted.low) and not marks.has("restricts", quoted.low):
        return "condition"
    if quoted.wishes:
        return ""
    if marks.has("maybes", last + quote) or marks.has("almost", last + quoted.here):
        return "condition"
    is_wished = marks.has("wishes", quoted.before[-NEAR:] + quote + quoted.goes_on)
    return "wish" if is_wished or _is_wanted(quoted) else ""


def _is_restricted_behind(quoted: Quoted) -> bool:
    """Tells whether the clause behind the quotation is a condition, or has one if it is still the same clause."""
    marks = quoted.marks
    clauses = CLAUSE.split(_GOES_ON.sub("", quoted.said.behind))
    following = marks.without_affirmation(next((each for each in clauses if any(map(str.isalnum, each))), ""))
    if marks.has("therefore", following):
        return False
    conditions = marks.patterns["conditions"]
    if conditions.match(_GOES_ON.sub("", marks.without_affirmation(quoted.said.behind))):
        return True
    found = conditions.search(following)
    is_same = _MARK.match(quoted.said.behind) is None
    return found is not None and (is_same or not any(map(str.isalnum, following[: found.start()])))


def _is_wanted(quoted: Quoted) -> bool:
    """Tells whether what the value says is only wanted or tried: "quiero aprender alemán"."""
    if quoted.marks.has("planned", quoted.low) or quoted.having(quoted.wanted, "wanting"):
        return False
    last = quoted.claim(quoted.last).terms[-1:] if quoted.begins else ()
    said = {id(other) for _, other in quoted.shared}
    roots = quoted.marks.roots["wanting"]
    return any(one.root in roots and id(other) in said for one, other in pairwise((*last, *quoted.clause.terms)))
