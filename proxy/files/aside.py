"""`.aside/<until>/`: what a wipe took away, until its undo has ended. Nothing reads it.

Everything is moved by a rename of its own, `MEMORY.md` first on the way there and last on the way back: whoever looks
while it is done, or after a kill, finds no memory that is half there. Done again, it goes on where it was.
"""

import itertools
import os
import re
import shutil
from contextlib import suppress
from pathlib import PurePath

from proxy.files import handles, history, temporary
from proxy.files.exchange import place
from proxy.files.layout import MEMORY
from proxy.files.temporary import Step, Temporary, hashed
from proxy.files.unusable import Unusable

ASIDE = ".aside"
_UNTIL = re.compile(r"\d+\.\d{6}")  # seconds since 1970
_LOG = re.compile(r"\d{4}-\d\d-\d\d\.md")


def put(folder: int, until: float, stays: frozenset[str], on_step: Step) -> None:
    """Moves everything but `stays` there. Raises Unusable, OSError."""
    names = sorted(set(handles.names(folder)) - stays - {ASIDE}, key=lambda name: (name != MEMORY, name))
    if not names:
        return
    with (
        handles.folder(folder, ASIDE, ASIDE, make=True) as aside,
        handles.folder(aside, _named(until), ASIDE, make=True) as there,
    ):
        for name in names:
            _move(folder, there, name, top=True)
            on_step(f"aside {name}")
        os.fsync(there)
    os.fsync(folder)


def bring(folder: int, until: float, on_step: Step) -> None:
    """Moves everything back. Of a file that is there again by now: a daily log has both texts, what was written first
    comes first; of any other the new one stays, and the old one is kept. Raises Unusable, OSError."""
    try:
        with handles.folder(folder, ASIDE, ASIDE) as aside:
            with handles.folder(aside, _named(until), ASIDE) as there:
                for name in sorted(handles.names(there), key=lambda name: (name == MEMORY, name)):
                    if _LOG.fullmatch(name):
                        _join(there, folder, name)
                    _move(there, folder, name, top=True)
                    on_step(f"back {name}")
            os.rmdir(_named(until), dir_fd=aside)
    except FileNotFoundError:
        return
    _tidy(folder)
    os.fsync(folder)


def prune(folder: int, now: float) -> None:
    """Removes what was to be there until `now` at most. Raises Unusable, OSError."""
    try:
        with handles.folder(folder, ASIDE, ASIDE) as aside:
            for name in handles.names(aside):
                if _UNTIL.fullmatch(name) and float(name) <= now:
                    clear(aside, name)
    except FileNotFoundError:
        return
    _tidy(folder)


def clear(at: int, name: str) -> None:
    """Removes whatever has that name, and follows no link. Raises OSError."""
    with suppress(FileNotFoundError):
        if handles.is_folder(at, name):
            shutil.rmtree(name, dir_fd=at)
        else:
            os.unlink(name, dir_fd=at)


def _named(until: float) -> str:
    return f"{until:.6f}"


def _tidy(folder: int) -> None:
    with suppress(OSError):  # not empty, or not there
        os.rmdir(ASIDE, dir_fd=folder)


def _move(source: int, target: int, name: str, *, top: bool) -> None:
    try:
        place(source, name, target, name)
    except FileNotFoundError:
        return  # a person has just removed it
    except FileExistsError:
        if handles.is_folder(source, name) and handles.is_folder(target, name):
            with handles.folder(source, name, name) as inner, handles.folder(target, name, name) as there:
                for each in handles.names(inner):
                    _move(inner, there, each, top=False)
            os.rmdir(name, dir_fd=source)
        elif _content(source, name) is not None and _content(source, name) == _content(target, name):
            os.unlink(name, dir_fd=source)
        elif top and handles.is_file(source, name):
            history.adopt(target, source, name, name)
        else:
            _move(source, target, _renamed(source, target, name), top=False)


def _join(source: int, target: int, name: str) -> None:
    """Puts a daily log that comes back before the one that was begun meanwhile."""
    old, new = _content(source, name), _content(target, name)
    if old is None or new is None:
        return
    if not new.startswith(old):  # else it was done before a kill
        whole = old + (b"" if old.endswith(b"\n") else b"\n") + new
        made = temporary.create(target, Temporary(name, hashed(new), hashed(whole)), whole, lambda _: None)
        os.replace(made, name, src_dir_fd=target, dst_dir_fd=target)
    os.unlink(name, dir_fd=source)


def _renamed(source: int, target: int, name: str) -> str:
    """Returns the new name of what had one that something else has."""
    path = PurePath(name)
    for number in itertools.count(2):
        free = f"{path.stem}-{number}{path.suffix}"
        with suppress(FileExistsError):
            if not handles.exists(target, free):
                place(source, name, source, free)
                return free
    raise AssertionError


def _content(at: int, name: str) -> bytes | None:
    try:
        return handles.read(at, name, name)
    except Unusable:
        return None
