"""The table of commands. A command is a row of `GROUPS`: its name, a line of help, and what adds its options and sets
`run`, which takes the options and returns the exit status.

What a command needs is imported when its options are added, which is only when it is called: `olvido --help` and shells
do not wait for pipelines and databases.
"""

import argparse
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from proxy import bounded


@dataclass(frozen=True, slots=True)
class Command:
    """A command. `add` adds its options to its parser and sets `run`."""

    name: str
    help: str
    add: Callable[[argparse.ArgumentParser], None]
    is_configured: bool = True  # it takes --config


def config_option(parser: argparse.ArgumentParser) -> None:
    """Adds --config to a parser."""
    default = os.environ.get("OLVIDO_CONFIG")
    parser.add_argument(
        "--config", type=Path, default=Path(default) if default else None, metavar="FILE",
        help="configuration (default: $OLVIDO_CONFIG, else built-in defaults)",
    )  # fmt: skip


def positive(text: str) -> int:
    """Returns the number of an option that counts something. Raises ValueError below 1."""
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


def _add_serve(parser: argparse.ArgumentParser) -> None:
    from proxy.cli import serving  # noqa: PLC0415 (who asks for another command does not wait for it; so below)

    serving.add_options(parser, positive)


def _add_demo(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--port", type=int, default=8484, help="port of the proxy (0: any free one)")
    parser.add_argument("--exit", action="store_true", help="stop after the table instead of leaving the proxy running")
    parser.add_argument("--short", action="store_true", help="40 turns instead of 200")
    parser.add_argument("--cluster", action="store_true", help="four proxies over one PostgreSQL and one Redis")
    parser.add_argument("--agent", action="store_true", help="an agent of 80 steps that keeps its own memory")
    apis = ("chat", "responses", "messages")
    parser.add_argument("--api", choices=apis, default="chat", help="the API in which the proxy is asked")
    parser.set_defaults(run=_demo)


def _demo(options: argparse.Namespace) -> int:
    from proxy.demo import cluster, desk, show  # noqa: PLC0415 (as above)
    from proxy.observe import logs  # noqa: PLC0415 (as above)

    logs.setup("warning", "text")
    if options.agent:
        return desk.run()
    if options.cluster:
        return cluster.run(stay=not options.exit, short=options.short)
    return show.run(options.port, stay=not options.exit, short=options.short, api=options.api)


def _add_replay(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "files", metavar="FILE", type=Path, nargs="+",
        help="a log: JSON lines or arrays of OpenAI bodies, Helicone, Langfuse, LiteLLM, batches, or this page's own "
        "export; .gz too; - is standard input",
    )  # fmt: skip
    parser.add_argument(
        "--details", action="store_true", help="tokens and costs by model and mechanism, at other prices"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object instead of tables")
    parser.add_argument("--show", action="store_true", help="what became of every message of every request, and why")
    parser.add_argument("--no-embedding", action="store_true", help="old turns are found by their words alone")
    parser.add_argument(
        "--most-mb", metavar="MB", type=positive, default=bounded.MOST // 2**20,
        help="a longer log is refused, by its decompressed size: it is read into memory, several times its size "
        "(default: %(default)s)",
    )  # fmt: skip
    parser.set_defaults(run=_replay)


def _replay(options: argparse.Namespace) -> int:
    from proxy.replay import command  # noqa: PLC0415 (as above)

    return command.run(options)


def _add_bench(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="one JSON object, with the numbers of every round")
    parser.add_argument(
        "--rounds", type=positive, help="how often each row is measured (default: while a minute lasts)"
    )
    parser.add_argument("--requests", type=positive, default=96, help="requests of a row and round (default: 96)")
    parser.set_defaults(run=_bench)


def _bench(options: argparse.Namespace) -> int:
    from proxy.bench import command  # noqa: PLC0415 (as above)

    return command.run(options)


def _add_check_config(parser: argparse.ArgumentParser) -> None:
    from proxy.cli import check_config  # noqa: PLC0415 (as above)

    check_config.add_options(parser)


def _add_doctor(parser: argparse.ArgumentParser) -> None:
    from proxy.cli import doctor  # noqa: PLC0415 (as above)

    parser.set_defaults(run=lambda options: doctor.run(options.config))


def _add_memory(parser: argparse.ArgumentParser) -> None:
    from proxy.cli import memory  # noqa: PLC0415 (as above)

    memory.add_commands(parser, config_option)


def _add_export(parser: argparse.ArgumentParser) -> None:
    from proxy.cli import export  # noqa: PLC0415 (as above)

    export.add_options(parser)


def _add_erase(parser: argparse.ArgumentParser) -> None:
    from proxy.cli import erase  # noqa: PLC0415 (as above)

    erase.add_options(parser)


def _add_backup(parser: argparse.ArgumentParser) -> None:
    from proxy.cli import backup  # noqa: PLC0415 (as above)

    backup.add_backup(parser)


def _add_restore(parser: argparse.ArgumentParser) -> None:
    from proxy.cli import backup  # noqa: PLC0415 (as above)

    backup.add_restore(parser)


def _add_database(parser: argparse.ArgumentParser) -> None:
    from proxy.cli import db  # noqa: PLC0415 (as above)

    db.add_commands(parser, config_option)


def _add_keys(parser: argparse.ArgumentParser) -> None:
    from proxy.cli import keys  # noqa: PLC0415 (as above)

    keys.add_commands(parser, config_option)


def _add_completion(parser: argparse.ArgumentParser) -> None:
    from proxy.cli import completion  # noqa: PLC0415 (as above)

    completion.add_options(parser)


GROUPS: tuple[tuple[str, tuple[Command, ...]], ...] = (
    (
        "run",
        (
            Command("serve", "run the proxy", _add_serve),
            Command(
                "demo",
                "see it work, without a key: a scripted upstream behind the real proxy",
                _add_demo,
                is_configured=False,
            ),
        ),
    ),
    (
        "check",
        (
            Command(
                "check-config",
                "check a configuration file, or print the schema for editors",
                _add_check_config,
                is_configured=False,
            ),
            Command("doctor", "check the installation, the storage and the upstreams", _add_doctor),
        ),
    ),
    (
        "measure",
        (
            Command("replay", "what would have been saved on requests of a log; none is sent", _add_replay),
            Command("bench", "what the proxy costs on this machine, in about a minute; needs no key", _add_bench),
        ),
    ),
    (
        "what is kept",
        (
            Command(
                "memory",
                "list, add, edit, forget, confirm, export, import what is remembered",
                _add_memory,
                is_configured=False,
            ),
            Command("export", "everything that is kept of an end user, from every place, as files", _add_export),
            Command("erase", "erase an end user from everything that is kept, with a report", _add_erase),
            Command("backup", "all that is kept, in one file; while proxies serve", _add_backup),
            Command("restore", "put back what `backup` has written", _add_restore),
            Command(
                "db",
                "the shared database: its schema, and the copy of a storage folder into it",
                _add_database,
                is_configured=False,
            ),
        ),
    ),
    (
        "who may ask",
        (Command("keys", "create, list and revoke keys of this proxy", _add_keys, is_configured=False),),
    ),
    (
        "this terminal",
        (Command("completion", "print the script that completes commands in a shell", _add_completion, False),),
    ),
)
