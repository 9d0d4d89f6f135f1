"""The part of storage that is in memory, in front of a database: links of hash chains with the sessions that had them
(`Link`), queued ones (`Pending`) and an LRU of them (`Recent`); and the scopes that an upstream has answered.

Before that nothing is stored for a scope, neither in memory nor on disk: a client that invents keys, which every
upstream refuses, leaves rows in one common ledger (`UNANSWERED`), no more.
"""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from proxy.lru import Lru
from proxy.storage.base import KnownPrefix

Key = tuple[str, bytes]  # scope, link
OnRecord = Callable[[str], Awaitable[bool]]  # returns True if storage has rows of a scope; may raise StorageError

HOLDS_SECONDS = 60.0  # by which the time of a link may be late
MOST_SESSIONS = 2  # of a link: enough to say "only this one" or "several"
MOST_SCOPES = 50_000  # about 150 bytes each; one that was dropped is looked up in storage once more


@dataclass(frozen=True, slots=True)
class Link:
    """A link's sessions, each with the last time it had it (Unix seconds), newest first, at most two. `went_on`: a
    session has a link after it."""

    sessions: tuple[tuple[str, float], ...] = ()
    went_on: bool = False

    def merged(self, later: "Link") -> "Link":
        """Returns both together. Of two sessions at the same time, the one of `self` stays first."""
        went_on = self.went_on or later.went_on
        if not self.sessions or not later.sessions:
            return Link(self.sessions or later.sessions, went_on)
        seen = dict(self.sessions)
        for session, at in reversed(later.sessions):
            seen[session] = max(at, seen.get(session, at))
        newest = sorted(seen.items(), key=lambda item: -item[1])
        return Link(tuple(newest[:MOST_SESSIONS]), went_on)

    def as_prefix(self, length: int) -> KnownPrefix:
        """Returns the prefix of `length` messages that ends with this link."""
        return KnownPrefix(length, tuple(session for session, _ in self.sessions), is_tip=not self.went_on)


def changes_of(session: str, chain: Sequence[bytes], start: int, at: float) -> Iterator[tuple[bytes, Link]]:
    """Yields the changes of one `SessionStore.remember`: each link, and the Link to merge into it. The first may be the
    link before `start`, with no session: it only stops being a tip, and only if it is known."""
    if start > 0:
        yield chain[start - 1], Link(went_on=True)
    through = ((session, at),)
    on_the_way = Link(through, went_on=True)
    for index in range(start, len(chain) - 1):
        yield chain[index], on_the_way
    yield chain[-1], Link(through)


class Pending:
    """The queued changes of each link, until the last write that touches it has settled."""

    def __init__(self) -> None:
        self._links: dict[Key, tuple[int, Link]] = {}
        self.settlements = 0  # a reader that sees it change may have read an older state

    def get(self, key: Key) -> Link | None:
        """Returns what is queued for a link, or None."""
        found = self._links.get(key)
        return None if found is None else found[1]

    def add(self, key: Key, link: Link) -> None:
        """Adds a queued change of a link."""
        writes, queued = self._links.get(key, (0, None))
        self._links[key] = (writes + 1, link if queued is None else queued.merged(link))

    def settle(self, keys: Iterable[Key]) -> None:
        """Counts one write of each link as durable or dropped."""
        self.settlements += 1
        for key in keys:
            writes, queued = self._links[key]
            if writes == 1:
                del self._links[key]
            else:
                self._links[key] = (writes - 1, queued)


class Recent(Lru[Key, Link]):
    """The links that were used last, each with all that the database has of it; least recently used out first.

    A chain is recognised without the database if its last link is here, or one that no session went on from: then the
    database cannot know a longer prefix.
    """

    def find(self, scope: str, chain: Sequence[bytes]) -> KnownPrefix | None:
        """Returns the longest known prefix of `chain`; None: ask the database."""
        for length in range(len(chain), 0, -1):
            key = (scope, chain[length - 1])
            if (link := self.get(key)) is not None:
                if link.went_on and length < len(chain):
                    return None
                self.move_to_end(key)
                return link.as_prefix(length)
        return None

    def holds(self, changes: Iterable[tuple[Key, Link]]) -> bool:
        """Returns True if these changes alter nothing but a time, by less than a minute: then they need not be written,
        as for a request that is sent again and again."""
        for key, link in changes:
            known = self.get(key)
            if known is None or (link.went_on and not known.went_on):
                return False
            if link.sessions:
                (session, at), (lead, last) = link.sessions[0], known.sessions[0]
                if session != lead or at - last > HOLDS_SECONDS:
                    return False
        return True

    def follow(self, changes: Iterable[tuple[Key, Link]], *, new: bool) -> None:
        """Applies the changes of one `remember`. A link that is not here is added only if it is `new` to the database
        as well: otherwise the database may know more of it."""
        for key, link in changes:
            if (known := self.get(key)) is not None:
                self.put(key, known.merged(link))
            elif new and link.sessions:
                self.put(key, link)


async def nothing_on_record(scope: str) -> bool:  # noqa: ARG001 (an `OnRecord`)
    """Returns False: the `OnRecord` of a process that stores nothing."""
    return False


class AnsweredScopes:
    """The set of scopes that were answered: an LRU of this process, then those that storage has rows of."""

    def __init__(self, on_record: OnRecord = nothing_on_record, most: int = MOST_SCOPES) -> None:
        self._on_record = on_record
        self._scopes: Lru[str, bool] = Lru(most)

    def __len__(self) -> int:
        return len(self._scopes)

    async def has(self, scope: str) -> bool:
        """Returns True if an upstream has answered the scope. Raises StorageError."""
        if scope in self._scopes:
            self._scopes.move_to_end(scope)
            return True
        if await self._on_record(scope):
            self.add(scope)
            return True
        return False

    def add(self, scope: str) -> None:
        """Adds a scope that an upstream has answered with a 2xx."""
        self._scopes.put(scope, True)
