"""Embeddings: texts to vectors, for everything that compares meanings. Here is what the rest of the proxy sees of them:
`Embedder`, the embedder that is off, the errors, and the checks that every vector passes.

    service.py       opens the configured embedder: warming up, cache, checks, state, around any engine
    batching.py      for it: texts of several callers in one run
    engines.py       a model that runs here: onnxruntime and tokenizers; an OpenAI-compatible /v1/embeddings
    exported.py      the identity of a local model, the check of a packaged one's sha256, and its export on disk

    export.py        `python -m proxy.embedding.export`: makes the export, in a process of its own
    packaged.py      the export of the packaged model, without torch; linear layers in int8
    multilingual.py  the export of the model of the extra `multilingual`

torch, where it is installed, is only ever imported by export.py's process; onnxruntime and tokenizers only once the
server is up.

EmbeddingError
├── EmbeddingUnavailable   not now: warming up, overloaded, a bad answer; worth another try
└── EmbeddingRefused       never as configured: the model is absent, altered, or can't be exported
"""

from collections.abc import Callable, Sequence
from typing import Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

Vectors: TypeAlias = NDArray[np.float32]  # (texts, dimensions), rows of unit length
State = Literal["warming", "ready", "failed", "off"]
Observed = Callable[[int, float], None]  # texts in a run, and the seconds it took

# Three texts with nothing in common, one in Spanish: no model that works puts two of them in one place.
PROBES = ("The river bank was flooded.", "¿Cuánto cuesta el pasaje a Córdoba?", "import numpy as np")
_SAME = 0.999  # cosine; all-MiniLM-L6-v2 gives the probes at most 0.1

# So many different texts can't all have one vector; two can, to a model that ignores case or accents.
_TELLING = 3


class EmbeddingError(Exception):
    """The root of what embedding raises. Its message holds no text that was embedded, and no key."""


class EmbeddingUnavailable(EmbeddingError):
    """No vectors for now: warming up, overloaded, closed, or a run failed. Another try may help."""


class EmbeddingRefused(EmbeddingError):
    """No vectors as long as the configuration is as it is. The message says what to do."""


class Embedder(Protocol):
    """A model that makes vectors of texts."""

    @property
    def version(self) -> str:
        """The version of the vectors: those of two versions must not be compared. Empty until `ready` where only the
        loaded model can tell."""
        ...

    @property
    def state(self) -> State:
        """One of warming, ready, failed and off."""

    @property
    def detail(self) -> str:
        """The step under way while `warming`, the reason if it `failed`, else empty."""
        ...

    def start(self) -> None:
        """Starts loading in the background; returns at once. Called once, in the event loop that will use it."""
        ...

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """A row for each text. Raises EmbeddingUnavailable, at once unless `ready`; how long to wait is the caller's
        decision, by cancelling."""
        ...

    def forget(self) -> None:
        """Drops the vectors that are kept, since somebody wants a text forgotten."""

    async def close(self) -> None:
        """Ends all work; queries that wait are refused."""


class EmbeddingOff:
    """The embedder where none is configured."""

    version = ""
    state: State = "off"
    detail = ""

    def start(self) -> None:
        """Needs to do nothing."""

    async def embed(self, texts: Sequence[str]) -> Vectors:  # noqa: ARG002 (Protocol)
        """Raises EmbeddingUnavailable."""
        raise EmbeddingUnavailable("embedding is off")

    def forget(self) -> None:
        """Needs to do nothing."""

    async def close(self) -> None:
        """Needs to do nothing."""


class DelegatingEmbedder:
    """An embedder that delegates to another one, to be subclassed: it does not start, close or make it forget."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    @property
    def version(self) -> str:
        """The other's version."""
        return self._embedder.version

    @property
    def state(self) -> State:
        """The other's state."""
        return self._embedder.state

    @property
    def detail(self) -> str:
        """The other's detail."""
        return self._embedder.detail

    def start(self) -> None:
        """Needs to do nothing."""

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """The other's vectors."""
        return await self._embedder.embed(texts)

    def forget(self) -> None:
        """Needs to do nothing."""

    async def close(self) -> None:
        """Needs to do nothing."""


def checked(texts: Sequence[str], vectors: Vectors, dimensions: int | None = None) -> Vectors:
    """Returns the vectors at unit length. Raises EmbeddingUnavailable for what only a model that went wrong gives: a
    wrong shape, NaN, infinity, a zero vector, or the same vector for different texts."""
    if vectors.ndim != 2 or len(vectors) != len(texts) or vectors.shape[1] < 1:
        raise EmbeddingUnavailable(f"{len(texts)} texts gave vectors of shape {vectors.shape}")
    if dimensions is not None and vectors.shape[1] != dimensions:
        raise EmbeddingUnavailable(f"vectors have {vectors.shape[1]} dimensions, not {dimensions}")
    if not np.isfinite(vectors).all():
        raise EmbeddingUnavailable("a vector holds NaN or infinity")
    # A huge but finite component must not overflow in the square of the length.
    largest = np.abs(vectors).max(axis=1, keepdims=True, initial=0.0)
    if not largest.all():
        raise EmbeddingUnavailable("a vector is zero")
    scaled = vectors / largest
    units: Vectors = (scaled / np.linalg.norm(scaled, axis=1, keepdims=True)).astype(np.float32)
    different = len({" ".join(text.casefold().split()) for text in texts})
    if different >= _TELLING and float((units @ units[0]).min()) > 1 - 1e-6:
        raise EmbeddingUnavailable(f"{different} different texts gave one vector")
    return units


def checked_probes(vectors: Vectors) -> Vectors:
    """Checks the vectors of PROBES: as `checked`, and no two of them may be the same."""
    units = checked(PROBES, vectors)
    cosines = units @ units.T - np.eye(len(units), dtype=np.float32)
    if float(cosines.max()) > _SAME:
        raise EmbeddingUnavailable("texts with nothing in common gave the same vector")
    return units
