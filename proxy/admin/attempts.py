"""Retries of an SDK: the same request made again after a failure, each try a request with a ledger row of its own. The
rows that belong together are found here, so that every view tells the same. Pure.

A try follows another if that one failed in a way that SDKs try again after (408, 409, 429, 5xx, a broken stream, a
client that gave up waiting), if it came within the longest time that SDKs wait, and if it asks for the same. Where the
header `x-stainless-retry-count` of the SDK was kept it decides; so do the bodies.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from proxy.types import Contents, LedgerRow

RETRY_COUNT = "x-stainless-retry-count"
RETRIED = frozenset({408, 409, 429})  # as the SDKs of OpenAI do, beside 5xx
LONGEST_WAIT = 65.0  # seconds from a failure to the next try: they wait as long as Retry-After says, at most a minute
BESIDE = 8  # requests of one conversation that may be under way at once
REACH = 10 * LONGEST_WAIT  # seconds around a request in which its tries are looked for


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try."""

    request_id: str
    at: float  # Unix seconds
    status: int
    outcome: str
    seconds: float


def grouped(rows: Sequence[LedgerRow], kept: Mapping[str, Contents] | None = None) -> list[list[LedgerRow]]:
    """Groups the rows of a conversation, oldest first, by what they are tries of; most stand alone. `kept`: contents by
    request, as far as they are known."""
    known = kept or {}
    groups: list[list[LedgerRow]] = []
    for row in rows:
        before = next((group for group in reversed(groups[-BESIDE:]) if _follows(group[-1], row, known)), None)
        if before is None:
            groups.append([row])
        else:
            before.append(row)
    return groups


def attempts(row: LedgerRow, rows: Sequence[LedgerRow], kept: Mapping[str, Contents]) -> tuple[Attempt, ...]:
    """Returns all tries of the request of `row`, oldest first; none if there was only one. `rows`: those around it."""
    group = next((each for each in grouped(rows, kept) if any(of.request_id == row.request_id for of in each)), [])
    if len(group) < 2:
        return ()
    return tuple(Attempt(each.request_id, each.at, each.status, each.outcome, each.total_seconds) for each in group)


def first_of_each(rows: Sequence[LedgerRow]) -> dict[str, str]:
    """Returns the first try of each request that was tried again, by request."""
    return {row.request_id: group[0].request_id for group in grouped(rows) if len(group) > 1 for row in group}


def _follows(before: LedgerRow, row: LedgerRow, kept: Mapping[str, Contents]) -> bool:
    waited = row.at - before.at - before.total_seconds
    if not _is_retried(before) or not -before.total_seconds <= waited <= LONGEST_WAIT:
        return False
    if _asked(before) != _asked(row):
        return False
    one, other = kept.get(before.request_id), kept.get(row.request_id)
    if other is not None and (count := other.headers.get(RETRY_COUNT)) is not None:
        return count != "0" and (one is None or one.body == other.body)
    return one is None or other is None or one.body == other.body


def _is_retried(row: LedgerRow) -> bool:
    if row.outcome in ("upstream_broken", "client_gone"):
        return True
    return row.status in RETRIED or row.status >= 500 or row.status == 0


def _asked(row: LedgerRow) -> tuple[object, ...]:
    """Returns what two tries of one request have in common in their rows."""
    trail = row.trail
    return row.scope, row.session, row.model, row.stream, trail and (trail.turns, trail.newest)
