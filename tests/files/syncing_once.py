"""A sync of one file with a real database, as a process of its own does it, which is killed at a step. Prints the names
of its steps, as it comes to them."""

import asyncio
import os
import signal
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from proxy.files.syncing import Synced, Syncs
from proxy.storage.sqlite.database import Database
from proxy.storage.sqlite.facts import SqliteFacts
from proxy.tasks import Tasks
from proxy.types import Fact

SCOPE = "0123456789abcdef" * 2 + "/ana"


class Stored:
    """Facts in a database."""

    def __init__(self, database: Database) -> None:
        self.store = SqliteFacts(database)

    async def facts(self, scope: str) -> list[Fact]:
        return await self.store.all(scope)

    async def forgotten(self, scope: str, values: Sequence[str]) -> set[str]:
        return set()

    async def write(self, scope: str, rows: Sequence[Fact], known: Collection[str] = ()) -> None:
        self.store.put(scope, rows)
        await self.store.flush()


async def sync(root: Path, folder: Path, left: int | None = None) -> Synced:
    """Syncs; kills this process after `left` steps."""

    def step(name: str) -> None:
        nonlocal left
        print(name, flush=True)
        if left is not None:
            left -= 1
            if left < 0:
                os.kill(os.getpid(), signal.SIGKILL)

    database = Database(folder / "olvido.db", Tasks())
    with ThreadPoolExecutor(1) as executor:
        try:
            return await Syncs(root, Stored(database), executor, on_step=step).sync(SCOPE)
        finally:
            await database.close()


def once(root: Path, folder: Path, left: int) -> None:
    """Syncs in this process, and kills it after `left` steps."""
    asyncio.run(sync(root, folder, left))
