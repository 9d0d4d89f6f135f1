"""Strikes against an entry that gave a wrong answer, and the last reuse of each session, by which it is found out."""

from dataclasses import dataclass

from proxy.lru import Lru
from proxy.types import ReuseEntry

# A strike asks for more than the cosine that went wrong, by this much; the last one ends the entry.
STEP = 0.03
MOST_STRIKES = 2
HIGHEST = 0.999  # an identical question still gets through

# Seconds after a reuse in which asking again means that the answer was not the right one.
SECOND_THOUGHT = 600.0
MOST_SESSIONS = 10_000


def raised(entry: ReuseEntry, cosine: float) -> float:
    """The cosine an entry needs after it went wrong at `cosine`."""
    return min(HIGHEST, max(entry.min_cosine, cosine) + STEP)


@dataclass(frozen=True, slots=True)
class Served:
    entry: ReuseEntry
    cosine: float
    at: float


class LastServed:
    """The last reuse of each session, for as long as a second thought may follow."""

    def __init__(self) -> None:
        self._sessions: Lru[tuple[str, str], Served] = Lru(MOST_SESSIONS)

    def note(self, scope: str, session: str, served: Served) -> None:
        self._sessions.put((scope, session), served)

    def take(self, scope: str, session: str, now: float) -> Served | None:
        """The reuse that the session's next question follows. It is told once."""
        served = self._sessions.pop((scope, session), None)
        return served if served is not None and now - served.at <= SECOND_THOUGHT else None
