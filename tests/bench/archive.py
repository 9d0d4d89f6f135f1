"""How large an archive of old turns is, and how fast one scope of it is read.

    python -m tests.bench.archive [--turns 1000000]

A scope has 10,000 turns (the last one what is left), in conversations of 50; turns of all scopes come in at the same
time. A question has about 30 words and an answer about 120, with three passages embedded. Text and vectors are random:
neither SQLite nor a search gains from what they say.
"""

import argparse
import asyncio
import resource
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import msgspec
import numpy as np

from proxy.storage.base import PAGE
from proxy.storage.sqlite import Database
from proxy.storage.sqlite_archive import SqliteArchive
from proxy.tasks import Tasks
from proxy.types import ArchivedTurn, Utterance, Vector

SCOPE_TURNS = 10_000
SESSION_TURNS = 50
DIMENSIONS = 384  # of all-MiniLM-L6-v2
PASSAGES = 3
WORDS = 5_000
ASKED, ANSWERED = 30, 120  # words
BATCH = 500
LOOK_UPS = 200
NOW = 1_700_000_000.0


def link(scope: int, number: int, kind: int = 0) -> bytes:
    """As spread as a hash."""
    return np.random.default_rng((scope, number, kind)).bytes(16)


def written(turns: int, random: np.random.Generator) -> Iterator[tuple[int, ArchivedTurn]]:
    """With the number of its scope."""
    words = ["".join(map(chr, random.integers(97, 123, size=random.integers(2, 10)))) for _ in range(WORDS)]
    scopes = -(-turns // SCOPE_TURNS)
    for index in range(turns):
        scope, number = index % scopes, index // scopes
        question, answer = (" ".join(words[i] for i in random.integers(WORDS, size=n)) for n in (ASKED, ANSWERED))
        said = (
            Utterance("user", question, link(scope, number, 1)),
            Utterance("assistant", answer, link(scope, number)),
        )
        yield (
            scope,
            ArchivedTurn(
                link=said[-1].link,
                parent=link(scope, number - 1) if number % SESSION_TURNS else b"",
                session=f"{scope}-{number // SESSION_TURNS:032x}",
                number=number % SESSION_TURNS + 1,
                at=NOW + index,
                messages=msgspec.json.encode([{"role": each.role, "content": each.text} for each in said]),
                utterances=said,
            ),
        )


def embedded(random: np.random.Generator) -> Vector:
    vectors = random.standard_normal((PASSAGES, DIMENSIONS), dtype=np.float32)
    unit: Vector = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit


async def fill(archive: SqliteArchive, turns: int) -> float:
    """Seconds of CPU, of the writer's thread and of this one, without making the turns up."""
    random = np.random.default_rng(1)
    pool = [embedded(random) for _ in range(100)]
    spent, batch = 0.0, []
    for index, turn in enumerate(written(turns, random), 1):
        batch.append(turn)
        if len(batch) == BATCH or index == turns:
            started = time.process_time()
            for number, (scope, each) in enumerate(batch):
                archive.add(f"scope-{scope}/", each, pool[number % len(pool)])
            await archive.flush()
            spent += time.process_time() - started
            batch.clear()
    return spent


async def read_through(archive: SqliteArchive, scope: str) -> tuple[int, float, float]:
    """How many turns, in how many seconds, and the longest page."""
    count, upto, more, longest = 0, 0, True, 0.0
    began = time.perf_counter()
    while more:
        started = time.perf_counter()
        changes = await archive.turns(scope, upto, NOW)
        longest = max(longest, time.perf_counter() - started)
        count, upto, more = count + len(changes.entries), changes.upto, changes.more
    return count, time.perf_counter() - began, longest


async def times(look_up: Callable[[int], Awaitable[object]], numbers: list[int]) -> str:
    taken = []
    for number in numbers:
        started = time.perf_counter()
        await look_up(number)
        taken.append((time.perf_counter() - started) * 1e3)
    p50, p99 = statistics.median(taken), statistics.quantiles(taken, n=100)[98]
    return f"p50 {p50:.2f} ms, p99 {p99:.2f} ms"


async def measure(turns: int, folder: Path) -> None:
    path = folder / "archive.db"
    database = Database(path, Tasks())
    archive = SqliteArchive(database, 90 * 86_400.0)
    began = time.perf_counter()
    cpu = await fill(archive, turns)
    print(f"{turns:,} turns in {-(-turns // SCOPE_TURNS)} scopes, built in {time.perf_counter() - began:.0f} s")
    print(f"  adding one         {cpu / turns * 1e6:.0f} µs of CPU")
    await database.close()
    print(f"  file               {path.stat().st_size / 2**20:.0f} MiB, {path.stat().st_size / turns:.0f} bytes a turn")

    database = Database(path, Tasks())
    archive = SqliteArchive(database, 90 * 86_400.0)
    scope = "scope-0/"
    count, seconds, longest = await read_through(archive, scope)
    print(
        f"  reading one scope  {count:,} turns in {seconds * 1e3:.0f} ms, pages of {PAGE}, "
        f"the longest {longest * 1e3:.1f} ms"
    )
    numbers = [int(number) for number in np.random.default_rng(2).integers(count, size=LOOK_UPS)]
    upto = (await archive.turns(scope, 0, NOW, limit=count)).upto
    print(f"  nothing new        {await times(lambda _: archive.turns(scope, upto, NOW), numbers)}")
    print(f"  path of 20 turns   {await times(lambda each: archive.path(scope, link(0, each), 20), numbers)}")
    asked = {each: [link(0, each - i) for i in range(min(each, 50))] for each in numbers}
    print(f"  50 links known?    {await times(lambda each: archive.known(scope, asked[each]), numbers)}")
    latest = await times(lambda each: archive.latest(scope, f"0-{each // SESSION_TURNS:032x}"), numbers)
    print(f"  latest of session  {latest}")
    print(f"  peak memory        {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")
    await database.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=50_000)
    turns = parser.parse_args().turns
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(measure(turns, Path(folder)))


if __name__ == "__main__":
    main()
