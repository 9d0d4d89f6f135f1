"""The contents of a person's folder, and the names that they may have: no other is ever opened.

MEMORY.md, 2026-11-23.md, snapshots/<slug>.md   what people open
.history/       older texts of these, each with a number, a time and the name; `MEMORY-12.md`: the twelfth that we wrote
sessions/       tapes, a folder for each session: `tape.py`
.aside/         what a wipe took away, by the end of its undo; in there, all of the above
.lock           held by the one process that is at work
.olvido.json    whose folder it is
"""

import re

from proxy.files.unusable import Unusable

MEMORY = "MEMORY.md"
SNAPSHOTS = "snapshots"
SESSIONS = "sessions"
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
_OURS = re.compile(rf"(?:{_ASIDE}/)?(?:MEMORY(?:-\d{{1,9}})?\.md|{_LOG}|{_SNAPSHOT}|{_KEPT})", re.ASCII)
_MEMORABLE = re.compile(rf"{_LOG}|{_SNAPSHOT}", re.ASCII)
_FOLDER = re.compile(rf"{_ASIDE}|(?:{_ASIDE}/)?(?:snapshots|\.history)", re.ASCII)


def check(name: str) -> None:
    """Raises Unusable unless a file of the memory may have that name, relative to the folder."""
    if not is_ours(name):
        raise Unusable(f"{name[:100]!r} is no name of a file of the memory")


def is_ours(name: str) -> bool:
    """Tells whether a file of the memory may have that name, relative to the folder."""
    if _OURS.fullmatch(name) is None:
        return False
    return len(name.rpartition("/")[2].encode()) <= (_MOST if name.startswith(SNAPSHOTS) else 2 * _MOST)


def is_memorable(name: str) -> bool:
    """Tells whether it is the name of a daily log or a snapshot."""
    return is_ours(name) and _MEMORABLE.fullmatch(name) is not None


def is_folder(name: str) -> bool:
    """Tells whether a folder of that name, relative, may have files of the memory in it."""
    return _FOLDER.fullmatch(name) is not None
