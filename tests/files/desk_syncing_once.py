"""A sync of the documents of one person with a real database, as a process of its own does it, which is killed at a
step. Prints the names of its steps, as it comes to them."""

import asyncio
import os
import signal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import time

from proxy.config.memory import DeskSections
from proxy.files.desk_syncing import DeskSyncing
from proxy.files.syncing import Synced, Syncs
from proxy.storage.sqlite.database import Database
from proxy.storage.sqlite.desk import SqliteDesks
from proxy.tasks import Tasks
from tests.files.syncing_once import SCOPE, Stored

RULES = "Keep your desk in order."
LIMITS = DeskSections(agent_notes=20)


def nothing(_step: str) -> None:
    pass


async def sync(root: Path, folder: Path, on_step: Callable[[str], None] = nothing, *, later: float = 10.0) -> Synced:
    """Syncs as a process of its own would, `later` seconds from now."""
    database = Database(folder / "olvido.db", Tasks())
    with ThreadPoolExecutor(1) as executor:
        try:
            return await syncs(root, database, executor, on_step, later).sync(SCOPE)
        finally:
            await database.close()


def syncs(
    root: Path,
    database: Database,
    executor: ThreadPoolExecutor,
    on_step: Callable[[str], None] = nothing,
    later: float = 10.0,
) -> Syncs:
    """Syncs with this database. Tokens are words."""

    def clock() -> float:
        return time() + later

    desk = DeskSyncing(SqliteDesks(database), LIMITS, lambda text: len(text.split()), RULES, clock)
    return Syncs(root, Stored(database), executor, desk, clock=clock, on_step=on_step)


def killed_after(left: int) -> Callable[[str], None]:
    """Returns what kills this process after so many steps."""

    def step(name: str) -> None:
        nonlocal left
        print(name, flush=True)
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)

    return step


def once(root: Path, folder: Path, left: int) -> None:
    """Syncs in this process, and kills it after `left` steps."""
    asyncio.run(sync(root, folder, killed_after(left)))
