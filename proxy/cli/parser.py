"""The parser of the command line, and the help that is told of it. The commands: `commands.GROUPS`."""

import argparse
import re
import sys
from difflib import get_close_matches
from importlib.metadata import version
from typing import Any, NoReturn

from proxy.cli.commands import GROUPS, config_option

ABOUT = "An OpenAI-compatible proxy that manages context: long chats for fewer tokens, and what they said is not lost."
FIRST = (
    ("olvido demo", "see it work, in a minute and without a key"),
    ("olvido serve", "run it; its first lines say where to point your SDK"),
    ("olvido replay FILE", "what would requests of your own log have cost? None is sent"),
)
_MORE = "`olvido COMMAND --help` tells of one, `olvido --help` of all. Completion: `olvido completion --help`"
_NO_COMMAND = "the following arguments are required: COMMAND"
_UNKNOWN = re.compile(r"argument COMMAND: invalid choice: '([^']*)'")


class Parser(argparse.ArgumentParser):
    """A parser whose group of commands, called without one, tells which there are; and that tells of an option that it
    does not have, as the command that was given it."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Returns the options, and no rest: what is left is told of here, where its command is known."""
        found, rest = super().parse_known_args(args, namespace)
        if rest:
            self._refuse(rest)
        return found, rest

    def _refuse(self, rest: list[str]) -> NoReturn:
        known = [option for action in self._actions for option in action.option_strings]
        unknown = next((each.partition("=")[0] for each in rest if each.startswith("-")), None)
        if unknown is None:
            self.error(f"too many arguments: {' '.join(rest)}")
        near = get_close_matches(unknown, known, n=1)
        hint = f"did you mean {near[0]}?" if near else f"`{self.prog} --help` tells which there are"
        self.error(f"there is no option {unknown}; {hint}")

    def error(self, message: str) -> NoReturn:
        """Tells what is wrong with the arguments, and ends with status 2."""
        if message == _NO_COMMAND:
            self.print_help(sys.stderr)
            self.exit(2)
        if (named := _UNKNOWN.match(message)) is not None:
            names = [name for action in self._actions for name in action.choices or () if isinstance(name, str)]
            near = get_close_matches(named[1], names, n=1)
            hint = f"did you mean {self.prog} {near[0]}?" if near else f"`{self.prog} --help` tells which there are"
            self.exit(2, f"{self.prog}: there is no command {named[1]}; {hint}\n")
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


def tree(only: str | None = None) -> argparse.ArgumentParser:
    """Returns the parser of the command line. `only`: the command whose options are wanted; None: of all."""
    parser = _Top(prog="olvido", description=ABOUT)
    parser.add_argument("--version", action="version", version=f"olvido {version('olvido')}")
    commands = parser.add_subparsers(metavar="COMMAND", parser_class=Parser, required=True)
    for _, group in GROUPS:
        for each in group:
            made = commands.add_parser(
                each.name, help=each.help, description=f"{each.help[:1].upper()}{each.help[1:]}."
            )
            if only in (None, each.name):
                if each.is_configured:
                    config_option(made)
                each.add(made)
    return parser


def first_words() -> str:
    """Returns what is told to somebody who has said `olvido` alone: what to begin with."""
    width = max(len(title) for title, _ in GROUPS)
    groups = [f"  {title:<{width}}  {', '.join(each.name for each in commands)}" for title, commands in GROUPS]
    return "\n\n".join([ABOUT, _first(), "\n".join(["all commands:", *groups]), _MORE])


def _first() -> str:
    width = max(len(command) for command, _ in FIRST)
    return "\n".join(["begin with:", *(f"  {command:<{width}}  {text}" for command, text in FIRST)])
