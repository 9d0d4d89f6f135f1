"""Scopes that an upstream has answered. Before that nothing is stored for a scope, neither in memory nor on disk: a
client that invents keys, which every upstream refuses, leaves rows in one common ledger (`UNANSWERED`), no more. Where
keys are this proxy's own nobody invents one: what was asked with it, under whatever end user, is its key's to pay."""

from collections.abc import Awaitable, Callable

from proxy.lru import Lru
from proxy.types import UNANSWERED

OnRecord = Callable[[str], Awaitable[bool]]  # returns True if storage has rows of a scope; may raise StorageError
MOST_SCOPES = 50_000  # about 150 bytes each; one that was dropped is looked up in storage once more


class AnsweredScopes:
    """The set of scopes that an upstream has answered: an LRU of this process, then those that storage has rows of."""

    def __init__(self, on_record: OnRecord, most: int = MOST_SCOPES, *, are_ours: bool = False) -> None:
        """`are_ours`: only keys of this proxy get in."""
        self._on_record = on_record
        self._are_ours = are_ours
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

    def before(self, scope: str) -> str:
        """Returns the scope of rows of a scope that no upstream has answered yet: that of its key alone, if this proxy
        knows it."""
        return f"{scope.partition('/')[0]}/" if self._are_ours else UNANSWERED

    def drop(self, scope: str) -> None:
        """Removes a scope that was erased."""
        self._scopes.pop(scope, None)

    def add(self, scope: str) -> None:
        """Adds a scope that an upstream has answered with a 2xx."""
        self._scopes.put(scope, True)
