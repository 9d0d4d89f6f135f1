"""How late is the event loop? Whatever holds it up holds up every request."""

import asyncio
from collections.abc import Callable
from time import perf_counter


class Pulse:
    """Calls `beat` every `interval` seconds with how much later it is than it should be, in seconds. A timer and no
    task: nobody waits for its end."""

    def __init__(self, beat: Callable[[float], None], interval: float) -> None:
        self._beat = beat
        self._interval = interval
        self._due = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        self._due = perf_counter() + self._interval
        self._timer = asyncio.get_running_loop().call_later(self._interval, self._look)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _look(self) -> None:
        late = max(0.0, perf_counter() - self._due)
        self.start()
        self._beat(late)
