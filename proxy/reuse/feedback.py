"""What becomes of an entry that gave a wrong answer, and of a partition that gives one answer to everything."""

from collections import Counter, OrderedDict, deque
from dataclasses import dataclass, field

from proxy.types import ReuseEntry

# A strike asks for more than the cosine that went wrong, by this much; the last one ends the entry.
STEP = 0.03
MOST_STRIKES = 2
HIGHEST = 0.999  # an identical question still gets through

# Seconds after a reuse in which asking again means that the answer was not the right one.
SECOND_THOUGHT = 600.0
MOST_SESSIONS = 10_000

# One entry that answers this many of the last different questions is no longer an answer to a question.
WINDOW = 40
ANOMALOUS = 20
PAUSE = 3_600.0  # seconds
MOST_PARTITIONS = 10_000


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
        self._sessions: OrderedDict[tuple[str, str], Served] = OrderedDict()

    def note(self, scope: str, session: str, served: Served) -> None:
        self._sessions[scope, session] = served
        self._sessions.move_to_end((scope, session))
        if len(self._sessions) > MOST_SESSIONS:
            self._sessions.popitem(last=False)

    def take(self, scope: str, session: str, now: float) -> Served | None:
        """The reuse that the session's next question follows. It is told once."""
        served = self._sessions.pop((scope, session), None)
        return served if served is not None and now - served.at <= SECOND_THOUGHT else None


@dataclass(slots=True)
class _Window:
    answers: deque[tuple[int, str | None]] = field(default_factory=lambda: deque(maxlen=WINDOW))
    open_until: float = 0.0


class HitRates:
    """Per partition, which entry answered each of the last different questions. A model that embeds everything alike,
    or a guard that lets everything pass, shows here first."""

    def __init__(self) -> None:
        self.tripped = 0  # how often a partition was stopped
        self._windows: OrderedDict[str, _Window] = OrderedDict()

    def is_open(self, partition: str, now: float) -> bool:
        """Is reuse stopped in this partition?"""
        window = self._windows.get(partition)
        return window is not None and now < window.open_until

    def open_partitions(self, now: float) -> int:
        return sum(now < window.open_until for window in self._windows.values())

    def note(self, partition: str, question: str, entry_id: str | None, now: float) -> None:
        """`question` was answered by this entry, or by none."""
        window = self._windows.setdefault(partition, _Window())
        self._windows.move_to_end(partition)
        if len(self._windows) > MOST_PARTITIONS:
            self._windows.popitem(last=False)
        asked = hash(question)
        if any(asked == known for known, _ in window.answers):
            return  # the same words again say nothing
        window.answers.append((asked, entry_id))
        most = Counter(answered for _, answered in window.answers if answered is not None).most_common(1)
        if most and most[0][1] >= ANOMALOUS:
            window.answers.clear()
            window.open_until = now + PAUSE
            self.tripped += 1
