"""The supervisor: the parent of the workers. It listens and hands connections on, and does nothing else for a request.

SIGTERM, SIGINT   workers finish what they have (`server.drain`), then all ends; a second one: at once
SIGHUP            the configuration is read again. If it is wrong a line says so, and all goes on as it was; else new
                  workers start, and when all are ready the old ones finish. Another host or port needs a restart.
"""

import asyncio
import itertools
import logging
import os
import shutil
import signal
import socket
import tempfile
from collections import deque
from pathlib import Path

from proxy import server
from proxy.config import Config, ConfigError, load_copy
from proxy.observe import logs
from proxy.observe.siblings import bury
from proxy.tasks import Tasks
from proxy.workers.generations import Generation

log = logging.getLogger(__name__)

READY_SECONDS = 120.0  # that new workers have to become ready: they may export a model first
BATCH = 64  # connections that are accepted before anything else has its turn
RETRY = 0.005  # seconds after which a connection that nobody could take is offered again
EXHAUSTED = 0.5  # seconds, where the system could not accept one
LONGEST_FOLDER = 80  # characters: the path of a socket may have 107

Given = dict[str, str | int | None]  # settings of the command line


def run(file: Path | None, given: Given) -> int:
    """Supervises workers until a signal ends it. Returns the exit status. Raises ConfigError."""
    try:
        folder = run_time_folder()
    except OSError as error:
        log.error("no folder for run-time files: set TMPDIR", extra={"why": str(error)})  # noqa: TRY400 (the text says it all)
        return 1
    try:
        config = load_copy(file, folder / "1.yaml", os.environ, **given)
        if (listening := server.listener(config)) is None:
            return 1
        with listening:
            listening.set_inheritable(False)
            listening.setblocking(False)
            return asyncio.run(Supervisor(file, given, folder, listening).run(config))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def run_time_folder() -> Path:
    """Returns a new private folder for sockets and what dies with the process. Raises OSError."""
    for base in (os.getenv("RUNTIME_DIRECTORY", "").split(":")[0], os.getenv("XDG_RUNTIME_DIR"), tempfile.gettempdir()):
        if base and len(base) < LONGEST_FOLDER and os.access(base, os.W_OK):
            return Path(tempfile.mkdtemp(prefix="olvido-", dir=base))  # mode 0700
    return Path(tempfile.mkdtemp(prefix="olvido-", dir="/tmp"))


