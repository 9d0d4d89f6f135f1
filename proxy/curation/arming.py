"""Jobs that are armed when there may be something to read: a while after the last request of a conversation, when turns
leave its prompt, when it is ended by name. Rows, queued: never on the way of an answer.
"""

from collections.abc import Callable
from time import time

from proxy.config.memory import MemoryModel as Settings
from proxy.lru import Lru
from proxy.storage.erasures import base_of
from proxy.storage.jobs import JobStore
from proxy.types import Exchange

BY_NAME = frozenset({"header", "api", "clear", "shutdown"})  # causes of the end of a conversation
MOST_SOON = 20_000  # conversations that are to be read soon


class Arming:
    """The extractions of one process, armed. For the event loop."""

    def __init__(self, settings: Settings, jobs: JobStore, clock: Callable[[], float] = time) -> None:
        self.on_due: Callable[[], object] = lambda: None  # called when a job is due at once
        self._when = frozenset(settings.when)
        self._idle = settings.idle
        self._jobs = jobs
        self._clock = clock
        self._soon: Lru[tuple[str, str], float] = Lru(MOST_SOON)  # by scope and session: until when it is not put off

    def learnt(self, exchange: Exchange) -> None:
        """An answered request was learnt from."""
        identity, state = exchange.identity, exchange.plan.state
        self.heard(identity.memory, identity.session)
        if state is not None and state.fold is not None and state.fold.turn == state.turns:
            self.folded(identity.memory, identity.session)

    def heard(self, scope: str, session: str) -> None:
        """A conversation goes on: it is read a while after its last request."""
        if "idle" in self._when:
            now = self._clock()
            is_soon = now < self._soon.get((scope, session), 0.0)  # what is due at once is not put off by it
            self._jobs.arm(scope, "extract", session, now + self._idle, sooner=is_soon)

    def folded(self, scope: str, session: str) -> None:
        """Turns have left the prompt."""
        if "fold" in self._when:
            self._now(scope, session)

    async def ended(self, scope: str, session: str, why: str) -> None:
        """A conversation has ended; by idleness it is read anyway."""
        if why in BY_NAME and "close" in self._when:
            self._now(scope, session)

    def drop(self, scope: str) -> None:
        """Removes a scope that was erased, and those of its single conversations."""
        for key in [key for key in self._soon if base_of(key[0]) == scope]:
            self._soon.pop(key, None)

    def _now(self, scope: str, session: str) -> None:
        now = self._clock()
        self._soon.put((scope, session), now + self._idle)
        self._jobs.arm(scope, "extract", session, now, sooner=True)
        self.on_due()
