"""The changes of jobs, each inside a transaction of whatever kind of database. A step may be run twice: a connection
that broke off may have committed the first time."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from proxy.storage.jobs import DAY, SHARE_DAYS
from proxy.storage.stores import job_rows as rows
from proxy.storage.stores.job_rows import SCOPE_ID, UNDER_WAY, Dialect
from proxy.types.curation import Finished, Job, SpendLimits

ROUNDING = 1e-9  # dollars by which a sum may be above a limit: of floats

_STATE = "SELECT kind, subject, state, owner, stale, done_at FROM jobs WHERE id = :job"
_CLAIM = """
    UPDATE jobs SET state = CASE WHEN state = 'answered' THEN state ELSE 'running' END, owner = :owner,
        lease_until = :until, attempts = attempts + 1, stale = 0
    WHERE id = :job
"""
_NEWEST_ERASURE = "SELECT coalesce(max(id), 0) FROM erased"
_RENEW = f"UPDATE jobs SET lease_until = :until WHERE id = :job AND owner = :owner AND {UNDER_WAY}"  # noqa: S608 (our own text)
_UNSHOWN = "DELETE FROM job_links WHERE job = :job"
_ASKED = """
    UPDATE jobs SET state = 'running', model = :model, prompt = :prompt, shown = :shown, answer = :nothing, stale = 0
    WHERE id = :job
"""
_ANSWERED = "UPDATE jobs SET state = 'answered', answer = :answer WHERE id = :job"
_DONE = """
    UPDATE jobs SET state = 'done', done_at = :now, reason = :reason, answer = :nothing, lease_until = 0
    WHERE id = :job
"""
_READ_TO_ITS_END = "UPDATE job_links SET at = :now WHERE job = :job"
_PUT_OFF = """
    UPDATE jobs SET owner = '', lease_until = 0, due_at = :due_at, held_until = :due_at, reason = :reason,
        attempts = attempts - :uncounted
    WHERE id = :job
"""
_GIVEN_UP = """
    UPDATE jobs SET state = 'given-up', done_at = :now, reason = :reason, lease_until = 0, shown = :nothing,
        answer = :nothing
    WHERE id = :job
"""
_NEXT_ONE = """
    DELETE FROM jobs WHERE state = 'waiting' AND id <> :job AND (scope_id, kind, subject) = (
        SELECT scope_id, kind, subject FROM jobs WHERE id = :job
    ) RETURNING due_at
"""
_WAITS = """
    UPDATE jobs SET state = 'waiting', owner = '', lease_until = 0, stale = 0, shown = :nothing, answer = :nothing,
        due_at = CASE WHEN due_at < :due_at THEN :due_at ELSE due_at END
    WHERE id = :job
"""
_UNDONE = """
    UPDATE job_lines SET result = 'undone' WHERE job = :job AND fact_id = :fact_id AND result IN ('kept', 'undone')
"""

_SPENT_TODAY = "SELECT coalesce(sum(dollars), 0.0) FROM spending WHERE day = :day"
_SPENT_BY_DAY = f"""
    SELECT day, sum(dollars) FROM spending WHERE scope_id = {SCOPE_ID} AND day > :before AND day <= :day GROUP BY day
"""  # noqa: S608 (our own text)
_ADD_PAYER = "INSERT INTO scopes (name) VALUES (:scope) ON CONFLICT DO NOTHING"
_SPEND = f"""
    INSERT INTO spending (scope_id, job, owner, day, at, dollars)
    VALUES ({SCOPE_ID}, :job, :owner, :day, :now, :dollars)
