"""`.history/`: the older texts of a folder, each a file, the newest bounded in number and bytes.

Its names begin with a number that grows, not with the time: clocks go back. A text that was replaced is moved here as
the file it was, not copied: an editor that still holds it open writes into what is kept.
"""

import os
import re
import stat
from contextlib import suppress
from dataclasses import dataclass
from time import gmtime, strftime

from proxy.files import handles, temporary
from proxy.files.exchange import place
from proxy.files.temporary import Temporary, hashed
from proxy.files.unusable import Unusable

HISTORY = ".history"
MOST_KEPT = 200  # texts of a folder
MOST_KEPT_BYTES = 32 * 1024 * 1024

_NAME = re.compile(r"(\d{6,})-\d{8}T\d{6}-(.+)")
_TRIES = 5  # at a number that another process without a lock takes too


@dataclass(frozen=True, slots=True)
class _Kept:
    number: int
    name: str
    label: str  # of which file it was a text
    size: int


def names(folder: int) -> list[str]:
    """Returns the names of what is kept, oldest first. Raises Unusable, OSError."""
    try:
        with handles.folder(folder, HISTORY, HISTORY) as history:
            return [kept.name for kept in _listed(history)]
    except FileNotFoundError:
        return []


def keep(folder: int, data: bytes, name: str) -> str:
    """Keeps a text of the file `name`, unless its newest is the same. Returns its own name. Raises Unusable,
    OSError."""
    with handles.folder(folder, HISTORY, HISTORY, make=True) as history:
        newest = _newest(history, name)
        if newest is not None and newest.size == len(data) and _content(history, newest.name) == data:
            return newest.name
    meant = Temporary(name, hashed(None), hashed(data))
    made = temporary.create(folder, meant, data, lambda _: None)
    try:
        return adopt(folder, folder, made, name)
    except BaseException:
        with suppress(OSError):
            os.unlink(made, dir_fd=folder)
        raise


def adopt(folder: int, at: int, found: str, name: str) -> str:
    """Keeps the file `found`, in the open folder `at`, as a text of the file `name`: it is moved. The newest text of
    that file goes if it is the same. Returns its name in here. Raises Unusable, OSError."""
    with handles.folder(folder, HISTORY, HISTORY, make=True) as history:
        newest = _newest(history, name)
        kept = _moved(at, found, history, name)
        if newest is not None:
            text = _content(history, newest.name)
            if text is not None and text == _content(history, kept):
                os.unlink(newest.name, dir_fd=history)
        _bound(history)
        os.fsync(history)
    return kept


def link(folder: int, at: int, found: str, name: str) -> str:
    """Keeps a text by giving its file a second name, in here: where files cannot change places. Returns that name.
    Raises Unusable, OSError."""
    with handles.folder(folder, HISTORY, HISTORY, make=True) as history:
        kept = _next(history, name)
        os.link(found, kept, src_dir_fd=at, dst_dir_fd=history, follow_symlinks=False)
        _bound(history)
        os.fsync(history)
    return kept


def drop(folder: int, kept: str) -> None:
    """Removes one of the texts. Raises Unusable, OSError."""
    with handles.folder(folder, HISTORY, HISTORY) as history:
        os.unlink(kept, dir_fd=history)


def _moved(at: int, found: str, history: int, name: str) -> str:
    for _ in range(_TRIES):
        kept = _next(history, name)
        try:
            place(at, found, history, kept)
        except FileExistsError:
            continue
        return kept
    raise Unusable(f"{HISTORY} is in use by another process")


def _next(history: int, name: str) -> str:
    listed = _listed(history)
    number = listed[-1].number + 1 if listed else 1
    return f"{number:06d}-{strftime('%Y%m%dT%H%M%S', gmtime())}-{_label(name)}"


def _newest(history: int, name: str) -> _Kept | None:
    return next((kept for kept in reversed(_listed(history)) if kept.label == _label(name)), None)


def _label(name: str) -> str:
    return name.lstrip(".").replace("/", "-")


def _listed(history: int) -> list[_Kept]:
    found = []
    with os.scandir(history) as entries:
        for entry in entries:
            if (named := _NAME.fullmatch(entry.name)) is None:
                continue
            with suppress(FileNotFoundError):
                seen = entry.stat(follow_symlinks=False)
                if not stat.S_ISDIR(seen.st_mode):
                    found.append(_Kept(int(named[1]), entry.name, named[2], seen.st_size))
    return sorted(found, key=lambda kept: (kept.number, kept.name))


def _bound(history: int) -> None:
    kept = _listed(history)
    size = sum(each.size for each in kept)
    while len(kept) > MOST_KEPT or (size > MOST_KEPT_BYTES and len(kept) > 1):
        oldest = kept.pop(0)
        size -= oldest.size
        with suppress(FileNotFoundError):
            os.unlink(oldest.name, dir_fd=history)


def _content(history: int, name: str) -> bytes | None:
    try:
        return handles.read(history, name, name)
    except Unusable:
        return None
