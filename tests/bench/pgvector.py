"""Whether searching a scope's vectors in PostgreSQL would pay: exactly, by pgvector, beside the search in the process.

    python -m tests.bench.pgvector [--passages 25000]

A scope of 10,000 turns has about 25,000 passages with a vector. The fusion of words and vectors needs the cosine of
every passage, not those of the nearest: both are asked for. Vectors are random; the server is the tests' own.
"""

import argparse
import time
from collections.abc import Callable
from statistics import median

import numpy as np
import psycopg

from proxy.memory.turn_index import TurnIndex
from proxy.types import ArchivedTurn, Utterance, Vector
from tests.postgres import database

DIMENSIONS, ASKED, NEAREST = 384, 20, 50
BY_SCOPE = "SELECT id FROM passages WHERE scope = 1 ORDER BY vector <=> %s::vector LIMIT {}"
EVERY = "SELECT id, vector <=> %s::vector FROM passages WHERE scope = 1"


def told(vector: Vector) -> str:
    return f"[{','.join(f'{each:.4f}' for each in vector)}]"


def timed(ask: Callable[[], object]) -> str:
    took = []
    for _ in range(ASKED):
        started = time.perf_counter()
        ask()
        took.append((time.perf_counter() - started) * 1e3)
    return f"least {min(took):6.1f} ms, median {median(took):6.1f} ms"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--passages", type=int, default=25_000)
    passages = parser.parse_args().passages
    random = np.random.default_rng(1)
    vectors = random.standard_normal((passages, DIMENSIONS)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    asked = vectors[0]

    index = TurnIndex()
    for number, vector in enumerate(vectors):
        link = number.to_bytes(16)
        turn = ArchivedTurn(link, b"", "s", number, 1.0, b"", (Utterance("user", f"w{number}", link),))
        index.add(turn, vector[np.newaxis])
    view = index.view([number.to_bytes(16) for number in range(passages)])
    print(f"{passages} passages; {ASKED} times")
    print(f"  in the process, every cosine   {timed(lambda: index.cosines(asked, view))}")

    with psycopg.connect(database(), autocommit=True) as connection:
        connection.execute("CREATE EXTENSION vector")
        connection.execute("CREATE UNLOGGED TABLE passages (scope int, id int, vector vector(384))")
        connection.execute("ALTER TABLE passages ALTER vector SET STORAGE PLAIN")
        with connection.cursor().copy("COPY passages FROM STDIN") as copied:
            for number, vector in enumerate(vectors):
                copied.write_row((1, number, told(vector)))
        connection.execute("CREATE INDEX ON passages (scope)")
        connection.execute("VACUUM ANALYZE passages")
        for name, query in ((f"the nearest {NEAREST}", BY_SCOPE.format(NEAREST)), ("every cosine", EVERY)):
            statement, values = query.encode(), (told(asked),)
            took = timed(lambda: connection.execute(statement, values).fetchall())  # noqa: B023 (called at once)
            print(f"  pgvector, {name:<20} {took}")


if __name__ == "__main__":
    main()
