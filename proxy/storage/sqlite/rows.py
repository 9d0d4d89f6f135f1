"""Parts of rows that several stores share: SQL of the names of scopes and sessions, vectors as bytes."""

import numpy as np

from proxy.types import Vector

PAGE_BYTES = 4096  # of the file: a write that fills several counts as several rows of the queue

# Names come as one JSON array, `[scope, session, …]` a row: a statement a batch, see `Write`.
SCOPE_ID = "(SELECT id FROM scopes WHERE name = :scope)"
ADD_SCOPES = """
    INSERT INTO scopes (name) SELECT DISTINCT json_extract(value, '$[0]') FROM json_each(:rows) WHERE true
    ON CONFLICT DO NOTHING
"""
ADD_SESSIONS = """
    INSERT INTO sessions (scope_id, name)
    SELECT DISTINCT scopes.id, json_extract(value, '$[1]')
    FROM json_each(:rows) CROSS JOIN scopes ON scopes.name = json_extract(value, '$[0]') WHERE true
    ON CONFLICT DO NOTHING
"""
ADD_SCOPE = "INSERT INTO scopes (name) VALUES (?) ON CONFLICT DO NOTHING"
# From one scope to the next, however many conversations each has.
OWNERS = """
    owners (id) AS (
        SELECT min(scope_id) FROM session_sums
        UNION ALL
        SELECT (SELECT min(scope_id) FROM session_sums WHERE scope_id > owners.id) FROM owners
        WHERE owners.id IS NOT NULL
    )
"""


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
