"""`.desk/`: of each document of the desk the text that its person had before them, which their file is compared with.

    notes.md                       that text
    notes.7.1795435200.000000.md   a person's text on its way into the store: version it is made of, time of the change
    notes.next.md                  a text on its way into the file

The latter two are written before a step and removed behind it. Whoever finds one that a killed process left can tell
whether that step was taken: the store has a change of that time, or the file that text.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from proxy.files.folder import Folder
from proxy.files.layout import BASES

_NEXT = re.compile(rf"{re.escape(BASES)}/([^.]+)\.next\.md")
_TAKEN = re.compile(rf"{re.escape(BASES)}/([^.]+)\.(\d+)\.(\d+\.\d{{6}})\.md")
_BASE = re.compile(rf"{re.escape(BASES)}/([^.]+)\.md")


@dataclass(frozen=True, slots=True)
class Taken:
    """A person's text that was on its way into the store."""

    text: str
    version: int  # of the document that it was to replace
    at: float  # of the change


@dataclass(frozen=True, slots=True)
class Base:
    """The text of a document that its person had before them, as far as it is known. `None`: there is none."""

    text: str | None = None
    taken: Taken | None = None
    next: str | None = None
    files: tuple[str, ...] = ()  # names of what tells so

    @property
    def is_settled(self) -> bool:
        """True if no step was cut off."""
        return self.taken is None and self.next is None


def by_document(names: Iterable[str]) -> dict[str, list[str]]:
    """Returns the names of the files in here, by the document that they are about. `names`: of all files of a
    folder."""
    found: dict[str, list[str]] = {}
    for name in names:
        match = _TAKEN.fullmatch(name) or _NEXT.fullmatch(name) or _BASE.fullmatch(name)
        if match is not None:
            found.setdefault(f"{match[1]}.md", []).append(name)
    return found


def read(folder: Folder, files: Sequence[str]) -> Base:
    """Returns what is known of one document. `files`: names of `by_document`. Raises Unusable."""
    base = Base(files=tuple(files))
    for name in files:
        if (data := folder.read(name)) is None:
            continue
        text = data.decode("utf-8", "replace")
        if (match := _TAKEN.fullmatch(name)) is not None:
            base = replace(base, taken=Taken(text, int(match[2]), float(match[3])))
        elif _NEXT.fullmatch(name) is not None:
            base = replace(base, next=text)
        else:
            base = replace(base, text=text)
    return base


def taking(folder: Folder, document: str, taken: Taken) -> str:
    """Notes that a person's text is about to be stored. Returns the name of the note. Raises Unusable."""
    return _write(folder, f"{_stem(document)}.{taken.version}.{taken.at:.6f}.md", taken.text)


def writing(folder: Folder, document: str, text: str) -> str:
    """Notes that a text is about to be written to the file. Returns the name of the note. Raises Unusable."""
    return _write(folder, f"{_stem(document)}.next.md", text)


def settle(folder: Folder, document: str, text: str | None, files: Iterable[str]) -> None:
    """Makes `text` what the person has before them, and then removes the other `files`. Raises Unusable."""
    own = "" if text is None else _write(folder, f"{_stem(document)}.md", text)
    for name in set(files) - {own}:
        folder.drop(name)


def _stem(document: str) -> str:
    return f"{BASES}/{document.removesuffix('.md')}"


def _write(folder: Folder, name: str, text: str) -> str:
    data, stands = text.encode("utf-8", "replace"), folder.read(name)
    while stands != data:
        stands = data if (other := folder.write(name, data, instead_of=stands, keeps=False)) is None else other
    return name
