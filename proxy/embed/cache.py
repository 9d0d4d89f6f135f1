"""The vectors of texts seen lately, by the hash of the text: a conversation asks for the same ones again and again."""

from collections import OrderedDict
from hashlib import blake2b

from proxy.embed.base import Vectors

ENTRIES = 4096  # of 384 dimensions: about 7 MB


def text_key(text: bytes) -> bytes:
    return blake2b(text, digest_size=16).digest()


class VectorCache:
    """The least recently used leaves."""

    def __init__(self, entries: int = ENTRIES) -> None:
        self._entries = entries
        self._rows: OrderedDict[bytes, Vectors] = OrderedDict()

    def __len__(self) -> int:
        return len(self._rows)

    def get(self, key: bytes) -> Vectors | None:
        row = self._rows.get(key)
        if row is not None:
            self._rows.move_to_end(key)
        return row

    def put(self, key: bytes, row: Vectors) -> None:
        self._rows[key] = row.copy()  # a view would keep the whole run's vectors alive
        self._rows.move_to_end(key)
        if len(self._rows) > self._entries:
            self._rows.popitem(last=False)
