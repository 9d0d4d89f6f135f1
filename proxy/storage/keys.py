"""Protocol of the store of keys that this proxy gives out, and of what their owners have spent."""

from collections.abc import Sequence
from typing import Protocol

from proxy.types.keys import ApiKey, KeySums

Version = tuple[int, int, float]  # differs after every change of a key but its last use


class KeyStore(Protocol):
    """The keys that were given out, revoked ones included, and sums by the day of every tenant. A key is kept as a
    keyed hash. Reads raise StorageError, and so do the changes: somebody waits for these."""

    @property
    def keeps(self) -> bool:
        """False if the store keeps nothing."""

    async def version(self) -> Version:
        """Returns what differs once any process has changed a key."""

    async def all(self) -> list[ApiKey]:
        """Returns all keys, oldest first."""

    async def create(self, key: ApiKey) -> bool:
        """Adds a key, durably when this returns. False: a key of this name holds, and nothing has changed."""

    async def revoke(self, key_id: str, at: float) -> bool:
        """Revokes a key, durably when this returns. False: there is none that holds under this id."""

    def used(self, key_id: str, at: float) -> None:
        """Queues that a key was used."""

    async def sums(self, tenant: str, since: int, until: int) -> KeySums:
        """Returns the sums of a tenant over the days `since` to `until` (of UTC, since the epoch), without rows that
        are queued."""

    async def sums_by_tenant(self, since: int, until: int) -> Sequence[tuple[str, KeySums]]:
        """Returns the sums of all tenants that have any in these days, sorted by tenant."""
