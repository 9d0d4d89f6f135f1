"""The pool of connections that the threads of a process share. Each use has a deadline, and whatever goes wrong is told
at once, with its reason.

A connection is made in a thread of its own: looking up a host's name knows no deadline. If it comes too late for
whoever wanted it, the next one has it. One that the server has ended meanwhile is not handed out. (psycopg_pool tells a
waiting user neither that its connection cannot be made, nor why; and after a restart of the server it hands out each
dead connection once, or asks the server before each use.)
"""

import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

from psycopg.pq import TransactionStatus

from proxy.storage.base import Unavailable
from proxy.storage.postgres.connection import Connection, connect, conninfo_of, storage_errors

MOST_IDLE = 300.0  # seconds that a connection waits for its next use


class Pool:
    """At most `size` connections to the database at `url`, made when they are wanted. Raises StorageError for a URL
    that is none."""

    def __init__(self, url: str, size: int, waited: Callable[[float], object] = lambda _seconds: None) -> None:
        conninfo_of(url)
        self._waited = waited  # called with the seconds that a use has waited for its connection
        self._url = url
        self._size = size
        self._free = threading.Semaphore(size)
        self._lock = threading.Lock()
        self._idle: deque[tuple[Connection, float]] = deque()  # each with the time of its last use, the latest last
        self._used: set[Connection] = set()
        self._connecting = ThreadPoolExecutor(size, thread_name_prefix="storage-connector")
        self._closed = False
        self.waits = 0  # uses that had to wait for another to end

    @contextlib.contextmanager
    def one(self, seconds: float) -> Iterator[Connection]:
        """Holds a connection, in a thread, for `seconds` at most: what it waits for then raises. Raises Unavailable,
        StorageError."""
        until = time.monotonic() + seconds
        with storage_errors(self._url):
            began = time.monotonic()
            connection = self._take(until)
            self._waited(time.monotonic() - began)
            try:
                yield connection
            finally:
                self._give_back(connection)

    @property
    def used(self) -> int:
        """Connections at work."""
        return len(self._used)

    @property
    def idle(self) -> int:
        """Open connections without work."""
        return len(self._idle)

    def drop(self) -> None:
        """Closes all connections: those in use are broken off."""
        with self._lock:
            for connection in self._used:
                connection.until = 0.0
            idle, self._idle = self._idle, deque()
        for connection, _ in idle:
            connection.close()

    def close(self) -> None:
        """Closes the pool. A use that goes on closes its connection itself. A second call does nothing."""
        self._closed = True
        self._connecting.shutdown(wait=False, cancel_futures=True)
        with self._lock:
            idle, self._idle = self._idle, deque()
        for connection, _ in idle:
            connection.close()

    def _take(self, until: float) -> Connection:
        if not self._free.acquire(blocking=False):
            self.waits += 1
            if not self._free.acquire(timeout=max(0.0, until - time.monotonic())):
                raise Unavailable(f"PostgreSQL: all {self._size} connections of this process are in use")
        try:
            connection = self._waiting() or self._connected(until)
        except BaseException:
            self._free.release()
            raise
        connection.until = until
        with self._lock:
            self._used.add(connection)
        return connection

    def _waiting(self) -> Connection | None:
        """Returns the connection that was used last, if the server has not ended it."""
        while True:
            with self._lock:
                if not self._idle:
                    return None
                connection, _ = self._idle.pop()
            if not connection.is_stale:
                return connection
            connection.close()

    def _connected(self, until: float) -> Connection:
        if self._closed:
            raise Unavailable("the database is closed")
        made = self._connecting.submit(connect, self._url)
        try:
            return made.result(max(0.0, until - time.monotonic()))
        except TimeoutError:
            made.add_done_callback(self._keep_late)
            raise Unavailable("PostgreSQL: no connection was made in time") from None

    def _keep_late(self, made: Future[Connection]) -> None:
        if not made.cancelled() and made.exception() is None:
            self._keep(made.result())

    def _keep(self, connection: Connection) -> None:
        """Keeps a connection for its next use, and closes what has not been used for long."""
        now = time.monotonic()
        with self._lock:
            is_kept = not self._closed and len(self._idle) + len(self._used) < self._size
            if is_kept:
                self._idle.append((connection, now))
            old = self._idle.popleft()[0] if self._idle and now - self._idle[0][1] > MOST_IDLE else None
        if not is_kept:
            connection.close()
        if old is not None:
            old.close()

    def _give_back(self, connection: Connection) -> None:
        with self._lock:
            self._used.discard(connection)
            is_broken_off = connection.until == 0.0
        connection.until = None
        try:
            if is_broken_off or connection.pgconn.transaction_status != TransactionStatus.IDLE:
                connection.close()
            else:
                self._keep(connection)
        finally:
            self._free.release()
