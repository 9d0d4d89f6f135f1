"""The command `olvido db`: the schema of a database that machines share, and the way into it from a storage folder."""

import argparse
import os
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from proxy import config as configuration
from proxy.config.rules import needs
from proxy.storage.base import StorageError

if TYPE_CHECKING:
    from proxy.storage.copying import Copied

_WIDTH = 30  # of the progress bar, in characters


def add_commands(parser: argparse.ArgumentParser, config_option: Callable[[argparse.ArgumentParser], None]) -> None:
    """Adds the subcommands to the parser of `olvido db`."""
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, text, run in (
        ("status", "which steps of the schema a database has", _status),
        ("upgrade", "bring the schema up to date; any number may try at once", _upgrade),
    ):
        command = commands.add_parser(name, help=text)
        config_option(command)
        command.add_argument("--url", help="of PostgreSQL, instead of the configuration's storage.url")
        command.set_defaults(run=_with_driver(run))
    copying = commands.add_parser("copy", help="copy a storage folder into a database; goes on if it was interrupted")
    copying.add_argument("--from", dest="source", required=True, metavar="sqlite:FOLDER", help="the storage folder")
    copying.add_argument("--to", dest="target", required=True, metavar="postgresql:URL", help="the database")
    copying.set_defaults(run=_with_driver(_copy))


def _with_driver(run: Callable[[argparse.Namespace], int]) -> Callable[[argparse.Namespace], int]:
    """Returns the command as one that says what it needs where PostgreSQL's driver is not installed."""

    def checked(options: argparse.Namespace) -> int:
        if find_spec("psycopg") is None:
            print(f"olvido db: {needs('cluster')}", file=sys.stderr)
            return 1
        return run(options)

    return checked


def _status(options: argparse.Namespace) -> int:
    from proxy.storage.postgres import connection, migrating  # noqa: PLC0415 (the other commands do without psycopg)

    def tell(url: str) -> int:
        with connection.storage_errors(url), connection.connect(url) as opened:
            connection.check_server(opened)
            found = migrating.status(opened)
            vectors = connection.has_vectors(opened)
        for name in found.applied:
            print(f"{name}  {'unknown: written by a newer version' if name in found.unknown else 'applied'}")
        for name in found.missing:
            print(f"{name}  missing")
        print(f"pgvector  {'there' if vectors else 'not there: vectors are compared in the process'}")
        return 1 if found.missing or found.unknown else 0

    return _with_url(options, tell)


def _upgrade(options: argparse.Namespace) -> int:
    from proxy.storage.postgres import connection, migrating  # noqa: PLC0415 (same)

    def upgrade(url: str) -> int:
        with connection.storage_errors(url), connection.connect(url) as opened:
            connection.check_server(opened)
            done = migrating.upgrade(opened)
        print("\n".join(f"{name}  applied" for name in done) if done else "nothing to do")
        return 0

    return _with_url(options, upgrade)


def _copy(options: argparse.Namespace) -> int:
    from proxy.storage import copying  # noqa: PLC0415 (same)
    from proxy.storage.postgres import connection, migrating  # noqa: PLC0415 (same)

    kind, _, folder = options.source.partition(":")
    if kind != "sqlite" or not folder:
        print("olvido db copy: --from is sqlite:FOLDER", file=sys.stderr)
        return 2
    if not options.target.startswith(("postgresql:", "postgres:")):
        print("olvido db copy: --to is a URL like postgresql://user:password@host/name", file=sys.stderr)
        return 2
    try:
        with connection.storage_errors(options.target), connection.connect(options.target) as opened:
            connection.check_server(opened)
            migrating.ready(opened)
            counts = copying.copy(Path(folder).expanduser(), opened, lambda copied: _bar(copied, sys.stderr))
    except StorageError as error:
        print(f"\nolvido db copy: {error}", file=sys.stderr)
        return 1
    print(file=sys.stderr)
    for each in counts:
        print(f"{each.table:20} {each.of:>12,} → {each.rows:>12,}{'' if each.rows >= each.of else '  INCOMPLETE'}")
    return 0 if all(each.rows >= each.of for each in counts) else 1


def _bar(copied: "Copied", out: TextIO) -> None:
    share = copied.rows / copied.of if copied.of else 1.0
    filled = round(share * _WIDTH)
    start = "\r" if out.isatty() else ""
    end = "" if out.isatty() else "\n"
    print(f"{start}{copied.table:20} {'█' * filled}{'·' * (_WIDTH - filled)} {copied.rows:>12,}", end=end, file=out)


def _with_url(options: argparse.Namespace, work: Callable[[str], int]) -> int:
    url = options.url
    if url is None:
        found = configuration.load(options.config, os.environ).storage.url
        if found is None:
            print("olvido db: `storage.url` is not configured; give one with --url", file=sys.stderr)
            return 2
        url = found.get_secret_value()
    try:
        return work(url)
    except StorageError as error:
        print(f"olvido db: {error}", file=sys.stderr)
        return 1
