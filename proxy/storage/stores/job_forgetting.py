"""Forgetting, as it reaches the jobs of a scope and what they have made: in the transaction in which a message leaves
the archive, a fact its store, or the whole scope its memory. The store of each calls it before it deletes."""

from collections.abc import Sequence
from typing import Any

from proxy.storage.stores.job_changes import JobChanges
from proxy.storage.stores.job_rows import OPEN, SCOPE_ID, Dialect

_OWN = f"scope_id = {SCOPE_ID}"
_OPEN_JOBS = f"SELECT id, kind, state, owner FROM jobs WHERE {_OWN} AND state IN {OPEN} ORDER BY id"  # noqa: S608 (our own text)
_HAS_LINKS = "SELECT 1 FROM job_links WHERE job = :job LIMIT 1"
_STALE = "UPDATE jobs SET state = 'running', stale = 1, shown = :nothing, answer = :nothing WHERE id = :job"
_UNREAD = f"DELETE FROM job_links WHERE {_OWN} AND link = :link AND job = :job"  # noqa: S608 (same)
_UNSHOWN = "DELETE FROM job_links WHERE job = :job"
# Whatever may have been derived from what is forgotten, wherever it was read.
_DERIVED = (
    f"DELETE FROM digests WHERE {_OWN}",  # noqa: S608 (same)
    f"UPDATE job_lines SET domain = '', key = '', value = '', quote = '' WHERE {_OWN}",  # noqa: S608 (same)
    f"UPDATE jobs SET shown = :nothing WHERE {_OWN} AND state NOT IN {OPEN}",  # noqa: S608 (same)
)
_MADE = ("DELETE FROM events WHERE job = :job", "DELETE FROM summaries WHERE job = :job")
WIPE = tuple(
    f"DELETE FROM {table} WHERE {_OWN}"  # noqa: S608 (same)
    for table in ("job_lines", "job_links", "events", "digests", "summaries", "jobs")
)


class JobForgetting:
    """The forgetting of one kind of database."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._run = dialect.run
        self._changes = JobChanges(dialect)

    def messages(self, connection: Any, scope: str, links: Sequence[bytes], *, shows_facts: bool = False) -> None:
        """Forgets what was made of these messages, and of others of their turns. Jobs that were shown one of them begin
        anew; so do those that were shown what was made of messages, and with `shows_facts` all."""
        readers = self._dialect.readers(connection, scope, links)
        for job in sorted({job for job, _ in readers}):
            for statement in _MADE:
                self._run(connection, statement, {"job": job})
        for statement in _DERIVED:
            self._run(connection, statement, {"scope": scope, "nothing": b""})
        told = {job for job, _ in readers}
        for job, kind, state, owner in self._run(connection, _OPEN_JOBS, {"scope": scope}).fetchall():
            if shows_facts or kind != "extract" or job in told or self._has_not_asked(connection, job):
                self._begins_anew(connection, job, state, owner)
        self._dialect.many(connection, _UNREAD, [{"scope": scope, "job": job, "link": link} for job, link in readers])

    def facts(self, connection: Any, scope: str, links: Sequence[bytes]) -> None:
        """Forgets facts that these messages said: any job may have been shown them."""
        self.messages(connection, scope, links, shows_facts=True)

    def everything(self, connection: Any, scope: str) -> None:
        """Forgets all but what was spent."""
        for statement in WIPE:
            self._run(connection, statement, {"scope": scope})

    def _has_not_asked(self, connection: Any, job: int) -> bool:
        return self._run(connection, _HAS_LINKS, {"job": job}).fetchone() is None

    def _begins_anew(self, connection: Any, job: int, state: str, owner: str) -> None:
        if state == "waiting":
            return  # it was shown nothing since it waits
        self._run(connection, _UNSHOWN, {"job": job})
        if owner:
            self._run(connection, _STALE, {"job": job, "nothing": b""})  # its owner finds out
        else:
            self._changes.waits(connection, job)
