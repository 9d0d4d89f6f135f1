"""What the rest of the proxy sees of embeddings.

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


class EmbeddingError(Exception):
    """The root of what embedding raises. Its message holds no text that was embedded, and no key."""


class EmbeddingUnavailable(EmbeddingError):
    """Not now: warming up, overloaded, closed, or a run went wrong."""


class EmbeddingRefused(EmbeddingError):
    """Never as configured. The message says what to do."""


class Embedder(Protocol):
    @property
    def version(self) -> str:
        """Changes whenever the vectors would: vectors of two versions must not be compared. Empty until `ready` where
        only the loaded model can tell."""
        ...

    @property
    def state(self) -> State: ...

    @property
    def detail(self) -> str:
        """What it is doing while `warming`, why it `failed`, else empty."""
        ...

    @property
    def dimensions(self) -> int | None:
        """None until `ready` for the first time."""
        ...

    def start(self) -> None:
        """Load in the background; returns at once. Called once, in the event loop that will use it."""
        ...

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """A row for each text. Raises EmbeddingUnavailable, at once unless `ready`; how long to wait is the caller's
        decision, by cancelling."""
        ...

    async def close(self) -> None: ...


class EmbeddingOff:
    version = ""
    state: State = "off"
    detail = ""
    dimensions: int | None = None

    def start(self) -> None: ...

    async def embed(self, texts: Sequence[str]) -> Vectors:  # noqa: ARG002 (Protocol)
        raise EmbeddingUnavailable("embedding is off")

    async def close(self) -> None: ...


class Lent:
    """Another's embedder, under what its own `embed` makes of it: neither started nor closed here."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    @property
    def version(self) -> str:
        return self._embedder.version

    @property
    def state(self) -> State:
        return self._embedder.state

    @property
    def detail(self) -> str:
        return self._embedder.detail

    @property
    def dimensions(self) -> int | None:
        return self._embedder.dimensions

    def start(self) -> None: ...

    async def embed(self, texts: Sequence[str]) -> Vectors:
        return await self._embedder.embed(texts)

    async def close(self) -> None: ...
