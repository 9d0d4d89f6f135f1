"""Passages of messages, and the view of them that one request has.

Long messages are split into passages, short enough to be about one thing, so that a match stands out: a long answer as
a whole matches everything a little (BEAM: half of the evidence lost). A view holds the messages of a request's own path
in the order they were said, optionally after those of other sessions. A conversation goes on from a path that was
looked up before, so the last paths are cached by their last link: only messages since then are looked up.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from proxy.lru import Lru

Ints: TypeAlias = npt.NDArray[np.int64]
Floats: TypeAlias = npt.NDArray[np.float32]
Flags: TypeAlias = npt.NDArray[np.bool_]
Item = TypeVar("Item", np.float32, np.bool_)

MOST_PATHS = 4  # cached paths: conversations of a scope that go on at the same time
STEPS_BACK = 64  # messages between two requests of a conversation, at most: else its whole path is looked up
FIRST_ROWS = 64  # that an array has room for at first
BYTES_PER_TOKEN = 4  # of UTF-8; the o200k ranks take 4.4 for English, 4.1 for Spanish and 3.5 for code

# From the best place to cut to the worst: paragraphs, lines, sentences, words.
_CUTS = tuple(re.compile(pattern) for pattern in (r"\n\s*\n", r"\n", r"(?<=[.!?…:;])\s+", r"\s+"))


def estimate(text: str) -> int:
    """Estimates the number of tokens of `text` without counting them."""
    size = len(text) if text.isascii() else len(text.encode())
    return -(-size // BYTES_PER_TOKEN)


def spans(text: str, most: int) -> list[tuple[int, int]]:
    """Splits `text` at the best places to cut; returns the start and end of each passage, of at most `most` tokens by
    the estimate, without the space between them. A text of white space has none."""
    found: list[tuple[int, int]] = []
    start, end = 0, 0  # of the passage that is being filled
    for piece_start, piece_end in _pieces(text, 0, len(text), most, 0):
        if end > start and estimate(text[start:piece_end]) <= most:
            end = piece_end
            continue
        if end > start:
            found.append((start, end))
        start, end = piece_start, piece_end
    return [*found, (start, end)] if end > start else found


def _pieces(text: str, start: int, end: int, most: int, level: int) -> Iterator[tuple[int, int]]:
    """Yields spans of at most `most` tokens: too long a paragraph is split into lines, a line into sentences, and so
    on."""
    piece = text[start:end]
    bare = piece.strip()
    if not bare:
        return
    if estimate(bare) <= most:
        start += len(piece) - len(piece.lstrip())
        yield start, start + len(bare)
        return
    if level == len(_CUTS):  # a word without a space: a key, a hash, base64
        for at in range(start, end, most):  # a character is four bytes at most: a token by the estimate
            yield at, min(at + most, end)
        return
    for cut in _CUTS[level].finditer(text, start, end):
        yield from _pieces(text, start, cut.start(), most, level + 1)
        start = cut.end()
    yield from _pieces(text, start, end, most, level + 1)


_FENCE = re.compile(r"^(?:```|~~~).*?(?:^[ \t]*(?:```|~~~)[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_FEWEST = 2  # fenced passages; fewer are recalled with their message
_PASTED = 4  # passages of prose; more of them are a pasted text


def needed(text: str, spans: Sequence[tuple[int, int]], matched: Sequence[bool]) -> set[int]:
    """Returns the numbers of the passages that are recalled with a message: its prose, and the code blocks that match.
    `matched`: the passage has words of the question."""
    fences = [found.span() for found in _FENCE.finditer(text)] if "```" in text or "~~~" in text else []
    fenced = {
        at for at, (start, end) in enumerate(spans) if any(opens <= start and end <= closes for opens, closes in fences)
    }
    prose = [at for at in range(len(spans)) if at not in fenced or len(fenced) < _FEWEST]
    if len(prose) > _PASTED:
        prose = [prose[0], prose[-1]]
    return {*prose, *(at for at, has in enumerate(matched) if has)}


# --- views -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class View:
    """The messages in the order they were said, conversation by conversation, and their passages: arrays with one item
    per message or per passage."""

    messages: Ints  # their numbers in the index
    passages: Ints  # numbers of their passages in the index
    message_of: Ints  # position in `messages` of every passage
    first: Ints  # position in `passages` of the first one of every message
    begins: Flags  # the message is the first of its conversation
    is_user: Flags
    asks: Floats  # share of short questions in a user's message, 0 to 1; for an answer, that of the message before
    concrete: Floats  # score for figures and names, 0 to 1
    tokens: Ints  # of a message, by `estimate`
    at: Ints  # position of a message in the path; -1: it is another session's

    @property
    def is_even(self) -> bool:
        """Tells whether every message is one passage."""
        return len(self.messages) == len(self.passages)

    @property
    def nbytes(self) -> int:
        """Returns the size of the arrays, in bytes."""
        return sum(getattr(self, name).nbytes for name in _ARRAYS)


_ARRAYS = tuple(field.name for field in fields(View))


def joined(one: View, other: View, *, goes_on: bool) -> View:
    """Concatenates two views. `goes_on`: `other` continues the last conversation of `one`."""
    if not len(one.messages):
        return other
    both = {name: np.concatenate((getattr(one, name), getattr(other, name))) for name in _ARRAYS}
    both["message_of"][len(one.passages) :] += len(one.messages)
    both["first"][len(one.messages) :] += len(one.passages)
    if goes_on:
        both["begins"][len(one.messages) : len(one.messages) + 1] = False
    return View(**both)


# --- arrays of one item a message, or a passage ----------------------------------------------------------------------


def best(by_passage: Floats, view: View) -> Floats:
    """Returns the maximum over the passages of every message."""
    return by_passage if view.is_even else np.maximum.reduceat(by_passage, view.first)


def total(by_passage: Floats, view: View) -> Floats:
    """Returns the sum over the passages of every message; of each row, if there are several."""
    return by_passage if view.is_even else np.add.reduceat(by_passage, view.first, axis=-1)


def spread(by_message: npt.NDArray[Item], view: View) -> npt.NDArray[Item]:
    """Repeats the value of every message for each of its passages; in each row, if there are several."""
    return by_message if view.is_even else by_message[..., view.message_of]


def beside(by_message: Floats, view: View) -> Floats:
    """Returns, for every message, the values of the one before (first row) and the one after; 0 where there is none.
    `by_message` may have several rows."""
    found = np.zeros((2, *by_message.shape), dtype=np.float32)
    found[0, ..., 1:], found[1, ..., :-1] = by_message[..., :-1], by_message[..., 1:]
    begins = np.flatnonzero(view.begins)
    found[0][..., begins] = 0
    found[1][..., begins - 1] = 0  # -1 is the last one: it has none after it
    return found


@dataclass(frozen=True, slots=True)
class Walked:
    """A path that was looked up, up to its last message in the index."""

    view: View
    length: int  # links
    missing: frozenset[bytes]  # those of them that were not in the index
    upto: int  # messages in the index at that time


class Paths(Lru[bytes, Walked]):
    """The bounded cache of the paths that were looked up last."""

    def __init__(self, most: int = MOST_PATHS) -> None:
        super().__init__(most)

    @property
    def nbytes(self) -> int:
        """Returns the size of the cached views, in bytes."""
        return sum(walked.view.nbytes for walked in self.values())

    def nearest(self, path: Sequence[bytes]) -> Walked | None:
        """Returns the longest beginning of `path` that is cached. A link identifies all messages before it."""
        for length in range(len(path), max(0, len(path) - STEPS_BACK), -1):
            walked = self.get(path[length - 1])
            if walked is not None and walked.length == length:
                return walked
        return None

    def keep(self, path: Sequence[bytes], walked: Walked) -> None:
        """Caches a path that was looked up."""
        self.put(path[walked.length - 1], walked)


class Columns:
    """A table of growing numpy columns, one row appended at a time."""

    def __init__(self, **types: Any) -> None:
        self._arrays = {name: np.zeros(FIRST_ROWS, dtype=kind) for name, kind in types.items()}
        self._length = 0

    @classmethod
    def of(cls, columns: Mapping[str, npt.NDArray[Any]]) -> "Columns":
        """Returns a table of these columns."""
        table = cls()
        table._arrays = dict(columns)
        table._length = len(next(iter(columns.values())))
        return table

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        """Returns the column, to read and to write into; valid until the next row is appended."""
        return self._arrays[name][: self._length]

    @property
    def nbytes(self) -> int:
        """Returns the size of the columns, in bytes."""
        return sum(column.nbytes for column in self._arrays.values())

    def append(self, **row: Any) -> None:
        """Appends a row."""
        for name, value in row.items():
            self._arrays[name] = room(self._arrays[name], self._length + 1)
            self._arrays[name][self._length] = value
        self._length += 1


def room(rows: npt.NDArray[Any], wanted: int) -> npt.NDArray[Any]:
    """Returns `rows`, or a longer copy of it with room for `wanted` rows."""
    if wanted <= len(rows):
        return rows
    grown = np.zeros((max(wanted, 2 * len(rows)), *rows.shape[1:]), dtype=rows.dtype)
    grown[: len(rows)] = rows
    return grown
