"""Protocols of the stores of memory: facts, archived turns, states of conversations, wipes. Scopes, times, writes and
errors are as in base.py; reads see what this process has queued, unless they say otherwise.

What is forgotten is in no row after `flush`. In SQLite it is overwritten on disk as well, not only unlinked,
write-ahead logs included: none of its bytes stay, or a moment later if a reader was busy just then. In PostgreSQL the
files are the server's (`postgres/`). While it cannot be erased, reads of the scope raise StorageError: they never
return what was to be forgotten.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from proxy.storage.base import PAGE, Queued
from proxy.types import ArchivedTurn, Fact, Vector

# Seconds before a wipe: what was said then, and is stored only now by a process that was still learning it, is refused.
WIPE_REACHES = 60.0
STATES_PER_SESSION = 4  # the newest
STATE_SECONDS = 30 * 86_400.0  # that a state is kept


def links_of(turn: ArchivedTurn) -> tuple[bytes, ...]:
    """Returns the links by which a turn can be forgotten: its own, then those of its messages."""
    return tuple(dict.fromkeys((turn.link, *(said.link for said in turn.utterances))))


class FactStore(Queued, Protocol):
    """The facts of users, superseded ones included."""

    @property
    def keeps(self) -> bool:
        """False if the store keeps nothing: a caller need not look for facts."""

    def put(self, scope: str, facts: Sequence[Fact]) -> None:
        """Queues the facts; one that has the id of a known one replaces it. A call writes all of its facts or none (up
        to 500), so a fact and the one that it supersedes are never both active."""

    def forget(self, scope: str, ids: Sequence[str]) -> None:
        """Queues the deletion of the facts with these ids."""

    async def all(self, scope: str) -> list[Fact]:
        """Returns every fact of the scope, oldest first. Raises StorageError while what was put cannot be written."""

    async def find(self, fact_id: str) -> tuple[str, Fact] | None:
        """Returns the scope and the fact, whichever scope has it: for administration."""

    async def scopes(self) -> list[str]:
        """Returns the scopes that have facts, sorted."""


@dataclass(frozen=True, slots=True)
class ArchiveChanges:
    """A page of the changes in a scope's archive since a reader's last one."""

    entries: tuple[tuple[ArchivedTurn, Vector | None], ...] = ()  # in the order they changed; None: not embedded yet
    gone: tuple[bytes, ...] = ()  # links of turns and messages that were forgotten: they win over `entries`
    back: tuple[bytes, ...] = ()  # links that were forgotten, and may come again
    upto: int = 0  # number of the last change: `after` of the next call
    more: bool = False  # there may be another page


@dataclass(frozen=True, slots=True)
class StoredShelf:
    """The search index of a large scope, as `memory/shelving.py` packs it: a copy of what is in the archive."""

    upto: int  # position in the archive's changes that are in it
    oldest: float  # time of its first turn
    shelf: bytes


class Archive(Queued, Protocol):
    """The archive of complete turns, verbatim, with the vectors of their passages: a matrix, one row a passage, in the
    caller's order of passages. Turns are kept for `memory.archive_ttl`."""

    @property
    def keeps(self) -> bool:
        """False if the store keeps nothing."""

    @property
    def ttl(self) -> float:
        """Seconds that a turn is kept."""

    def add(self, scope: str, turn: ArchivedTurn, vectors: Vector | None) -> None:
        """Queues the turn. Of a known turn only the vectors are taken, if it has none. A turn that was forgotten, or
        one of whose messages was, is refused."""

    def forget(self, scope: str, links: Sequence[bytes], at: float | None = None) -> None:
        """Queues the erasure of the turns that have these links, or messages with them, at `at` (None: now). Their
        links stay, so that the turns are refused if they come again and other readers learn of it."""

    def lift(self, scope: str, links: Sequence[bytes]) -> None:
        """Queues that turns and messages with these links may be added again."""

    async def forgotten_at(self, scope: str, links: Sequence[bytes]) -> dict[bytes, float]:
        """Returns the times at which links were forgotten, of those among `links` that are."""

    def prune(self, now: float) -> None:
        """Queues the deletion of turns of all scopes that have expired at `now`: the oldest, a bounded number."""

    async def changes(self, scope: str, after: int, now: float, limit: int = PAGE) -> ArchiveChanges:
        """Returns the changes after change number `after` (0: all), at most `limit`, oldest first, without turns that
        have expired at `now` and without what is queued. Vectors have the precision of float16."""

    async def known(self, scope: str, links: Sequence[bytes]) -> set[bytes]:
        """Returns those among `links` that name an archived turn."""

    async def containing(self, scope: str, links: Sequence[bytes]) -> list[ArchivedTurn]:
        """Returns the turns that have one of these links, or a message with one, oldest first."""

    async def path(self, scope: str, link: bytes, limit: int) -> list[ArchivedTurn]:
        """Returns the turns up to the turn `link`, oldest first, at most `limit`: as far back as each one's parent is
        in the archive. Forgotten turns are left out."""

    async def shelf(self, scope: str, now: float) -> StoredShelf | None:
        """Returns the shelf that was kept last, unless turns in it have expired at `now`; None if there is none."""

    def keep_shelf(self, scope: str, shelf: StoredShelf) -> None:
        """Queues the shelf. It is kept until something of the scope is forgotten, or expires."""

    async def latest(self, scope: str, session: str) -> ArchivedTurn | None:
        """Returns the newest turn of a session, or None; of several at one time, the one with the highest number."""


