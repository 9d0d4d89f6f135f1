"""Erasures of end users, as a process that serves knows them: by number, which grow, and a hash of the scope.

`olvido erase` deletes what a database has of a scope and leaves such a mark, in one transaction. A process finds it
when it looks for foreign writes, in its next batch, or by Redis; before it uses a scope again, it drops what it has of
it in memory. A request has the number of the newest erasure that was known when it began: what it wants to keep of a
scope that was erased since is refused, also in the queue, in the spool, and by the transaction of a batch.
"""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from contextvars import ContextVar

from proxy.storage.pending import BEGUN, Write

Found = Sequence[tuple[int, bytes]]  # numbers and marks of erasures

MARKS = "SELECT id, scope FROM erased WHERE id > {} ORDER BY id"
ERASED_BITS = 40  # of a version, above which it has the number of the scope's last erasure
NEWEST = "SELECT coalesce(max(id), 0) FROM erased"


def base_of(scope: str) -> str:
    """Returns the scope of the end user that a scope of memory belongs to, see `Identity.memory`."""
    return scope.partition("~")[0]


def mark_of(scope: str) -> bytes:
    """Returns the mark of a scope: nobody reads a name in it."""
    return hashlib.sha256(base_of(scope).encode()).digest()


class Erasures:
    """The erasures that one process knows of one database. For the event loop, but for `allowed`."""

    def __init__(self, begun: ContextVar[int | None] = BEGUN) -> None:
        self.seen = 0  # the number of the newest
        self._begun = begun
        self._numbers: dict[bytes, int] = {}  # by mark
        self._dropped: dict[str, int] = {}  # by scope: the number up to which nothing older is in memory
        self._drops: list[Callable[[str], object]] = []

    def on_erased(self, drop: Callable[[str], object]) -> None:
        """Calls `drop` with a scope that was erased, before it is used again: it drops what is in memory of it, and of
        its single conversations."""
        self._drops.append(drop)

    def start(self, newest: int) -> None:
        """Sets the number of the newest erasure before this process began."""
        self.seen = max(self.seen, newest)

    def learn(self, found: Found) -> None:
        """Takes in what was found."""
        for number, mark in found:
            self._numbers[bytes(mark)] = max(number, self._numbers.get(bytes(mark), 0))
            self.seen = max(self.seen, number)

    def since(self, scope: str, versions: Sequence[int]) -> tuple[int, ...]:
        """Returns versions of a scope (`versions.py`) as higher than all before its last erasure."""
        return tuple(number + (self._number(scope) << ERASED_BITS) for number in versions)

    def begin(self) -> None:
        """Records that the request of this task begins now, unless it has begun."""
        if self._begun.get() is None:
            self._begun.set(self.seen)

    def settle(self, scope: str) -> bool:
        """Drops what is in memory of a scope if it was erased; returns True if so."""
        number = self._number(scope)
        base = base_of(scope)
        if number <= self._dropped.get(base, 0):
            return False
        self._dropped[base] = number
        for drop in self._drops:
            drop(base)
        return True

    def is_over(self, scope: str) -> bool:
        """Tells whether a scope was erased since the request of this task began."""
        begun = self._begun.get()
        return begun is not None and self._number(scope) > begun

    def allowed(self, writes: Sequence[Write], found: Found = ()) -> list[Write]:
        """Returns the writes whose scope was not erased since their request began; `found`: what is not learnt yet."""
        if not self._numbers and not found:
            return list(writes)
        new = {bytes(mark): number for number, mark in found}

        def is_allowed(write: Write) -> bool:
            if not write.scope or write.begun is None:
                return True
            mark = mark_of(write.scope)
            return max(new.get(mark, 0), self._numbers.get(mark, 0)) <= write.begun

        return [write for write in writes if is_allowed(write)]

    def _number(self, scope: str) -> int:
        return self._numbers.get(mark_of(scope), 0) if self._numbers else 0


def of_base(scopes: Iterable[str], base: str) -> list[str]:
    """Returns those among `scopes` that are `base` or one of its single conversations."""
    return [scope for scope in scopes if base_of(scope) == base]
