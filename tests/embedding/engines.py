"""Engines and vectors for tests: no model, no network."""

import asyncio
import hashlib
from collections.abc import Callable, Sequence

import numpy as np

from proxy.embedding import EmbeddingError, EmbeddingUnavailable, Vectors

DIMENSIONS = 8


def vector(text: str, dimensions: int = DIMENSIONS) -> Vectors:
    """Of unit length, and its own for every text."""
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
    row = np.random.default_rng(seed).standard_normal(dimensions).astype(np.float32)
    unit: Vectors = row / np.linalg.norm(row)
    return unit


def vectors(texts: Sequence[str], dimensions: int = DIMENSIONS) -> Vectors:
    return np.stack([vector(text, dimensions) for text in texts])


class FakeEngine:
    """Answers with `give(texts)`. `runs` are the texts of each run; while `gate` is cleared, runs wait."""

    version = "fake/1"
    doing = "opening"

    def __init__(self, give: Callable[[Sequence[str]], Vectors] = vectors) -> None:
        self.give = give
        self.runs: list[list[str]] = []
        self.opened = 0
        self.closed = False
        self.gate = asyncio.Event()
        self.gate.set()
        self.opening: EmbeddingError | Exception | None = None  # what `open` raises

    async def open(self) -> None:
        self.opened += 1
        if self.opening is not None:
            raise self.opening

    async def vectors(self, texts: Sequence[str]) -> Vectors:
        self.runs.append(list(texts))
        await self.gate.wait()
        return self.give(texts)

    async def close(self) -> None:
        self.closed = True


def unavailable(_texts: Sequence[str]) -> Vectors:
    raise EmbeddingUnavailable("not today")


async def until(condition: Callable[[], object], seconds: float = 60.0) -> None:
    """Returns once `condition` holds, letting the loop run; fails if it never does."""
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110 (what is awaited is another's state, which has no event)
            await asyncio.sleep(0.001)
