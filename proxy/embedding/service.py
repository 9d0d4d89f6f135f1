"""The embedder around every engine: warming up, the cache, checks, and what `/readyz` says.

warming ── opened, and the probes look right ──▶ ready ── three runs in a row go wrong ──▶ failed
   ▲                                                                                        │
   └── every ten seconds; not at all where another try can't help ──────────────────────────┘
"""

import asyncio
import logging
import os
import time
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Protocol

import numpy as np

from proxy.config import Config
from proxy.embedding import (
    PROBES,
    Embedder,
    EmbeddingError,
    EmbeddingOff,
    EmbeddingRefused,
    EmbeddingUnavailable,
    Observed,
    State,
    Vectors,
    checked,
    checked_probes,
)
from proxy.embedding.batching import Batcher
from proxy.embedding.engines import EndpointEngine, LocalEngine
from proxy.embedding.exported import source_of
from proxy.lru import Lru
from proxy.tasks import Tasks

log = logging.getLogger(__name__)

# Longer texts are cut: four times what the default model reads, and tokenising a megabyte takes 0.3 s.
MOST_CHARACTERS = 8192
FAILURES = 3  # in a row: one text that an engine can't take must not be everybody's failure
RETRY_SECONDS = 10.0
FOLDER = "embedding"  # of exports, in the storage folder and the user's cache
MOST_VECTORS = 4096  # that are kept, of 384 dimensions: about 7 MB


class Engine(Protocol):
    """The Protocol of an engine. Every method but `close` raises EmbeddingUnavailable if another try may help."""

    @property
    def version(self) -> str:
        """The version of the vectors; empty while only the loaded model could tell."""

    @property
    def doing(self) -> str:
        """The step that `open` is at, for people; "" if none."""
        ...

    async def open(self) -> None:
        """Loads the model; called again after it failed. Raises EmbeddingRefused if no further try can help."""
        ...

    async def vectors(self, texts: Sequence[str]) -> Vectors:
        """A row for each text, not yet checked."""

    async def close(self) -> None:
        """Releases memory, threads and connections."""


class EngineEmbedder:
    """The Embedder in front of an engine: state, cache, batches, checks."""

    def __init__(
        self, engine: Engine, observed: Observed = lambda _size, _seconds: None, *, retry_seconds: float = RETRY_SECONDS
    ) -> None:
        self.state: State = "warming"
        self._dimensions: int | None = None
        self._engine = engine
        self._observed = observed
        self._retry_seconds = retry_seconds
        self._failure = ""
        self._failures = 0
        self._tasks = Tasks()
        self._batcher = Batcher(self._run, self._tasks)
        self._cache: Lru[bytes, Vectors] = Lru(MOST_VECTORS)  # by the hash of a text

    @property
    def version(self) -> str:
        """The engine's version."""
        return self._engine.version

    @property
    def detail(self) -> str:
        """The last failure, or the step of warming up."""
        return self._failure or (self._engine.doing if self.state == "warming" else "")

    def start(self) -> None:
        """Begins to warm up, in the background."""
        self._tasks.spawn(self._warm(), name="embedding")

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """A row of unit length for each text. Raises EmbeddingUnavailable."""
        if self.state != "ready" or self._dimensions is None:
            raise EmbeddingUnavailable(f"embedding is {self.state}: {self.detail}")
        if not texts:
            return np.empty((0, self._dimensions), np.float32)
        cut = [text[:MOST_CHARACTERS].encode(errors="replace") for text in texts]  # a lone surrogate has no UTF-8
        keys = [blake2b(text, digest_size=16).digest() for text in cut]
        cache = self._cache  # as of now: what is forgotten meanwhile is not kept
        rows = {key: row for key in keys if (row := cache.used(key)) is not None}
        new = {key: text.decode() for key, text in zip(keys, cut, strict=True) if key not in rows}
        if new:
            for key, row in zip(new, await self._batcher.embed(list(new.values())), strict=True):
                rows[key] = row
                cache.put(key, row.copy())  # a view would keep the whole run's vectors alive
        return np.stack([rows[key] for key in keys])

    def forget(self) -> None:
        """Drops the vectors that are kept."""
        self._cache = Lru(MOST_VECTORS)

    async def close(self) -> None:
        """Ends all work; what waits is refused."""
        self.state, self._failure = "failed", "closed"
        await self._tasks.drain(0)
        await self._engine.close()

    async def _warm(self, *, after: float = 0.0) -> None:
        started = time.perf_counter()
        await asyncio.sleep(after)
        while True:
            try:
                await self._engine.open()
                dimensions = checked_probes(await self._engine.vectors(PROBES)).shape[1]
                if self._dimensions not in (None, dimensions):
                    raise EmbeddingRefused(f"vectors had {self._dimensions} dimensions, and now {dimensions}")  # noqa: TRY301 (as the engine's own)
            except EmbeddingUnavailable as error:
                self._fail(error)
                await asyncio.sleep(self._retry_seconds)
            except EmbeddingRefused as error:
                return self._fail(error)
            except Exception as error:  # the libraries' errors have no common root
                log.exception("embedding failed to open")
                return self._fail(_foreign(error))
            else:
                self.state, self._dimensions = "ready", dimensions
                self._failure, self._failures = "", 0
                seconds = round(time.perf_counter() - started, 3)
                return log.info("embedding is ready", extra={"version": self.version, "seconds": seconds})

    async def _run(self, texts: Sequence[str]) -> Vectors:
        started = time.perf_counter()
        try:
            vectors = checked(texts, await self._engine.vectors(texts), self._dimensions)
        except Exception as error:
            unavailable = error if isinstance(error, EmbeddingError) else _foreign(error)
            self._count(unavailable)
            raise unavailable from error
        finally:
            self._observed(len(texts), time.perf_counter() - started)
        self._failures = 0
        return vectors

    def _count(self, error: EmbeddingError) -> None:
        self._failures += 1
        if self._failures >= FAILURES and self.state == "ready":
            self._fail(error)
            self._tasks.spawn(self._warm(after=self._retry_seconds), name="embedding")

    def _fail(self, error: EmbeddingError) -> None:
        if str(error) != self._failure:  # told once, not with every try
            log.warning("embedding is done without", extra={"why": str(error)})
        self.state, self._failure = "failed", str(error)


