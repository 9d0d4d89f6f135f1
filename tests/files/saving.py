"""How editors save a file, step by step, and a person's folder with everything that may be found in it."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from proxy.files.folder import Folder

SCOPE = "0123456789abcdef" * 2 + "/ana"
MEMORY = "MEMORY.md"

Save = Callable[[Path, bytes], None]


def folder_in(root: Path, memory: bytes | None = None, **options: Any) -> Folder:
    folder = Folder(root, SCOPE, **options)
    with folder.locked():
        if memory is not None:
            (folder.path / MEMORY).write_bytes(memory)
    return folder


def nano(path: Path, data: bytes) -> None:
    """Truncates, and writes in place; so do Obsidian, and VS Code by default."""
    path.write_bytes(data)


def vs_code(path: Path, data: bytes) -> None:
    """Writes another file and renames it over; so do many, and tools that synchronise."""
    other = path.with_name(f"{path.name}.vsctmp")
    other.write_bytes(data)
    other.replace(path)


def vim(path: Path, data: bytes) -> None:
    """Renames the old file away, writes a new one, and removes the old."""
    backup = path.with_name(f"{path.name}~")
    if path.exists():
        path.rename(backup)
    path.write_bytes(data)
    backup.unlink(missing_ok=True)


SAVES = {"nano": nano, "vs code": vs_code, "vim": vim}


def texts(folder: Folder) -> dict[str, bytes]:
    """Returns the text of every regular file in the folder, by its relative name."""
    return {
        path.relative_to(folder.path).as_posix(): path.read_bytes()
        for path in sorted(folder.path.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }


def kept(folder: Folder) -> list[bytes]:
    """Returns the older texts, oldest first."""
    found = [folder.read(f".history/{name}") for name in folder.kept()]
    return [text for text in found if text is not None]


def left(folder: Folder) -> list[str]:
    """Returns the names of temporary files."""
    return [name for name in texts(folder) if name.endswith(".tmp")]


def steps_of(folder: Folder, work: Callable[[], object]) -> list[str]:
    """Returns the steps that the work told of."""
    seen: list[str] = []
    folder.on_step = seen.append
    work()
    folder.on_step = lambda _: None
    return seen


def at_step(step: str, act: Callable[[], None], *, times: int = 1) -> Callable[[str], None]:
    """Returns what acts when a step is told, so many times."""
    rest = iter(range(times))

    def told(said: str) -> None:
        if said == step and next(rest, None) is not None:
            act()

    return told


def counted(prefix: str) -> Iterator[bytes]:
    """Yields texts of which none is another."""
    number = 0
    while True:
        number += 1
        yield f"- {prefix} {number}\n".encode()


def late_write(descriptor: int, data: bytes) -> None:
    """Writes through a descriptor that was opened before."""
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, data, 0)
    os.close(descriptor)
