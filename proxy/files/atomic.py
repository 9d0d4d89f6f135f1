"""A text takes the place of another in one step, and what came meanwhile is seen, put back, and returned.

The new text is written to a temporary file, which then changes places with what stands there. What comes out is
compared with what was to be replaced: if a person has saved in between, their text goes back. What an editor may still
hold open is kept in `.history/`: a write that comes late, through an old descriptor, is there.

A process may be killed at any step. `recover` sees to what it left.
"""

import os
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace

from proxy.files import handles, history, temporary
from proxy.files.exchange import exchange, place
from proxy.files.temporary import Step, Temporary, hashed
from proxy.files.unusable import Unusable

ROUNDS = 16  # of changing places with somebody who saves all the time

Content = bytes | Unusable  # the latter: something stands there that is no text


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a file, and what may be done there."""

    folder: int  # descriptor of the person's folder
    at: int  # descriptor of the folder that the file is in
    base: str
    name: str  # relative to the person's folder
    keeps: bool  # whether the text that is replaced is kept: not when it is being forgotten
    can_exchange: bool  # False: as on a file system that cannot
    on_step: Step


Opened = Callable[[int, str], AbstractContextManager[Place | None]]  # by the person's folder and the name of a file


def write(target: Place, data: bytes, instead_of: bytes | None) -> bytes | None:
    """Replaces `instead_of` (None: nothing) by `data`. Returns None, or what stands there now if it was something else:
    that is left as it is. Raises Unusable, also if what was to be replaced has gone; OSError."""
    found = handles.read(target.at, target.base, target.name)
    if found != instead_of:
        if found is None:
            raise _gone(target.name)
        return found
    if instead_of is not None and target.keeps:
        with handles.folder(target.folder, history.HISTORY, history.HISTORY, make=True):
            pass  # before anything changes: a full disk says so here
    meant = Temporary(target.name, hashed(instead_of), hashed(data), is_forgotten=not target.keeps)
    made = temporary.create(target.folder, meant, data, target.on_step)
    stands = _added(target, made) if instead_of is None else _replaced(target, made, data, instead_of)
    os.fsync(target.at)
    target.on_step("done")
    if isinstance(stands, Unusable):
        raise stands
    return stands


def drop(target: Place, instead_of: bytes | None) -> bytes | None:
    """Removes a file; with `instead_of` only if that is its text, which is kept. Returns None, or what stands there if
    it is something else: that is left as it is. Raises Unusable, OSError."""
    with suppress(FileNotFoundError):
        if instead_of is None:
            os.unlink(target.base, dir_fd=target.at)
        else:
            found = handles.read(target.at, target.base, target.name)
            if found != instead_of:
                return found
            # Moved, not removed: what somebody saves just now, through an open descriptor too, is kept with it.
            history.adopt(target.folder, target.at, target.base, target.name)
    target.on_step("dropped")
    return None


def _added(target: Place, made: str) -> Content | None:
    try:
        place(target.folder, made, target.at, target.base)
    except FileExistsError:
        os.unlink(made, dir_fd=target.folder)
        return _standing(target)
    except BaseException:
        _discard(target, made)
        raise
    target.on_step("placed")
    return None


def _replaced(target: Place, made: str, data: bytes, instead_of: bytes) -> Content | None:
    try:
        is_done = target.can_exchange and exchange(target.folder, made, target.at, target.base)
    except BaseException:
        _discard(target, made)
        raise
    if not is_done:
        return _renamed(target, made, instead_of)
    target.on_step("exchanged")
    if (out := _content(target.folder, made, target.name)) != instead_of:
        return _put_back(target, made, out, data)
    try:
        _retire(target, made)
    except OSError:
        _undo(target, made, data)
        raise
    target.on_step("kept")
    return None


def _put_back(target: Place, made: str, out: Content, data: bytes) -> Content:
    """Puts back what came meanwhile and came out, `out`; and so whatever comes while that is done."""
    expected: Content = data
    is_ours = True  # what is expected to come out
    for _ in range(ROUNDS):
        if not _back(target, made):
            return out
        target.on_step("put back")
        came = _content(target.folder, made, target.name)
        if came == expected:
            if is_ours:
                _retire(target, made)
            else:
                history.adopt(target.folder, target.folder, made, target.name)
            return out
        out, expected, is_ours = came, out, False
    history.adopt(target.folder, target.folder, made, target.name)
    return _standing(target)


def _back(target: Place, made: str) -> bool:
    """Returns whether something came out when `made` took its place again: not, if its place was empty."""
    while True:
        try:
            return exchange(target.folder, made, target.at, target.base)
        except FileNotFoundError:
            with suppress(FileExistsError):
                place(target.folder, made, target.at, target.base)
                return False


def _undo(target: Place, made: str, data: bytes) -> None:
    """The old text could not be kept: it goes back, and the new one away."""
    exchange(target.folder, made, target.at, target.base)
    if _content(target.folder, made, target.name) == data:
        os.unlink(made, dir_fd=target.folder)


def _retire(target: Place, made: str) -> None:
    """Keeps a text that was replaced, or, while it is being forgotten, removes it."""
    if target.keeps:
        history.adopt(target.folder, target.folder, made, target.name)
    else:
        os.unlink(made, dir_fd=target.folder)


def _renamed(target: Place, made: str, instead_of: bytes) -> Content | None:
    """The same where files cannot change places: the old text is kept first, looked at, and renamed over."""
    try:
        kept = _kept(target, instead_of) if target.keeps else None
        target.on_step("linked")
        found = _standing(target)
        if found == instead_of:
            os.replace(made, target.base, src_dir_fd=target.folder, dst_dir_fd=target.at)
            target.on_step("exchanged")
            return None
    except BaseException:
        _discard(target, made)
        raise
    _discard(target, made)
    if kept is not None:
        history.drop(target.folder, kept)
    return found


def _kept(target: Place, instead_of: bytes) -> str | None:
    try:
        return history.link(target.folder, target.at, target.base, target.name)
    except FileNotFoundError:
        raise
    except OSError:  # no hard links either
        history.keep(target.folder, instead_of, target.name)
        return None


def _standing(target: Place) -> Content:
    return _content(target.at, target.base, target.name)


def _content(at: int, base: str, name: str) -> Content:
    try:
        found = handles.read(at, base, name)
    except Unusable as error:
        return error
    return _gone(name) if found is None else found


def _gone(name: str) -> Unusable:
    return Unusable(f"{name} has gone while it was in use")


def _discard(target: Place, made: str) -> None:
    with suppress(OSError):
        os.unlink(made, dir_fd=target.folder)


def append(target: Place, data: bytes) -> None:
    """Adds to the end of a file, on a line of its own; makes it. Nothing was added if it raises: Unusable, OSError."""
    for _ in range(ROUNDS):
        found = handles.read(target.at, target.base, target.name)
        if found is None:
            if write(target, data, None) is None:
                return
            continue
        start = b"" if found.endswith(b"\n") or not found else b"\n"  # a person's last line may have no end
        if len(found) + len(start) + len(data) > handles.MOST_BYTES:
            raise Unusable(f"{target.name} is full")
        if _appended(target, start + data):
            return
    raise Unusable(f"{target.name} is in use by another process")


def _appended(target: Place, data: bytes) -> bool:
    """Returns whether the file that was written to still stands there: an editor may just have put another there."""
    try:
        descriptor = handles.open_file(target.at, target.base, target.name, os.O_WRONLY | os.O_APPEND)
    except FileNotFoundError:
        return False
    try:
        found = os.fstat(descriptor)
        if found.st_nlink > 1:  # also a file elsewhere, which is not ours to write to
            return _appended_apart(target, data)
        try:
            handles.written(descriptor, data)
            os.fsync(descriptor)
        except OSError:
            os.ftruncate(descriptor, found.st_size)
            raise
        target.on_step("appended")
        return os.path.samestat(found, os.stat(target.base, dir_fd=target.at, follow_symlinks=False))
    except FileNotFoundError:
        return False
    finally:
        os.close(descriptor)


def _appended_apart(target: Place, data: bytes) -> bool:
    found = handles.read(target.at, target.base, target.name)
    return found is not None and write(replace(target, keeps=False), found + data, found) is None


def recover(folder: int, placed: Opened, *, before: float | None = None) -> None:
    """Sees to the temporary files that killed processes left in a folder: what was never whole, or is our own text
    again, goes; a text that was replaced is kept; a person's that had come meanwhile is put back, or kept. `before`:
    only those that have not been touched since (seconds since 1970). Raises Unusable, OSError."""
    with os.scandir(folder) as entries:
        left = [(entry.name, meant) for entry in entries if (meant := temporary.meant(entry.name)) is not None]
    for made, meant in left:
        if before is not None and os.stat(made, dir_fd=folder, follow_symlinks=False).st_ctime > before:
            continue
        if meant.is_whole and _hash(folder, made) not in (meant.old, meant.new):
            _recovered(folder, made, meant, placed)
        worthless = {meant.new, meant.old} if meant.is_forgotten else {meant.new}
        if not meant.is_whole or _hash(folder, made) in worthless:
            os.unlink(made, dir_fd=folder)
        else:
            history.adopt(folder, folder, made, meant.name)


def _recovered(folder: int, made: str, meant: Temporary, placed: Opened) -> None:
    """A person's text had come out when the process was killed: it goes back, if ours stands in its place."""
    with suppress(Unusable), placed(folder, meant.name) as target:
        if target is not None and _hash(target.at, target.base) == meant.new:
            with suppress(FileNotFoundError):
                exchange(folder, made, target.at, target.base)


def _hash(at: int, base: str) -> str | None:
    found = _content(at, base, base)
    return None if isinstance(found, Unusable) else temporary.hashed(found)
