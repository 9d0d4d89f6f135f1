"""Looking again and again at what other processes have changed in a database, where nothing tells of it. A database
that is away is looked at the next time: whoever writes and reads tells of its failure."""

from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

from proxy.storage.base import StorageError
from proxy.tasks import Repeating, Tasks


class Looking:
    """Looks, `seconds` apart, from `start` to `stop`; `look` may raise StorageError."""

    def __init__(self, look: Callable[[], Coroutine[Any, Any, None]], seconds: float, name: str) -> None:
        self._look = look
        self._seconds = seconds
        self._name = name
        self._repeating: Repeating | None = None

    def start(self, tasks: Tasks, after: float = 0.0) -> None:
        """Begins, after so many seconds; does nothing if it has begun."""
        if self._repeating is None:
            self._repeating = Repeating(tasks, self.once, self._seconds, self._name)
            self._repeating.start(after)

    def stop(self) -> None:
        """Ends it; a look that is under way comes to its end."""
        if self._repeating is not None:
            self._repeating.stop()
            self._repeating = None

    async def once(self) -> None:
        """Looks once, unless the database is away."""
        with suppress(StorageError):
            await self._look()
