"""Observers of what memory's model has found: events, digests, names of conversations.

Called on the event loop, once it is durable; returns at once. What it does may fail: that is its own concern. A process
that is killed just then tells nobody: whoever must have everything looks into the job store.
"""

from collections.abc import Sequence
from typing import Protocol

from proxy.types.curation import Digest, MemoryEvent


class CurationWatch(Protocol):
    """One that follows what the model finds in scopes; in those of single conversations as well."""

    def happened(self, scope: str, events: Sequence[MemoryEvent]) -> None:
        """Events were found."""

    def digested(self, scope: str, digest: Digest) -> None:
        """A digest was made; it takes the place of an earlier one of its span and beginning."""

    def named(self, scope: str, session: str, slug: str) -> None:
        """A conversation got a name: three to five words joined by hyphens."""


class Unwatched:
    """Nobody follows."""

    def happened(self, scope: str, events: Sequence[MemoryEvent]) -> None:
        """Ignores it."""

    def digested(self, scope: str, digest: Digest) -> None:
        """Ignores it."""

    def named(self, scope: str, session: str, slug: str) -> None:
        """Ignores it."""