class Supervisor:
    """The supervisor of one listening socket, which does not block. `folder`: of run-time; it holds `1.yaml`."""

    def __init__(self, file: Path | None, given: Given, folder: Path, listening: socket.socket) -> None:
        self._file = file
        self._given = given
        self._folder = folder
        self._listening = listening
        self._tasks = Tasks()
        self._numbers = itertools.count(2)  # of configurations
        self._names = map(str, itertools.count(1))  # of workers
        self._current: Generation
        self._changed = asyncio.Event()
        self._reload = asyncio.Event()
        self._end = asyncio.Event()
        self._status = 0
        self._is_accepting = False
        self._held: deque[socket.socket] = deque()  # accepted, and nobody could take them yet
        self._retry: asyncio.TimerHandle | None = None
        self._all: list[Generation] = []
        self._is_new = True  # nothing was ever served

    async def run(self, config: Config) -> int:
        """Serves with this configuration until a signal ends it. Returns the exit status."""
        loop = asyncio.get_running_loop()
        for each, does in (
            (signal.SIGTERM, self._told_to_end),
            (signal.SIGINT, self._told_to_end),
            (signal.SIGHUP, self._reload.set),
        ):
            loop.add_signal_handler(each, does)
        self._current = self._generation(config, self._folder / "1.yaml")
        self._current.start()
        reloading = self._tasks.spawn(self._reloads(), name="reload")
        await self._end.wait()
        reloading.cancel()
        self._stop_accepting()
        await asyncio.gather(*(each.leave() for each in self._all))
        return self._status

    def _generation(self, config: Config, copy: Path) -> Generation:
        made = Generation(
            config=config,
            file=copy if self._file else None,
            server=self._given,
            folder=self._folder,
            tasks=self._tasks,
            names=lambda: next(self._names),
            ended=self._bury,
            changed=self._look,
            returned=self._returned,
        )
        self._all.append(made)
        return made

    # --- signals ------------------------------------------------------------------------------------------------------

    def _told_to_end(self) -> None:
        if self._end.is_set():
            log.warning("told to end again: workers are killed")
            for each in self._all:
                each.kill()
        self._end.set()

    async def _reloads(self) -> None:
        while True:
            await self._reload.wait()
            self._reload.clear()
            try:
                await self._reload_once()
            except Exception:
                log.exception("reload failed: all goes on as it was")

    async def _reload_once(self) -> None:
        copy = self._folder / f"{next(self._numbers)}.yaml"
        try:
            config = await asyncio.to_thread(load_copy, self._file, copy, os.environ, **self._given)
        except ConfigError as error:
            log.error("not reloaded: the configuration is wrong, the old one stays in force", extra={"why": str(error)})  # noqa: TRY400 (the text says it all)
            return
        now, wanted = self._current.config.server, config.server
        if (now.host, now.port) != (wanted.host, wanted.port):
            log.error(
                "not reloaded: another server.host or server.port needs a restart",
                extra={"listens_on": f"{now.host}:{now.port}", "wanted": f"{wanted.host}:{wanted.port}"},
            )
            return
        log.info("reloading: new workers are starting", extra={"workers": wanted.workers})
        logs.setup(config.log.level, config.log.format)
        old, new = self._current, self._generation(config, copy)
        new.start()
        if not await self._are_ready(new):
            logs.setup(old.config.log.level, old.config.log.format)
            log.error("not reloaded: the new workers do not become ready, the old ones go on")
            await self._leave(new)
            return
        self._current = new
        log.info("reloaded: old workers finish what they have")
        self._tasks.spawn(self._leave(old), name="leave")

    async def _are_ready(self, new: Generation) -> bool:
        """Waits for all workers of a generation. False if one of them dies, or it takes too long."""
        try:
            async with asyncio.timeout(READY_SECONDS):
                while not new.are_ready and not new.deaths:
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            return False
        return not new.deaths

    async def _leave(self, generation: Generation) -> None:
        await generation.leave()
        self._all.remove(generation)

    def _bury(self, name: str) -> None:
        try:
            bury(self._folder, name)
        except OSError as error:
            log.warning("what a worker counted cannot be kept", extra={"worker": name, "why": str(error)})

    # --- connections --------------------------------------------------------------------------------------------------

    def _look(self) -> None:
        """Looks at the workers again: some can serve that could not, or the other way round."""
        self._changed.set()
        current = self._current
        if current.serving:
            self._is_new = False
            self._start_accepting()
        elif self._is_new and current.deaths >= current.count:
            log.error("no worker can start")
            self._status = 1
            self._end.set()

    def _start_accepting(self) -> None:
        if not self._is_accepting and self._retry is None and not self._end.is_set():
            self._is_accepting = True
            asyncio.get_running_loop().add_reader(self._listening, self._accept)

    def _pause(self, seconds: float) -> None:
        self._unlisten()
        self._retry = asyncio.get_running_loop().call_later(seconds, self._again)

    def _again(self) -> None:
        self._retry = None
        self._start_accepting()
        self._accept()

    def _unlisten(self) -> None:
        if self._is_accepting:
            self._is_accepting = False
            asyncio.get_running_loop().remove_reader(self._listening)

    def _stop_accepting(self) -> None:
        self._accept()  # those that wait already
        self._unlisten()
        if self._retry is not None:
            self._retry.cancel()
        for connection in self._held:
            connection.close()
        self._listening.close()

    def _returned(self, connection: socket.socket) -> None:
        self._held.append(connection)
        if self._end.is_set():
            connection.close()
        elif self._retry is None:
            self._pause(RETRY)

    def _accept(self) -> None:
        """Hands on the connections that wait. Without a worker they go on waiting, in the kernel's queue."""
        for _ in range(BATCH):
            if not self._current.serving:
                self._unlisten()
                return
            try:
                connection = self._held[0] if self._held else self._listening.accept()[0]
            except (BlockingIOError, ConnectionAbortedError):
                return
            except OSError as error:
                log.error("cannot accept connections for a moment", extra={"why": str(error)})  # noqa: TRY400 (the text says it all)
                self._pause(EXHAUSTED)
                return
            is_held = bool(self._held)
            if not self._current.give(connection):
                if not is_held:
                    self._held.append(connection)
                self._pause(RETRY)
                return
            if is_held:
                self._held.popleft()
