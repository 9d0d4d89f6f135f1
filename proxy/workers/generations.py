"""A generation: the workers that serve one version of the configuration. One that ends is started again, until the
generation is told to leave."""

import asyncio
import logging
import os
import signal
import socket
import subprocess
import sys
from collections import deque
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Literal

import msgspec

from proxy.config import Config
from proxy.tasks import Tasks
from proxy.workers.channel import Order, Says, hear, pair, say
from proxy.workers.restarts import early_deaths, pause

log = logging.getLogger(__name__)

PATIENCE = 10.0  # seconds beyond twice `server.drain` that a worker has to end: requests, then what follows them
ROOT = Path(__file__).parents[2]

State = Literal["starting", "up", "ready", "leaving", "ended"]


@dataclass(slots=True, eq=False)
class Child:
    """A worker, as its supervisor sees it."""

    name: str
    process: asyncio.subprocess.Process
    channel: socket.socket
    born: float = field(default_factory=monotonic)
    state: State = "starting"
    up_at: float | None = None  # monotonic; None until it can serve
    given: deque[socket.socket] = field(default_factory=deque)  # connections that it has not taken yet


@dataclass(slots=True, eq=False)
class Generation:
    """The workers of one configuration."""

    config: Config
    file: Path | None  # of the configuration, as it was read
    server: dict[str, str | int | None]  # settings of the command line, in place of the file's
    folder: Path  # of run-time
    tasks: Tasks
    names: Callable[[], str]  # returns the next worker's name
    ended: Callable[[str], object]  # is called with the name of a worker that has ended
    changed: Callable[[], object]  # is called when one can serve, or can no longer
    returned: Callable[[socket.socket], object]  # is called with a connection that one had not taken when it ended
    serving: deque[Child] = field(default_factory=deque)  # those that can be given connections, the next one first
    deaths: int = 0  # of workers that nobody told to leave
    _children: set[Child] = field(default_factory=set)
    _leaving: asyncio.Event = field(default_factory=asyncio.Event)
    _keepers: list[asyncio.Task[None]] = field(default_factory=list)

    @property
    def count(self) -> int:
        """The number of workers that it is to have."""
        return self.config.server.workers

    @property
    def are_ready(self) -> bool:
        """True if all of its workers are warm."""
        return sum(child.state == "ready" for child in self._children) >= self.count

    def start(self) -> None:
        """Starts its workers."""
        self._keepers = [self.tasks.spawn(self._keep(), name="keep a worker") for _ in range(self.count)]

    def give(self, connection: socket.socket) -> bool:
        """Hands a connection to the worker whose turn it is, or to the next one if that is too busy. False if all are:
        then it is the caller's still."""
        for _ in range(len(self.serving)):
            child = self.serving[0]
            self.serving.rotate(-1)
            if say(child.channel, Says.CONNECTION, connection):
                child.given.append(connection)
                return True
        return False

    async def leave(self) -> None:
        """Lets all of its workers finish, and returns when they have ended."""
        self._leaving.set()
        for child in list(self._children):
            self._dismiss(child)
        late = 2 * self.config.server.drain + PATIENCE
        _, running = await asyncio.wait(self._keepers, timeout=late)
        if running:
            log.error("workers do not end: they are killed", extra={"after_seconds": late})
            self.kill()
            await asyncio.wait(running, timeout=PATIENCE)

    def kill(self) -> None:
        """Ends all of its workers at once."""
        for child in self._children:
            if child.process.returncode is None:
                child.process.kill()

    def _dismiss(self, child: Child) -> None:
        """Tells a worker to finish: there will be no other connection for it."""
        was_starting, child.state = child.state == "starting", "leaving"
        if child in self.serving:
            self.serving.remove(child)
            self.changed()
        # One that starts has nothing to finish; one whose queue is full may still hear of a signal.
        if (was_starting or not say(child.channel, Says.DRAIN)) and child.process.returncode is None:
            child.process.terminate()

    async def _keep(self) -> None:
        """Runs one worker after another."""
        early = 0
        while not self._leaving.is_set():
            served = 0.0  # seconds
            told: dict[str, str | float]
            try:
                child = await self._started()
            except OSError as error:
                was_told = False
                told = {"how": f"cannot be started: {error}"}
            else:
                status = await child.process.wait()
                was_told = child.state == "leaving"
                told = {"worker": child.name, "pid": child.process.pid, "how": _how(status)}
                served = 0.0 if child.up_at is None else monotonic() - child.up_at
                self._gone(child)
            if was_told or self._leaving.is_set():
                log.info("worker has ended", extra=told)
                continue
            self.deaths += 1
            early = early_deaths(early, served)
            seconds = pause(early)
            told |= {"served_seconds": round(served, 1), "next_in_seconds": seconds}
            log.error("worker has died: another one is started", extra=told)
            self.changed()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._leaving.wait(), seconds)

    async def _started(self) -> Child:
        ours, theirs = pair()
        name = self.names()
        order = Order(name, str(self.folder), theirs.fileno(), str(self.file) if self.file else None, self.server)
        with theirs, ExitStack() as unless_started:
            unless_started.callback(ours.close)
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-m", "proxy.workers.worker", msgspec.json.encode(order).decode()),
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                # Our own code, and a group of its own: Ctrl-C in a terminal is for the supervisor.
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT), os.getenv("PYTHONPATH"))))},
                process_group=0,
            )
            unless_started.pop_all()
        child = Child(name, process, ours)
        self._children.add(child)
        asyncio.get_running_loop().add_reader(ours, self._heard, child)
        log.info("worker is starting", extra={"worker": name, "pid": process.pid})
        if self._leaving.is_set():
            self._dismiss(child)
        return child

    def _heard(self, child: Child) -> None:
        while (message := hear(child.channel)) is not None:
            match message.says:
                case Says.UP if child.state == "starting":
                    child.state, child.up_at = "up", monotonic()
                    self.serving.append(child)
                    self.changed()
                case Says.READY if child.state == "up":
                    child.state = "ready"
                    log.info(
                        "worker is ready", extra={"worker": child.name, "seconds": round(monotonic() - child.born, 1)}
                    )
                    self.changed()
                case Says.TAKEN:
                    child.given.popleft().close()
                case Says.LEAVING:
                    self._dismiss(child)
                case Says.END:
                    self._cut_off(child)
                    return
                case _:
                    continue

    def _gone(self, child: Child) -> None:
        self._heard(child)  # what it said last
        self._cut_off(child)
        child.channel.close()
        child.state = "ended"
        self._children.discard(child)
        self.ended(child.name)

    def _cut_off(self, child: Child) -> None:
        asyncio.get_running_loop().remove_reader(child.channel)
        if child in self.serving:
            self.serving.remove(child)
        while child.given:
            self.returned(child.given.popleft())


def _how(status: int) -> str:
    """Returns how a process ended, by its exit status, as the system module tells it."""
    return f"status {status}" if status >= 0 else signal.Signals(-status).name
