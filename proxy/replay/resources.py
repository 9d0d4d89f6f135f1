"""The parts of a replay that take long to load or to compute: the tokenizer and the embedder."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from proxy.config import Config
from proxy.embedding.base import DelegatingEmbedder, Embedder, EmbeddingOff, Vectors
from proxy.embedding.service import open_embedder
from proxy.lru import Lru
from proxy.tokens import TokenCounter, load_tokenizer

READY_EVERY = 0.05  # seconds between two looks at an embedder that is warming up
MOST_TEXTS = 50_000  # of 384 dimensions: 80 MB


@dataclass(frozen=True, slots=True)
class Resources:
    """The tokenizer, the embedder and the threads that replays share. A proxy that runs has all of it."""

    counter: TokenCounter
    embedder: Embedder
    executor: Executor


@asynccontextmanager
async def open_resources(config: Config, *, embedding: bool = True) -> AsyncIterator[Resources]:
    """Loads the resources; returns once texts can be embedded as configured, or it is clear that they can't be. Raises
    OSError or ValueError if the token ranks are not there."""
    embedder = open_embedder(config) if embedding else EmbeddingOff()
    with ThreadPoolExecutor(2, thread_name_prefix="replay") as executor:
        embedder.start()
        try:
            encoding = await asyncio.get_running_loop().run_in_executor(executor, load_tokenizer)
            while embedder.state == "warming":  # noqa: ASYNC110 (an Embedder tells its state, and no event)
                await asyncio.sleep(READY_EVERY)
            yield Resources(TokenCounter(encoding), embedder, executor)
        finally:
            await embedder.close()


class CachingEmbedder(DelegatingEmbedder):
    """An embedder with a cache: every text is embedded once, however often the same conversations are replayed."""

    def __init__(self, embedder: Embedder, most: int = MOST_TEXTS) -> None:
        super().__init__(embedder)
        self._known: Lru[bytes, Vectors] = Lru(most)

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """A row for each text, from the cache where it has one."""
        keys = [blake2b(text.encode(errors="replace"), digest_size=16).digest() for text in texts]
        rows = {key: row for key in keys if (row := self._known.get(key)) is not None}
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in rows}
        if new or not texts:
            vectors = await self._embedder.embed(list(new.values()))
            if not texts:
                return vectors
            for key, vector in zip(new, vectors, strict=True):
                rows[key] = vector.copy()
                self._known.put(key, rows[key])
        return np.stack([rows[key] for key in keys])
