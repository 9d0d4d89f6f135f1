"""The end of what jobs and desks have left, as the retention of every kind of database knows it."""

from collections.abc import Iterator
from dataclasses import dataclass

from proxy.storage.jobs import DAY

SPENDING_SECONDS = 40 * DAY  # that what a call has cost is kept: longer than a limit looks back


@dataclass(frozen=True, slots=True)
class Leaving:
    """Rows of a table that have had their time: those that `found` tells, at `until` or before, by `age`."""

    table: str
    key: tuple[str, ...]  # the columns that tell a row from all others
    found: str
    age: str
    until: float
    is_owned: bool = True  # each row is of a scope

    def deleting(self, *, skips: bool = False) -> str:
        """Returns the statement that deletes the `:limit` oldest by `:until`. `skips`: without those that others are
        just writing, or of a scope that they have locked."""
        listed = ", ".join(f"{self.table}.{column}" for column in self.key)
        source, lock = self.table, ""
        if skips and self.is_owned:
            source = f"scopes JOIN {self.table} ON scope_id = scopes.id"
            lock = f"FOR NO KEY UPDATE OF scopes, {self.table} SKIP LOCKED"
        elif skips:
            lock = "FOR UPDATE SKIP LOCKED"
        return f"""
            DELETE FROM {self.table} WHERE ({", ".join(self.key)}) IN (
                SELECT {listed} FROM {source}
                WHERE {self.found} AND {self.age} <= :until ORDER BY {self.age} LIMIT :limit {lock}
            )
        """  # noqa: S608 (our own names)


def leaving(now: float, requests: float, turns: float, tapes: float, pairs: float = 0.0) -> Iterator[Leaving]:
    """Yields what leaves at `now`. `requests`, `turns`, `tapes` and `pairs`: seconds that a request stands in the
    ledger (0: for ever), a turn in the archive, a message on a tape (0: for ever), a comparison of answers (the same).
    What the model was shown stays as long as its turn can be shown again."""
    if pairs:
        yield Leaving("quality", ("number",), "true", "at", now - pairs)
    yield Leaving("quality_spending", ("id",), "true", "at", now - SPENDING_SECONDS, is_owned=False)
    if requests:
        yield Leaving("jobs", ("id",), "done_at > 0", "done_at", now - requests)
        yield Leaving("digests", ("scope_id", "span", "at"), "span = 'hour'", "at", now - requests)
        yield Leaving("returned_sessions", ("number",), "true", "at", now - requests)
    if tapes:
        yield Leaving("desk_lines", ("change",), "true", "at", now - tapes)
        yield Leaving("desk_events", ("id",), "true", "at", now - tapes)
    yield Leaving("job_links", ("scope_id", "link", "job"), "at > 0", "at", now - turns)
    yield Leaving("events", ("number",), "true", "at", now - turns)
    yield Leaving("summaries", ("number",), "true", "at", now - turns)
    yield Leaving("spending", ("id",), "true", "at", now - SPENDING_SECONDS, is_owned=False)
