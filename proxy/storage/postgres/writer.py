"""The writer of a PostgreSQL database: a batch of its queue is one transaction, which first locks the scopes that it
changes, in their order: so no two batches wait for each other in a circle, and the numbers of a scope's rows grow in
the order in which they become visible. A batch that fails on its way may have been committed: writes are idempotent, it
is applied again."""

import time
from collections.abc import Callable, Sequence

import psycopg

from proxy.storage.base import Unavailable
from proxy.storage.erasures import MARKS
from proxy.storage.pending import LEDGER, Write, WriterLimits, apply_all
from proxy.storage.postgres import versions
from proxy.storage.postgres.connection import Connection
from proxy.storage.postgres.pool import Pool
from proxy.storage.spool import Spool
from proxy.storage.versions import Versions, changed
from proxy.storage.write_queue import WriteQueue
from proxy.tasks import Tasks

WRITE_SECONDS = 10.0  # of a batch
LAST_SECONDS = 2.0  # of a batch of a process that ends: what is not written waits in the spool
_MARKS = MARKS.format("%s::bigint").encode()


def in_turn(writes: Sequence[Write]) -> Sequence[Write]:
    """Returns the writes of a batch as they are applied: what takes a lock that all processes need (`ledger.py`) comes
    last, the ledger and then the job in the background, which is no store's; as they were queued, where something is to
    be in order. What a store prunes of all scopes stays before what it adds later."""
    if any(write.in_order for write in writes):
        return writes
    return sorted(writes, key=lambda write: 1 if write.kind is LEDGER else 2 * (write.scope == "" and not write.store))


class Writer(WriteQueue):
    """The writer of a database."""

    def __init__(
        self,
        pool: Pool,
        tasks: Tasks,
        limits: WriterLimits,
        known: Versions,
        observed: Callable[[float], object],
        spool: Spool | None,
        away: Callable[[], str | None],
    ) -> None:
        super().__init__(tasks, limits, spool)
        self._pool = pool
        self._known = known
        self._away = away
        self._observed = observed  # called in the thread with the seconds that a batch took

    def _apply(self, writes: Sequence[Write]) -> bool:
        if (why := self._away()) is not None:
            raise Unavailable(why)  # the probes tell when it is back
        started = time.perf_counter()
        try:
            with self._pool.one(LAST_SECONDS if self._closed else WRITE_SECONDS) as connection:
                self._applied(connection, writes)
        except BaseException:
            self._known.failed()
            raise
        finally:
            self._observed(time.perf_counter() - started)
        return False

    def _applied(self, connection: Connection, writes: Sequence[Write]) -> None:
        """Applies writes in one transaction, but for those whose scope was erased since their request began. Nothing
        can be erased once their scopes are locked; one that was is not added for their sake."""
        is_done = False
        while not is_done:
            allowed = self.erasures.allowed(writes, self._erased)
            with connection.transaction():
                made = versions.count(connection, parts := changed(allowed))
                self._erased = [*connection.execute(_MARKS, (self.erasures.seen,))]
                if len(self.erasures.allowed(allowed, self._erased)) < len(allowed):
                    raise psycopg.Rollback
                self._known.making(made, parts)
                apply_all(connection, in_turn(allowed))
                is_done = True

    def _seen(self, is_foreign: bool, at: float) -> None:  # noqa: ARG002 (a WriteQueue)
        self._learn()
        self._known.wrote()

    def _has_changed(self) -> bool:
        return False  # versions tell, by scope

    def _erase(self) -> None:
        self._unerased = False  # what was deleted is the server's to overwrite: it keeps no log that a reader sees

    def _cannot_write(self, error: Exception) -> bool:
        return isinstance(error, Unavailable)

    def _disconnect(self) -> None: ...
