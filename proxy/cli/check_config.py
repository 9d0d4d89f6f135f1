"""The command `olvido check-config`: what is wrong in a configuration, and the JSON Schema of it."""

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec

from proxy import config as configuration
from proxy.config import Config, ConfigError
from proxy.config.source import Problem
from proxy.curation.prompts import Prompts
from proxy.desk.identity import Identity as Rules


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options of `olvido check-config` to `parser`."""
    parser.add_argument("file", nargs="?", type=Path, metavar="FILE", help="the configuration")
    parser.add_argument("--schema", action="store_true", help="print the JSON Schema of the configuration")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Runs the command; returns its exit status. Raises ConfigError."""
    if options.schema:
        print(msgspec.json.format(msgspec.json.encode(configuration.json_schema()), indent=2).decode())
        return 0
    if options.file is None:
        print("olvido check-config: name a FILE, or ask for the --schema", file=sys.stderr)
        return 2
    with_prompts(configuration.load(options.file, os.environ), options.file)
    print(f"{options.file}: valid")
    return 0


def with_prompts(config: Config, path: Path | None) -> Config:
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
