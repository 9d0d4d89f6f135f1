"""The last turns of a conversation: of the archive, on the path to its newest one; where nothing is archived, of what
this process has in memory."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import Executor

from proxy.files.snapshots import MOST
from proxy.memory.library import Library
from proxy.types import ArchivedTurn


async def last_turns(library: Library, executor: Executor, scope: str, session: str) -> Sequence[ArchivedTurn]:
    """Returns the turns that have the last messages of a session, oldest first. Raises StorageError."""
    await library.archive.flush()
    if (newest := await library.archive.latest(scope, session)) is not None:
        return await library.archive.path(scope, newest.link, MOST)
    if library.archive.keeps:
        return ()  # what this process has of it in memory was forgotten by another
    shelf = await library.shelf(scope)
    return await asyncio.get_running_loop().run_in_executor(executor, shelf.turns_of, session, MOST)
