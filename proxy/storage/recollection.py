"""What memory needs from storage: facts, old turns, and the states of conversations. As in base.py every method takes
the scope and nothing is read across it; reads are awaited and see what this process has queued, unless they say
otherwise; writes return at once, and are durable after one batch interval or `flush()`.

What is forgotten is overwritten in the file, not only unlinked, and SQLite's log is emptied of it: after `flush()` no
row has it, and none of its bytes stay, or a moment later if somebody was reading just then.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from proxy.storage.base import PAGE
from proxy.types import ArchivedTurn, Fact, Vector

STATES_PER_SESSION = 4
STATE_SECONDS = 30 * 86_400.0


def links_of(turn: ArchivedTurn) -> tuple[bytes, ...]:
    """All that a turn is forgotten by: its own link, and those of its messages."""
    return tuple(dict.fromkeys((turn.link, *(said.link for said in turn.utterances))))


class FactStore(Protocol):
    """What users want remembered, superseded facts included."""

    @property
    def keeps(self) -> bool:
        """Is anything remembered here? Where not, nobody need look for it."""
        ...

    def put(self, scope: str, facts: Sequence[Fact]) -> None:
        """Queue the facts; one that has the id of a known one replaces it. All or none of a call are written (of
        up to 500 facts), so a fact and the one it supersedes never both count."""
        ...

    def forget(self, scope: str, ids: Sequence[str]) -> None:
        """Queue their end."""
        ...

    async def all(self, scope: str) -> list[Fact]:
        """Every fact of the scope, oldest first."""
        ...

    async def find(self, fact_id: str) -> tuple[str, Fact] | None:
        """The fact and its scope, for whoever administers all of them."""
        ...

    async def scopes(self) -> list[str]:
        """Those that have facts, sorted."""
        ...

    async def flush(self) -> None: ...
    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class ArchiveChanges:
    """What has changed in a scope's archive since a reader asked last."""

    entries: tuple[tuple[ArchivedTurn, Vector | None], ...] = ()  # in the order they changed; None: not embedded yet
    gone: tuple[bytes, ...] = ()  # links that were forgotten, of turns and of messages: they win over `entries`
    back: tuple[bytes, ...] = ()  # links that were forgotten once, and are not any more
    upto: int = 0  # where to go on the next time
    more: bool = False  # that was a page, and not the last


class Archive(Protocol):
    """Old turns, verbatim, with the vectors of their passages: a row a passage, as whoever embedded them counted
    them."""

    def add(self, scope: str, turn: ArchivedTurn, vectors: Vector | None) -> None:
        """Queue the turn. Of a turn that is known already only vectors are taken, if it has none. A turn that was
        forgotten, or a message of which was, is not taken again."""
        ...

    def forget(self, scope: str, links: Sequence[bytes], at: float | None = None) -> None:
        """Queue the end, for good, of the turns with these links, or with messages that have them. What stays is the
        links: for the case that they come again, and for other readers. `at`: when, now by default."""
        ...

    def lift(self, scope: str, links: Sequence[bytes]) -> None:
        """Queue that those of these links that were forgotten may come again."""
        ...

    async def forgotten_at(self, scope: str, links: Sequence[bytes]) -> dict[bytes, float]:
        """When those of these links that are forgotten were."""
        ...

    def prune(self, now: float) -> None:
        """Queue that turns leave, of every scope, whose time has passed at `now`: the oldest, a bounded number."""
        ...

    async def turns(self, scope: str, after: int, now: float, limit: int = PAGE) -> ArchiveChanges:
        """What has changed after `after` (0: everything), the oldest first, without turns whose time has passed at
        `now`, and without what is queued. Vectors are what float16 makes of them."""
        ...

    async def known(self, scope: str, links: Sequence[bytes]) -> set[bytes]:
        """Those that are links of turns that are in the archive."""
        ...

    async def said(self, scope: str, links: Sequence[bytes]) -> list[ArchivedTurn]:
        """The turns that have messages with these links, oldest first."""
        ...

    async def path(self, scope: str, link: bytes, limit: int) -> list[ArchivedTurn]:
        """The turns that end with the turn `link`, oldest first, at most `limit`: as far back as each one's parent is
        in the archive. Forgotten turns are left out."""
        ...

    async def latest(self, scope: str, session: str) -> ArchivedTurn | None:
        """The newest turn of a session; of several at one time, the one with the highest number."""
        ...

    async def flush(self) -> None: ...
    async def close(self) -> None: ...


class StateStore(Protocol):
    """What planning remembers of a conversation, encoded by whoever plans: the newest states of each session, for a
    month."""

    def put(self, scope: str, session: str, link: bytes, at: float, state: bytes) -> None:
        """Queue the state of the path that ends at `link`, in place of the one that it had."""
        ...

    def forget(self, scope: str) -> None:
        """Queue the end of all states of the scope: they may quote what shall be forgotten."""
        ...

    async def get(self, scope: str, links: Sequence[bytes]) -> tuple[bytes, bytes] | None:
        """Link and state of the first of `links` that has one."""
        ...

    async def flush(self) -> None: ...
    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Wiped:
    """How much of a scope its newest wipe has put aside: what is brought back next."""

    scope: str
    facts: int
    turns: int
    until: float  # when it leaves for good; no other wipe of the scope has the same


class WipeStore(Protocol):
    """All that a scope remembers, put aside for a while, where nothing but `restore` reads it."""

    def wipe(self, scope: str, links: Sequence[bytes], *, at: float, until: float) -> None:
        """Queue that the facts and archived turns of the scope that are as old as `at` are put aside until `until`.
        The links of these turns and their messages are forgotten, and `links` with them. `until` not after `at`: they
        end for good."""
        ...

    def restore(self, scope: str, now: float, since: float = 0.0) -> None:
        """Queue that what is aside until `since` or longer, as `wiped` has told it, comes back as it was, all or
        nothing; what earlier wipes have put aside stays there. What has been learnt since stays as it is, whatever it
        says: see undo.py. Twice is as good as once."""
        ...

    def forget(self, scope: str, facts: Sequence[Fact]) -> None:
        """Queue the end of these among what is aside, and of the turns that said them."""
        ...

    def prune(self, now: float) -> None:
        """Queue the end of what has been aside for its time."""
        ...

    async def facts(self, scope: str, now: float, since: float = 0.0) -> list[list[Fact]]:
        """Those that are aside, until `since` or longer, wipe by wipe, the oldest first; of one wipe the oldest
        first."""
        ...

    async def wiped(
        self, now: float, scope: str | None = None, *, after: str = "", limit: int | None = None
    ) -> list[Wiped]:
        """The scopes, or this one, of which something can be brought back, sorted by name: those that come after
        `after`, at most `limit`."""
        ...

    async def settled(self, scope: str) -> None:
        """Returns when what is queued of this scope is durable. Raises StorageError while it cannot be written."""
        ...

    async def flush(self) -> None: ...
    async def close(self) -> None: ...
