"""Rows of jobs and of what they have made, in the SQL of every kind of database, and as the records of
`types/curation.py`. Values stand in statements as `:name`; a kind of database says them in its own way (`Dialect`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import msgspec

from proxy.types.curation import Digest, Job, JobState, MemoryEvent, OutcomeLine, StoredSummary
from proxy.types.memory import Summary

OPEN: tuple[JobState, ...] = ("waiting", "running", "answered")
UNDER_WAY = "state IN ('running', 'answered')"

Values = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Dialect:
    """The differences between kinds of databases. What gets a connection also gets a scope and links, if not said."""

    said: Callable[[str], str]  # a statement of this module, as it is said there
    many: Callable[[Any, str, Sequence[Values]], object]  # runs a statement for each of these
    due: str  # selects the number of the job that is due longest at `:now`, which nobody else gets meanwhile
    lock: Callable[[Any], object]  # nobody else reserves money until the transaction ends
    was_read: Callable[[Any, str, Sequence[bytes]], set[bytes]]  # those that a job has read to its end
    # Numbers of jobs that were shown one of these messages, or another of a turn with one; each with the link.
    readers: Callable[[Any, str, Sequence[bytes]], list[tuple[int, bytes]]]
    forgotten: Callable[[Any, str, Sequence[bytes]], set[bytes]]  # those that are forgotten
    archived: Callable[[Any, str, Sequence[bytes]], set[bytes]]  # those of turns in the archive, or of their messages

    def run(self, connection: Any, statement: str, values: Values) -> Any:
        """Runs a statement; returns its cursor."""
        return connection.execute(self.said(statement), values)


SCOPE_ID = "(SELECT id FROM scopes WHERE name = :scope)"
# In the order of the fields of Job, without `read` and `lines`, which are rows of their own.
_JOB = (
    "jobs.id, scopes.name, kind, subject, state, created_at, due_at, attempts, reason, owner, lease_until, done_at,"
    " model, prompt, spent, shown"
)
JOB = f"SELECT {_JOB}, answer FROM jobs JOIN scopes ON scopes.id = jobs.scope_id WHERE jobs.id = :job"  # noqa: S608 (our own text)
JOBS = f"""
    SELECT {_JOB}, answer FROM jobs JOIN scopes ON scopes.id = jobs.scope_id
    WHERE {{whose}} AND jobs.id < :before AND {{states}} ORDER BY jobs.id DESC LIMIT :limit
"""  # noqa: S608 (same)
READ = "SELECT job, link FROM job_links WHERE job IN ({jobs}) ORDER BY job, place"
_LINE = ("op", "result", "reason", "domain", "key", "value", "quote", "turn", "link", "fact_id")
LINES = f"SELECT job, {', '.join(_LINE)}, ended FROM job_lines WHERE job IN ({{jobs}}) ORDER BY job, place"  # noqa: S608 (same)
SCOPE_OF = "SELECT scopes.name FROM jobs JOIN scopes ON scopes.id = scope_id WHERE jobs.id = :job"
PAYER_OF = "SELECT scopes.name FROM spending JOIN scopes ON scopes.id = scope_id WHERE job = :job LIMIT 1"

_EVENT = tuple(each.name for each in fields(MemoryEvent))
EVENTS = f"""
    SELECT {", ".join(_EVENT)} FROM events
    WHERE scope_id = {SCOPE_ID} AND at >= :start AND at < :end ORDER BY at, number
"""  # noqa: S608 (same)
DIGESTS = f"""
    SELECT span, at, text, by_model FROM digests
    WHERE scope_id = {SCOPE_ID} AND span = :span AND at >= :start AND at < :end ORDER BY at
"""  # noqa: S608 (same)
SUMMARIES = f"""
    SELECT link, session, at, summary FROM summaries
    WHERE scope_id = {SCOPE_ID} ORDER BY at DESC, number DESC LIMIT :limit
"""  # noqa: S608 (same)
SPENT = "SELECT coalesce(sum(dollars), 0.0) FROM spending WHERE at >= :since"
SPENT_BY = f"{SPENT} AND scope_id = {SCOPE_ID}"

ARM = """
    INSERT INTO jobs (scope_id, kind, subject, state, created_at, due_at, shown, answer)
    SELECT id, :kind, :subject, 'waiting', :created_at, :due_at, :nothing, :nothing FROM scopes WHERE name = :scope
    ON CONFLICT (scope_id, kind, subject) WHERE state = 'waiting' DO UPDATE SET due_at = CASE
        WHEN :sooner = 1 AND jobs.due_at < excluded.due_at THEN jobs.due_at
        WHEN :anyway = 0 AND jobs.held_until > excluded.due_at THEN jobs.held_until
        ELSE excluded.due_at
    END