"""  # noqa: S608 (same)
_COSTS_MORE = "UPDATE jobs SET spent = spent + :dollars WHERE id = :job"
_LAST_SPENT = "SELECT id, dollars FROM spending WHERE job = :job ORDER BY id DESC LIMIT 1"
_LAST_SPENT_BY = "SELECT id, dollars FROM spending WHERE job = :job AND owner = :owner ORDER BY id DESC LIMIT 1"
_SETTLE = "UPDATE spending SET dollars = :dollars WHERE id = :id"


@dataclass(frozen=True, slots=True)
class _State:
    kind: str
    subject: str
    state: str
    owner: str
    stale: int
    done_at: float

    def is_run_by(self, owner: str) -> bool:
        return self.owner == owner and self.state in ("running", "answered")


def within(
    spent_today: float, by_day: Sequence[tuple[int, float]], day: int, dollars: float, limits: SpendLimits
) -> str:
    """Returns the limit that forbids to spend so many `dollars` on a day, or "". `spent_today`: of all; `by_day`: what
    the end user has spent on each of the last days."""
    if spent_today + dollars > limits.per_day + ROUNDING:
        return "per_day"
    spent = dict(by_day)
    spent[day] = spent.get(day, 0.0) + dollars
    excess = math.fsum(max(0.0, each - limits.allowance) for each in spent.values())
    return "share" if excess > limits.share + ROUNDING else ""


class JobChanges:
    """The changes of jobs in one kind of database. Each method takes a connection within a transaction; a `job` is its
    number. Results are those of `JobStore`."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._run = dialect.run

    def claim(self, connection: Any, owner: str, now: float, lease: float) -> tuple[Job | None, int]:
        """Returns the job, and the number of the newest erasure at that moment."""
        due = self._run(connection, self._dialect.due, {"now": now}).fetchone()
        (newest,) = self._run(connection, _NEWEST_ERASURE, {}).fetchone()
        if due is None:
            return None, newest
        of_it = {"job": due[0]}
        self._run(connection, _CLAIM, {**of_it, "owner": owner, "until": now + lease})
        (job,) = rows.jobs_of(self._dialect, connection, self._run(connection, rows.JOB, of_it).fetchall())
        return job, newest

    def renew(self, connection: Any, job: int, owner: str, until: float) -> bool:
        values = {"job": job, "owner": owner, "until": until}
        return bool(self._run(connection, _RENEW, values).rowcount)

    def reserve(
        self, connection: Any, job: int, owner: str, payer: str, dollars: float, now: float, limits: SpendLimits
    ) -> str:
        """`payer`: the scope of the end user."""
        self._dialect.lock(connection)
        if not self._is_run_by(connection, job, owner):
            return "owner"
        day = int(now // DAY)
        (today,) = self._run(connection, _SPENT_TODAY, {"day": day}).fetchone()
        asked = {"scope": payer, "day": day, "before": day - SHARE_DAYS}
        by_day = self._run(connection, _SPENT_BY_DAY, asked).fetchall()
        if limit := within(today, by_day, day, dollars, limits):
            return limit
        values = {"scope": payer, "job": job, "owner": owner, "day": day, "now": now, "dollars": dollars}
        self._run(connection, _ADD_PAYER, {"scope": payer})
        self._run(connection, _SPEND, values)
        self._run(connection, _COSTS_MORE, {"job": job, "dollars": dollars})
        return ""

    def settle(self, connection: Any, job: int, dollars: float) -> None:
        last = self._run(connection, _LAST_SPENT, {"job": job}).fetchone()
        self._settle(connection, job, last, dollars)

    def asked(
        self, connection: Any, job: int, owner: str, scope: str, told: rows.Values, read: Sequence[bytes]
    ) -> bool:
        """`told`: model, prompt, shown."""
        found = self._state(connection, job)
        if found is None or not found.is_run_by(owner):
            return False
        if self._dialect.forgotten(connection, scope, read):
            return False
        if found.stale and (found.kind != "extract" or set(read) - self._dialect.archived(connection, scope, read)):
            return False
        self._run(connection, _UNSHOWN, {"job": job})
        links = [{"scope": scope, "link": link, "job": job, "place": place} for place, link in enumerate(read)]
        self._dialect.many(connection, rows.WRITE_LINK, links)
        self._run(connection, _ASKED, {**told, "job": job, "nothing": b""})
        return True

    def answered(self, connection: Any, job: int, owner: str, answer: bytes, dollars: float) -> bool:
        last = self._run(connection, _LAST_SPENT_BY, {"job": job, "owner": owner}).fetchone()
        self._settle(connection, job, last, dollars)
        if not self._is_still(connection, job, owner):
            return False
        self._run(connection, _ANSWERED, {"job": job, "answer": answer})
        return True

    def finish(self, connection: Any, job: int, owner: str, scope: str, finished: Finished, now: float) -> bool:
        found = self._state(connection, job)
        if found is not None and (found.state, found.owner, found.done_at) == ("done", owner, now):
            return True  # it is the second time
        if not self._is_still(connection, job, owner):
            return False
        of_it = {"job": job, "scope": scope}
        self._run(connection, _DONE, {"job": job, "now": now, "reason": finished.reason, "nothing": b""})
        # What was concluded from messages is no reason not to extract facts from them.
        read = _UNSHOWN if found is not None and found.kind == "conclude" else _READ_TO_ITS_END
        self._run(connection, read, {"job": job, "now": now})
        lines = [{**of_it, **rows.line_row(line), "place": place} for place, line in enumerate(finished.lines)]
        self._dialect.many(connection, rows.WRITE_LINE, lines)
        events = [{**of_it, **rows.event_row(event)} for event in finished.events]
        self._dialect.many(connection, rows.WRITE_EVENT, events)
        if finished.digest is not None:
            self._run(connection, rows.WRITE_DIGEST, {"scope": scope, **rows.digest_row(finished.digest)})
        if finished.summary is not None:
            self._run(connection, rows.WRITE_SUMMARY, {**of_it, **rows.summary_row(finished.summary)})
        return True

    def put_off(
        self, connection: Any, job: int, owner: str, due_at: float, reason: str, *, counts: bool = True
    ) -> None:
        found = self._state(connection, job)
        if found is not None and found.is_run_by(owner):
            values = {"job": job, "due_at": due_at, "reason": reason, "uncounted": int(not counts)}
            self._run(connection, _PUT_OFF, values)
            if found.state == "running":
                self.waits(connection, job)

    def give_up(self, connection: Any, job: int, owner: str, now: float, reason: str) -> None:
        """Gives the job up: what it was to read, another may read."""
        if self._is_run_by(connection, job, owner):
            self._run(connection, _GIVEN_UP, {"job": job, "now": now, "reason": reason, "nothing": b""})
            self._run(connection, _UNSHOWN, {"job": job})

    def undone(self, connection: Any, job: int, fact_id: str) -> bool:
        return bool(self._run(connection, _UNDONE, {"job": job, "fact_id": fact_id}).rowcount)

    def waits(self, connection: Any, job: int) -> None:
        """Lets a job wait again, from the beginning. One that was armed meanwhile becomes one with it, and is due when
        the later of both is."""
        armed = self._run(connection, _NEXT_ONE, {"job": job}).fetchone()
        self._run(connection, _UNSHOWN, {"job": job})
        self._run(connection, _WAITS, {"job": job, "due_at": 0.0 if armed is None else armed[0], "nothing": b""})

    def _state(self, connection: Any, job: int) -> _State | None:
        row = self._run(connection, _STATE, {"job": job}).fetchone()
        return None if row is None else _State(*row)

    def _is_run_by(self, connection: Any, job: int, owner: str) -> bool:
        found = self._state(connection, job)
        return found is not None and found.is_run_by(owner)

    def _is_still(self, connection: Any, job: int, owner: str) -> bool:
        """True if the owner may go on. If something that the job has read was forgotten, it waits again."""
        found = self._state(connection, job)
        if found is None or not found.is_run_by(owner):
            return False
        if found.stale:
            self.waits(connection, job)
        return not found.stale

    def _settle(self, connection: Any, job: int, last: tuple[int, float] | None, dollars: float) -> None:
        if last is not None:
            number, reserved = last
            self._run(connection, _SETTLE, {"id": number, "dollars": dollars})
            self._run(connection, _COSTS_MORE, {"job": job, "dollars": dollars - reserved})
