"""Protocol of the store of conversations that have returned to pass-through."""

from dataclasses import dataclass
from typing import Protocol

from proxy.storage.base import Queued


@dataclass(frozen=True, slots=True)
class Returned:
    """A conversation that has returned to pass-through."""

    number: int  # grows, so that processes see what others have added
    scope: str
    session: str
    reason: str  # dearer, reported


class ReturnStore(Queued, Protocol):
    """The conversations that have returned to pass-through."""

    @property
    def keeps(self) -> bool:
        """False if the store keeps nothing."""

    def put(self, scope: str, session: str, reason: str, at: float) -> None:
        """Queues that a conversation has returned; the first reason stays."""

    async def after(self, number: int, limit: int = 1_000) -> list[Returned]:
        """Returns those after a number, oldest first. Raises StorageError."""
