"""The lines of jobs for people: a job as JSON, the quotations that a fact rests on, the undoing of what a job has kept.

Pure; the admin API, the page and the command line tell the same.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from proxy.curation.consolidating import undone
from proxy.curation.sessions import told_in
from proxy.types import Fact, Json
from proxy.types.curation import Job, OutcomeLine


@dataclass(frozen=True, slots=True)
class Quotation:
    """The user's words that a fact rests on, and the job that read them."""

    job: int
    at: float  # seconds since the epoch: the end of the job
    session: str  # "": it has read facts, no conversation
    turn: int
    op: str
    quote: str
    is_undone: bool


def card(job: Job) -> dict[str, Json]:
    """Returns a job as JSON, without its lines: these are counted. `session`: null unless it reads one."""
    results = Counter(line.result for line in job.lines)
    return {
        "id": job.id,
        "scope": job.scope,
        "kind": job.kind,
        "subject": job.subject,
        "session": session_of(job) or None,
        "state": job.state,
        "reason": job.reason or None,
        "created_at": job.created_at,
        "due_at": job.due_at,
        "done_at": job.done_at or None,
        "attempts": job.attempts,
        "model": job.model or None,
        "prompt": job.prompt or None,
        "spent": job.spent,
        **{result: results[result] for result in ("kept", "refused", "undone")},
    }


def line_cards(job: Job, facts: Mapping[str, Fact], now: float, *, with_text: bool) -> list[dict[str, Json]]:
    """Returns the lines of a job as JSON. `facts`: of its scope, by id. `with_text`: with what somebody, or the model,
    has said. `can_undo`: what it has kept of a fact can be undone."""
    undoable = {line.fact_id for line in job.lines if undoing(job, line.fact_id, facts, now).rows}
    return [_line_card(line, undoable, with_text=with_text) for line in job.lines]


def _line_card(line: OutcomeLine, undoable: Collection[str], *, with_text: bool) -> dict[str, Json]:
    texts = {"key": line.key, "value": line.value, "quote": line.quote}
    return {
        "op": line.op or None,
        "result": line.result,
        "reason": line.reason or None,
        "domain": line.domain or None,
        **{name: (text or None) if with_text else None for name, text in texts.items()},
        "turn": line.turn or None,
        "fact": line.fact_id or None,
        "before": line.before,
        "can_undo": _is_about_a_fact(line) and line.fact_id in undoable,
    }


def session_of(job: Job) -> str:
    """Returns the session that a job reads, "" if it reads none."""
    if job.kind == "conclude":
        return told_in(job.subject)[0]
    return job.subject if job.kind == "extract" else ""


def quotations(jobs: Iterable[Job], fact_id: str) -> tuple[Quotation, ...]:
    """Returns what the lines about a fact quote, oldest job first."""
    found = [
        Quotation(job.id, job.done_at, session_of(job), line.turn, line.op, line.quote, line.result == "undone")
        for job in sorted(jobs, key=lambda job: job.id)
        for line in job.lines
        if line.fact_id == fact_id and line.result != "refused" and line.quote
    ]
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Undoing:
    """The undoing of all that a job has kept of a fact."""

    rows: tuple[Fact, ...] = ()  # to write
    is_possible: bool = False  # False: it has kept nothing of it, or what came later rests on it


def undoing(job: Job, fact_id: str, facts: Mapping[str, Fact], now: float) -> Undoing:
    """Undoes what a job has kept of a fact, the last change first. `facts`: of its scope, by id. Of a fact that is
    deleted already nothing needs to be written."""
    lines = [line for line in job.lines if _is_about_a_fact(line) and line.fact_id == fact_id]
    after = dict(facts)
    for line in reversed(lines):
        after.update((row.id, row) for row in undone(after, line, now))
    rows = tuple(row for row in after.values() if facts.get(row.id) != row)
    is_gone = fact_id not in facts or facts[fact_id].is_deleted
    return Undoing(rows, bool(lines) and (bool(rows) or is_gone))


def _is_about_a_fact(line: OutcomeLine) -> bool:
    return line.result == "kept" and bool(line.fact_id)
