"""Lessons that one process has learnt from its own requests: hit rates of reuse, the upstreams' tokens per token of our
counts, prefix caches that find nothing; and of sessions, turns that are open while a client runs its tools, and what
was served last."""

from collections import Counter, deque
from dataclasses import dataclass, field
from hashlib import blake2b
from operator import attrgetter

from proxy.lru import Lru
from proxy.storage.erasures import base_of
from proxy.storage.shared import Calibrations
from proxy.types import OpenTurn, Served, Usage

WINDOW = 40  # last different questions of a partition
ANOMALOUS = 20  # of these, answered by one entry: it no longer answers a question, and reuse stops
PAUSE = 3_600.0  # seconds that it stops
MOST_PARTITIONS = 10_000

MOST_MODELS = 200
WEIGHT = 0.2  # of the newest observation
LEAST_TOKENS = 50  # below this the framing dominates, and the ratio says little
BOUNDS = (0.4, 2.5)  # beyond these something else is going on (an image, a hidden prompt)
MISSES = 3  # reports in a row that nothing was cached, each where it should have been, that show that there is no cache
# Tokens: the longest minimum of OpenAI's models ("1,024 to 2,048",
# developers.openai.com/api/docs/guides/prompt-caching, November 2026). Where fewer repeat, no find says nothing.
LEAST_REPEATED = 2_048

MOST_OPEN = 1_000  # turns
MOST_OPEN_BYTES = 64 * 2**20  # of all of them

MOST_SESSIONS = 10_000  # with their last reuse


@dataclass(slots=True)
class _Window:
    answers: deque[tuple[bytes, str | None]] = field(default_factory=lambda: deque(maxlen=WINDOW))
    open_until: float = 0.0


class LocalHitRates:
    """Hit rates in memory: a window of questions for each partition."""

    def __init__(self) -> None:
        self._windows: Lru[str, _Window] = Lru(MOST_PARTITIONS)

    def is_open(self, partition: str, now: float) -> bool:
        window = self._windows.get(partition)
        return window is not None and now < window.open_until

    def open_partitions(self, now: float) -> int:
        return sum(now < window.open_until for window in self._windows.values())

    def note(self, partition: str, question: str, entry_id: str | None, now: float) -> None:
        window = self._windows.get(partition) or _Window()
        self._windows.put(partition, window)
        asked = blake2b(question.encode("utf-8", "replace"), digest_size=8).digest()
        if any(asked == known for known, _ in window.answers):
            return  # the same words again say nothing
        window.answers.append((asked, entry_id))
        most = Counter(answered for _, answered in window.answers if answered is not None).most_common(1)
        if most and most[0][1] >= ANOMALOUS:
            self.stop(partition, now + PAUSE)

    def stop(self, partition: str, until: float) -> None:
        """Stops reuse in the partition, and begins its window anew."""
        window = self._windows.get(partition) or _Window()
        self._windows.put(partition, window)
        window.answers.clear()
        window.open_until = until


def local_calibrations() -> Calibrations:
    """Builds empty calibrations in memory."""
    return Calibrations(rough=LocalCalibration(), exact=LocalCalibration(), caches=LocalCacheEvidence())


def ratio_of(counted: int, measured: int) -> float | None:
    """Returns the ratio of two counts of a prompt; None if it says nothing."""
    if counted < LEAST_TOKENS or measured <= 0:
        return None
    ratio = measured / counted
    return ratio if BOUNDS[0] <= ratio <= BOUNDS[1] else None


class LocalCalibration:
    """A moving average of the ratio in memory. Beyond `most_models` new models are not calibrated: a known one must not
    lose its factor."""

    def __init__(self, most_models: int = MOST_MODELS) -> None:
        self._factors: dict[tuple[str, str], float] = {}
        self._most_models = most_models

    def factor(self, upstream: str, model: str) -> float | None:
        return self._factors.get((upstream, model))

    def observe(self, upstream: str, model: str, *, counted: int, measured: int) -> None:
        ratio = ratio_of(counted, measured)
        if ratio is None:
            return
        known = self._factors.get((upstream, model))
        self.set(upstream, model, ratio if known is None else known + WEIGHT * (ratio - known))

    def set(self, upstream: str, model: str, factor: float) -> None:
        """Sets the ratio, unless there are too many models."""
        key = (upstream, model)
        if key in self._factors or len(self._factors) < self._most_models:
            self._factors[key] = factor


def misses_after(known: int, usage: Usage, *, repeated: int) -> int:
    """Returns the misses in a row after a report, `MISSES` at most."""
    if usage.cached_tokens:
        return 0
    return min(MISSES, known + 1) if usage.reports_none_cached and repeated >= LEAST_REPEATED else known


class LocalCacheEvidence:
    """Misses in a row, in memory, by upstream and model."""

    def __init__(self, most: int = MOST_MODELS) -> None:
        self._misses: Lru[tuple[str, str], int] = Lru(most)

    def __len__(self) -> int:
        return len(self._misses)

    def shows_none(self, upstream: str, model: str) -> bool:
        return self._misses.get((upstream, model), 0) >= MISSES

    def observe(self, upstream: str, model: str, usage: Usage, *, repeated: int) -> None:
        known = self.misses(upstream, model)
        self.set(upstream, model, misses_after(known, usage, repeated=repeated))

    def misses(self, upstream: str, model: str) -> int:
        """Returns the misses in a row."""
        return self._misses.get((upstream, model), 0)

    def set(self, upstream: str, model: str, misses: int) -> None:
        """Sets the misses in a row."""
        if misses:
            self._misses.put((upstream, model), misses)
        else:
            self._misses.pop((upstream, model), None)


# --- sessions ---------------------------------------------------------------------------------------------------------


class LocalOpenTurns:
    """Open turns in memory: the newest, up to a number and a size."""

    def __init__(self, most: int = MOST_OPEN, most_bytes: int = MOST_OPEN_BYTES) -> None:
        self._turns: Lru[tuple[str, str], OpenTurn] = Lru(most, cost=attrgetter("size"), most_cost=most_bytes)

    async def get(self, scope: str, session: str) -> OpenTurn | None:
        return self._turns.get((scope, session))

    def put(self, scope: str, session: str, turn: OpenTurn | None) -> None:
        if turn is None or not turn.messages:
            self._turns.drop((scope, session))
        else:
            self._turns.put((scope, session), turn)

    def drop(self, scope: str) -> None:
        for key in [key for key in self._turns if base_of(key[0]) == scope]:
            self._turns.drop(key)


class LocalLastServed:
    """The last reuse of each session in memory: of the newest sessions."""

    def __init__(self) -> None:
        self._sessions: Lru[tuple[str, str], Served] = Lru(MOST_SESSIONS)

    def note(self, scope: str, session: str, served: Served) -> None:
        self._sessions.put((scope, session), served)

    async def take(self, scope: str, session: str) -> Served | None:
        return self._sessions.pop((scope, session), None)

    def drop(self, scope: str) -> None:
        for key in [key for key in self._sessions if base_of(key[0]) == scope]:
            del self._sessions[key]
