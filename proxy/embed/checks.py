"""What no embedding may look like. A model that went wrong says so in its vectors, and one constant vector would make
every question the same question."""

from collections.abc import Sequence

import numpy as np

from proxy.embed.base import EmbeddingUnavailable, Vectors

# Three texts with nothing in common, one in Spanish: no model that works puts two of them in one place.
PROBES = ("The river bank was flooded.", "¿Cuánto cuesta el pasaje a Córdoba?", "import numpy as np")
_SAME = 0.999  # cosine; all-MiniLM-L6-v2 gives the probes at most 0.1

# So many different texts can't all have one vector; two can, to a model that ignores case or accents.
_TELLING = 3


def checked(texts: Sequence[str], vectors: Vectors, dimensions: int | None = None) -> Vectors:
    """The vectors at unit length. Raises EmbeddingUnavailable for a wrong shape, NaN, infinity, a zero vector, or the
    same vector for different texts."""
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
    """As `checked`, of the vectors of PROBES: no two of them may be the same."""
    units = checked(PROBES, vectors)
    cosines = units @ units.T - np.eye(len(units), dtype=np.float32)
    if float(cosines.max()) > _SAME:
        raise EmbeddingUnavailable("texts with nothing in common gave the same vector")
    return units
