"""Tokens of texts that are counted again and again: excerpts, summaries, blocks of memory. A count is kept by a digest,
so no text is."""

from collections.abc import Callable
from hashlib import blake2b

MOST_COUNTS = 20_000  # 100 bytes each


class Counted:
    """`count`, with what it found remembered. Bounded; worker threads may share it."""

    def __init__(self, count: Callable[[str], int], most: int = MOST_COUNTS) -> None:
        self._count = count
        self._known: dict[bytes, int] = {}
        self._most = most

    def __call__(self, text: str) -> int:
        digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        if (found := self._known.get(digest)) is None:
            found = self._count(text)
            if len(self._known) >= self._most:
                # The oldest tenth goes at once; a dict keeps insertion order.
                for old in list(self._known)[: max(1, self._most // 10)]:
                    self._known.pop(old, None)
            self._known[digest] = found
        return found
