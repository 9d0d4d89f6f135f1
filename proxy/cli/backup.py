"""The commands `olvido backup FILE` and `olvido restore FILE`: all that a proxy keeps, in one file, and back.

A backup may be made while proxies serve; a restore never under one. Exit status 0: done; 1: it could not be; 2: it was
not allowed to, or this storage is backed up by other means.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from proxy import config as configuration
from proxy.cli.remembered import agreed, tell
from proxy.config import Config
from proxy.memory.showing import moment, plain
from proxy.storage import backup as backups
from proxy.storage import restoring
from proxy.storage.backup import Manifest
from proxy.storage.base import StorageError
from proxy.storage.restoring import Restored

_ELSEWHERE = {
    "postgres": "storage.kind is postgres: `pg_dump` of that one database is all of it, the tenants' secret included",
    "memory": "storage.kind is memory: nothing outlives the process",
    "off": "storage.kind is off: nothing is kept",
}


class _Refused(Exception):
    """The reason for which nothing was done, though it could have been."""


def add_backup(parser: argparse.ArgumentParser) -> None:
    """Adds the options of `olvido backup` to `parser`."""
    parser.add_argument("file", metavar="FILE", type=Path, help="the file to write, like olvido-2026-11-28.tar.gz")
    parser.add_argument(
        "--answers", action="store_true", help="with stored answers, which would be asked again otherwise"
    )
    parser.add_argument("--force", action="store_true", help="replace FILE if it is there")
    parser.set_defaults(run=lambda options: _run("backup", options, _backup))


def add_restore(parser: argparse.ArgumentParser) -> None:
    """Adds the options of `olvido restore` to `parser`."""
    parser.add_argument("file", metavar="FILE", type=Path, help="what `olvido backup` has written")
    parser.add_argument("--check", action="store_true", help="only look whether it is whole")
    parser.add_argument("--force", action="store_true", help="replace what is there, which is put aside")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.set_defaults(run=lambda options: _run("restore", options, _restore))


def _run(name: str, options: argparse.Namespace, work: Callable[[argparse.Namespace, Config], None]) -> int:
    config = configuration.load_for_storage(options.config, os.environ)
    try:
        work(options, config)
    except (_Refused, StorageError, OSError) as error:
        sys.stderr.write(f"olvido {name}: {error}\n")
        return 2 if isinstance(error, _Refused) else 1
    return 0


def _files_of(config: Config) -> Path | None:
    return config.memory.files.path if config.memory.files is not None else None


def _refuse_elsewhere(config: Config) -> None:
    if (why := _ELSEWHERE.get(config.storage.kind)) is not None:
        raise _Refused(why)


def _backup(options: argparse.Namespace, config: Config) -> None:
    _refuse_elsewhere(config)
    target = options.file.absolute()
    if target.exists() and not options.force:
        raise _Refused(f"{options.file} is there already: name another file, or --force replaces it")
    made = backups.write(config.storage.path, _files_of(config), target, answers=options.answers, now=time.time())
    tell(
        f"{options.file}, {_size(target.stat().st_size)}: {config.storage.path} as it was at {moment(made.made_at)}.",
        f"In it: {_contents(made)}. It was read back and is whole.",
        "Whoever has it can read what people said: keep it as safe as the folder itself.",
    )


def _restore(options: argparse.Namespace, config: Config) -> None:
    if options.check:
        with tempfile.TemporaryDirectory(prefix="olvido-check-") as workplace:
            made = backups.unpack(options.file, Path(workplace))
        tell(
            f"{options.file} is whole: {_contents(made)}, of {moment(made.made_at)}, by version {plain(made.version)}."
        )
        return
    _refuse_elsewhere(config)
    if not options.file.exists():  # before anybody is asked whether what is there may go
        raise StorageError(f"{options.file}: No such file or directory")
    folder, files = config.storage.path, _files_of(config)
    is_empty = restoring.is_empty(folder, files)
    if not is_empty and not options.force:
        raise _Refused(f"{folder} is not empty: --force replaces what is there, and puts it aside")
    if not is_empty and not options.yes and not agreed(f"Replace what is in {folder}? [y/N] "):
        raise _Refused("nothing was restored (--yes does so without asking)")
    done = restoring.restore(options.file, folder, files, now=time.time())
    tell(
        f"Restored {folder} as it was at {moment(done.manifest.made_at)}: {_contents(done.manifest)}.",
        *_told(done, config),
    )


def _told(done: Restored, config: Config) -> list[str]:
    lines = [f"What was there is in {each}." for each in (done.aside, done.files_aside) if each is not None]
    if done.left_out:
        lines.append(
            f"{_files(done.left_out)} {'was' if done.left_out == 1 else 'were'} left out: memory.files names no folder."
        )
    if config.shared is not None:
        lines.append(
            "Redis may know newer conversations: flush it, or wait for shared.hot_context_ttl before you serve."
        )
    if done.erased_since:
        lines.append("Erased after the backup was made, and back with it; erase them again:")
        lines += [f"  olvido erase --scope '{plain(scope)}'" for scope in done.erased_since]
    return lines


def _contents(made: Manifest) -> str:
    parts = ["the database", "the tenants' secret"]
    if made.has_answers:
        parts.append("stored answers")
    if made.files:
        parts.append(_files(made.files))
    return f"{', '.join(parts[:-1])} and {parts[-1]} ({_size(made.size)} unpacked)"


def _files(count: int) -> str:
    return f"{count:,} {'file' if count == 1 else 'files'} of memory"


def _size(size: int) -> str:
    kib = size / 1024
    if kib < 1024:
        return f"{kib:,.1f} KiB"
    return f"{kib / 1024:,.1f} MiB" if kib < 1024**2 else f"{kib / 1024**2:,.1f} GiB"
