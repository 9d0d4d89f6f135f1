"""The contents of a person's folder, and the names that they may have: no other is ever opened.

MEMORY.md, 2026-11-23.md, snapshots/<slug>.md   what people open
identity.md, agent_notes.md, plan.md            the same: rules of the desk, its sections, and its other documents
.history/       older texts of these, each with a number, a time and the name; `MEMORY-12.md`: the twelfth that we wrote
sessions/       tapes, a folder for each session: `tape.py`
.desk/          of each document the text that its person had before them
.aside/         what a wipe took away, by the end of its undo; in there, all of the above
.lock           held by the one process that is at work
.olvido.json    whose folder it is
"""

import re
from collections.abc import Collection

from proxy.desk.tools import may_be_written
from proxy.files.unusable import Unusable

MEMORY = "MEMORY.md"
IDENTITY = "identity.md"
SNAPSHOTS = "snapshots"
SESSIONS = "sessions"
BASES = ".desk"
OWNER = ".olvido.json"
LOCK = ".lock"
STAYS = frozenset((LOCK, OWNER))  # when all else goes
TAPED = frozenset((SESSIONS,))  # a wipe does not put it aside: it follows the database, there and back

_MOST = 110  # bytes of a name, of which those of older texts and temporary files are made: 255 is what a disk bears
_PLAIN = r"(?!\.)[^\x00-\x1f\x7f\ud800-\udfff/\\%]+"
_LOG = r"\d{4}-\d\d-\d\d\.md"
_SNAPSHOT = rf"snapshots/{_PLAIN}\.md"
_ASIDE = r"\.aside(?:/\d+\.\d{6})?"
_KEPT = rf"\.history/\d{{6,}}-\d{{8}}T\d{{6}}-{_PLAIN}"
_BASE = r"\.desk/[a-z0-9][a-z0-9_-]{0,63}(?:\.next|\.\d{1,15}\.\d{1,15}\.\d{6})?\.md"
_FIXED = r"MEMORY(?:-\d{1,9})?\.md|identity\.md"
_OURS = re.compile(rf"(?:{_ASIDE}/)?(?:{_FIXED}|{_LOG}|{_SNAPSHOT}|{_BASE}|{_KEPT})", re.ASCII)
_BASE_NAME = re.compile(rf"(?:{_ASIDE}/)?{_BASE}", re.ASCII)
_ASIDE_START = re.compile(rf"^{_ASIDE}/", re.ASCII)
_COPY = re.compile(rf"(?:{_ASIDE}/)?(?:\.history/\d{{6,}}-\d{{8}}T\d{{6}}-)?([^/]+)", re.ASCII)
_MEMORABLE = re.compile(rf"{_LOG}|{_SNAPSHOT}", re.ASCII)
_FOLDER = re.compile(rf"{_ASIDE}|(?:{_ASIDE}/)?(?:snapshots|\.history|\.desk)", re.ASCII)


def check(name: str) -> None:
    """Raises Unusable unless a file of the memory may have that name, relative to the folder."""
    if not is_ours(name):
        raise Unusable(f"{name[:100]!r} is no name of a file of the memory")


def is_ours(name: str) -> bool:
    """Tells whether a file of the memory may have that name, relative to the folder."""
    if _OURS.fullmatch(name) is None and not is_document(_ASIDE_START.sub("", name)):
        return False
    return len(name.rpartition("/")[2].encode()) <= (_MOST if name.startswith(SNAPSHOTS) else 2 * _MOST)


def is_memorable(name: str) -> bool:
    """Tells whether it is the name of a daily log or a snapshot."""
    return is_ours(name) and _MEMORABLE.fullmatch(name) is not None


def is_document(name: str) -> bool:
    """Tells whether it is the name of a document of the desk, which model and person may read and write."""
    return may_be_written(name)


def has_document(name: str) -> bool:
    """Tells whether a file of that name has the text of a document: itself, an older text, or what one was
    compared with."""
    if _BASE_NAME.fullmatch(name) is not None:
        return True
    found = _COPY.fullmatch(name)
    return found is not None and is_document(found[1])


def synced(names: Collection[str]) -> list[str]:
    """Returns these names of a folder's files without those of documents that were never synced: they are a person's
    own."""
    return sorted(name for name in names if _is_synced(name, names))


def _is_synced(name: str, names: Collection[str]) -> bool:
    start = found.group() if (found := _ASIDE_START.match(name)) is not None else ""
    own, bases = name.removeprefix(start), f"{start}{BASES}/"
    if own == IDENTITY:
        return any(each.startswith(bases) for each in names)
    return not is_document(own) or f"{bases}{own}" in names


def is_folder(name: str) -> bool:
    """Tells whether a folder of that name, relative, may have files of the memory in it."""
    return _FOLDER.fullmatch(name) is not None
