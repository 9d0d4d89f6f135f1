"""The command `olvido serve`: one process, or a supervisor of several."""

import argparse
import asyncio
import logging
import os
import signal
from collections.abc import Callable
from contextlib import suppress

from proxy.cli import check_config
from proxy.config import Config
from proxy.observe import logs

log = logging.getLogger("olvido")


def add_options(parser: argparse.ArgumentParser, positive: Callable[[str], int]) -> None:
    """Adds the options of `olvido serve` to `parser`. `positive` reads a number from 1 on."""
    parser.add_argument("--host", help="address to listen on, instead of the configuration's")
    parser.add_argument("--port", type=int, help="port to listen on, instead of the configuration's")
    parser.add_argument("--workers", type=positive, help="processes that serve, instead of the configuration's")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Runs the command; returns its exit status. Raises ConfigError."""
    given = {"host": options.host, "port": options.port, "workers": options.workers}
    config, notes = check_config.load(options.config, os.environ, **given)
    logs.setup(config.log.level, config.log.format)
    for note in notes:
        log.warning(note)
    if config.server.workers == 1:
        return serve(config)
    from proxy.workers import supervisor  # noqa: PLC0415 (only it needs it)

    return supervisor.run(options.config, given)


def serve(config: Config) -> int:
    """Serves until a signal ends it; then lets streams and background work finish. Returns the exit status."""
    import uvloop  # noqa: PLC0415 (the other commands neither need it nor wait for it)

    from proxy import server  # noqa: PLC0415 (as above)

    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # until somebody is there to say so
    if (sock := server.listener(config)) is None:
        return 1
    server.prepare()
    running = server.server(config)
    with suppress(KeyboardInterrupt), asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.get_loop().add_signal_handler(signal.SIGHUP, _hung_up)
        runner.run(running.serve(sockets=[sock]))
    return 0 if running.started else 1


def _hung_up() -> None:
    """Logs that SIGHUP is ignored: nothing is read again while it serves, and by default it would end the process."""
    log.warning("SIGHUP is ignored: restart to read the configuration again; with server.workers above 1 it is read")
