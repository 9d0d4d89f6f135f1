"""Reports that a reused answer was not the right one, by a person or by the next question of the conversation."""

from collections.abc import Callable

from proxy.config.model import IntentReuse
from proxy.language.language import language_of
from proxy.reuse.partitions import Partitions
from proxy.reuse.verdict import agree
from proxy.storage.base import ReuseStore
from proxy.storage.shared import LastServed
from proxy.types import Asked, Candidate, Identity, ReuseEntry, Served

# A strike asks for more than the cosine that went wrong, by this much; the last one ends the entry.
STEP = 0.03
MOST_STRIKES = 2
UNLOGGED = 0.85  # cosine that a wrong reuse is taken to have had where the log has it no more
HIGHEST = 0.999  # an identical question still gets through
SECOND_THOUGHT = 600.0  # seconds after a reuse in which asking again means that the answer was not the right one


def raised(entry: ReuseEntry, cosine: float) -> float:
    """The cosine an entry needs after it went wrong at `cosine`."""
    return min(HIGHEST, max(entry.min_cosine, cosine) + STEP)


class Reports:
    """Strikes against entries. The last one ends an entry; any raises what its question needs to be reused again."""

    def __init__(
        self,
        config: IntentReuse,
        partitions: Partitions,
        store: ReuseStore,
        reported: Callable[[str], object],
        last_served: LastServed,
    ) -> None:
        self._config = config
        self._partitions = partitions
        self._store = store
        self._reported = reported
        self._served = last_served

    def served(self, identity: Identity, candidate: Candidate, now: float) -> None:
        """This answer was given; the next question tells whether it was the right one."""
        self._store.served(identity.scope.id, candidate.entry.id)
        self._served.note(identity.scope.id, identity.session, Served(candidate.entry, candidate.cosine, now))

    async def second_thought(self, identity: Identity, asked: Asked, now: float) -> str | None:
        """Tells whether the question right after a reused answer asks for it again. Then this is why no answer is
        reused now."""
        served = await self._served.take(identity.scope.id, identity.session)
        if served is None or now - served.at > SECOND_THOUGHT:
            return None
        if identity.continuity == "regenerated":
            reason = "regenerated"
        elif asked.follows_reuse and agree(asked.question, served.entry.question, language_of(asked.language)):
            reason = "rephrased"
        else:
            return None
        last = served.entry.strikes + 1 >= MOST_STRIKES
        self._strike(identity.scope.id, served.entry, served.cosine, now, reason=reason, last=last)
        return reason

    async def wrong(self, reported: str, now: float) -> ReuseEntry | None:
        """Ends the entry of this id, of whatever scope. None if there is none."""
        found = await self._store.find(reported)
        if found is None:
            return None
        scope, entry = found
        if entry.is_evicted:
            return entry  # a report that is sent twice is one report
        log = await self._store.recent(scope, self._config.log_rows)
        hits = [line.cosine for line in log if line.entry_id == entry.id and line.result == "hit"]
        self._strike(scope, entry, max(hits, default=UNLOGGED), now, reason="wrong", last=True)
        return await self._store.get(scope, entry.id)

    def _strike(self, scope: str, entry: ReuseEntry, cosine: float, now: float, *, reason: str, last: bool) -> None:
        self._partitions.raise_threshold(scope, entry, raised(entry, cosine), now, evict=last)
        self._reported(reason)
