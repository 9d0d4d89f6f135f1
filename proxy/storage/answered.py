"""Scopes that an upstream has answered. Before that nothing is made for a scope, neither in memory nor on disk: whoever
invents keys, which every upstream refuses, leaves rows in one common ledger (`UNANSWERED`) and nothing else."""

from collections.abc import Awaitable, Callable

from proxy.lru import Lru

MOST = 50_000  # scopes, about 150 bytes each; one that has left is asked for on record once more

OnRecord = Callable[[str], Awaitable[bool]]


async def nothing_on_record(scope: str) -> bool:  # noqa: ARG001 (an `OnRecord`)
    """Where nothing is kept beyond this process."""
    return False


class AnsweredScopes:
    """Those of this process, least recently used out first, and those that storage has something of."""

    def __init__(self, on_record: OnRecord = nothing_on_record, most: int = MOST) -> None:
        self._on_record = on_record
        self._scopes: Lru[str, bool] = Lru(most)

    def __len__(self) -> int:
        return len(self._scopes)

    async def has(self, scope: str) -> bool:
        """Raises StorageError."""
        if scope in self._scopes:
            self._scopes.move_to_end(scope)
            return True
        if await self._on_record(scope):
            self.add(scope)
            return True
        return False

    def add(self, scope: str) -> None:
        """An upstream has answered it 2xx."""
        self._scopes.put(scope, True)
