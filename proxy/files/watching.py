"""The watcher of all folders: sees that somebody has saved a file, or that memory has changed, and syncs it.

The system tells of files that were saved; a scan now and then finds what it has not told (a network share, a watcher
that died, a folder that came back) and what another process has changed in memory. Our own writes are seen as well: the
sync that follows finds nothing to do.
"""

import asyncio
import contextlib
import logging
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias, TypeVar

import watchfiles

from proxy.files.layout import IDENTITY, MEMORY, is_document
from proxy.files.looking import with_wipes
from proxy.files.merging import Deletions
from proxy.files.names import folder_of
from proxy.files.syncing import SETTLED, Synced, Syncs
from proxy.storage.base import StorageError
from proxy.tasks import Tasks

log = logging.getLogger(__name__)
T = TypeVar("T")

GATHERED = 0.2  # seconds: facts that are learnt together are written together
DEADLINE = 30.0  # seconds of one sync: a network share may hang
WIPES_EVERY = 10  # scans, of which one looks for what was put aside for long enough
TRIED_AGAIN = 10.0  # seconds after a sync that failed
_STEP, _DEBOUNCE = 300, 900  # milliseconds between two looks at what the system tells; at most, until it is quiet
_WAKES = 60_000  # milliseconds after which the watcher looks whether it is to end

# Of the files that are synced: of each the name, inode, nanoseconds, bytes.
Signature: TypeAlias = tuple[tuple[str, int, int, int], ...]
Scopes: TypeAlias = Callable[[], Awaitable[list[str]]]  # whose memory has files
Version: TypeAlias = Callable[[str], Awaitable[object]]  # of a scope's memory, as other processes have written it


