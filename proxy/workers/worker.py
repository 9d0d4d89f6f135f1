"""`python -m proxy.workers.worker ORDER`: a worker. It serves the connections that its supervisor hands to it, and
finishes them when it is told to, by a signal, or by the supervisor's end."""

import asyncio
import logging
import os
import shutil
import signal
import socket
import sys
from contextlib import suppress
from pathlib import Path
from time import monotonic
from types import FrameType
from typing import Any

import msgspec
import uvicorn
import uvloop

from proxy import config as configuration
from proxy import server
from proxy.app import create_app
from proxy.observe import logs
from proxy.observe.siblings import Worker
from proxy.tasks import Tasks
from proxy.workers.channel import Order, Received, Says, hear, say

log = logging.getLogger(__name__)

FAREWELL = 1.0  # seconds that idle connections may still be asked something while it ends
UNHEARD = 1.0  # seconds that it waits for an answer of the supervisor
WARM = 20.0  # seconds that the embedding model is waited for before it calls itself ready
LOOK = 0.05  # seconds


class WorkerServer(uvicorn.Server):
    """uvicorn without a listening socket: its connections come through the channel."""

    channel: socket.socket
    is_orphan = False  # the supervisor has ended

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._tasks = Tasks()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002 (uvicorn's)
        """Leaves in order: the supervisor stops handing over connections, then says so."""
        if not say(self.channel, Says.LEAVING):
            self.should_exit = True
        with suppress(RuntimeError):
            asyncio.get_running_loop().call_later(UNHEARD, self._drain)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Starts the application, and listens to the channel."""
        await super().startup(sockets=sockets or [])
        self.channel.setblocking(False)
        asyncio.get_running_loop().add_reader(self.channel, self._heard)
        say(self.channel, Says.UP)
        self._tasks.spawn(self._warm_up(), name="tell that it is ready")

    def _drain(self) -> None:
        self.should_exit = True

    def _heard(self) -> None:
        while (message := hear(self.channel)) is not None:
            match message.says:
                case Says.CONNECTION:
                    self._take(message)
                case Says.DRAIN:
                    self._drain()
                case _:
                    asyncio.get_running_loop().remove_reader(self.channel)
                    if not self.should_exit:
                        log.warning("the supervisor has ended: this worker finishes, and ends")
                    self.is_orphan = True
                    self._drain()
                    return

    def _take(self, message: Received) -> None:
        say(self.channel, Says.TAKEN)
        if message.connection is None:
            log.error("a connection is refused: no file descriptor is left (ulimit -n, LimitNOFILE)")
            return
        message.connection.setblocking(False)
        self._tasks.spawn(self._serve_on(message.connection), name="connection")

    async def _serve_on(self, connection: socket.socket) -> None:
        try:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            await asyncio.get_running_loop().connect_accepted_socket(self._protocol, connection)
        except OSError:
            connection.close()  # its client has left

    def _protocol(self) -> asyncio.Protocol:
        made: asyncio.Protocol = self.config.http_protocol_class(  # type: ignore[call-arg]  # as uvicorn itself
            config=self.config, server_state=self.server_state, app_state=self.lifespan.state
        )
        return made

    async def _warm_up(self) -> None:
        services = self.config.app.state.services  # type: ignore[union-attr]  # our own application
        until = monotonic() + WARM

        def is_ready() -> bool:  # neither tells when it changes
            is_warming = services.intent.embedder.state == "warming" and monotonic() < until
            return not is_warming and services.storage.failing is None  # as `/readyz` says

        while not is_ready():  # noqa: ASYNC110 (there is no event)
            await asyncio.sleep(LOOK)
        say(self.channel, Says.READY)


def main(order: Order) -> int:
    """Serves until it is told to end. Returns the exit status."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # it is for the supervisor
    name_records(order.name)
    try:
        config = configuration.load(Path(order.config) if order.config else None, os.environ, **order.server)
    except configuration.ConfigError as error:  # it was right a moment ago: the supervisor, and its folder, are gone
        sys.stderr.write(f"{error}\n")
        return 2
    logs.setup(config.log.level, config.log.format)
    server.prepare()
    folder = Path(order.folder)
    app = create_app(config, Worker(order.name, folder))
    running = server.server(config, app, kind=WorkerServer, farewell=FAREWELL)
    assert isinstance(running, WorkerServer)
    running.channel = socket.socket(fileno=order.channel)
    with suppress(KeyboardInterrupt), asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(running.serve())
    if running.is_orphan and not list(folder.glob("*.sock")):
        shutil.rmtree(folder, ignore_errors=True)  # the last one
    return 0 if running.started else 1


def name_records(name: str) -> None:
    """Adds the worker's name to every log record of this process."""
    make = logging.getLogRecordFactory()

    def named(*arguments: Any, **more: Any) -> logging.LogRecord:
        record = make(*arguments, **more)
        record.worker = name
        return record

    logging.setLogRecordFactory(named)


if __name__ == "__main__":
    sys.exit(main(msgspec.json.decode(sys.argv[1], type=Order)))
