"""How large an archive of old turns is, how fast one scope of it is read, and how fast a question is answered from it.

    python -m tests.bench.archive [--turns 1000000]

A scope has 10,000 turns (the last one what is left), in conversations of 50; turns of all scopes come in at the same
time. A question has about 30 words and an answer about 120, with three passages embedded. Text and vectors are random:
neither SQLite nor a search gains from what they say.

A recall asks for all conversations of the scope, as a person's question about what was said before does: the search
alone, and with the look at what other processes have written that comes before it. The latter has a limit; where it is
missed, the exit status is 1.
"""

import argparse
import asyncio
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np

from proxy.memory.library import Library
from proxy.memory.recall import Query
from proxy.memory.shelf import Shelf
from proxy.storage.base import PAGE
from proxy.storage.sqlite.archive import SqliteArchive
from proxy.storage.sqlite.database import Database
from proxy.tasks import Tasks
from proxy.tokens import TokenCounter, load_tokenizer
from proxy.types import ArchivedTurn, Utterance, Vector
from tests import stores
from tests.memory.indexed import search
from tests.stores import ForeignWriter

SCOPE_TURNS = 10_000
SESSION_TURNS = 50
DIMENSIONS = 384  # of all-MiniLM-L6-v2
PASSAGES = 3
WORDS = 5_000
ASKED, ANSWERED = 30, 120  # words
BATCH = 500
LOOK_UPS = 200
NOW = time.time()  # of the last turn; they came a second after one another
RECALL_TOKENS = 4_000  # the most that a profile of ours allows
RECALLED_WORDS = 12  # of a question that calls for it
RECALL_LIMIT = 50.0  # ms, the p99 of a recall in a scope of SCOPE_TURNS


def link(scope: int, number: int, kind: int = 0) -> bytes:
    """As spread as a hash."""
    return np.random.default_rng((scope, number, kind)).bytes(16)


def vocabulary(random: np.random.Generator) -> list[str]:
    return ["".join(map(chr, random.integers(97, 123, size=random.integers(2, 10)))) for _ in range(WORDS)]


def written(turns: int, random: np.random.Generator) -> Iterator[tuple[int, ArchivedTurn]]:
    """With the number of its scope."""
    words = vocabulary(random)
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
                at=NOW - turns + index,
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
        changes = await archive.changes(scope, upto, NOW)
        longest = max(longest, time.perf_counter() - started)
        count, upto, more = count + len(changes.entries), changes.upto, changes.more
    return count, time.perf_counter() - began, longest


@dataclass(frozen=True, slots=True)
class Times:
    milliseconds: list[float]
    cpu: list[float]  # milliseconds, of all threads

    @property
    def p99(self) -> float:
        return statistics.quantiles(self.milliseconds, n=100)[98]

    def __str__(self) -> str:
        cpu = f"CPU p50 {statistics.median(self.cpu):.2f}, p99 {statistics.quantiles(self.cpu, n=100)[98]:.2f} ms"
        return f"p50 {statistics.median(self.milliseconds):.2f} ms, p99 {self.p99:.2f} ms ({cpu})"


async def times(look_up: Callable[[int], Awaitable[object]], numbers: list[int]) -> Times:
    taken, cpu = [], []
    for number in numbers:
        started, before = time.perf_counter(), time.process_time()
        await look_up(number)
        taken.append((time.perf_counter() - started) * 1e3)
        cpu.append((time.process_time() - before) * 1e3)
    return Times(taken, cpu)


async def recalls(archive: SqliteArchive, scope: str, numbers: list[int]) -> Times:
    """What a recall takes with the scope's shelf read; prints what came before that."""
    random = np.random.default_rng(3)
    words, count = vocabulary(np.random.default_rng(1)), TokenCounter(load_tokenizer()).text

    def query(number: int) -> Query:
        said = " ".join(words[i] for i in random.integers(WORDS, size=RECALLED_WORDS))
        path = [link(0, each, kind) for each in range(number - number % SESSION_TURNS, number) for kind in (1, 0)]
        return Query(said, embedded(random)[0], path, others_than=f"0-{number // SESSION_TURNS:032x}")

    asked = {number: query(number) for number in numbers}
    nothing = stores.nothing()
    with ThreadPoolExecutor(1) as executor:
        facts, states, wipes = stores.facts(nothing), stores.states(nothing), stores.wipes(nothing)
        library = Library(facts, archive, states, wipes, executor, Tasks(), foreign_writes=ForeignWriter())
        started, before = time.perf_counter(), time.process_time()
        shelf = await library.shelf(scope)
        await library.indexes.read(scope, shelf, seconds=600)
        seconds, cpu = time.perf_counter() - started, time.process_time() - before
        print(f"  cold shelf         {seconds:.2f} s, {cpu:.2f} s of CPU, {shelf.size / 2**20:.0f} MiB in memory")

        def recall(shelf: Shelf, number: int) -> None:
            with shelf.lock:
                found = search(shelf.index, asked[number], budget_tokens=RECALL_TOKENS, count=count)
            assert found, "nothing was recalled"

        async def searched(number: int) -> None:
            await asyncio.get_running_loop().run_in_executor(executor, recall, shelf, number)

        async def through(number: int) -> None:
            shelf = await library.shelf(scope)
            await library.indexes.read(scope, shelf)
            await asyncio.get_running_loop().run_in_executor(executor, recall, shelf, number)

        print(f"  search             {await times(searched, numbers)}")
        return await times(through, numbers)


async def measure(turns: int, folder: Path) -> bool:
    """Was the limit kept?"""
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
    upto = (await archive.changes(scope, 0, NOW, limit=count)).upto
    print(f"  nothing new        {await times(lambda _: archive.changes(scope, upto, NOW), numbers)}")
    print(f"  path of 20 turns   {await times(lambda each: archive.path(scope, link(0, each), 20), numbers)}")
    asked = {each: [link(0, each - i) for i in range(min(each, 50))] for each in numbers}
    print(f"  50 links known?    {await times(lambda each: archive.known(scope, asked[each]), numbers)}")
    latest = await times(lambda each: archive.latest(scope, f"0-{each // SESSION_TURNS:032x}"), numbers)
    print(f"  latest of session  {latest}")
    recall = await recalls(archive, scope, numbers)
    kept = recall.p99 <= RECALL_LIMIT
    print(f"  recall             {recall}; {'kept' if kept else 'MISSED'}: a p99 of {RECALL_LIMIT:.0f} ms at most")
    print(f"  peak memory        {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")
    await database.close()
    return kept


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=50_000)
    turns = parser.parse_args().turns
    with tempfile.TemporaryDirectory() as folder:
        return 0 if asyncio.run(measure(turns, Path(folder))) else 1


if __name__ == "__main__":
    sys.exit(main())
