"""Temporary files: what a text is written to, whole, before it takes its place in one step.

All are in the person's folder itself, under names that editors and watchers pass over. The name says what was to be
done, so that whoever finds one that a killed process left knows what its text is:

    .MEMORY.md.olvido-<pid>-<token>-<hash of what stood there>-<hash of what is to stand there>[.forgotten][.new].tmp

`.new` until all of it is on the disk: such a one never was anybody's text. `.forgotten`: what stood there is to go.
"""

import os
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from secrets import token_hex

from proxy.files import handles

_NAME = re.compile(r"\.(.+)\.olvido-\d+-[0-9a-f]{8}-([0-9a-f]{16})-([0-9a-f]{16})(\.forgotten)?(\.new)?\.tmp")
_NOTHING = "0" * 16

Step = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Temporary:
    """The purpose of a temporary file."""

    name: str  # for which it was made, relative
    old: str  # hash of the text that it was to replace
    new: str  # hash of the text that was written to it
    is_forgotten: bool = False  # the old text is not kept
    is_whole: bool = True


def create(folder: int, meant: Temporary, data: bytes, on_step: Step) -> str:
    """Returns the name of a temporary file with `data`, which is on the disk. Raises OSError, and leaves none then."""
    kind = ".forgotten" if meant.is_forgotten else ""
    name = f".{meant.name.replace('/', '%')}.olvido-{os.getpid()}-{token_hex(4)}-{meant.old}-{meant.new}{kind}"
    new, whole = f"{name}.new.tmp", f"{name}.tmp"
    try:
        descriptor = handles.create(folder, new)
        try:
            on_step("created")
            handles.written(descriptor, data)
            on_step("written")
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.rename(new, whole, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(OSError):
            os.unlink(new, dir_fd=folder)
        raise
    on_step("whole")
    return whole


def meant(name: str) -> Temporary | None:
    """Returns what the name of a temporary file says; None if it is none of ours."""
    if (found := _NAME.fullmatch(name)) is None:
        return None
    return Temporary(found[1].replace("%", "/"), found[2], found[3], found[4] is not None, found[5] is None)


def hashed(data: bytes | None) -> str:
    """Returns the hash of a text as it stands in names."""
    return _NOTHING if data is None else blake2b(data, digest_size=8).hexdigest()
