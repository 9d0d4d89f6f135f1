"""Shared state where one process serves: all of it in memory, each part bounded."""

from pathlib import Path

from proxy.lru import Lru
from proxy.storage.folder import FileLogouts
from proxy.storage.shared import SharedState
from proxy.storage.shared.breakers import LocalBreakers
from proxy.storage.shared.counters import SqliteCounters
from proxy.storage.shared.flights import LocalSingleFlight
from proxy.storage.shared.learnt import LocalHitRates, LocalLastServed, LocalOpenTurns, local_calibrations

MOST_WRONG = 10  # tokens from one address within WRONG_SECONDS; a form is guessed at by hand, or by a program
WRONG_SECONDS = 60.0
MOST_ADDRESSES = 1_000


def local_state(folder: Path | None = None, run_time: Path | None = None) -> SharedState:
    """Builds the state of a process that serves alone. `folder`: of the storage; None: nothing is kept on disk.
    `run_time`: a folder that it shares with other workers of this machine."""
    return SharedState(
        flights=LocalSingleFlight(),
        open_turns=LocalOpenTurns(),
        last_served=LocalLastServed(),
        hit_rates=LocalHitRates(),
        calibrations=local_calibrations(),
        breakers=LocalBreakers(),
        throttle=LocalThrottle(),
        logouts=FileLogouts(folder),
        counters=SqliteCounters(run_time),
    )


class LocalThrottle:
    """Times of wrong tokens in memory, by address. It only slows guessing: the token's length, which the configuration
    demands, makes it hopeless."""

    def __init__(self) -> None:
        self._known: Lru[str, list[float]] = Lru(MOST_ADDRESSES)

    async def wait(self, client: str, now: float) -> float:
        lately = self._lately(client, now)
        return lately[-MOST_WRONG] + WRONG_SECONDS - now if len(lately) >= MOST_WRONG else 0.0

    async def note(self, client: str, now: float) -> None:
        self._known.put(client, [*self._lately(client, now), now])

    def _lately(self, client: str, now: float) -> list[float]:
        return [at for at in self._known.get(client, ()) if now - at < WRONG_SECONDS]
