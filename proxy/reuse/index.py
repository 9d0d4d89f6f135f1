"""The nearest vectors of one partition, by cosine, in memory.

Every vector has a code: on which side of 512 random planes it lies. Two vectors at an angle θ differ in a share θ/π of
their bits (Charikar, STOC 2002), whatever they are vectors of. So a search counts differing bits, 64 bytes a vector,
and computes the cosines of the few that may be near enough. Up to `RERANKED` vectors it computes all of them.

Measured with 100,000 vectors of 384 dimensions: 1.5 ms a search (p99 2 ms), numpy alone 16 ms; 1,030 bytes a vector; it
is filled in 3 seconds. `python -m tests.bench.vectors` measures it again.

One thread adds and removes; any number may search meanwhile, and see what was there when they began, or later. For that
a row that was written is never written again: what is removed is marked, and goes when its block is half empty.
"""

import functools
import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from proxy.types import Vector

PLANES = 512
WORDS = PLANES // 64
RERANKED = 512  # vectors whose cosines are computed for one search, at most
BLOCK_ROWS = 8192  # 512 KB of codes: they stay in a core's cache while they are counted
FIRST_ROWS = 16
DEVIATIONS = 4.5  # of the differing bits, beyond what is expected: less than one in 100,000 differs in more

Codes = npt.NDArray[np.uint64]


class VectorIndex:
    """Unit vectors by id. They are kept as float16: that changes a cosine by 0.0005 at most, with 384 dimensions by
    less than 0.0001."""

    def __init__(self, *, reranked: int = RERANKED, block_rows: int = BLOCK_ROWS) -> None:
        self._reranked = reranked
        self._block_rows = block_rows
        self._blocks: tuple[_Block, ...] = ()  # replaced, never changed: a search goes through the one it has taken
        self._rows: dict[str, tuple[_Block, int]] = {}

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, entry_id: str) -> bool:
        return entry_id in self._rows

    @property
    def row_bytes(self) -> int:
        """Of a vector and its code; 0 before the first."""
        return 2 * self._blocks[0].vectors.shape[1] + 8 * WORDS if self._blocks else 0

    def add(self, entry_id: str, vector: Vector) -> None:
        """A vector that the id already has is replaced. Raises ValueError if it has not as many dimensions as the
        others."""
        self.extend((entry_id,), vector[np.newaxis])

    def extend(self, ids: Sequence[str], vectors: Vector) -> None:
        """The same for distinct ids and a row each: a thousand take 30 ms, most of it for their codes."""
        if self._blocks and vectors.shape[1] != self._blocks[0].vectors.shape[1]:
            raise ValueError(f"a vector of {vectors.shape[1]} dimensions, not {self._blocks[0].vectors.shape[1]}")
        for entry_id in ids:
            self.remove(entry_id)
        codes = _codes(vectors)
        done = 0
        while done < len(ids):
            if not self._blocks or len(self._blocks[-1].ids) == self._block_rows:
                self._blocks += (_Block(min(FIRST_ROWS, self._block_rows), vectors.shape[1]),)
            block = self._blocks[-1]
            first = len(block.ids)
            upto = min(len(ids), done + self._block_rows - first)
            block.append(ids[done:upto], vectors[done:upto], codes[done:upto], self._block_rows)
            self._rows.update((entry_id, (block, first + n)) for n, entry_id in enumerate(ids[done:upto]))
            done = upto

    def remove(self, entry_id: str) -> bool:
        """False if it was not there."""
        block, row = self._rows.pop(entry_id, (None, 0))
        if block is None:
            return False
        block.live[row] = False
        block.left -= 1
        if block.left <= len(block.ids) // 2:
            self._compact(block)
        return True

    def nearest(self, vector: Vector, k: int, min_cosine: float = -1.0) -> list[tuple[str, float]]:
        """At most `k` ids with a cosine of at least `min_cosine`, nearest first."""
        blocks = [(block, len(block.ids)) for block in self._blocks]
        if sum(count for _, count in blocks) <= self._reranked:
            near = [np.flatnonzero(block.live[:count]) for block, count in blocks]
        else:
            near = self._may_be_near(blocks, _codes(vector), min_cosine)
        found: list[tuple[str, float]] = []
        for (block, _), rows in zip(blocks, near, strict=True):
            cosines = np.vecdot(block.vectors[rows].astype(np.float32), vector)
            best = np.argsort(-cosines)[:k]
            found += [(block.ids[rows[n]], min(1.0, float(cosines[n]))) for n in best if cosines[n] >= min_cosine]
        found.sort(key=lambda each: -each[1])
        return found[:k]

    def _may_be_near(
        self, blocks: Sequence[tuple["_Block", int]], code: Codes, min_cosine: float
    ) -> list[npt.NDArray[np.intp]]:
        """Rows of each block: those within the radius, and no more than are to be reranked of all blocks together."""
        radius = _radius(min_cosine)
        near, distances = [], []
        for block, count in blocks:
            apart = block.distances(code, count)
            rows = np.flatnonzero((apart <= radius) & block.live[:count])
            near.append(rows)
            distances.append(apart[rows])
        together = np.concatenate(distances)
        if len(together) <= self._reranked:
            return near
        nearest = np.zeros(len(together), np.bool_)
        nearest[np.argpartition(together, self._reranked)[: self._reranked]] = True
        bounds = np.cumsum([len(rows) for rows in near])[:-1]
        return [rows[chosen] for rows, chosen in zip(near, np.split(nearest, bounds), strict=True)]

    def _compact(self, block: "_Block") -> None:
        """Half of it or less is left: another block takes its place."""
        at = self._blocks.index(block)
        rows = np.flatnonzero(block.live[: len(block.ids)])
        ids = [block.ids[row] for row in rows]
        instead: tuple[_Block, ...] = ()
        if ids:
            smaller = _Block(len(ids), block.vectors.shape[1])
            smaller.append(ids, block.vectors[rows], block.codes[:, rows].T, self._block_rows)
            self._rows.update((entry_id, (smaller, n)) for n, entry_id in enumerate(ids))
            instead = (smaller,)
        self._blocks = self._blocks[:at] + instead + self._blocks[at + 1 :]


