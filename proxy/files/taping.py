"""Tapes of all people on disk: what the store of desks has of a person's sessions, carried into their folder.

    the store's news behind what is written → the folder is locked → lines are appended, or lose their content
    → the number of the last news is written

Several processes do it at once, and may be killed at any step: under the lock the number is read again, and what stands
in the files already is not written again. What the store has no more (its time is over, a wipe) leaves the disk; what
tells something else than the store is written anew.
"""

import asyncio
import logging
import os
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TypeVar

from proxy.files import aside, handles, tape
from proxy.files.folder import Folder
from proxy.files.layout import SESSIONS
from proxy.files.looking import owners
from proxy.files.unusable import Unusable
from proxy.storage.base import StorageError
from proxy.storage.desk import DeskStore
from proxy.tasks import Tasks
from proxy.types.desk import TapeLine

log = logging.getLogger(__name__)
T = TypeVar("T")

DONE = ".written"  # in the folder of sessions: the number of the last news that are in the files
AT_ONCE = 200  # news that are read at once
MOST_SESSIONS = 100_000  # of a person
TRIES = 3  # to write tapes from the beginning
GATHERED = 0.5  # seconds in which news of one person gather

News = Sequence[tuple[int, str, TapeLine]]  # number, session, line


@dataclass(eq=False)
class Taping:
    """The tapes of all people below one root. For the event loop."""

    root: Path
    desks: DeskStore
    executor: Executor  # of one thread: a lock belongs to the one that took it
    tasks: Tasks
    most: int  # bytes from which on a file is put behind
    scan: float = 60.0  # seconds between two looks at all of them: what other processes have changed, or a kill cut off
    on_failure: Callable[[str, str], None] = lambda _stage, _why: None
    on_step: Callable[[str], None] = lambda _step: None  # called before each step, in the thread
    gathered: float = GATHERED
    _due: dict[str, None] = field(default_factory=dict)  # scopes, in the order in which they came
    _work: asyncio.Task[None] | None = None
    _scans: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begins to look at all of them now and then."""
        self._scans = self.tasks.spawn(self._scan_always(), name="scan tapes")

    def stop(self) -> None:
        """Ends that."""
        if self._scans is not None:
            self._scans.cancel()

    def changed(self, scope: str) -> None:
        """Tells that the tapes of a scope have news."""
        if "~" in scope or not self.desks.keeps:
            return
        self._due[scope] = None
        if self._work is None:
            self._work = self.tasks.spawn(self._work_off(), name="tapes")

    def drop(self, scope: str) -> None:
        """Leaves the work on a person who was erased."""
        self._due.pop(scope, None)

    async def settled(self) -> None:
        """Returns when there is nothing to do."""
        while self._work is not None:
            await asyncio.wait({self._work})

    async def scanned(self) -> None:
        """Looks at the tapes of all people who have some."""
        owned = await self._in_thread(lambda: owners(self.root))
        for folder, scope in owned.items():
            if await self._in_thread((self.root / folder / SESSIONS).is_dir):
                self.changed(scope)

    async def carry(self, scope: str) -> None:
        """Brings the tapes of a person to what the store says. Raises StorageError, Unusable."""
        folder = Folder(self.root, scope)
        done = await self._in_thread(partial(self._done, folder))
        begun = 0
        while begun < TRIES and (news := await self.desks.unwritten(scope, done, AT_ONCE)):
            before, done = done, await self._in_thread(partial(self._carried, folder, done, news))
            begun += done <= before  # from the beginning: what stood there was another tape, or was removed
        if done:
            known = [card.session for card in await self.desks.sessions(scope, MOST_SESSIONS)]
            await self._in_thread(partial(self._tidied, folder, done, frozenset(map(tape.folder_of, known))))

    # --- in the thread ------------------------------------------------------------------------------------------------

    def _done(self, folder: Folder) -> int:
        """Returns the number of the last news that are in the files; 0 where there are none."""
        try:
            return int((folder.path / SESSIONS / DONE).read_text("ascii"))
        except (OSError, ValueError):
            return 0

    def _carried(self, folder: Folder, after: int, news: News) -> int:
        """Writes news that were read behind `after`. Returns the number of the last that are in the files now."""
        with folder.within(SESSIONS) as sessions:
            done = self._done(folder)
            if done < after:  # a person has removed it: from the beginning
                return done
            left = [each for each in news if each[0] > done]
            if not left:
                return done
            by_session: dict[str, list[TapeLine]] = {}
            for _, session, line in left:
                by_session.setdefault(session, []).append(line)
            try:
                for session, lines in by_session.items():
                    self.on_step("lines")
                    with handles.folder(sessions, tape.folder_of(session), SESSIONS, make=True) as at:
                        tape.write(at, lines, self.most)
            except tape.Stale:
                self._clear(sessions)
                return 0
            self.on_step("number")
            self._note(sessions, left[-1][0])
            return left[-1][0]

    def _tidied(self, folder: Folder, done: int, known: Collection[str]) -> None:
        """Removes sessions that the store has no more, unless others have written since."""
        names = [each for each in _names(folder) if each not in known and not each.startswith(".")]
        if names:
            with folder.within(SESSIONS) as sessions:
                if self._done(folder) == done:
                    for name in names:
                        aside.clear(sessions, name)

    def _note(self, sessions: int, number: int) -> None:
        new = f"{DONE}.new"
        aside.clear(sessions, new)
        descriptor = handles.create(sessions, new)
        try:
            handles.written(descriptor, str(number).encode("ascii"))
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.replace(new, DONE, src_dir_fd=sessions, dst_dir_fd=sessions)

    def _clear(self, sessions: int) -> None:
        aside.clear(sessions, DONE)  # first: after a kill all is written anew
        for name in handles.names(sessions):
            aside.clear(sessions, name)

    # --- on the loop --------------------------------------------------------------------------------------------------

    async def _work_off(self) -> None:
        try:
            while self._due:
                await asyncio.sleep(self.gathered)
                for scope in list(self._due):
                    self._due.pop(scope, None)
                    await self._tried(scope)
        finally:
            self._work = None

    async def _scan_always(self) -> None:
        while True:
            try:
                await self.scanned()
            except OSError as error:  # the next scan finds the same
                self.on_failure("files", type(error).__name__)
            await asyncio.sleep(self.scan)

    async def _tried(self, scope: str) -> None:
        try:
            await self.carry(scope)
        except (StorageError, Unusable, OSError) as error:  # the next news, or the next scan, tries again
            self.on_failure("files", type(error).__name__)
            log.warning("tapes", extra={"why": type(error).__name__})

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self.executor, work)


def _names(folder: Folder) -> list[str]:
    try:
        return [each.name for each in (folder.path / SESSIONS).iterdir()]
    except OSError:
        return []
