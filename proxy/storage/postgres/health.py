"""The breaker in front of PostgreSQL. A few reads in a row that fail or take too long open it: from then on reads fail
at once, until a probe in the background has had an answer. Each change of state is one line of the log."""

import asyncio
import logging
from collections.abc import Callable
from typing import Literal

from proxy.storage.base import StorageError
from proxy.tasks import Tasks

log = logging.getLogger(__name__)

State = Literal["ready", "unreachable"]

MOST_FAILURES = 3  # in a row
PROBE_SECONDS = 0.5  # between two probes


class Health:
    """The state of one database, as its readers have found it. `probe` asks it something in another thread, with a
    deadline of its own, and raises if there is no answer. For the event loop alone, but for `why`."""

    def __init__(self, probe: Callable[[], object], tasks: Tasks, on_change: Callable[[State], object]) -> None:
        self._probe = probe
        self._tasks = tasks
        self._on_change = on_change
        self._failures = 0
        self._next: asyncio.TimerHandle | None = None
        self._closed = False
        self.why: str | None = None  # nothing is read now, for this reason

    @property
    def state(self) -> State:
        """The state: `ready`, or `unreachable`."""
        return "ready" if self.why is None else "unreachable"

    def success(self) -> None:
        """Records an answer."""
        self._failures = 0

    def failure(self, why: str) -> None:
        """Records a read that failed, or was broken off."""
        self._failures += 1
        if self._failures >= MOST_FAILURES:
            self.fail(why)

    def fail(self, why: str) -> None:
        """Opens the breaker, if it is closed."""
        if self.why is None and not self._closed:
            self.why = why
            log.error("PostgreSQL does not answer: requests go on with what is in memory", extra={"why": why})
            self._on_change("unreachable")
            self._ask_later()

    def close(self) -> None:
        """Ends the probes."""
        self._closed = True
        if self._next is not None:
            self._next.cancel()

    def _ask_later(self) -> None:
        # A task only while it asks: whoever drains the tasks does not wait for a database to come back.
        if not self._closed:
            self._next = asyncio.get_running_loop().call_later(PROBE_SECONDS, self._ask_soon)

    def _ask_soon(self) -> None:
        self._tasks.spawn(self._ask(), name="probe PostgreSQL")

    async def _ask(self) -> None:
        try:
            await asyncio.to_thread(self._probe)
        except StorageError as error:
            self.why = str(error)
            self._ask_later()
        except BaseException:
            self._ask_later()
            raise
        else:
            self._failures, self.why = 0, None
            log.warning("PostgreSQL answers again")
            self._on_change("ready")
