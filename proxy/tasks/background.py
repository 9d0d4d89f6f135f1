"""Background tasks, which are kept, named, logged when they fail, and drained at the end. Nothing else starts any."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any

log = logging.getLogger(__name__)


class Tasks:
    """The background tasks of one server. A task without a reference could be garbage-collected mid-flight, and its
    exception shown only then."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[Any]] = set()

    def __len__(self) -> int:
        return len(self._running)

    def spawn(self, work: Coroutine[Any, Any, Any], *, name: str) -> asyncio.Task[Any]:
        """Starts `work` in the background."""
        task = asyncio.get_running_loop().create_task(work, name=name)
        self._running.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._running.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("background task failed", extra={"task": task.get_name()}, exc_info=error)

    async def drain(self, seconds: float) -> int:
        """Waits up to `seconds` for all tasks, then cancels the rest. Returns how many were cancelled."""
        deadline = asyncio.get_running_loop().time() + seconds
        # Draining tasks may spawn others (a stream's end spawns its recording), so look again until none is left.
        while self._running and (left := deadline - asyncio.get_running_loop().time()) > 0:
            await asyncio.wait(set(self._running), timeout=left)
        late = set(self._running)
        for task in late:
            task.cancel()
        if late:
            await asyncio.gather(*late, return_exceptions=True)
        return len(late)


class Repeating:
    """Work that is done again and again, `seconds` apart, in a task of its own each time: in between there is nothing
    that would have to be drained. A failure is logged, and the next time is not put off by it."""

    def __init__(self, tasks: Tasks, work: Callable[[], Coroutine[Any, Any, None]], seconds: float, name: str) -> None:
        self._tasks = tasks
        self._work = work
        self._seconds = seconds
        self._name = name
        self._timer: asyncio.TimerHandle | None = None
        self._is_stopped = False

    def start(self, after: float = 0.0) -> None:
        """Begins, after so many seconds."""
        self._timer = asyncio.get_running_loop().call_later(after, self._begin)

    def stop(self) -> None:
        """Ends it; work that is under way comes to its end."""
        self._is_stopped = True
        if self._timer is not None:
            self._timer.cancel()

    def _begin(self) -> None:
        self._tasks.spawn(self._once(), name=self._name)

    async def _once(self) -> None:
        try:
            await self._work()
        finally:
            if not self._is_stopped:
                self.start(self._seconds)
