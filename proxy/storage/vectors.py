"""Vectors as bytes of a database: float16, two bytes a dimension."""

import numpy as np

from proxy.types import Vector


def packed(vector: Vector) -> bytes:
    """Returns a vector as float16, two bytes a dimension: that changes a cosine by 0.0005 at most."""
    return vector.astype("<f2").tobytes()


def unpacked(stored: bytes) -> Vector:
    """Returns the vector of packed bytes, as float32."""
    return np.frombuffer(stored, "<f2").astype(np.float32)


def packed_rows(vectors: Vector | None) -> tuple[int, bytes] | None:
    """Returns the number of dimensions, and the rows one after another as float16; None for no vectors."""
    return None if vectors is None else (vectors.shape[1], packed(vectors))


def unpacked_rows(stored: tuple[int, bytes] | None) -> Vector | None:
    """Returns the matrix of packed rows, as float32."""
    return None if stored is None else unpacked(stored[1]).reshape(-1, stored[0])