class _Block:
    """Rows in the order they were added. A search may run while rows are appended: it looks at those before the count
    it began with, and `ids` grows last."""

    __slots__ = ("codes", "ids", "left", "live", "vectors")

    def __init__(self, capacity: int, dimensions: int) -> None:
        self.codes: Codes = np.empty((WORDS, capacity), np.uint64)  # a row a word: counted a whole array at a time
        self.vectors: npt.NDArray[np.float16] = np.empty((capacity, dimensions), np.float16)
        self.live: npt.NDArray[np.bool_] = np.empty(capacity, np.bool_)
        self.ids: list[str] = []
        self.left = 0  # rows that are live

    def append(self, ids: Sequence[str], vectors: npt.NDArray[np.floating], codes: Codes, limit: int) -> None:
        first, end = len(self.ids), len(self.ids) + len(ids)
        if end > len(self.live):
            self._grow(min(limit, max(end, 2 * len(self.live))))
        self.codes[:, first:end] = codes.T
        self.vectors[first:end] = vectors
        self.live[first:end] = True
        self.left += len(ids)
        self.ids.extend(ids)

    def distances(self, code: Codes, count: int) -> npt.NDArray[np.uint16]:
        """Returns in how many bits each of the first `count` rows differs from `code`."""
        apart: npt.NDArray[np.uint16] = np.bitwise_count(self.codes[:, :count] ^ code[:, np.newaxis]).sum(
            axis=0, dtype=np.uint16
        )
        return apart

    def _grow(self, capacity: int) -> None:
        count = len(self.ids)
        more = capacity - count
        self.codes = np.pad(self.codes[:, :count], ((0, 0), (0, more)))
        self.vectors = np.pad(self.vectors[:count], ((0, more), (0, 0)))
        self.live = np.pad(self.live[:count], (0, more))


@functools.cache
def _planes(dimensions: int) -> Vector:
    """Always the same ones, so that what is measured can be measured again."""
    return np.random.default_rng(0).standard_normal((PLANES, dimensions), dtype=np.float32)


def _codes(vectors: Vector) -> Codes:
    """`WORDS` for a vector; for a matrix a row of them for each row."""
    # vecdot, here and for the cosines, since a matrix product is shared out to threads: where the cores are busy, it
    # waits for them (p99 of a search 4.2 ms instead of 2.2, and five times as long to load).
    sides = np.vecdot(vectors[..., np.newaxis, :], _planes(vectors.shape[-1])) > 0
    return np.packbits(sides, axis=-1).view(np.uint64)


def _radius(min_cosine: float) -> float:
    """Returns the number of bits in which two vectors of this cosine differ at most, but for bad luck."""
    share = math.acos(max(-1.0, min(1.0, min_cosine))) / math.pi
    # The last summand is for small shares, where the number is not normally distributed.
    return PLANES * share + DEVIATIONS * math.sqrt(PLANES * share * (1 - share)) + 4
