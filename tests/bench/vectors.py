"""How fast, how exact and how large the index is that questions are looked up in.

    python -m tests.bench.vectors [entries] [--file vectors.npy]

Vectors are drawn around 2,000 topics, two of one topic at a cosine of 0.5, and queries at 0.87 to 0.97 from one of
them. `--file` takes real vectors instead: a float32 matrix of unit rows. Recall is of the five nearest, against every
cosine computed; with the threshold that reuse has, and with none.
"""

import argparse
import asyncio
import resource
import sqlite3
import tempfile
import time
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from proxy.reuse.index import VectorIndex
from proxy.reuse.partitions import Partitions
from proxy.storage.sqlite.database import Database
from proxy.storage.sqlite.reuse import SqliteReuse
from proxy.tasks import Tasks
from proxy.types import ReuseEntry, Vector

DIMENSIONS = 384  # of all-MiniLM-L6-v2
TOPICS = 2_000
QUERIES = 1_000
PAGE = 256
K = 5
THRESHOLDS = (0.85, -1.0)
ROUNDING = 2**-11  # of a cosine, by float16
PARTITION = "0" * 32


def unit(vectors: Vector) -> Vector:
    scaled: Vector = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return scaled


def drawn(count: int, random: np.random.Generator) -> Vector:
    topics = unit(random.standard_normal((TOPICS, DIMENSIONS), dtype=np.float32))
    own = unit(random.standard_normal((count, DIMENSIONS), dtype=np.float32))
    return unit(topics[random.integers(TOPICS, size=count)] + own)


def asked(vectors: Vector, random: np.random.Generator) -> Vector:
    """Other words for questions that are there: at a cosine of 0.87 to 0.97."""
    chosen = vectors[random.integers(len(vectors), size=QUERIES)]
    other = unit(random.standard_normal(chosen.shape, dtype=np.float32))
    return unit(chosen + random.uniform(0.25, 0.55, (QUERIES, 1)).astype(np.float32) * other)


def fill(vectors: Vector) -> VectorIndex:
    index = VectorIndex()
    for start in range(0, len(vectors), PAGE):
        page = vectors[start : start + PAGE]
        index.extend([str(start + n) for n in range(len(page))], page)
    return index


def measure_searches(index: VectorIndex, vectors: Vector, queries: Vector, min_cosine: float) -> None:
    seconds, answers = [], []
    for query in queries:
        started = time.perf_counter()
        answers.append(index.nearest(query, K, min_cosine))
        seconds.append(time.perf_counter() - started)
    p50, p99 = np.percentile(np.array(seconds) * 1e3, (50, 99))

    found, due = 0, 0
    for query, answer in zip(queries, answers, strict=True):
        best = np.sort(vectors @ query)[: -K - 1 : -1]
        wanted = best[best >= min_cosine]
        # By rank: of several that are equally near, any will do.
        found += sum(abs(cosine - rank) < ROUNDING for (_, cosine), rank in zip(answer, wanted, strict=False))
        due += len(wanted)
    print(
        f"nearest {K}, cosine >= {min_cosine}: p50 {p50:.2f} ms, p99 {p99:.2f} ms, recall {found / due:.4f} (n={due})"
    )


def file_size(connection: sqlite3.Connection) -> int:
    query = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
    return int(connection.execute(query).fetchone()[0])


async def measure_loading(vectors: Vector) -> None:
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(1) as executor:
        database = Database(Path(folder) / "olvido.db", Tasks())
        store = SqliteReuse(database)
        for number, vector in enumerate(vectors):
            question = f"a question of about as many characters as users ask, number {number}"
            store.add("a/", ReuseEntry(f"r-{number:016x}", PARTITION, question, (), f"{number:064x}", 1.0, 9e9), vector)
            if number % 2_000 == 0:
                await store.flush()
        await store.flush()
        on_disk = await database.read(file_size)
        tracemalloc.start()
        partitions = Partitions(store, executor, max_bytes=2**40)
        await partitions.nearest("a/", PARTITION, vectors[0], K, 0.85, 1.0)
        held = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        again = Partitions(store, executor, max_bytes=2**40)
        started = time.perf_counter()
        await again.nearest("a/", PARTITION, vectors[0], K, 0.85, 1.0)
        seconds = time.perf_counter() - started
        count = len(vectors)
        print(f"loading them from SQLite: {seconds:.2f} s, {on_disk / count:.0f} bytes an entry on disk")
        print(
            f"with their questions: {held / count:.0f} bytes an entry ({partitions.bytes / count:.0f} by its estimate)"
        )
        await database.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("entries", nargs="?", type=int, default=100_000)
    parser.add_argument("--file", type=Path)
    options = parser.parse_args()
    random = np.random.default_rng(0)
    vectors: Vector = np.load(options.file)[: options.entries] if options.file else drawn(options.entries, random)
    queries = asked(vectors, random)

    tracemalloc.start()
    index = fill(vectors)
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    started = time.perf_counter()
    fill(vectors)
    print(f"n={len(index)}, filled in {time.perf_counter() - started:.2f} s, {held / len(index):.0f} bytes an entry")
    for threshold in THRESHOLDS:
        measure_searches(index, vectors, queries, threshold)
    asyncio.run(measure_loading(vectors))
    rss = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"RSS at most {rss:.0f} MB, {vectors.nbytes >> 20} of it what is measured with")


if __name__ == "__main__":
    main()