"""
WRITE_LINK = f"""
    INSERT INTO job_links (scope_id, link, job, place) VALUES ({SCOPE_ID}, :link, :job, :place) ON CONFLICT DO NOTHING
"""  # noqa: S608 (same)
WRITE_LINE = f"""
    INSERT INTO job_lines (job, place, scope_id, {", ".join(_LINE)}, ended)
    VALUES (:job, :place, {SCOPE_ID}, {", ".join(f":{name}" for name in _LINE)}, :ended)
"""  # noqa: S608 (same)
WRITE_EVENT = f"""
    INSERT INTO events (scope_id, job, {", ".join(_EVENT)})
    VALUES ({SCOPE_ID}, :job, {", ".join(f":{name}" for name in _EVENT)})
    ON CONFLICT (scope_id, code) DO NOTHING
"""  # noqa: S608 (same)
WRITE_DIGEST = f"""
    INSERT INTO digests (scope_id, span, at, text, by_model) VALUES ({SCOPE_ID}, :span, :at, :text, :by_model)
    ON CONFLICT (scope_id, span, at) DO UPDATE SET text = excluded.text, by_model = excluded.by_model
"""  # noqa: S608 (same)
WRITE_SUMMARY = f"""
    INSERT INTO summaries (scope_id, job, link, session, at, summary)
    VALUES ({SCOPE_ID}, :job, :link, :session, :at, :summary)
    ON CONFLICT (scope_id, link) DO UPDATE
    SET job = excluded.job, session = excluded.session, at = excluded.at, summary = excluded.summary
"""  # noqa: S608 (same)

_names = msgspec.json.Decoder(tuple[str, ...]).decode
_summary = msgspec.json.Decoder(Summary).decode


def jobs_of(dialect: Dialect, connection: Any, found: Sequence[Sequence[Any]]) -> list[Job]:
    """Returns the jobs of rows of JOB, with their links and lines."""
    if not found:
        return []
    numbers = ", ".join(str(int(row[0])) for row in found)
    read: dict[int, list[bytes]] = {}
    for job, link in dialect.run(connection, READ.format(jobs=numbers), {}).fetchall():
        read.setdefault(job, []).append(link)
    lines: dict[int, list[OutcomeLine]] = {}
    for job, *line in dialect.run(connection, LINES.format(jobs=numbers), {}).fetchall():
        lines.setdefault(job, []).append(_line_of(line))
    return [
        Job(*(*plain, tuple(read.get(plain[0], ())), answer, tuple(lines.get(plain[0], ()))))
        for *plain, answer in found
    ]


def _line_of(row: Sequence[Any]) -> OutcomeLine:
    *plain, ended = row
    return OutcomeLine(*(*plain, _names(ended)))


def line_row(line: OutcomeLine) -> Values:
    """Returns the values of a line, by the names of its columns."""
    return {**{name: getattr(line, name) for name in _LINE}, "ended": msgspec.json.encode(line.before).decode()}


def event_row(event: MemoryEvent) -> Values:
    """Returns the values of an event, by the names of its columns."""
    return {name: getattr(event, name) for name in _EVENT}


def event_of(row: Sequence[Any]) -> MemoryEvent:
    """Returns the event of a row of EVENTS."""
    return MemoryEvent(*row)


def digest_row(digest: Digest) -> Values:
    """Returns the values of a digest, by the names of its columns."""
    return {"span": digest.span, "at": digest.at, "text": digest.text, "by_model": int(digest.by_model)}


def digest_of(row: Sequence[Any]) -> Digest:
    """Returns the digest of a row of DIGESTS."""
    span, at, text, by_model = row
    return Digest(span, at, text, by_model=bool(by_model))


def summary_row(stored: StoredSummary) -> Values:
    """Returns the values of a summary, by the names of its columns."""
    text = msgspec.json.encode(stored.summary).decode()
    return {"link": stored.link, "session": stored.session, "at": stored.at, "summary": text}


def summary_of(row: Sequence[Any]) -> StoredSummary:
    """Returns the summary of a row of SUMMARIES."""
    link, session, at, text = row
    return StoredSummary(link, session, at, _summary(text))
