"""A look at the folders: whose they are, and the last syncs of a file, by the texts that were kept of it."""

import re
from calendar import timegm
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from time import strptime

import msgspec

from proxy.files import text
from proxy.files.aside import ASIDE
from proxy.files.diffs import Difference, difference
from proxy.files.document import Document, parse
from proxy.files.folder import Folder
from proxy.files.history import HISTORY
from proxy.files.layout import OWNER

MOST_SYNCS = 20

_WRITTEN = re.compile(r"\d+-(\d{8}T\d{6})-MEMORY-\d+\.md")


@dataclass(frozen=True, slots=True)
class Shown:
    """A sync that has changed the file."""

    at: float  # seconds since the epoch
    difference: Difference  # with the one before


def syncs(root: Path, scope: str, most: int = MOST_SYNCS) -> list[Shown]:
    """Returns the last syncs of a person's file, newest first; blocks. The first of all adds every line. Raises
    Unusable."""
    folder = Folder(root, scope)
    written = [(name, match[1]) for name in folder.kept() if (match := _WRITTEN.fullmatch(name)) is not None]
    is_whole = len(written) <= most
    texts: list[tuple[float, Document]] = [(0.0, Document())] if is_whole else []
    for name, at in written[-most - 1 :]:
        if (data := folder.read(f"{HISTORY}/{name}")) is not None:
            texts.append((timegm(strptime(at, "%Y%m%dT%H%M%S")), parse(text.decode(data).text)))
    return [Shown(at, difference(before, after)) for (_, before), (at, after) in pairwise(texts)][::-1]


def owners(root: Path) -> dict[str, str]:
    """Returns the scopes of all folders below the root, by folder; blocks. A folder that is nobody's is left out."""
    return _owners(root, root.glob(f"*/*/{OWNER}"))


def with_wipes(root: Path) -> list[str]:
    """Returns the scopes in whose folders something was put aside; blocks."""
    return list(_owners(root, (folder.with_name(OWNER) for folder in root.glob(f"*/*/{ASIDE}"))).values())


def _owners(root: Path, files: Iterable[Path]) -> dict[str, str]:
    found: dict[str, str] = {}
    for file in files:
        try:
            scope = msgspec.json.decode(file.read_bytes())["scope"]
        except (OSError, msgspec.DecodeError, KeyError, TypeError):
            continue
        if isinstance(scope, str):
            found[file.parent.relative_to(root).as_posix()] = scope
    return found
