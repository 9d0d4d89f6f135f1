"""Work on people's folders: of each folder in its order, off the event loop, in one thread, so that a disk that hangs
holds up nothing else. What fails is counted, and tried again where it has to be done."""

import asyncio
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeAlias, TypeVar

from proxy.files.folder import Folder
from proxy.storage.erasures import base_of
from proxy.tasks import Attempts, Tasks

T = TypeVar("T")
Work: TypeAlias = Callable[[Folder], T]

DEADLINE = 10.0  # seconds of one piece of work
WAITING = 256  # pieces of work of one folder; what need not be done is left out beyond
PAUSES = (0.5, 2.0, 10.0)  # seconds until a piece that failed is tried again


class Overrun(Exception):
    """Too much work on one folder is waiting."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of work on a folder. `done` has True once it is done, None if it failed or was left."""

    work: Work[object]
    done: "asyncio.Future[object]"
    pauses: tuple[float, ...]


class FolderWork:
    """The work that waits for folders, by scope. For the event loop. Scopes of single conversations have no folder."""

    def __init__(
        self,
        root: Path,
        tasks: Tasks,
        on_fail_open: Callable[[str, str], None],
        *,
        deadline: float = DEADLINE,
        pauses: tuple[float, ...] = PAUSES,
    ) -> None:
        self._root = root
        self._tasks = tasks
        self._on_fail_open = on_fail_open
        self._deadline = deadline
        self._pauses = pauses
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="files")
        self._waiting: dict[str, deque[Piece]] = {}  # by scope; each is worked off by a task

    @property
    def pending(self) -> int:
        """The number of pieces of work that wait, or are under way."""
        return sum(map(len, self._waiting.values()))

    async def settled(self, scope: str) -> None:
        """Returns when what has been put until now is done."""
        if waiting := self._waiting.get(scope):
            await waiting[-1].done

    def close(self) -> None:
        """Ends the thread, without waiting for a disk that hangs."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def put(self, scope: str, work: Work[object], *, must: bool = False, again: bool = True) -> Piece | None:
        """Adds a piece of work; None if there is no folder, or too much is waiting. `must`: it is done however much is
        waiting; `again`: it is tried again if it fails."""
        if base_of(scope) != scope:
            return None
        waiting, pauses = self._waiting.get(scope), self._pauses if again else ()
        if waiting is not None and len(waiting) >= WAITING and not must:
            Attempts(self._on_fail_open).call("files", _overrun, fallback=None)
            return None
        piece = Piece(work, asyncio.get_running_loop().create_future(), pauses)
        if waiting is not None:
            waiting.append(piece)
        else:
            waiting = self._waiting[scope] = deque((piece,))
            self._tasks.spawn(self._work(scope, waiting), name="files")
        return piece

    def leave(self, scope: str) -> None:
        """Leaves what waits for a folder; what is under way comes to its end."""
        waiting = self._waiting.get(scope)
        while waiting is not None and len(waiting) > 1:
            _finish(waiting.pop(), is_done=False)

    async def _work(self, scope: str, waiting: deque[Piece]) -> None:
        folder = Folder(self._root, scope)
        try:
            while waiting:
                is_done = await self._tried(folder, waiting[0])
                _finish(waiting.popleft(), is_done=is_done)
        finally:  # cancelled, perhaps
            del self._waiting[scope]
            for each in waiting:
                _finish(each, is_done=False)

    async def _tried(self, folder: Folder, piece: Piece) -> bool:
        for pause in (*piece.pauses, None):
            attempts = Attempts(self._on_fail_open)
            await attempts.run(
                "files", self._in_thread(partial(piece.work, folder)), fallback=None, deadline=self._deadline
            )
            if not attempts.failed:
                return True
            if pause is not None:
                await asyncio.sleep(pause)
        return False

    async def _in_thread(self, work: Callable[[], object]) -> None:
        await asyncio.get_running_loop().run_in_executor(self._thread, work)


def _finish(piece: Piece, *, is_done: bool) -> None:
    if not piece.done.done():
        piece.done.set_result(is_done or None)


def _overrun() -> None:
    raise Overrun
