"""What memory as files costs: a sync, an edit on its way to memory, and nothing at all.

    python -m tests.bench.files [--facts 10000] [--people 1000] [--idle 60]

A person has all the facts: a sync that finds nothing to do, one that takes an edited line, one that writes a new fact.
Then as many people share the facts: the first sync of all, an edit of one file until memory has it, the CPU of a
watcher in whose folders nothing happens. Fails if a sync takes more than 200 ms of CPU (median), an edit more than a
second, or idleness more than .1 % of a core.
"""

import argparse
import asyncio
import gc
import os
import resource
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median

from proxy.files.names import folder_of
from proxy.files.syncing import Synced, Syncs
from proxy.files.watching import Watcher
from proxy.storage.sqlite.database import Database
from proxy.storage.sqlite.facts import SqliteFacts
from proxy.tasks import Tasks
from proxy.types import Fact

TENANT = "0123456789abcdef" * 2
SYNC, EDIT, IDLE = 0.2, 1.0, 0.001  # seconds of CPU; seconds; share of a core
DOMAINS = ("work", "preferences", "decisions", "personal", "projects")
ROUNDS = 10


class Stored:
    """Facts in SQLite, on disk."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.store = SqliteFacts(database)

    async def facts(self, scope: str) -> list[Fact]:
        return await self.store.all(scope)

    async def forgotten(self, scope: str, values: Sequence[str]) -> set[str]:
        return set()

    async def write(self, scope: str, rows: Sequence[Fact], known: Collection[str] = ()) -> None:
        self.store.put(scope, rows)
        await self.store.flush()


def facts(number: int, start: int = 0) -> list[Fact]:
    """As many as somebody tells in a life."""
    return [
        Fact(
            f"f-{(start + at) * 0x9E3779B97F4A7C15 % 2**64:016x}",
            DOMAINS[at % 5],
            f"key-{at}",
            f"My project number {at} is kept in cupboard {at * 7 % 1_000} of the long hall",
            "high",
            "explicit",
            "talk",
            1,
            float(at + 1),
            float(at + 1),
        )
        for at in range(number)
    ]


def cpu() -> float:
    """Seconds of this process, all threads."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


async def taken(work: Callable[[], Awaitable[object]]) -> tuple[float, float]:
    """Seconds of CPU, seconds of wall clock."""
    used, began = cpu(), time.perf_counter()
    await work()
    return cpu() - used, time.perf_counter() - began


async def one(number: int, root: Path, stored: Stored, executor: ThreadPoolExecutor) -> list[float]:
    """Prints what syncs of one person cost; returns the medians."""
    scope = f"{TENANT}/everything"
    file = root / folder_of(scope) / "MEMORY.md"
    stored.store.put(scope, facts(number))
    await stored.store.flush()
    syncs = Syncs(root, stored, executor)
    found: dict[str, list[tuple[float, float]]] = {"first": [await taken(lambda: syncs.sync(scope))]}
    for at in range(ROUNDS):
        found.setdefault("nothing to do", []).append(await taken(lambda: syncs.sync(scope)))
        file.write_text(file.read_text().replace(f"number {at} is", f"number {at} was"))
        found.setdefault("a line edited", []).append(await taken(lambda: syncs.sync(scope)))
        stored.store.put(scope, facts(1, 10**6 + at))
        await stored.store.flush()
        found.setdefault("a fact learnt", []).append(await taken(lambda: syncs.sync(scope)))
    print(f"one person, {number} facts, {file.stat().st_size / 1024:.0f} KiB")
    for name, times in found.items():
        used, wall = ([each[at] * 1e3 for each in times] for at in (0, 1))
        print(
            f"  {name:<14} n {len(times):>2}  CPU {median(used):4.0f} ms ({min(used):.0f} to {max(used):.0f})"
            f"  wall {median(wall):4.0f} ms"
        )
    return [median(each[0] for each in times) for name, times in found.items() if name != "first"]


async def many(
    number: int, people: int, idle: float, root: Path, stored: Stored, executor: ThreadPoolExecutor
) -> tuple[float, float]:
    """Prints what many people cost; returns the slowest edit in seconds, and the share of a core that idleness took."""
    done: asyncio.Queue[Synced] = asyncio.Queue()
    scopes = [f"{TENANT}/person-{at}" for at in range(people)]
    for at, scope in enumerate(scopes):
        stored.store.put(scope, facts(number // people, 10**7 * (at + 1)))
    await stored.store.flush()
    tasks = Tasks()
    watcher = Watcher(
        Syncs(root, stored, executor),
        scopes=stored.store.scopes,
        version=lambda scope: stored.database.foreign_writes(scope, "facts"),
        tasks=tasks,
        scan=60.0,
        on_synced=done.put_nowait,
    )

    async def begun() -> None:
        watcher.start()
        while len(watcher.last) < people:
            await done.get()
        await watcher.settled()

    used, wall = await taken(begun)
    print(f"{people} people, {number} facts\n  first sync of all  CPU {used:.1f} s  wall {wall:.1f} s")
    await asyncio.sleep(2.0)
    await watcher.settled()
    edits = []
    for at in range(ROUNDS):
        file = root / folder_of(scopes[at * 7 % people]) / "MEMORY.md"
        said = f"I have a dog called {at}"
        new = file.with_name("MEMORY.md.new")
        new.write_text(file.read_text() + f"- {said}\n")
        began = time.perf_counter()
        new.rename(file)
        while said not in {each.value for each in await stored.facts(scopes[at * 7 % people])}:
            await done.get()
        edits.append(time.perf_counter() - began)
        await watcher.settled()
    print(
        f"  an edit until memory has it  n {len(edits)}  {median(edits) * 1e3:.0f} ms, at most {max(edits) * 1e3:.0f}"
    )
    await asyncio.sleep(2.0)
    await watcher.settled()
    used, wall = await taken(lambda: asyncio.sleep(idle))
    print(f"  idle {wall:.0f} s, a scan a minute  CPU {used / wall:.3%} of a core")
    watcher.stop()
    await tasks.drain(5.0)
    return max(edits), used / wall


async def measure(options: argparse.Namespace) -> bool:
    """Prints all of it; returns whether the limits were kept."""
    gc.freeze()  # as a process that serves has done with what it has loaded
    with tempfile.TemporaryDirectory(prefix="olvido-bench-") as folder, ThreadPoolExecutor(1) as executor:
        stored = Stored(Database(Path(folder) / "one.db", Tasks()))
        syncs = await one(options.facts, Path(folder) / "one", stored, executor)
        await stored.database.close()
        stored = Stored(Database(Path(folder) / "many.db", Tasks()))
        edit, idle = await many(options.facts, options.people, options.idle, Path(folder) / "many", stored, executor)
        await stored.database.close()
    return max(syncs) <= SYNC and edit <= EDIT and idle <= IDLE


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--facts", type=int, default=10_000)
    parser.add_argument("--people", type=int, default=1_000)
    parser.add_argument("--idle", type=float, default=60.0, help="seconds")
    print(f"load average {os.getloadavg()[0]:.1f} before")
    kept = asyncio.run(measure(parser.parse_args()))
    print("met" if kept else "missed")
    return int(not kept)


if __name__ == "__main__":
    sys.exit(main())