@dataclass(eq=False)
class Watcher:
    """The watcher of one root folder. For the event loop."""

    syncs: Syncs
    scopes: Scopes
    version: Version
    tasks: Tasks
    scan: float  # seconds between two
    is_watching: bool = True
    again: float = TRIED_AGAIN  # seconds
    on_synced: Callable[[Synced], object] = lambda _synced: None
    on_scanned: Callable[[list[str]], object] = lambda _scopes: (
        None
    )  # gets those in whose folders a wipe has put something aside
    on_failure: Callable[[str, str], object] = lambda _stage, _reason: None
    last: dict[str, Synced] = field(default_factory=dict)  # by scope
    _due: dict[str, float] = field(default_factory=dict)  # by scope: the loop's time
    _by_folder: dict[str, str] = field(default_factory=dict)  # scopes
    _seen: dict[str, tuple[Signature, object]] = field(default_factory=dict)  # by scope, before its last sync
    _scans: int = 0
    _work: asyncio.Task[None] | None = None
    _running: list[asyncio.Task[None]] = field(default_factory=list)
    _stopping: asyncio.Event = field(default_factory=asyncio.Event)
    _watch_again: asyncio.Event = field(default_factory=asyncio.Event)  # another root stands there than is watched
    _root: int | None = None  # inode of the root that is watched

    def start(self) -> None:
        """Begins to watch and to scan. Raises OSError if the root cannot be made."""
        self.syncs.root.mkdir(parents=True, exist_ok=True)
        self._running.append(self.tasks.spawn(self._scan_always(), name="scan files"))
        if self.is_watching:
            self._running.append(self.tasks.spawn(self._watch_always(), name="watch files"))

    def stop(self) -> None:
        """Ends it, after the sync that is under way."""
        self._stopping.set()
        self._watch_again.set()
        for each in self._running:
            each.cancel()

    def changed(self, scope: str) -> None:
        """Tells that the facts or documents of a scope have changed here."""
        if "~" not in scope:
            self._later(scope, GATHERED)

    def drop(self, scope: str) -> None:
        """Removes a scope that was erased."""
        for known in (self.last, self._due, self._seen):
            known.pop(scope, None)
        self._by_folder.pop(folder_of(scope), None)

    async def sync(self, scope: str, deletions: Deletions = "ask") -> Synced:
        """Syncs one person's file now. Raises StorageError, TimeoutError."""
        self._by_folder[folder_of(scope)] = scope
        before = await self._signature(scope), await self.version(scope)
        async with asyncio.timeout(DEADLINE):
            synced = await self.syncs.sync(scope, deletions)
        if synced.problem:
            self._seen.pop(scope, None)  # the next scan tries again
        else:
            self._seen[scope] = before
        self._told(synced)
        self.on_synced(synced)
        return synced

    async def scanned(self) -> int:
        """Looks at every folder; returns the number of those that are to be synced."""
        if self._root is not None and await self._in_thread(self._inode) not in (self._root, None):
            self._watch_again.set()
        scopes = [scope for scope in await self.scopes() if "~" not in scope]
        self._by_folder.update((folder_of(scope), scope) for scope in scopes)
        signatures = await self._in_thread(lambda: [self._stat(scope) for scope in scopes])
        due = 0
        for scope, signature in zip(scopes, signatures, strict=True):
            if not signature or self._seen.get(scope) != (signature, await self.version(scope)):
                self._later(scope, 0.0)
                due += 1
        if self._scans % WIPES_EVERY == 0:
            self.on_scanned(await self._in_thread(lambda: with_wipes(self.syncs.root)))
        self._scans += 1
        return due

    async def settled(self) -> None:
        """Returns when nothing is to be synced."""
        while self._work is not None:
            await asyncio.wait({self._work})

    # --- when ---

    async def _scan_always(self) -> None:
        while not self._stopping.is_set():
            await self._scan_once()
            await asyncio.sleep(self.scan)

    async def _scan_once(self) -> None:
        try:
            await self.scanned()
        except Exception as error:  # noqa: BLE001 (whatever ails it: the next scan finds the same)
            self._failed("scan files", error)

    async def _watch_always(self) -> None:
        while not self._stopping.is_set():
            self._watch_again.clear()
            try:
                self._root = await self._in_thread(self._inode)
                # It runs once the system has been asked to tell, and finds what was saved before that.
                self.tasks.spawn(self._scan_once(), name="scan files")
                async for changes in watchfiles.awatch(
                    self.syncs.root,
                    watch_filter=None,
                    debounce=_DEBOUNCE,
                    step=_STEP,
                    stop_event=self._watch_again,
                    rust_timeout=_WAKES,
                    ignore_permission_denied=True,
                ):
                    for _, path in changes:
                        self._saved(path)
                continue
            except Exception as error:  # noqa: BLE001 (too many folders, a root that vanished: the scan goes on)
                self._failed("watch files", error)
            await asyncio.sleep(self.scan)

    def _inode(self) -> int | None:
        try:
            return self.syncs.root.stat().st_ino
        except OSError:
            return None

    def _saved(self, path: str) -> None:
        parts = Path(os.path.relpath(path, self.syncs.root)).parts
        if len(parts) == 1:  # whose folders were there, or were written to, before it was watched is not told
            inside = f"{parts[0]}/"
            for folder, person in self._by_folder.items():
                if folder.startswith(inside):
                    self._later(person, 0.0)
        elif len(parts) == 2 or (len(parts) == 3 and is_synced(parts[2])):
            scope = self._by_folder.get("/".join(parts[:2]))
            if scope is not None:
                self._later(scope, 0.0)

    def _later(self, scope: str, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        self._due[scope] = min(loop.time() + seconds, self._due.get(scope, float("inf")))
        if self._work is None and not self._stopping.is_set():
            self._work = self.tasks.spawn(self._work_off(), name="sync files")

    async def _work_off(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            while self._due and not self._stopping.is_set():
                now = loop.time()
                scope = next((each for each, due in self._due.items() if due <= now), None)
                if scope is None:
                    wait = min(self._due.values()) - now
                    with contextlib.suppress(TimeoutError):
                        await asyncio.wait_for(self._stopping.wait(), min(wait, GATHERED))
                    continue
                del self._due[scope]
                await self._synced(scope)
        finally:
            self._work = None

    async def _synced(self, scope: str) -> None:
        loop = asyncio.get_running_loop()
        try:
            synced = await self.sync(scope)
        except (StorageError, TimeoutError, OSError) as error:
            self._failed("sync files", error)
            self._due.setdefault(scope, loop.time() + self.again)
            return
        if synced.is_unsettled:
            self._due.setdefault(scope, loop.time() + SETTLED)

    def _told(self, synced: Synced) -> None:
        """Logs a problem when it comes, and when it has gone."""
        before, self.last[synced.scope] = self.last.get(synced.scope), synced
        if (before.problem if before else "") != synced.problem:
            extra = {"folder": synced.folder, "why": synced.problem or "nothing any more"}
            log.warning("a memory file cannot be synced", extra=extra)

    def _failed(self, stage: str, error: Exception) -> None:
        self.on_failure("files", type(error).__name__)
        log.warning("memory files", extra={"stage": stage, "why": type(error).__name__})

    async def _signature(self, scope: str) -> Signature:
        return await self._in_thread(lambda: self._stat(scope))

    def _stat(self, scope: str) -> Signature:
        return _signature(f"{self.syncs.root}/{folder_of(scope)}")

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self.syncs.executor, work)


def is_synced(name: str) -> bool:
    """Tells whether a file of that name, in a person's folder, is synced."""
    return name in (MEMORY, IDENTITY) or is_document(name)


def _signature(folder: str) -> Signature:
    try:
        with os.scandir(folder) as entries:
            found = [(entry.name, entry.stat(follow_symlinks=False)) for entry in entries if is_synced(entry.name)]
    except OSError:
        return ()
    return tuple(sorted((name, each.st_ino, each.st_mtime_ns, each.st_size) for name, each in found))
