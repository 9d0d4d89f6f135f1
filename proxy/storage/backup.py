"""Backups of a storage folder: one compressed archive, made while proxies serve, and checked whenever it is read.

    manifest.json       what is in it: name, size and SHA-256 of every file, when it was made, by which version
    olvido.db           a snapshot of the database by SQLite's own backup, of one moment
    tenant.secret       what tenants are hashed with: without it nobody would find their memory again
    admin.logouts       admin cookies that were ended before their time
    answers/cache.db    answers to identical requests, if they are wanted: they are asked again otherwise
    files/…             memory as files, as they were at the moment of the snapshot

What can be made anew (embedding models) is in no backup. `restoring` puts one back.
"""

import gzip
import hashlib
import os
import shutil
import sqlite3
import tarfile
import tempfile
import zlib
from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path, PurePosixPath
from typing import IO

import diskcache
import msgspec

from proxy.storage.base import StorageError
from proxy.storage.folder import LOGOUTS, SECRET
from proxy.storage.opening import ANSWERS, DATABASE
from proxy.storage.sqlite.connection import storage_errors

MANIFEST = "manifest.json"
FILES = "files"
FORMAT = 1
MOST_MANIFEST = 64 * 2**20  # bytes: a hundred thousand files
MOST_FOLDERS = 64  # that a file is in, one in the other
TRIES = 5  # snapshots that are taken until no file of memory has changed meanwhile
LOCK_SECONDS = 10.0
_CHUNK = 2**20
_LEVEL = 3  # of gzip: a database is half as large, and the disk stays the slower part


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of a backup."""

    name: str  # with slashes
    size: int  # bytes
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """The contents of a backup."""

    format: int
    made_at: float  # unix seconds: the moment of the snapshot
    version: str  # of the program that has made it
    entries: tuple[Entry, ...]

    @property
    def files(self) -> int:
        """Files of memory in it."""
        return sum(each.name.startswith(f"{FILES}/") for each in self.entries)

    @property
    def has_answers(self) -> bool:
        """True if stored answers are in it."""
        return any(each.name.startswith(f"{ANSWERS}/") for each in self.entries)

    @property
    def size(self) -> int:
        """Bytes of all files, not compressed."""
        return sum(each.size for each in self.entries)


# --- making one ---


def write(folder: Path, files: Path | None, target: Path, *, answers: bool = False, now: float) -> Manifest:
    """Writes a backup of the storage `folder`, and of memory's `files`, to `target`, which appears when it is complete
    and was read back. Raises StorageError."""
    if not (folder / DATABASE).is_file():
        raise StorageError(f"{folder}: no proxy has kept anything here")
    with storage_errors(target), tempfile.TemporaryDirectory(prefix=".backup-", dir=target.parent) as workplace:
        staged = Path(workplace)
        _snapshot(folder, files, staged, answers=answers)
        entries = tuple(_entry(staged, path) for path in _regular(staged))
        manifest = Manifest(FORMAT, now, version("olvido"), entries)
        packed = staged / ".packed"
        _pack(manifest, staged, packed)
        with tempfile.TemporaryDirectory(prefix=".check-", dir=workplace) as again:
            unpack(packed, Path(again))
        packed.replace(target)
        return manifest


def _snapshot(folder: Path, files: Path | None, into: Path, *, answers: bool) -> None:
    """Copies the database, then files of memory, again if one of them has changed meanwhile: a file that says less than
    the database of its moment would be taken for an edit."""
    for _ in range(TRIES):
        before = state_of(files)
        copy_database(folder / DATABASE, into / DATABASE)
        shutil.rmtree(into / FILES, ignore_errors=True)
        copy_files(files, into / FILES)
        if state_of(files) == before:
            break
    else:
        raise StorageError(f"{files}: its files change all the time; try again when less is written")
    check(into / DATABASE)
    for name in (SECRET, LOGOUTS):
        with suppress(FileNotFoundError):
            shutil.copyfile(folder / name, into / name)
    cache = folder / ANSWERS / diskcache.core.DBNAME
    if answers and cache.is_file():
        (into / ANSWERS).mkdir(mode=0o700)
        copy_database(cache, into / ANSWERS / diskcache.core.DBNAME)


def copy_database(source: Path, target: Path) -> None:
    """Copies an SQLite file in one read transaction, which keeps no writer waiting, into one file without a log."""
    target.unlink(missing_ok=True)
    with storage_errors(source), closing(sqlite3.connect(f"file:{source}?mode=ro", uri=True)) as reading:
        reading.execute(f"PRAGMA busy_timeout = {int(LOCK_SECONDS * 1_000)}")
        with closing(sqlite3.connect(target, isolation_level=None)) as writing:
            reading.backup(writing)
            writing.execute("PRAGMA journal_mode = DELETE")


def check(database: Path) -> None:
    """Checks a database that nobody uses. Raises StorageError if it is damaged."""
    with storage_errors(database), closing(sqlite3.connect(database)) as reading:
        found = [row[0] for row in reading.execute("PRAGMA integrity_check(3)")]
        if found != ["ok"]:
            raise StorageError(f"{database.name} is damaged: {'; '.join(map(str, found))}")
        if reading.execute("PRAGMA foreign_key_check").fetchone() is not None:
            raise StorageError(f"{database.name} is damaged: rows refer to others that are not there")


def _regular(folder: Path) -> list[Path]:
    """Regular files below a folder, in the order of their names; no link is followed."""
    found = []
    for place, folders, names in os.walk(folder, followlinks=False):
        folders.sort()
        found += [path for name in names if (path := Path(place, name)).is_file() and not path.is_symlink()]
    return sorted(found)


def state_of(files: Path | None) -> Mapping[str, tuple[int, int, int]]:
    """The marks by which a changed file is known: its size, time and number."""
    state = {}
    for path in [] if files is None else _regular(files):
        with suppress(FileNotFoundError):
            seen = path.stat()
            state[str(path)] = (seen.st_size, seen.st_mtime_ns, seen.st_ino)
    return state


def copy_files(files: Path | None, into: Path) -> None:
    """Copies the regular files below a folder, with their times."""
    for path in [] if files is None else _regular(files):
        target = into / path.relative_to(files or path)
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with suppress(FileNotFoundError):  # renamed away: the next look at them tells
            shutil.copy2(path, target, follow_symlinks=False)


def _entry(folder: Path, path: Path) -> Entry:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return Entry(path.relative_to(folder).as_posix(), path.stat().st_size, digest)


def _pack(manifest: Manifest, folder: Path, target: Path) -> None:
    with os.fdopen(os.open(target, os.O_CREAT | os.O_WRONLY | os.O_EXCL, 0o600), "wb") as out:
        with tarfile.open(fileobj=out, mode="w:gz", compresslevel=_LEVEL, format=tarfile.PAX_FORMAT) as archive:
            _add(archive, MANIFEST, folder / f".{MANIFEST}", msgspec.json.encode(manifest))
            for each in manifest.entries:
                _add(archive, each.name, folder / each.name)
        out.flush()
        os.fsync(out.fileno())


def _add(archive: tarfile.TarFile, name: str, path: Path, content: bytes | None = None) -> None:
    if content is not None:
        path.write_bytes(content)
    member = tarfile.TarInfo(name)
    member.size, member.mode, member.mtime = path.stat().st_size, 0o600, int(path.stat().st_mtime)
    with path.open("rb") as file:
        archive.addfile(member, file)


# --- reading one ---


def unpack(source: Path, into: Path) -> Manifest:
    """Unpacks a backup into an empty folder, compared with its manifest, its database checked. Raises StorageError for
    a file that is none, that is damaged, or that a newer version has made."""
    try:
        with (
            gzip.open(source) as stream,
            tarfile.open(fileobj=_InPieces(stream), mode="r:") as archive,  # type: ignore[call-overload]  # all of a file that it uses
        ):
            manifest = _manifest(archive.next(), archive, source)
            _refuse_more_than_fits(manifest, into, source)
            wanted = {each.name: each for each in manifest.entries}
            while (member := archive.next()) is not None:
                entry = wanted.pop(member.name, None)
                if entry is None or not member.isreg() or member.sparse is not None:
                    raise StorageError(f"{source} is no backup: it has {member.name!r}, which its manifest has not")
                if member.size != entry.size:  # the disk would be full before its hash could tell
                    raise StorageError(f"{source} is damaged: {entry.name} is not what its manifest says")
                _extract(archive.extractfile(member), entry, into, source)
            while stream.read(_CHUNK):
                pass  # to its end, where gzip has a checksum
    except (tarfile.TarError, EOFError, OSError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or "it is damaged, or no backup"
        raise StorageError(f"{source}: {reason}") from None
    if wanted:
        raise StorageError(f"{source} is not complete: {next(iter(wanted))} is missing")
    if DATABASE not in {each.name for each in manifest.entries}:
        raise StorageError(f"{source} is no backup: it has no database")
    check(into / DATABASE)
    return manifest


class _InPieces:
    """A stream that is read a little at a time: what an archive says in one piece, such as the header of a file, must
    not take all memory."""

    def __init__(self, stream: gzip.GzipFile) -> None:
        self._stream = stream
        self.seek, self.tell = stream.seek, stream.tell

    def read(self, size: int) -> bytes:
        """Reads. Raises TarError for more than a manifest may have."""
        if size > MOST_MANIFEST:
            raise tarfile.ReadError("a header without end")
        return self._stream.read(size)


def _refuse_more_than_fits(manifest: Manifest, into: Path, source: Path) -> None:
    """Raises StorageError if the disk has no room for what a manifest lists."""
    free = shutil.disk_usage(into).free
    if manifest.size > free:
        raise StorageError(
            f"{source}: unpacked it takes {manifest.size / 2**20:,.0f} MiB, and {into.parent} has {free / 2**20:,.0f}"
        )


def _manifest(member: tarfile.TarInfo | None, archive: tarfile.TarFile, source: Path) -> Manifest:
    if member is None or member.name != MANIFEST or not member.isreg() or member.size > MOST_MANIFEST:
        raise StorageError(f"{source} is no backup: it does not begin with its manifest")
    file = archive.extractfile(member)
    assert file is not None
    try:
        manifest = msgspec.json.decode(file.read(), type=Manifest)
    except msgspec.DecodeError:
        raise StorageError(f"{source} is no backup: its manifest can't be read") from None
    if manifest.format != FORMAT:
        raise StorageError(
            f"{source} was made by version {manifest.version[:20]} of this program: restore it with that"
        )
    for each in manifest.entries:
        _checked_name(each.name, source)
    return manifest


def _checked_name(name: str, source: Path) -> None:
    path = PurePosixPath(name)
    single = name in (DATABASE, SECRET, LOGOUTS, f"{ANSWERS}/{diskcache.core.DBNAME}")
    known = single or (path.parts[:1] == (FILES,) and len(path.parts) > 1 and str(path) == name)
    if not known or ".." in path.parts or "\x00" in name or len(path.parts) > MOST_FOLDERS:
        raise StorageError(f"{source} is no backup: it names {name!r}")


def _extract(file: IO[bytes] | None, entry: Entry, into: Path, source: Path) -> None:
    target = into / entry.name
    for folder in reversed(target.relative_to(into).parents):
        (into / folder).mkdir(mode=0o700, exist_ok=True)
    digest = hashlib.sha256()
    with os.fdopen(os.open(target, os.O_CREAT | os.O_WRONLY | os.O_EXCL, 0o600), "wb") as out:
        while file is not None and (chunk := file.read(_CHUNK)):
            digest.update(chunk)
            out.write(chunk)
        out.flush()
        os.fsync(out.fileno())
    if digest.hexdigest() != entry.sha256:
        raise StorageError(f"{source} is damaged: {entry.name} is not what its manifest says")
