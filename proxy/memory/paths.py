"""The views that requests have of an index, made by the paths of their conversations.

A conversation goes on from a path that was looked up before, so the last paths are cached by their last link: only
messages since then are looked up.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from proxy.lru import Lru
from proxy.memory.columns import Columns, Flags, Ints
from proxy.memory.packing import Messages
from proxy.memory.view import View, joined

MOST_PATHS = 4  # cached paths: conversations of a scope that go on at the same time
STEPS_BACK = 64  # messages between two requests of a conversation, at most: else its whole path is looked up


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


class Views:
    """The views of one index. `numbers`: those of its messages, by their links; `columns`: a row a message."""

    def __init__(self, numbers: Mapping[bytes, int], messages: Messages, columns: Columns) -> None:
        self._numbers = numbers
        self._messages = messages
        self._by_message = columns
        self._paths = Paths()

    @property
    def nbytes(self) -> int:
        """Returns the size of the cached views, in bytes."""
        return self._paths.nbytes

    def clear(self) -> None:
        """Drops the cached paths: a message on one of them was removed."""
        self._paths.clear()

    def of(self, path: Sequence[bytes], *, others_than: int | None) -> View:
        """Returns the view of `path`, the links of a request's chain in their order; links that are not in the index
        are skipped. `others_than`: adds every other session than the one of this number."""
        own = self._own(path)
        if others_than is None:
            return own
        others, begins = self._others(own.messages, others_than)
        return joined(self._seen(others, begins, np.full(len(others), -1)), own, goes_on=False)

    def _own(self, path: Sequence[bytes]) -> View:
        """Returns the view of a path, extended from the longest beginning of it that is known."""
        known = self._paths.nearest(path)
        if known is not None and self._is_outdated(known):
            known = None
        start = known.length if known else 0
        numbers = [self._numbers.get(link, -1) for link in path[start:]]
        here = [at for at, number in enumerate(numbers) if number >= 0]
        if known is not None and not here:
            return known.view
        begins = np.zeros(len(here), dtype=np.bool_)
        begins[:1] = True
        at = np.array(here, dtype=np.int64)
        view = self._seen(np.array([numbers[each] for each in here], dtype=np.int64), begins, at + start)
        if not here:
            return view
        # Up to the last one that is here: those behind it may be archived soon.
        stop = here[-1] + 1
        missing = frozenset(link for link, number in zip(path[start:], numbers[:stop], strict=False) if number < 0)
        if known is not None:
            view, missing = joined(known.view, view, goes_on=True), known.missing | missing
        self._paths.keep(path, Walked(view, start + stop, missing, len(self._messages)))
        return view

    def _is_outdated(self, known: Walked) -> bool:
        """Tells whether messages missing on a known path have come since, or too many to check."""
        if len(self._messages) - known.upto > known.length:
            return True
        return any(said is not None and said.link in known.missing for said in self._messages.since(known.upto))

    def _seen(self, messages: Ints, begins: Flags, at: Ints) -> View:
        counts = self._by_message["count"][messages]
        first = np.cumsum(counts) - counts
        message_of = np.repeat(np.arange(len(messages)), counts)
        passages = self._by_message["first"][messages][message_of] + np.arange(len(message_of)) - first[message_of]
        return View(
            messages=messages,
            passages=passages,
            message_of=message_of,
            first=first,
            begins=begins,
            at=at,
            **{name: self._by_message[name][messages] for name in ("is_user", "asks", "concrete", "tokens")},
        )

    def _others(self, own: Ints, session: int) -> tuple[Ints, Flags]:
        sessions = self._by_message["session"]
        wanted = self._by_message["is_here"] & (sessions != session)
        wanted[own] = False
        others = np.flatnonzero(wanted)
        others = others[np.argsort(sessions[others], kind="stable")]
        begins = np.ones(len(others), dtype=np.bool_)
        begins[1:] = sessions[others][1:] != sessions[others][:-1]
        return others, begins
