"""The way of a backup back into a storage folder.

All of it is unpacked into a folder of its own, compared with the manifest, its database checked and brought to this
version's schema. Only then it changes places with what is there, which is put aside; and not while a process has that
open.
"""

import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from proxy.storage.backup import FILES, LOCK_SECONDS, Manifest, unpack
from proxy.storage.base import StorageError
from proxy.storage.erasures import MARKS, base_of, mark_of
from proxy.storage.folder import private_folder
from proxy.storage.opening import DATABASE
from proxy.storage.sqlite.connection import open_database, storage_errors

_REMADE = frozenset({"embedding"})
_ASIDE, _FRESH = "aside-", ".restoring-"

Moves = list[tuple[Path, Path]]  # renamings


@dataclass(frozen=True, slots=True)
class Restored:
    """A restore that was carried out. The folders have what was there before; None: nothing was."""

    manifest: Manifest
    aside: Path | None
    files_aside: Path | None
    left_out: int  # files of memory that have no place, as the configuration names none
    erased_since: tuple[str, ...]  # scopes that are back though they were erased after the backup was made


def is_empty(folder: Path, files: Path | None) -> bool:
    """Returns True if a restore would replace nothing."""
    return not _present(folder) and (files is None or not files.is_dir() or not any(files.iterdir()))


def restore(source: Path, folder: Path, files: Path | None, *, now: float) -> Restored:
    """Replaces what is in the storage `folder`, and memory's `files`, by a backup, once that was found to be whole;
    what was there is put aside. Raises StorageError: then nothing has changed."""
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime(now))
    with storage_errors(folder), ExitStack() as stack:
        private_folder(folder)
        fresh = _workplace(stack, folder)
        manifest = unpack(source, fresh)
        # Brought to this version's schema, or refused as newer, before anything is replaced.
        open_database(fresh / DATABASE, LOCK_SECONDS).close()
        moves: Moves = []
        files_aside = None
        if files is not None:
            files.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            moves, files_aside = _files_moves(fresh / FILES, _workplace(stack, files.parent), files, stamp)
        stack.enter_context(alone(folder))
        erased = _erased_since(folder / DATABASE, fresh / DATABASE)
        aside = folder / f"{_ASIDE}{stamp}" if _present(folder) else None
        _move([*_folder_moves(folder, fresh, aside), *moves], aside)
    return Restored(manifest, aside, files_aside, 0 if files is not None else manifest.files, erased)


def asides(folder: Path) -> list[Path]:
    """Returns what restores have put aside of a storage folder, or of a folder of memory's files, oldest first."""
    return sorted((*folder.glob(f"{_ASIDE}*"), *folder.parent.glob(f"{folder.name}.{_ASIDE}*")))


def _workplace(stack: ExitStack, folder: Path) -> Path:
    """Returns a new folder beside what it will replace, so that renaming is enough; it is gone at the end."""
    made = Path(tempfile.mkdtemp(prefix=_FRESH, dir=folder))
    stack.callback(shutil.rmtree, made, ignore_errors=True)
    return made


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Keeps everybody else from the database of a folder. Raises StorageError if a process has it open."""
    path = folder / DATABASE
    if not path.exists():
        yield
        return
    with closing(sqlite3.connect(path, timeout=0.5, isolation_level=None)) as connection:
        try:
            # Whoever has the file open in WAL mode holds it in that mode.
            connection.execute("PRAGMA journal_mode = DELETE")
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            raise StorageError(f"{folder} is in use: stop the proxy that serves from it first") from None
        except sqlite3.DatabaseError:
            pass  # damaged: that is what a backup is for
        yield


def _erased_since(old: Path, restored: Path) -> tuple[str, ...]:
    """The scopes of a restored database that the old one says were erased. An old one that can't be read says none."""
    if not old.exists():
        return ()
    with closing(sqlite3.connect(restored)) as reading:
        scopes = [name for (name,) in reading.execute("SELECT name FROM scopes")]
        known = {bytes(mark) for _, mark in reading.execute(MARKS.format("?"), (0,))}
    with suppress(sqlite3.Error), closing(sqlite3.connect(old)) as reading:
        marks = {bytes(mark) for _, mark in reading.execute(MARKS.format("?"), (0,))} - known
        return tuple(sorted({base_of(scope) for scope in scopes if mark_of(scope) in marks}))
    return ()


def _present(folder: Path) -> list[Path]:
    """The entries of a folder that a restore puts aside."""
    if not folder.is_dir():
        return []
    return sorted(
        path
        for path in folder.iterdir()
        if path.name not in _REMADE and not path.name.startswith((_ASIDE, _FRESH)) and path.name != "lost+found"
    )


def _folder_moves(folder: Path, fresh: Path, aside: Path | None) -> Moves:
    """The renamings that put what is in a folder aside, inside of it, for it may be the mount point of a volume; then
    the fresh files there."""
    away = [(path, aside / path.name) for path in _present(folder)] if aside else []
    return away + [(path, folder / path.name) for path in _present(fresh) if path.name != FILES]


def _files_moves(fresh: Path, workplace: Path, files: Path, stamp: str) -> tuple[Moves, Path | None]:
    """The renamings that put the folder of memory's files aside, beside itself, and a fresh one in its place."""
    moves: Moves = []
    aside = None
    if files.is_dir():
        is_full = any(files.iterdir())
        gone = files.with_name(f"{files.name}.{_ASIDE}{stamp}") if is_full else workplace / "empty"
        moves, aside = [(files, gone)], gone if is_full else None
    staged = workplace / FILES
    if fresh.is_dir():
        shutil.copytree(fresh, staged)
    else:
        staged.mkdir(mode=0o700)
    return [*moves, (staged, files)], aside


def _move(moves: Moves, aside: Path | None) -> None:
    """Renames all, or nothing. Raises OSError."""
    done: Moves = []
    try:
        if aside is not None:
            aside.mkdir(mode=0o700)
        for origin, target in moves:
            origin.rename(target)
            done.append((origin, target))
    except OSError:
        for origin, target in reversed(done):
            target.rename(origin)
        if aside is not None:
            with suppress(OSError):
                aside.rmdir()
        raise
