"""Files and folders below an open folder: no symbolic link is followed, nothing but a regular file is opened.

All names are single components, relative to a descriptor: whatever a person moves or links meanwhile, no way leads out.
`called` is the name that an error tells people.
"""

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from proxy.files.unusable import Unusable, said, told

MOST_BYTES = 4 * 1024 * 1024  # that are read of a file; a larger one is not touched
FILE = 0o600
SEALED = 0o400
FOLDER = 0o700

_SAFE = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK  # the last: a pipe in a file's place must not hang us
_LOOKS = 3  # at a file that is being written


@contextmanager
def folder(at: int, name: str, called: str, *, make: bool = False) -> Iterator[int]:
    """Opens a folder in the open folder `at`. Raises Unusable; FileNotFoundError if it is not there, which with `make`
    means that the folder around it has gone."""
    descriptor = open_folder(at, name, called, make=make)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def open_folder(at: int, name: str, called: str, *, make: bool = False) -> int:
    """Returns the descriptor of a folder, for the caller to close. Raises as `folder`."""
    try:
        if make:
            with suppress(FileExistsError):
                os.mkdir(name, FOLDER, dir_fd=at)
        found = os.stat(name, dir_fd=at, follow_symlinks=False)
        if not stat.S_ISDIR(found.st_mode):
            raise Unusable(f"{called} is {'a symbolic link' if stat.S_ISLNK(found.st_mode) else 'not a folder'}")
        return os.open(name, os.O_RDONLY | os.O_DIRECTORY | _SAFE, dir_fd=at)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise Unusable(f"{called} {said(error)}") from error


def read(at: int, name: str, called: str) -> bytes | None:
    """Returns the bytes of a file, None if it is not there. One that changes meanwhile is read again, a few times.
    Raises Unusable."""
    data: bytes | None = None
    for _ in range(_LOOKS):
        with told(called):
            try:
                descriptor = open_file(at, name, called, os.O_RDONLY)
            except FileNotFoundError:
                return None
            try:
                before = os.fstat(descriptor)
                data = _read(descriptor, before.st_size, called)
                after = os.fstat(descriptor)
            finally:
                os.close(descriptor)
        if (before.st_mtime_ns, before.st_size) == (after.st_mtime_ns, after.st_size):
            break
    return data


def open_file(at: int, name: str, called: str, flags: int, most: int = MOST_BYTES) -> int:
    """Returns the descriptor of a regular file that is there, for the caller to close. Raises Unusable, also
    above `most` bytes, and OSError."""
    check(os.stat(name, dir_fd=at, follow_symlinks=False), called, most)  # opening a device may do something
    descriptor = os.open(name, flags | _SAFE, dir_fd=at)
    try:
        check(os.fstat(descriptor), called, most)
    except Unusable:
        os.close(descriptor)
        raise
    return descriptor


def check(found: os.stat_result, called: str, most: int = MOST_BYTES) -> None:
    """Raises Unusable unless it is a regular file that is small enough."""
    if stat.S_ISLNK(found.st_mode):
        raise Unusable(f"{called} is a symbolic link")
    if not stat.S_ISREG(found.st_mode):
        raise Unusable(f"{called} is not a file")
    if found.st_size > most:
        raise _too_large(called)


def create(at: int, name: str) -> int:
    """Returns the descriptor of a new file, for the caller to close. Raises OSError."""
    return os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _SAFE, FILE, dir_fd=at)


def seal(at: int, name: str, called: str) -> None:
    """Makes a file read-only. Raises Unusable, OSError."""
    descriptor = open_file(at, name, called, os.O_RDONLY)
    try:
        os.fchmod(descriptor, SEALED)
    finally:
        os.close(descriptor)


def open_lock(at: int, name: str, called: str) -> int:
    """Returns the descriptor of a file that is only there to be locked. Raises Unusable, OSError."""
    with suppress(FileExistsError):
        return create(at, name)
    return open_file(at, name, called, os.O_RDWR)


def written(descriptor: int, data: bytes) -> None:
    """Writes all of `data`. Raises OSError."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def is_file(at: int, name: str) -> bool:
    """Tells whether a regular file has that name."""
    return stat.S_ISREG(_mode(at, name))


def is_folder(at: int, name: str) -> bool:
    """Tells whether a folder, and not a link to one, has that name."""
    return stat.S_ISDIR(_mode(at, name))


def names(at: int) -> list[str]:
    """Returns the names of all that is in an open folder. Raises OSError."""
    with os.scandir(at) as entries:
        return [entry.name for entry in entries]


def files(at: int, into: Callable[[str], object], below: str = "") -> Iterator[str]:
    """Yields the names of the regular files in an open folder, and in the folders `into` which to look, relative to it.
    Raises OSError."""
    with os.scandir(at) as entries:
        found = list(entries)
    for entry in found:
        if entry.is_file(follow_symlinks=False):
            yield below + entry.name
        elif entry.is_dir(follow_symlinks=False) and into(below + entry.name):
            with suppress(FileNotFoundError), folder(at, entry.name, entry.name) as inner:
                yield from files(inner, into, f"{below}{entry.name}/")


def exists(at: int, name: str) -> bool:
    """Tells whether anything has that name."""
    return _mode(at, name) != 0


def _mode(at: int, name: str) -> int:
    try:
        return os.stat(name, dir_fd=at, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return 0


def _read(descriptor: int, size: int, called: str) -> bytes:
    parts, found = [], 0
    while part := os.read(descriptor, max(size - found, 0) + 65_536):
        parts.append(part)
        found += len(part)
        if found > MOST_BYTES:
            raise _too_large(called)
    return b"".join(parts)


def _too_large(called: str) -> Unusable:
    return Unusable(f"{called} is larger than {MOST_BYTES // 1024 // 1024} MiB")
