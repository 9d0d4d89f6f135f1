"""The one error of the files of memory: `Unusable`, a clear line for people, without contents.

Errors of the operating system are mapped to it here, and nowhere else.
"""

import errno
from collections.abc import Iterator
from contextlib import contextmanager


class Unusable(Exception):
    """Something on the disk that is left as it is until a person has seen to it: `str(error)` says what and why."""


_FULL = "cannot be written: the disk is full"
_FORBIDDEN = "cannot be used: no permission"
_GONE = "has gone while it was in use"

# By the number of the error, what is said after the name.
_SAID = {
    errno.ENOSPC: _FULL,
    errno.EDQUOT: _FULL,
    errno.EFBIG: "cannot be written: larger than files may be here",
    errno.EACCES: _FORBIDDEN,
    errno.EPERM: _FORBIDDEN,
    errno.EROFS: "cannot be written: the file system is read-only",
    errno.ENOENT: _GONE,
    errno.ESTALE: _GONE,
    errno.ELOOP: "is a symbolic link",
    errno.ENOTDIR: "is not a folder",
    errno.EISDIR: "is a folder",
    errno.ENXIO: "is not a file",
    errno.ENAMETOOLONG: "has too long a name",
}


@contextmanager
def told(name: str) -> Iterator[None]:
    """Raises an `OSError` of the block as `Unusable`, with `name` as its subject."""
    try:
        yield
    except OSError as error:
        raise Unusable(f"{name} {said(error)}") from error


def said(error: OSError) -> str:
    """Returns what to say of an error after the name of what it befell."""
    return _SAID.get(error.errno or 0, f"cannot be used: {error.strerror or type(error).__name__}")
