"""The scopes that an upstream has answered. Before that nothing is stored for a scope, neither in memory nor on disk: a
client that invents keys, which every upstream refuses, leaves rows in one common ledger (`UNANSWERED`), no more."""

from collections.abc import Awaitable, Callable

from proxy.lru import Lru

MOST = 50_000  # scopes, about 150 bytes each; one that was dropped is looked up in storage once more

OnRecord = Callable[[str], Awaitable[bool]]  # returns True if storage has rows of a scope; may raise StorageError


async def nothing_on_record(scope: str) -> bool:  # noqa: ARG001 (an `OnRecord`)
    """Returns False: the `OnRecord` of a process that stores nothing."""
    return False


class AnsweredScopes:
    """The set of scopes that were answered: an LRU of this process, then those that storage has rows of."""

    def __init__(self, on_record: OnRecord = nothing_on_record, most: int = MOST) -> None:
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
