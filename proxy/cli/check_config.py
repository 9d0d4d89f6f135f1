"""The command `olvido check-config`: what is wrong in a configuration, and the JSON Schema of it."""

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import msgspec

from proxy import config as configuration
from proxy.config import Checked, Config, ConfigError
from proxy.config.source import Problem, line_of
from proxy.curation.prompts import Prompts
from proxy.desk.identity import Identity as Rules


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options of `olvido check-config` to `parser`."""
    parser.add_argument("file", nargs="?", type=Path, metavar="FILE", help="the configuration")
    parser.add_argument("--schema", action="store_true", help="print the JSON Schema of the configuration")
    parser.add_argument(
        "--no-env",
        action="store_true",
        help="read no environment variable: what ${NAME} stands for is taken to be right",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Runs the command; returns its exit status. Raises ConfigError."""
    if options.schema:
        print(msgspec.json.format(msgspec.json.encode(configuration.json_schema()), indent=2).decode())
        return 0
    if options.file is None:
        print("olvido check-config: name a FILE, or ask for the --schema", file=sys.stderr)
        return 2
    found = configuration.checked(options.file, None if options.no_env else os.environ)
    if found.problems or not options.no_env:
        _settled(found)
    elif found.config is not None and (unreadable := [*_unreadable(found.config)]):
        raise ConfigError(found.source, unreadable)
    unread = ", without the environment" if options.no_env else ""
    print("\n".join([f"{options.file}: valid{unread}", *(f"  note: {each}" for each in noted(found))]))
    return 0


def load(path: Path | None, environ: Mapping[str, str], **server: str | int | None) -> tuple[Config, list[str]]:
    """Returns the configuration, if it is right and the prompts and rules that it names can be read, and what should be
    known of it, a line each. Raises ConfigError with every problem. The parameters: see `proxy.config.load`."""
    found = configuration.checked(path, environ, **server)
    return _settled(found), noted(found)


def noted(found: Checked) -> list[str]:
    """Returns the cautions of a file as lines of text."""
    return [line_of(each) for each in found.cautions]


def _settled(found: Checked) -> Config:
    problems = [*found.problems, *(_unreadable(found.config) if found.config else ())]
    if problems or found.config is None:
        raise ConfigError(found.source, problems)
    return found.config


def _unreadable(config: Config) -> Iterator[Problem]:
    """Yields the problems of the prompts and rules that a configuration names."""
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
            yield Problem(where, str(error))
