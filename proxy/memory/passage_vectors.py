"""Vectors of the passages of a search index, a byte a number: in memory, and as bytes."""

import numpy as np
import numpy.typing as npt

from proxy.memory.columns import FIRST_ROWS, Columns, Flags, Floats, Ints, room
from proxy.types import Vector

_BLOCK_ROWS = 1024  # converted to floats at a time for a product: they stay in a core's cache
_WIDEST = 127  # of int8
_TINY = 1e-12


class PassageVectors:
    """The vectors of passages. `passages`: the table of them, whose column `scale` is the factor of each vector, 0 for
    a passage without one; rounding changes a cosine by 0.001. `packed`, `dimensions`: of the method `packed`."""

    def __init__(self, passages: Columns, packed: bytes | memoryview = b"", dimensions: int = 0) -> None:
        self._passages = passages
        self._rows: npt.NDArray[np.int8] | None = None
        if dimensions:
            self._rows = np.zeros((len(passages), dimensions), np.int8)
            rows = np.frombuffer(packed, np.int8).reshape(-1, dimensions)
            self._rows[np.flatnonzero(passages["scale"])] = rows

    @property
    def nbytes(self) -> int:
        """Returns the size of the vectors, in bytes."""
        return 0 if self._rows is None else self._rows.nbytes

    def packed(self) -> tuple[int, bytes]:
        """Returns the dimensions, and the rows of passages that have a vector; 0 and nothing if none has."""
        if self._rows is None:
            return 0, b""
        has_one = np.flatnonzero(self._passages["scale"][: len(self._rows)])
        return self._rows.shape[1], self._rows[has_one].tobytes()

    def check(self, vectors: Vector) -> None:
        """Raises ValueError if the dimensions of vectors differ from those before."""
        if self._rows is not None and len(vectors) and vectors.shape[1] != self._rows.shape[1]:
            raise ValueError(f"a vector of {vectors.shape[1]} dimensions, not {self._rows.shape[1]}")

    def put(self, first: int, vectors: Vector) -> None:
        """Sets the vectors of passages from the `first` on."""
        if self._rows is None:
            self._rows = np.zeros((FIRST_ROWS, vectors.shape[1]), dtype=np.int8)
        self._rows = room(self._rows, len(self._passages))
        scale = np.abs(vectors).max(axis=1) / _WIDEST
        self._rows[first : first + len(vectors)] = np.round(vectors / np.maximum(scale, _TINY)[:, np.newaxis])
        self._passages["scale"][first : first + len(vectors)] = scale

    def remove(self, first: int, count: int) -> None:
        """Removes the vectors of `count` passages from the `first` on."""
        if self._rows is not None:
            self._rows[first : first + count] = 0
            self._passages["scale"][first : first + count] = 0

    def has(self, passages: Ints) -> Flags:
        """Returns a flag for each passage that has a vector."""
        flags: Flags = self._passages["scale"][passages] > 0
        return flags

    def cosines(self, vector: Vector, passages: Ints) -> Floats | None:
        """Returns the cosine of every passage, 0 for one without a vector; None if none has one."""
        if self._rows is None or not self.has(passages).any():
            return None
        low, high = int(passages.min()), int(passages.max()) + 1
        near = np.zeros(high - low, dtype=np.float32)
        wide = np.empty((_BLOCK_ROWS, self._rows.shape[1]), dtype=np.float32)
        filled = min(high, len(self._rows))
        for start in range(low, filled, _BLOCK_ROWS):
            stop = min(start + _BLOCK_ROWS, filled)
            block = wide[: stop - start]
            block[:] = self._rows[start:stop]
            np.dot(block, vector, out=near[start - low : stop - low])
        cosines: Floats = near[passages - low] * self._passages["scale"][passages]
        return cosines
