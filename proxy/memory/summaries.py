"""Turns that left the window as a key-value record of a few dozen tokens: extracted, never told, written once.

What cannot be found again by asking for it, the concrete, is kept longest: decisions in the user's own words, names,
numbers, dates. What was merely discussed goes first.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from proxy.memory.noted import Noted, clean, concreteness, is_praise, noted, sentences, shortened
from proxy.memory.nouns import names_something
from proxy.memory.terms import terms
from proxy.types import Summary, TurnDigest

Count = Callable[[str], int]  # tokens of a text

_MOST_READ = 4_000  # characters of a message
_DISCUSSED = 3
_STATED = 2
_DECISIONS_KEPT = 4  # the newest: no more fit
_ANSWERED = 14  # words of an answer
_ANSWER_SENTENCES = 2  # of an answer that are looked at
_NAMED = 1.3  # a name is worth more than a word that occurs as often
_CENTRAL = 3.0  # the worth of a topic: its words are said more than once
_TOLD_TWICE = 6.0  # and of one that says something alone

_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_NAME = re.compile(r"[A-ZÁÉÍÓÚÑ]|\w[A-Z_/]")


@dataclass(frozen=True, slots=True)
class Told:
    """A turn as it is summarised."""

    number: int  # from 1
    user: str
    assistant: str = ""


def summarise(turns: Sequence[Told], *, max_tokens: int = 50, count: Count) -> Summary | None:
    """Of a segment: consecutive turns, at least one. What `render` makes of it has at most `max_tokens`; None if the
    segment has nothing that is worth a note."""
    turns = [
        Told(turn.number, _FENCE.sub("\n", turn.user[:_MOST_READ]), _FENCE.sub("\n", turn.assistant[:_MOST_READ]))
        for turn in turns
    ]
    notes = [noted(turn.user) for turn in turns]
    decisions = _distinct([clause for note in notes for clause in note.decisions])
    stated = _stated([clause for note in notes for clause in note.statements], decisions)
    asked = _unanswered(turns[-1], notes[-1])
    requests = _distinct([request for note in notes for request in note.requests if request not in asked])
    outcome = stated or ("" if decisions else _answered(turns, notes))
    topic, worth = _topic(turns, notes)
    if not (decisions or outcome or requests or asked or worth >= _TOLD_TWICE):
        return None
    summary = fitted(
        Summary(
            topic=topic,
            discussed=tuple(_new(requests, (topic, outcome, *decisions)))[:_DISCUSSED],
            outcome=outcome,
            decisions=decisions[-_DECISIONS_KEPT:],
            open_questions=asked,
            first_turn=turns[0].number,
            last_turn=turns[-1].number,
        ),
        max_tokens,
        count,
    )
    return summary if render(summary) != "{}" else None


def render(summary: Summary) -> str:
    """One line; what is empty is left out."""
    fields = {
        "topic": summary.topic,
        "discussed": _listed(summary.discussed),
        "outcome": summary.outcome,
        "decisions": _listed(summary.decisions),
        "open_questions": _listed(summary.open_questions),
    }
    return "{" + ", ".join(f"{name}: {value}" for name, value in fields.items() if value) + "}"


def fitted(summary: Summary, max_tokens: int, count: Count) -> Summary:
    """`summary` without what does not fit: first what was discussed, then open questions, then ends of the
    outcome, of the decisions and of the topic. With no room at all it is empty."""
    while count(render(summary)) > max_tokens:
        shorter = _shorter(summary)
        if shorter == summary:
            return summary
        summary = shorter
    return summary


def segments(digests: Sequence[TurnDigest], segment_turns: int) -> list[range]:
    """Closed segments of `digests`, as ranges of their indices: a segment is closed after `segment_turns` turns, or
    by the turn after it that changes the topic. The last ones may still be open, and are left out."""
    found, start = [], 0
    for index, digest in enumerate(digests):
        if digest.shift and index > start:
            found.append(range(start, index))
            start = index
        if index + 1 - start >= segment_turns:
            found.append(range(start, index + 1))
            start = index + 1
    return found


def keep_slots(summaries: Sequence[Summary], slots: int) -> tuple[Summary, ...]:
    """The newest `slots`, oldest first."""
    return tuple(summaries[-slots:]) if slots > 0 else ()


def _shorter(summary: Summary) -> Summary:
    if summary.topic and any(
        summary.topic in each for each in (*summary.discussed, *summary.decisions, summary.outcome)
    ):
        return replace(summary, topic="")  # it is told anyway
    if summary.discussed:
        return replace(summary, discussed=summary.discussed[:-1])
    if summary.open_questions:
        return replace(summary, open_questions=())
    if summary.outcome:
        stated = summary.outcome.split("; ")
        return replace(summary, outcome="; ".join(_trimmed(stated) or stated[:-1]))
    if summary.decisions:
        return replace(summary, decisions=_trimmed(summary.decisions) or summary.decisions[1:])  # the newest hold
    return replace(summary, topic="")


def _trimmed(clauses: Sequence[str]) -> tuple[str, ...]:
    """`clauses`, the longest that has a joint without what stands behind its last one; () if none has."""
    for at in sorted(range(len(clauses)), key=lambda at: -len(clauses[at])):
        if shorter := shortened(clauses[at], len(clauses[at].split()) - 1, hard=True):
            return (*clauses[:at], shorter, *clauses[at + 1 :])
    return ()


def _listed(values: Sequence[str]) -> str:
    return f"[{'; '.join(values)}]" if values else ""


def _distinct(clauses: Sequence[str]) -> tuple[str, ...]:
    """The first of those that say the same."""
    return tuple(_new(clauses, ()))


def _new(clauses: Sequence[str], known: Sequence[str]) -> list[str]:
    """Those that say something that neither `known` nor one before them does."""
    found: list[str] = []
    said = [set(terms(each)) for each in known]
    for clause in clauses:
        says = set(terms(clause))
        if says and not any(says <= before for before in said):
            found.append(clause)
            said.append(says)
    return found


def _stated(clauses: Sequence[str], decisions: Sequence[str]) -> str:
    """The most concrete statements, in their order."""
    new = _new(clauses, decisions)
    best = sorted(new, key=concreteness, reverse=True)[:_STATED]
    return "; ".join(clause.replace(";", ",") for clause in new if clause in best)


def _answered(turns: Sequence[Told], notes: Sequence[Noted]) -> str:
    """The newest question whose answer opens with something concrete, and that."""
    for turn, note in zip(reversed(turns), reversed(notes), strict=True):
        said = [each for each in sentences(turn.assistant)[:_ANSWER_SENTENCES] if "?" not in each]
        whole = [
            clause
            for each in said
            if len(each.split()) <= _ANSWERED and (clause := clean(each)) and not is_praise(clause)
        ]
        best = next((clause for clause in whole if any(map(str.isdigit, clause))), "")
        if best and note.requests:
            return f"{note.requests[-1]}: {best}"
    return ""


def _unanswered(turn: Told, note: Noted) -> tuple[str, ...]:
    return () if turn.assistant.strip() else note.requests[-1:]


def _topic(turns: Sequence[Told], notes: Sequence[Noted]) -> tuple[str, float]:
    """The noun phrase whose words were said most, and its worth. What the user says counts double, what both say once
    more."""
    asked = Counter(term for turn in turns for term in terms(turn.user))
    answered = Counter(term for turn in turns for term in set(terms(turn.assistant)))
    worth = {term: 2 * asked[term] + answered[term] + (term in answered) for term in asked}
    best, most = "", 0.0
    for phrase in dict.fromkeys(phrase for note in notes for phrase in note.phrases if names_something(phrase)):
        found = terms(phrase)
        bonus = _NAMED if any(map(_NAME.match, phrase.split())) else 1.0
        scored = bonus * sum(worth.get(term, 0.0) for term in found) / len(found) ** 0.5
        if scored > most:
            best, most = phrase, scored
    return (best, most) if most > _CENTRAL else ("", 0.0)
