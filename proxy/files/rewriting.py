"""Changing a file of memory that others may be changing: read, changed, and written in place of what was read; anew, if
something else stands there by then.
"""

from collections.abc import Callable
from typing import Protocol

from proxy.files.lines import decoded, encoded

TRIES = 20  # of a file that somebody writes all the time


class Restless(Exception):
    """A file changes faster than it can be written."""


class Texts(Protocol):
    """The files of a person's folder, as `Folder` has them."""

    def read(self, name: str) -> bytes | None:
        """Returns a file; None if there is none."""

    def write(self, name: str, data: bytes, *, instead_of: bytes | None, keeps: bool = True) -> bytes | None:
        """Replaces what was read; returns what stands there if that is something else. `keeps`: the older text."""

    def append(self, name: str, data: bytes) -> None:
        """Adds to the end of a file, on a line of its own."""


def replaced(files: Texts, name: str, change: Callable[[str], str], *, keeps: Callable[[str], bool]) -> bool:
    """Replaces the text of a file by what `change` makes of it ("": there is none); tells whether it was another.
    `keeps`: tells of the older text whether it is kept. Raises Restless if it never stays for long enough, and what the
    folder raises."""
    before = files.read(name)
    for _ in range(TRIES):
        text = decoded(before or b"")
        if (after := change(text)) == text:
            return False
        data = encoded(after, before or b"")
        stands = files.write(name, data, instead_of=before, keeps=before is not None and keeps(text))
        if stands is None:
            return True
        before = stands
    raise Restless


def always(_text: str) -> bool:
    """Keeps any text."""
    return True


def never(_text: str) -> bool:
    """Keeps no text: its words are being forgotten."""
    return False