class StateStore(Queued, Protocol):
    """The states of planning (`PathState`, encoded by the caller): the newest few of each session, for a month."""

    def put(self, scope: str, session: str, link: bytes, at: float, state: bytes) -> None:
        """Queues the state of the path that ends at `link`; it replaces an earlier one."""

    def forget(self, scope: str) -> None:
        """Queues the deletion of all states of the scope: they may quote what is forgotten."""

    async def get(self, scope: str, links: Sequence[bytes]) -> tuple[bytes, bytes] | None:
        """Returns link and state of the first of `links` that has a state, or None."""


@dataclass(frozen=True, slots=True)
class Wiped:
    """The newest wipe of a scope that can be restored."""

    scope: str
    facts: int  # how many it has put aside
    turns: int  # the same
    until: float  # when they are erased for good; it identifies the wipe within its scope


class WipeStore(Queued, Protocol):
    """The memories of scopes that were wiped: put aside for a while, where nothing but `restore` reads them."""

    def wipe(self, scope: str, links: Sequence[bytes], *, at: float, until: float) -> None:
        """Queues that the facts and archived turns of the scope from `at` or before are put aside until `until`. The
        links of these turns and their messages are forgotten, and `links` with them. They are erased at once if
        `until <= at`."""

    def restore(self, scope: str, now: float, since: float = 0.0) -> None:
        """Queues that the wipes whose `until` is `since` or later are undone, all or nothing; earlier wipes stay. Facts
        and turns from after the wipe stay as they are (`memory/undo.py`). Idempotent."""

    def forget(self, scope: str, facts: Sequence[Fact]) -> None:
        """Queues the erasure of these facts, and of the turns that said them, from what is put aside."""

    def prune(self, now: float) -> None:
        """Queues the erasure of the wipes that end by `now`."""

    async def facts(self, scope: str, now: float, since: float = 0.0) -> list[list[Fact]]:
        """Returns the facts of the wipes that end after `now`, and at `since` or later: a list per wipe, oldest first,
        of its facts, oldest first."""

    async def wiped(
        self, now: float, scope: str | None = None, *, after: str = "", limit: int | None = None
    ) -> list[Wiped]:
        """Returns the newest wipe of each scope that can be restored at `now`, sorted by scope: at most `limit`, of
        scopes that sort after `after`. `scope`: of this one alone."""

    async def settled(self, scope: str) -> None:
        """Returns when what is queued of this scope is durable. Raises StorageError while it cannot be erased."""