def open_embedder(
    config: Config,
    *,
    observed: Observed = lambda _size, _seconds: None,
    environ: Mapping[str, str] | None = None,
) -> Embedder:
    """Builds the configured embedder; nothing is started or loaded. It is off where nothing would use it: without reuse
    by intent and context management, or where nothing is kept. `observed` is called with the texts and seconds of
    every run."""
    is_used = config.reuse.intent.enabled or config.context.mode != "off"
    if not config.embedding.enabled or not is_used or config.storage.kind == "off":
        return EmbeddingOff()
    embedding = config.embedding
    if embedding.base_url is not None:
        key = None if embedding.api_key is None else embedding.api_key.get_secret_value()
        return EngineEmbedder(EndpointEngine(embedding.base_url, embedding.model, key), observed)
    return EngineEmbedder(
        LocalEngine(embedding.model, export_folders(config, os.environ if environ is None else environ)), observed
    )


def vectors_of(config: Config) -> str:
    """The name of the configured model's vectors, known before any is loaded: vectors of one name can be compared;
    empty if there are none."""
    embedding = config.embedding
    if not embedding.enabled:
        return ""
    if embedding.base_url is not None:
        return f"{embedding.model}@{embedding.base_url}"
    source = source_of(embedding.model)
    return source.version or f"{source.folder} {source.fingerprint}"


def export_folders(config: Config, environ: Mapping[str, str]) -> tuple[Path, ...]:
    """The folders that may hold an export: the storage folder, unless nothing is kept there; then the user's cache: an
    export is made of a public model, holds nothing of any user, and takes ten seconds to make."""
    kept = (config.storage.path / FOLDER,) if config.storage.kind == "sqlite" else ()
    home = environ.get("HOME")
    cache = environ.get("XDG_CACHE_HOME") or (f"{home}/.cache" if home else None)
    return (*kept, Path(cache) / "olvido" / FOLDER) if cache else kept


def _foreign(error: Exception) -> EmbeddingUnavailable:
    """Without its text, which may quote what was embedded."""
    return EmbeddingUnavailable(f"the model failed ({type(error).__name__})")
