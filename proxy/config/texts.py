"""Texts of the package for a model, each of which a file of the same name in a folder of the configuration replaces."""

from collections.abc import Iterable
from pathlib import Path

LONGEST = 64 * 2**10  # bytes of a file


def read_texts(files: Iterable[str], folder: Path | None, *, built_in: Path, one: str, many: str) -> dict[str, str]:
    """Returns the texts of files by their names. `folder`: has those that replace the `built_in` ones; None: none.
    `one`, `many`: words for them. Raises ValueError, with the names of all files that can't be used."""
    if folder is not None and not folder.is_dir():
        raise ValueError(f"{folder} is no folder with {many}")
    found: dict[str, str] = {}
    wrong: list[str] = []
    for name in files:
        own = None if folder is None else folder / name
        try:
            found[name] = _read(own if own is not None and own.exists() else built_in / name, one)
        except ValueError as error:
            wrong.append(str(error))
    if wrong:
        raise ValueError("; ".join(wrong))
    return found


def _read(path: Path, one: str) -> str:
    try:
        data = path.read_bytes()
        text = data.decode().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} can't be read as {one}: {type(error).__name__}") from None
    if not text or len(data) > LONGEST:
        raise ValueError(f"{path} can't be used as {one}: it is {'empty' if not text else 'too long'}")
    return text
