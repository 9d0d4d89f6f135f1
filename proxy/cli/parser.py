"""The tree of commands and options, and the help that is told of it.

A command is a row of `GROUPS`: its name, a line of help, and what adds its options and sets `run`, which takes the
options and returns the exit status. What a command needs is imported where it runs: the others do not wait for it.
"""

import argparse
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import NoReturn

from proxy.cli import backup, check_config, completion, doctor, erase, export, keys, memory, serving
from proxy.cli import db as database
from proxy.observe import logs

ABOUT = "An OpenAI-compatible proxy that manages context: long chats for fewer tokens, and what they said is not lost."
FIRST = (
    ("olvido demo", "see it work, in a minute and without a key"),
    ("olvido serve", "run it; its first lines say where to point your SDK"),
    ("olvido replay FILE", "what would requests of your own log have cost? None is sent"),
)
_MORE = "`olvido COMMAND --help` tells of one, `olvido --help` of all. Completion: `olvido completion --help`"
_NO_COMMAND = "the following arguments are required: COMMAND"


@dataclass(frozen=True, slots=True)
class Command:
    """A command. `add` adds its options to its parser and sets `run`."""

    name: str
    help: str
    add: Callable[[argparse.ArgumentParser], None]
    is_configured: bool = True  # it takes --config


class Parser(argparse.ArgumentParser):
    """A parser whose group of commands, called without one, tells which there are."""

    def error(self, message: str) -> NoReturn:
        """Tells what is wrong with the arguments, and ends with status 2."""
        if message == _NO_COMMAND:
            self.print_help(sys.stderr)
            self.exit(2)
        super().error(message)


class _Top(Parser):
    """The parser of `olvido` itself: its commands are told by what they are for."""

    def format_help(self) -> str:
        """The help of `olvido --help`."""
        width = max(len(each.name) for _, commands in GROUPS for each in commands)
        groups = [
            "\n".join([f"{title}:", *(f"  {each.name:<{width}}  {each.help}" for each in commands)])
            for title, commands in GROUPS
        ]
        options = f"options:\n  {'-h, --help':<{width}}  this text\n  {'--version':<{width}}  the version"
        return "\n\n".join([self.format_usage().strip(), ABOUT, _first(), *groups, options, _MORE]) + "\n"


def tree() -> argparse.ArgumentParser:
    """Returns the parser of the command line."""
    parser = _Top(prog="olvido", description=ABOUT)
    parser.add_argument("--version", action="version", version=f"olvido {version('olvido')}")
    parser.set_defaults(run=_bare)
    commands = parser.add_subparsers(metavar="COMMAND", parser_class=Parser)
    for _, group in GROUPS:
        for each in group:
            made = commands.add_parser(
                each.name, help=each.help, description=f"{each.help[:1].upper()}{each.help[1:]}."
            )
            if each.is_configured:
                config_option(made)
            each.add(made)
    return parser


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


def _bare(_options: argparse.Namespace) -> int:
    """Tells somebody who has said `olvido` alone what to begin with."""
    width = max(len(title) for title, _ in GROUPS)
    groups = [f"  {title:<{width}}  {', '.join(each.name for each in commands)}" for title, commands in GROUPS]
    print("\n\n".join([ABOUT, _first(), "\n".join(["all commands:", *groups]), _MORE]))
    return 0


def _first() -> str:
    width = max(len(command) for command, _ in FIRST)
    return "\n".join(["begin with:", *(f"  {command:<{width}}  {text}" for command, text in FIRST)])


# --- commands whose parts are in other rooms ---


def _add_serve(parser: argparse.ArgumentParser) -> None:
    serving.add_options(parser, positive)


def _add_demo(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--port", type=int, default=8484, help="port of the proxy (0: any free one)")
    parser.add_argument("--exit", action="store_true", help="stop after the table instead of leaving the proxy running")
    parser.add_argument("--short", action="store_true", help="40 turns instead of 200")
    parser.add_argument("--cluster", action="store_true", help="four proxies over one PostgreSQL and one Redis")
    parser.add_argument("--agent", action="store_true", help="an agent of 80 steps that keeps its own memory")
    parser.set_defaults(run=_demo)


def _demo(options: argparse.Namespace) -> int:
    from proxy.demo import cluster, desk, show  # noqa: PLC0415 (only the demo needs it)

    logs.setup("warning", "text")
    if options.agent:
        return desk.run()
    if options.cluster:
        return cluster.run(stay=not options.exit, short=options.short)
    return show.run(options.port, stay=not options.exit, short=options.short)


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
    parser.set_defaults(run=_replay)


def _replay(options: argparse.Namespace) -> int:
    from proxy.replay import command  # noqa: PLC0415 (only the replay needs it)

    return command.run(options)


def _add_bench(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="one JSON object, with the numbers of every round")
    parser.add_argument(
        "--rounds", type=positive, help="how often each row is measured (default: while a minute lasts)"
    )
    parser.add_argument("--requests", type=positive, default=96, help="requests of a row and round (default: 96)")
    parser.set_defaults(run=_bench)


def _bench(options: argparse.Namespace) -> int:
    from proxy.bench import command  # noqa: PLC0415 (only the bench needs it)

    return command.run(options)


def _add_memory(parser: argparse.ArgumentParser) -> None:
    memory.add_commands(parser, config_option)


def _add_keys(parser: argparse.ArgumentParser) -> None:
    keys.add_commands(parser, config_option)


def _add_database(parser: argparse.ArgumentParser) -> None:
    database.add_commands(parser, config_option)


def _add_doctor(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(run=lambda options: doctor.run(options.config))


def _add_completion(parser: argparse.ArgumentParser) -> None:
    completion.add_options(parser, tree)


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
                check_config.add_options,
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
                "list, show, forget, confirm, export, import what is remembered",
                _add_memory,
                is_configured=False,
            ),
            Command("export", "everything that is kept of an end user, from every place, as files", export.add_options),
            Command("erase", "erase an end user from everything that is kept, with a report", erase.add_options),
            Command("backup", "all that is kept, in one file; while proxies serve", backup.add_backup),
            Command("restore", "put back what `backup` has written", backup.add_restore),
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
