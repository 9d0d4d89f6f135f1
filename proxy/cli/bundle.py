"""A bundle of files that is written in one go: a new folder, or a ZIP file. Nobody but its owner may read it.

Its manifest says of every file how many records, bytes and which SHA-256 it has. It is written under another name, and
gets its own once it is whole: what has the name is complete.
"""

import hashlib
import os
import shutil
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Protocol

import msgspec

from proxy.types import Json

MANIFEST = "manifest.json"
_PRIVATE_FOLDER, _PRIVATE_FILE = 0o700, 0o600
_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of the bundle."""

    name: str
    bytes: int
    sha256: str
    records: int | None = None  # of a JSONL file


class _Target(Protocol):
    def open(self, name: str) -> IO[bytes]: ...
    def close(self) -> None: ...


@dataclass(slots=True)
class Bundle:
    """A bundle that is being written."""

    target: _Target
    entries: list[Entry] = field(default_factory=list)

    def records(self, name: str, records: Iterable[Json]) -> int:
        """Writes a JSONL file, if there is a record. Returns how many there are."""
        count = size = 0
        told = hashlib.sha256()
        file: IO[bytes] | None = None
        try:
            for record in records:
                if file is None:
                    file = self.target.open(name)
                line = _encode(record) + b"\n"
                file.write(line)
                told.update(line)
                count, size = count + 1, size + len(line)
        finally:
            if file is not None:
                file.close()
        if count:
            self.entries.append(Entry(name, size, told.hexdigest(), count))
        return count

    def file(self, name: str, data: bytes) -> None:
        """Writes a file as it is."""
        with self.target.open(name) as file:
            file.write(data)
        self.entries.append(Entry(name, len(data), hashlib.sha256(data).hexdigest()))

    def manifest(self, head: dict[str, Json]) -> None:
        """Writes the manifest, last."""
        files = sorted(self.entries, key=lambda entry: entry.name)
        with self.target.open(MANIFEST) as file:
            file.write(msgspec.json.format(_encode({**head, "files": files}), indent=2) + b"\n")


@contextmanager
def writing(to: Path) -> Iterator[Bundle]:
    """Gives a bundle to be written to a folder, or to a file whose name ends in `.zip`; what went wrong leaves nothing
    there. Raises OSError; FileExistsError if something has that name."""
    if to.exists() and (not to.is_dir() or any(to.iterdir())):
        raise FileExistsError(f"{to} is there already")
    to.parent.mkdir(parents=True, exist_ok=True)
    partial = to.with_name(f".{to.name}.{os.getpid()}.part")
    is_zip = to.suffix.lower() == ".zip"
    target: _Target = _Zip(partial) if is_zip else _Folder(partial)
    try:
        yield Bundle(target)
        target.close()
        if to.is_dir():
            to.rmdir()
        partial.rename(to)
    except BaseException:
        target.close()
        if is_zip:
            partial.unlink(missing_ok=True)
        else:
            shutil.rmtree(partial, ignore_errors=True)
        raise


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, _PRIVATE_FILE)


class _Folder:
    def __init__(self, path: Path) -> None:
        self._path = path
        path.mkdir(mode=_PRIVATE_FOLDER)

    def open(self, name: str) -> IO[bytes]:
        path = self._path / name
        for folder in reversed(path.relative_to(self._path).parents):
            (self._path / folder).mkdir(mode=_PRIVATE_FOLDER, exist_ok=True)
        return open(path, "xb", opener=_private)

    def close(self) -> None:
        """Nothing is open."""


class _Zip:
    def __init__(self, path: Path) -> None:
        self._file = open(path, "xb", opener=_private)  # noqa: SIM115 (closed below; with an opener)
        self._archive = zipfile.ZipFile(self._file, "w", zipfile.ZIP_DEFLATED)

    def open(self, name: str) -> IO[bytes]:
        return self._archive.open(name, "w", force_zip64=True)

    def close(self) -> None:
        if not self._file.closed:
            self._archive.close()
            self._file.close()
