"""`sessions/<session>/session_log.jsonl`: the tape of a session on disk, a line of JSON for each message.

    {"id": 7, "timestamp": "2026-11-24T10:00:00.000Z", "role": "user", "content": …, "token_count": 12}

Lines are appended, in the order in which they arrived, and never changed, but for one thing: what was forgotten has
`content: null`. `content` is the message as it arrived. A file that has grown large is put behind, as
`session_log-1.jsonl` and so on. All of this is done with the person's folder locked, below open descriptors.
"""

import os
import re
from collections.abc import Iterable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import blake2b

import msgspec

from proxy.files import handles
from proxy.types.desk import TapeLine

NAME = "session_log.jsonl"
HOLDS = 1 << 31  # bytes that are opened of a file: more than any rotation lets it grow to

_OLDER = re.compile(r"session_log-(\d{1,6})\.jsonl")
_TEMPORARY = ".session_log.new"
_PLAIN = re.compile(r"[a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?")
_HASHED = re.compile(r".*-[0-9a-f]{12}")
_FOREIGN = re.compile(r"[^a-z0-9_-]+")
_MOST = 40  # characters of a name that was made plain, without its hash


class Row(msgspec.Struct, frozen=True):
    """A line of the file."""

    id: int
    timestamp: str  # UTC
    role: str
    content: msgspec.Raw
    token_count: int


class Stale(Exception):
    """Raised where a file tells something else than the store: it is to be written anew."""


@dataclass(frozen=True, slots=True)
class _File:
    name: str
    size: int


_row = msgspec.json.Decoder(Row)
_NULL = msgspec.Raw(b"null")


def folder_of(session: str) -> str:
    """Returns the name of a session's folder: its own where every file system bears it, else made plain, with a hash of
    itself."""
    if _PLAIN.fullmatch(session) and not _HASHED.fullmatch(session):
        return session
    plain = _FOREIGN.sub("-", session.lower())[:_MOST].strip("-_") or "session"
    return f"{plain}-{blake2b(session.encode('utf-8', 'surrogatepass'), digest_size=6).hexdigest()}"


def row_of(line: TapeLine) -> Row:
    """Returns a message as it stands in the file."""
    at = datetime.fromtimestamp(line.at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    content = _NULL if line.content is None else msgspec.Raw(_one_line(line.content))
    return Row(line.id, at, line.role, content, line.tokens)


def write(folder: int, lines: Sequence[TapeLine], most: int) -> None:
    """Brings the files of a session, in the open folder of it, to what `lines` say: new ones are appended, those
    without content lose it where they stand. Written twice is written once. `most`: bytes from which on a file is put
    behind. Raises Stale, OSError, Unusable."""
    with suppress(FileNotFoundError):
        os.unlink(_TEMPORARY, dir_fd=folder)
    _cut(folder)
    rows = [row_of(line) for line in lines]
    there = _known(folder, rows)
    for row in rows:
        if row.id in there and (there[row.id].timestamp != row.timestamp or _is_back(there[row.id], row)):
            raise Stale(row.id)
    gone = {row.id for row in rows if row.id in there and row.content == _NULL}
    if gone:
        _redact(folder, gone)
    new: dict[int, Row] = {}
    for row in rows:
        if row.id not in there:
            new[row.id] = row  # the newest word on it: it may have been forgotten meanwhile
    _append(folder, new.values(), most)


def read(folder: int) -> list[Row]:
    """Returns the lines of all files of a session, the oldest first. Raises OSError, Unusable."""
    return [row for file in _files(folder) for row in _rows(_data(folder, file.name))]


def _known(folder: int, rows: Sequence[Row]) -> dict[int, Row]:
    """Returns the lines that are there and may be among these rows, by id: read back from the end, since
    nearly always what comes is new."""
    if not rows:
        return {}
    least = min(row.id for row in rows)
    found: dict[int, Row] = {}
    for file in reversed(_files(folder)):
        these = _rows(_data(folder, file.name))
        found.update((row.id, row) for row in these if row.id >= least)
        if these and these[0].id < least:
            break
    return found


def _is_back(there: Row, row: Row) -> bool:
    """Tells whether a line has its content again: a wipe was undone."""
    return there.content == _NULL and row.content != _NULL


def _append(folder: int, rows: Iterable[Row], most: int) -> None:
    data = b"".join(msgspec.json.encode(row) + b"\n" for row in rows)
    if not data:
        return
    with suppress(FileNotFoundError):
        if os.stat(NAME, dir_fd=folder, follow_symlinks=False).st_size >= most:
            numbers = [int(found[1]) for each in handles.names(folder) if (found := _OLDER.fullmatch(each))]
            os.rename(NAME, f"session_log-{max(numbers, default=0) + 1}.jsonl", src_dir_fd=folder, dst_dir_fd=folder)
    with ExitStack() as stack:
        try:
            descriptor = handles.open_file(folder, NAME, NAME, os.O_WRONLY | os.O_APPEND, most=HOLDS)
        except FileNotFoundError:
            descriptor = handles.create(folder, NAME)
        stack.callback(os.close, descriptor)
        handles.written(descriptor, data)
        os.fsync(descriptor)


def _redact(folder: int, gone: set[int]) -> None:
    for file in _files(folder):
        data = _data(folder, file.name)
        if not any(row.id in gone and row.content != _NULL for row in _rows(data)):
            continue
        said = (msgspec.structs.replace(row, content=_NULL) if row.id in gone else row for row in _rows(data))
        descriptor = handles.create(folder, _TEMPORARY)
        try:
            handles.written(descriptor, b"".join(msgspec.json.encode(row) + b"\n" for row in said))
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.replace(_TEMPORARY, file.name, src_dir_fd=folder, dst_dir_fd=folder)
        os.fsync(folder)


def _cut(folder: int) -> None:
    """Takes away the end of a line that a killed process has begun."""
    try:
        descriptor = handles.open_file(folder, NAME, NAME, os.O_RDWR, most=HOLDS)
    except FileNotFoundError:
        return
    try:
        size = end = os.fstat(descriptor).st_size
        while end and not (tail := os.pread(descriptor, min(end, 65_536), end - min(end, 65_536))).endswith(b"\n"):
            at = tail.rfind(b"\n")
            end = end - len(tail) + at + 1 if at >= 0 else end - len(tail)
        if end != size:
            os.ftruncate(descriptor, end)
    finally:
        os.close(descriptor)


def _files(folder: int) -> list[_File]:
    older = sorted((int(found[1]), each) for each in handles.names(folder) if (found := _OLDER.fullmatch(each)))
    names = [name for _, name in older] + ([NAME] if handles.is_file(folder, NAME) else [])
    return [_File(name, os.stat(name, dir_fd=folder).st_size) for name in names]


def _data(folder: int, name: str) -> bytes:
    descriptor = handles.open_file(folder, name, name, os.O_RDONLY, most=HOLDS)
    with os.fdopen(descriptor, "rb") as file:
        return file.read()


def _rows(data: bytes) -> list[Row]:
    """Returns the lines that are ours; what a person has written between them is none."""
    found: list[Row] = []
    for line in data.splitlines():
        with suppress(msgspec.DecodeError, UnicodeDecodeError):
            found.append(_row.decode(line))
    return found


def _one_line(content: bytes) -> bytes:
    """Returns JSON without line ends between its tokens; what is no JSON, as a string."""
    try:
        return msgspec.json.format(content, indent=-1)
    except msgspec.DecodeError:
        return msgspec.json.encode(content.decode("utf-8", "replace"))
