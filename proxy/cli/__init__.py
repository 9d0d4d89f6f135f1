"""The command `olvido` and its subcommands.

db.py        `olvido db`: schema of a shared database, copy of a storage folder into it
doctor.py    `olvido doctor`: checks installation, storage, port and upstreams
servers.py   what the doctor finds out about PostgreSQL and Redis
memory.py    `olvido memory`: facts in a terminal, read and written in the storage folder or the shared database
memory_files.py   `olvido memory files`: memory as files, their state and syncs by hand
memory_jobs.py    `olvido memory jobs`, `digest`, `undo`: what the model of memory did, and its undoing
memory_desk.py    `olvido memory sections`, `log`, `reset`: the desk that a model keeps
remembered.py     what these share: whose memory, its stores, the terminal
keys.py      `olvido keys`: keys that this proxy gives out
erase.py     `olvido erase`: an end user erased from every place, and the report
opened.py    the database of a command, of the kind that the configuration names
"""

import argparse
import asyncio
import logging
import os
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

import msgspec

from proxy import config as configuration
from proxy.cli import db as db_cli
from proxy.cli import doctor
from proxy.cli import erase as erase_cli
from proxy.cli import keys as keys_cli
from proxy.cli import memory as memory_cli
from proxy.config import Config, ConfigError
from proxy.config.source import Problem
from proxy.curation.prompts import Prompts
from proxy.desk.identity import Identity as Rules
from proxy.observe import logs

log = logging.getLogger("olvido")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit status. `arguments`: those of the process, if None."""
    parser = _parser()
    options = parser.parse_args(arguments)
    try:
        return int(options.run(options))
    except ConfigError as error:
        print(error, file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="olvido", description="An OpenAI-compatible proxy that manages context.")
    parser.add_argument("--version", action="version", version=f"olvido {version('olvido')}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    serve = commands.add_parser("serve", help="run the proxy")
    _config_option(serve)
    serve.add_argument("--host", help="address to listen on, instead of the configuration's")
    serve.add_argument("--port", type=int, help="port to listen on, instead of the configuration's")
    serve.add_argument("--workers", type=_positive, help="processes that serve, instead of the configuration's")
    serve.set_defaults(run=_serve)

    demo = commands.add_parser("demo", help="see it work, without a key: a scripted upstream behind the real proxy")
    demo.add_argument("--port", type=int, default=8484, help="port of the proxy (0: any free one)")
    demo.add_argument("--exit", action="store_true", help="stop after the table instead of leaving the proxy running")
    demo.add_argument("--short", action="store_true", help="40 turns instead of 200")
    demo.add_argument("--cluster", action="store_true", help="four proxies over one PostgreSQL and one Redis")
    demo.add_argument("--agent", action="store_true", help="an agent of 80 steps that keeps its own memory")
    demo.set_defaults(run=_demo)

    check = commands.add_parser("check-config", help="check a configuration file, or print the schema for editors")
    check.add_argument("file", nargs="?", type=Path)
    check.add_argument("--schema", action="store_true", help="print the JSON Schema of the configuration")
    check.set_defaults(run=_check_config)

    replaying = commands.add_parser("replay", help="what would have been saved on requests of a log; none is sent")
    _config_option(replaying)
    replaying.add_argument(
        "file", metavar="FILE", type=Path, help="requests, a JSON object a line; - is standard input"
    )
    replaying.add_argument("--json", action="store_true", help="one JSON object instead of tables")
    replaying.add_argument("--show", action="store_true", help="what became of every message of every request, and why")
    replaying.add_argument("--no-embedding", action="store_true", help="old turns are found by their words alone")
    replaying.set_defaults(run=_replay)

    memory = commands.add_parser("memory", help="list, show, forget, confirm, export, import what is remembered")
    memory_cli.add_commands(memory, _config_option)

    keys = commands.add_parser("keys", help="create, list and revoke keys of this proxy")
    keys_cli.add_commands(keys, _config_option)

    erase = commands.add_parser("erase", help="erase an end user from everything that is kept, with a report")
    _config_option(erase)
    erase_cli.add_options(erase)

    database = commands.add_parser(
        "db", help="the shared database: its schema, and the copy of a storage folder into it"
    )
    db_cli.add_commands(database, _config_option)

    bench = commands.add_parser("bench", help="what the proxy costs on this machine, in about a minute; needs no key")
    _config_option(bench)
    bench.add_argument("--json", action="store_true", help="one JSON object, with the numbers of every round")
    bench.add_argument(
        "--rounds", type=_positive, help="how often each row is measured (default: while a minute lasts)"
    )
    bench.add_argument("--requests", type=_positive, default=96, help="requests of a row and round (default: 96)")
    bench.set_defaults(run=_bench)

    diagnose = commands.add_parser("doctor", help="check the installation, the storage and the upstreams")
    _config_option(diagnose)
    diagnose.set_defaults(run=lambda options: doctor.run(options.config))
    return parser


def _config_option(parser: argparse.ArgumentParser) -> None:
    default = os.environ.get("OLVIDO_CONFIG")
    parser.add_argument(
        "--config", type=Path, default=Path(default) if default else None, metavar="FILE",
        help="configuration (default: $OLVIDO_CONFIG, else built-in defaults)",
    )  # fmt: skip


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


def _serve(options: argparse.Namespace) -> int:
    given = {"host": options.host, "port": options.port, "workers": options.workers}
    config = _with_prompts(configuration.load(options.config, os.environ, **given), options.config)
    logs.setup(config.log.level, config.log.format)
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


def _demo(options: argparse.Namespace) -> int:
    from proxy.demo import cluster, desk, show  # noqa: PLC0415 (only the demo needs it)

    logs.setup("warning", "text")
    if options.agent:
        return desk.run()
    if options.cluster:
        return cluster.run(stay=not options.exit, short=options.short)
    return show.run(options.port, stay=not options.exit, short=options.short)


def _replay(options: argparse.Namespace) -> int:
    from proxy.replay import command  # noqa: PLC0415 (only the replay needs it)

    return command.run(options)


def _bench(options: argparse.Namespace) -> int:
    from proxy.bench import command  # noqa: PLC0415 (only the bench needs it)

    return command.run(options)


def _check_config(options: argparse.Namespace) -> int:
    if options.schema:
        print(msgspec.json.format(msgspec.json.encode(configuration.json_schema()), indent=2).decode())
        return 0
    if options.file is None:
        print("olvido check-config: name a FILE, or ask for the --schema", file=sys.stderr)
        return 2
    _with_prompts(configuration.load(options.file, os.environ), options.file)
    print(f"{options.file}: valid")
    return 0


def _with_prompts(config: Config, path: Path | None) -> Config:
    """Returns the configuration, if the prompts and rules that it names can be read. Raises ConfigError."""
    model, tools = config.memory.model, config.memory.tools
    read: list[tuple[tuple[str, ...], Callable[[], object]]] = [
        (("memory", "tools", "identity"), lambda: Rules(tools.identity))
    ]
    if model is not None:
        read.append((("memory", "model", "prompts"), lambda: Prompts(model.prompts)))
    for where, reading in read:
        try:
            reading()
        except ValueError as error:
            raise ConfigError(str(path) if path else "configuration", [Problem(where, str(error))]) from None
    return config


if __name__ == "__main__":
    sys.exit(main())
