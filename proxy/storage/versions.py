"""Versions of scopes: how often each part of what is kept of a scope has changed, by whatever process. A process that
reads a version which it did not make itself knows that what it has in memory may be old. Each batch counts the parts
that it changes in its own transaction.
"""

import itertools
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from proxy.lru import Lru
from proxy.storage.base import PARTS, Part
from proxy.storage.pending import Write

MOST_SCOPES = 50_000  # whose versions a process knows

_ALL: frozenset[Part] = frozenset(PARTS)
# Parts that a write changes, by its kind. Others are no memory: they only lock their scope, so that no two batches of a
# scope wait for each other in a circle, and no copy of what is forgotten meanwhile comes back.
_CHANGED: Mapping[str, frozenset[Part]] = {
    "links": frozenset({"paths"}),
    "states": frozenset({"paths"}),
    "turns": frozenset({"turns"}),
    "facts": frozenset({"facts"}),
    "reuse": frozenset({"reuse"}),
    "deletions": _ALL,
}
COLUMNS = tuple(f"{part}_changes" for part in PARTS)  # of `scopes`

Numbers = tuple[int, ...]  # one for each of PARTS
NONE: Numbers = (0,) * len(PARTS)


def changed(writes: Iterable[Write]) -> dict[str, frozenset[Part]]:
    """Returns the parts that writes change, by scope."""
    parts: dict[str, frozenset[Part]] = {}
    for write in writes:
        if write.scope:
            parts[write.scope] = parts.get(write.scope, frozenset()) | _CHANGED.get(write.kind.name, frozenset())
    return parts


@dataclass(frozen=True, slots=True)
class Seen:
    """The last versions of a scope that this process has seen."""

    versions: Numbers
    foreign: Numbers  # see `ForeignWrites`
    at: float  # monotonic seconds of the last look


class Versions:
    """The versions that this process has seen, its own included. For the event loop alone, but for `making` and
    `failed`, which the writer's thread calls."""

    def __init__(self, most: int = MOST_SCOPES) -> None:
        self._seen: Lru[str, Seen] = Lru(most)
        self._numbers = itertools.count(1)
        # The versions that the batch on its way makes, with 0 for parts that it leaves alone. Who sees one of them has
        # seen it committed: while it was not, nobody else could change the scope.
        self._made: Mapping[str, Numbers] = {}
        self._doubtful: deque[str] = deque()  # scopes of batches that failed, and may have been committed all the same

    def get(self, scope: str) -> Seen | None:
        """Returns what was seen last of a scope."""
        while self._doubtful:
            self._seen.pop(self._doubtful.popleft(), None)
        return self._seen.get(scope)

    def looked(self, scope: str, versions: Numbers, at: float) -> Seen:
        """Records versions that were read at `at`; returns what is known of the scope from now on."""
        seen = self.get(scope)
        if seen is None:
            number = next(self._numbers)
            seen = Seen(versions, (number,) * len(PARTS), at)
        else:
            seen = self._merged(seen, versions, self._made.get(scope, NONE), max(at, seen.at))
        self._seen.put(scope, seen)
        return seen

    def making(self, versions: Mapping[str, Numbers], parts: Mapping[str, frozenset[Part]]) -> None:
        """Records the versions that a batch has made of these parts, before it is committed."""
        self._made = {
            scope: tuple(number if part in parts[scope] else 0 for part, number in zip(PARTS, numbers, strict=True))
            for scope, numbers in versions.items()
        }

    def failed(self) -> None:
        """Records that nobody knows whether the batch was committed."""
        self._doubtful.extend(self._made)
        self._made = {}

    def wrote(self) -> None:
        """Records that the batch was committed."""
        made, self._made = self._made, {}
        for scope, own in made.items():
            if (seen := self.get(scope)) is not None:  # else it is looked at when it is asked for
                self._seen.put(scope, self._merged(seen, own, own, seen.at))

    def _merged(self, seen: Seen, versions: Numbers, own: Numbers, at: float) -> Seen:
        """Returns what is known after `versions` were seen, of which this process has made `own`."""
        foreign = tuple(
            number if new - (old < mine <= new) <= old else next(self._numbers)
            for number, old, new, mine in zip(seen.foreign, seen.versions, versions, own, strict=True)
        )
        return Seen(tuple(map(max, seen.versions, versions)), foreign, at)
