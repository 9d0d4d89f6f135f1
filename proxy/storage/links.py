"""What is known of a link of a conversation (`Link`), and what is kept of links in front of a database: what is queued
(`Pending`), and what was used last (`Recent`)."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from proxy.lru import Lru
from proxy.storage.base import KnownPrefix

Key = tuple[str, bytes]  # scope, link

HOLDS_SECONDS = 60.0
SESSIONS_TOLD = 2  # enough to say "only this one" or "several"


@dataclass(frozen=True, slots=True)
class Link:
    """What is known of one link: `sessions` with the time each went through it last, newest first, at most two."""

    sessions: tuple[tuple[str, float], ...] = ()
    went_on: bool = False

    def merged(self, later: "Link") -> "Link":
        """Of two sessions at the same time, the one that was here before stays first."""
        went_on = self.went_on or later.went_on
        if not self.sessions or not later.sessions:
            return Link(self.sessions or later.sessions, went_on)
        seen = dict(self.sessions)
        for session, at in reversed(later.sessions):
            seen[session] = max(at, seen.get(session, at))
        newest = sorted(seen.items(), key=lambda item: -item[1])
        return Link(tuple(newest[:SESSIONS_TOLD]), went_on)

    def as_prefix(self, length: int) -> KnownPrefix:
        return KnownPrefix(length, tuple(session for session, _ in self.sessions), is_tip=not self.went_on)


def passage(session: str, chain: Sequence[bytes], start: int, at: float) -> Iterator[tuple[bytes, Link]]:
    """What `SessionStore.remember` changes: each link with what is to be merged into it. The first may be the link
    before `start`, with no session: it only stops being a tip, and only if it is known."""
    if start > 0:
        yield chain[start - 1], Link(went_on=True)
    through = ((session, at),)
    on_the_way = Link(through, went_on=True)
    for index in range(start, len(chain) - 1):
        yield chain[index], on_the_way
    yield chain[-1], Link(through)


class Pending:
    """What is queued for each link, until the last write that touches it has settled."""

    def __init__(self) -> None:
        self._links: dict[Key, tuple[int, Link]] = {}
        self.settlements = 0  # a reader that sees it change may have read an older state

    def get(self, key: Key) -> Link | None:
        found = self._links.get(key)
        return None if found is None else found[1]

    def add(self, key: Key, link: Link) -> None:
        writes, queued = self._links.get(key, (0, None))
        self._links[key] = (writes + 1, link if queued is None else queued.merged(link))

    def settle(self, keys: Iterable[Key]) -> None:
        self.settlements += 1
        for key in keys:
            writes, queued = self._links[key]
            if writes == 1:
                del self._links[key]
            else:
                self._links[key] = (writes - 1, queued)


class Recent(Lru[Key, Link]):
    """The links that were used last, each with all that is known of it; least recently used out first.

    A chain is recognised without the database where nothing longer can be known: its last link is here, or a link
    that no session has gone on from.
    """

    def find(self, scope: str, chain: Sequence[bytes]) -> KnownPrefix | None:
        """None: the database has to be asked."""
        for length in range(len(chain), 0, -1):
            key = (scope, chain[length - 1])
            if (link := self.get(key)) is not None:
                if link.went_on and length < len(chain):
                    return None
                self.move_to_end(key)
                return link.as_prefix(length)
        return None

    def holds(self, changes: Iterable[tuple[Key, Link]]) -> bool:
        """Would these changes change nothing but a time by less than a minute? A request that is sent again and again
        needs no writing."""
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
        """Follow one `remember`. A link that is not here is only added if it is `new`, to the database as well:
        otherwise that may know of it what we do not."""
        for key, link in changes:
            if (known := self.get(key)) is not None:
                self.put(key, known.merged(link))
            elif new and link.sessions:
                self.put(key, link)
