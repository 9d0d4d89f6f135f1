"""Snapshots in the folder of a person: written, renamed, retitled. One file a session, which is found by the mark of
the session in its head."""

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Protocol

from proxy.files import slugs
from proxy.files.layout import SNAPSHOTS
from proxy.files.lines import comment, decoded, parted
from proxy.files.rewriting import Texts, replaced
from proxy.files.snapshots import SESSION, Snapshot, parsed, rendered

FOLDER = f"{SNAPSHOTS}/"
_HEAD_BYTES = 2_000  # of a file, in which the name of its session is
_DATED = re.compile(rf"{FOLDER}\d{{4}}-\d\d-\d\d\b")  # begins a name that we gave


class Snapshots(Texts, Protocol):
    """The files of a person's folder, with what snapshots need beside reading and writing."""

    def names(self) -> list[str]:
        """Returns the names of daily logs and snapshots."""

    def seal(self, name: str) -> None:
        """Makes a file read-only."""

    def move(self, name: str, new: str) -> None:
        """Gives a file a name that is free."""


def write(files: Snapshots, snapshot: Snapshot) -> None:
    """Writes a snapshot, in place of an earlier one of the same session, whose name it keeps. The folder is locked
    meanwhile. The older text is kept if somebody has changed it."""
    if not snapshot.said:
        return
    held = _held(files)
    if (name := _of(files, held, snapshot.mark)) is not None:
        snapshot = replace(snapshot, called=_head_of(files, name).called)
    name = name or free(snapshot.slug, held)
    text = rendered(snapshot)
    replaced(files, name, lambda _: text, keeps=_is_changed)
    files.seal(name)


def rename(files: Snapshots, mark: str, called: str) -> None:
    """Gives the snapshot of a session, known by its mark, the name that a model found. The folder is locked meanwhile.
    Its text stays; and so does a name that somebody else has given it. Does nothing if there is no snapshot."""
    held = _held(files)
    if (name := _of(files, held, mark)) is None or not _DATED.match(name):
        return
    replaced(files, name, lambda text: _with_name(text, called), keeps=_is_changed)
    snapshot = parsed(decoded(files.read(name) or b""))
    new = snapshot.slug
    if snapshot.said and not re.fullmatch(rf"{re.escape(FOLDER + new)}(?:-\d+)?\.md", name):
        files.move(name, new := free(new, held))
        name = new
    files.seal(name)


def _held(files: Snapshots) -> list[str]:
    return sorted((name for name in files.names() if name.startswith(FOLDER)), reverse=True)


def _of(files: Snapshots, held: Sequence[str], mark: str) -> str | None:
    return next((name for name in held if _head_of(files, name).mark == mark), None)


def _head_of(files: Snapshots, name: str) -> Snapshot:
    return parsed(decoded((files.read(name) or b"")[:_HEAD_BYTES]))


def _is_changed(text: str) -> bool:
    """Tells whether somebody else has changed the text of a snapshot."""
    return rendered(parsed(text)) != text


def _with_name(text: str, called: str) -> str:
    """Returns the text of a snapshot with another name beside its session; all else stays as it is."""
    lines = text.split("\n")
    for at, line in enumerate(lines):
        plain, _, names = parted(line.rstrip("\r"))
        if SESSION.fullmatch(plain):
            lines[at] = f"{plain}{comment(s=names.get('s', ''), n=called)}{line[len(line.rstrip(chr(13))) :]}"
            break
    return "\n".join(lines)


def retitle(files: Snapshots, name: str) -> None:
    """Gives a snapshot another name if its own has words that nobody says in it any more, but for what a model calls
    it."""
    snapshot = parsed(decoded(files.read(name) or b""))
    said = {part for text in (snapshot.called, *(each.text for each in snapshot.said)) for part in slugs.parts(text)}
    told = name.removeprefix(FOLDER).removesuffix(".md").split("-")
    if any(not word.isdigit() and word not in said for word in told):
        new = free(snapshot.slug, files.names())
        files.move(name, new)
        name = new
    files.seal(name)


def free(name: str, others: Collection[str]) -> str:
    """Returns the file of a slug, with a number if another conversation has it."""
    numbered = (f"{FOLDER}{name}{f'-{number}' if number > 1 else ''}.md" for number in range(1, len(others) + 2))
    return next(each for each in numbered if each not in others)
