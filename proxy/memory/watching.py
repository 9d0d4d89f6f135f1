"""Observers of what happens to the memory of people: learnt, forgotten, wiped, restored; and the source of turns that
are kept beside the archive, in files.

Called on the event loop, once something is durable or about to be; returns at once. What it does may fail: that is its
own concern.
"""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from proxy.types import ArchivedTurn, Fact

Has: TypeAlias = Callable[[bytes], bool]  # tells something of a message with this link, or of a value with this mark


@dataclass(frozen=True, slots=True)
class BesideTurns:
    """The turns of a scope that are kept beside the archive, and are not known."""

    turns: tuple[ArchivedTurn, ...]
    version: bytes  # of what they were read from


# Gets a scope, the version that was read last (b"": none), and `has`: known, or forgotten; `was_forgotten`. Returns
# None if there is no other version, or nobody can tell now.
Beside: TypeAlias = Callable[[str, bytes, Has, Has], Awaitable[BesideTurns | None]]
Said: TypeAlias = Callable[[str, str], Awaitable[Sequence[ArchivedTurn]]]  # of scope and session: its last turns


class MemoryWatch(Protocol):
    """One that follows the memory of scopes; those of single conversations as well."""

    def learnt(self, scope: str, facts: Sequence[Fact], before: Mapping[str, Fact], at: float) -> None:
        """Facts are new, or have changed: as they are now, and by id as they were."""

    def forgotten(self, scope: str, ids: Collection[str], links: Collection[bytes], values: Collection[str]) -> None:
        """Facts, the messages that stated them, and what those messages' turns said are gone."""

    def wiped(self, scope: str, at: float, until: float) -> None:
        """All that was there at `at` is put aside until then; gone at once if `until <= at`."""

    def restored(self, scope: str, until: float) -> None:
        """The wipe that can be undone until then was undone."""


class Unwatched:
    """Nobody follows."""

    def learnt(self, scope: str, facts: Sequence[Fact], before: Mapping[str, Fact], at: float) -> None:
        """Ignores it."""

    def forgotten(self, scope: str, ids: Collection[str], links: Collection[bytes], values: Collection[str]) -> None:
        """Ignores it."""

    def wiped(self, scope: str, at: float, until: float) -> None:
        """Ignores it."""

    def restored(self, scope: str, until: float) -> None:
        """Ignores it."""
