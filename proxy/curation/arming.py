"""Jobs that are armed when there may be something to read: a while after the last request of a conversation, when turns
leave its prompt, when it is ended by name. Rows, queued: never on the way of an answer.
"""

from collections.abc import Callable, Collection
from time import time

from proxy.config.memory import MemoryModel as Settings
from proxy.curation.sessions import subject_of, told_in
from proxy.desk.sections import project_of
from proxy.lru import Lru
from proxy.storage.erasures import base_of
from proxy.storage.jobs import JobStore
from proxy.types import Exchange

BY_NAME = frozenset({"header", "api", "clear", "shutdown"})  # causes of the end of a conversation
MOST_SOON = 20_000  # conversations that are to be read soon
MOST_WAITING = 200  # jobs of a scope that are looked through


class Arming:
    """The extractions of one process, armed. For the event loop."""

    def __init__(
        self,
        settings: Settings,
        jobs: JobStore,
        clock: Callable[[], float] = time,
        *,
        project: str = "",
        has_desks: bool = False,
    ) -> None:
        """`project`: of requests that name none. `has_desks`: sessions may have desks, of any process."""
        self.on_due: Callable[[], object] = lambda: None  # called when a job is due at once
        self._when = frozenset(settings.when)
        self._idle = settings.idle
        self._jobs = jobs
        self._clock = clock
        self._project = project
        self._has_desks = has_desks
        self._projects: Lru[tuple[str, str], str] = Lru(MOST_SOON)  # by scope and session: of those with a desk
        self._soon: Lru[tuple[str, str], float] = Lru(MOST_SOON)  # by scope and session: until when it is not put off

    def learnt(self, exchange: Exchange) -> None:
        """An answered request was learnt from."""
        identity, state = exchange.identity, exchange.plan.state
        self.heard(identity.memory, identity.session)
        if exchange.plan.desk is not None:
            project = project_of(exchange.directives.project or self._project)
            self.worked(identity.memory, identity.session, project)
        if state is not None and state.fold is not None and state.fold.turn == state.turns:
            self.folded(identity.memory, identity.session)

    def heard(self, scope: str, session: str) -> None:
        """A conversation goes on: it is read a while after its last request."""
        if "idle" in self._when:
            now = self._clock()
            is_soon = now < self._soon.get((scope, session), 0.0)  # what is due at once is not put off by it
            self._jobs.arm(scope, "extract", session, now + self._idle, sooner=is_soon)

    def worked(self, scope: str, session: str, project: str) -> None:
        """A session with a desk goes on: it is concluded a while after its last request."""
        self._projects.put((scope, session), project)
        if "idle" in self._when:
            self._jobs.arm(scope, "conclude", subject_of(session, project), self._clock() + self._idle)

    def folded(self, scope: str, session: str) -> None:
        """Turns have left the prompt."""
        if "fold" in self._when:
            self._now(scope, session)

    async def ended(self, scope: str, session: str, why: str) -> None:
        """A conversation has ended; by idleness it is read anyway."""
        if why in BY_NAME and "close" in self._when:
            self._now(scope, session)
            for subject in await self._conclusions(scope, session):
                self._jobs.arm(scope, "conclude", subject, self._clock(), sooner=True)
                self.on_due()

    async def _conclusions(self, scope: str, session: str) -> Collection[str]:
        """Returns the subjects of what may be concluded of a session; none if it has no desk. Of one that another
        process has served, those that wait."""
        if (project := self._projects.get((scope, session))) is not None:
            return (subject_of(session, project),)
        if not self._has_desks:
            return ()
        waiting = await self._jobs.jobs(scope, states=("waiting",), limit=MOST_WAITING)
        return {job.subject for job in waiting if job.kind == "conclude" and told_in(job.subject)[0] == session}

    def drop(self, scope: str) -> None:
        """Removes a scope that was erased, and those of its single conversations."""
        for known in (self._soon, self._projects):
            for key in [key for key in known if base_of(key[0]) == scope]:
                known.pop(key, None)

    def _now(self, scope: str, session: str) -> None:
        now = self._clock()
        self._soon.put((scope, session), now + self._idle)
        self._jobs.arm(scope, "extract", session, now, sooner=True)
        self.on_due()
