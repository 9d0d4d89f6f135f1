"""Two system calls that Python has no names for: files that change places, and a rename that replaces nothing.

Only they let a file that others write be replaced without losing what came meanwhile: what stood there comes out. Linux
has them as renameat2(2), macOS as renameatx_np(2); network shares and old file systems often have neither.
"""

import ctypes
import errno
import os
import sys
from collections.abc import Callable

_IS_MAC = sys.platform == "darwin"
_NAME = "renameatx_np" if _IS_MAC else "renameat2"
_EXCHANGE = 2  # RENAME_EXCHANGE, RENAME_SWAP
_EXCLUSIVE = 4 if _IS_MAC else 1  # RENAME_EXCL, RENAME_NOREPLACE
_UNKNOWN = (errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP)
_NO_LINKS = (*_UNKNOWN, errno.EPERM, errno.EMLINK)

Call = Callable[[int, bytes, int, bytes, int], int]


def _call() -> Call | None:
    found = getattr(ctypes.CDLL(None, use_errno=True), _NAME, None)  # None: an old libc
    if found is None:
        return None
    found.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
    found.restype = ctypes.c_int
    call: Call = found
    return call


_RENAME = _call()


def exchange(at: int, one: str, other_at: int, other: str, *, call: Call | None = _RENAME) -> bool:
    """Lets the two names, each in an open folder, change what they name, in one step. Returns False if that cannot be
    done here. Raises OSError: FileNotFoundError if one of them is not there."""
    return _renamed(at, one, other_at, other, _EXCHANGE, call)


def place(at: int, one: str, other_at: int, other: str, *, call: Call | None = _RENAME) -> None:
    """Renames a file to a name that nothing has. Raises OSError: FileExistsError if something has it, whatever it is.
    Where there is neither the call nor a hard link, the look and the rename are two steps."""
    if _renamed(at, one, other_at, other, _EXCLUSIVE, call):
        return
    try:
        os.link(one, other, src_dir_fd=at, dst_dir_fd=other_at, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        _looked(other_at, other)
        os.rename(one, other, src_dir_fd=at, dst_dir_fd=other_at)
    else:
        os.unlink(one, dir_fd=at)


def _looked(at: int, name: str) -> None:
    try:
        os.stat(name, dir_fd=at, follow_symlinks=False)
    except FileNotFoundError:
        return
    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), name)


def _renamed(at: int, one: str, other_at: int, other: str, flag: int, call: Call | None) -> bool:
    if call is None:
        return False
    while call(at, os.fsencode(one), other_at, os.fsencode(other), flag) != 0:
        number = ctypes.get_errno()
        if number in _UNKNOWN:
            return False
        if number != errno.EINTR:
            raise OSError(number, os.strerror(number), one)
    return True
