"""What other processes have changed is looked at from start to stop, whatever becomes of the database meanwhile."""

import asyncio

from proxy.storage.base import StorageError
from proxy.storage.looking import Looking
from proxy.tasks import Tasks


class Database:
    """Counts looks; away at the first ones."""

    def __init__(self, away: int = 0) -> None:
        self.looks = 0
        self._away = away
        self._seen = asyncio.Event()

    async def look(self) -> None:
        self.looks += 1
        self._seen.set()
        if self.looks <= self._away:
            raise StorageError("away")

    async def looked(self, times: int) -> None:
        while self.looks < times:
            self._seen.clear()
            await self._seen.wait()


async def test_it_looks_until_it_is_stopped_and_then_may_begin_anew() -> None:
    tasks, database = Tasks(), Database()
    looking = Looking(database.look, 0.0, "look")
    looking.stop()  # before it has begun, too
    for _ in range(2):
        looking.start(tasks)
        looking.start(tasks)  # it has begun
        await asyncio.wait_for(database.looked(database.looks + 2), 5)
        looking.stop()
        await tasks.drain(5)
        seen = database.looks
        for _ in range(5):
            await asyncio.sleep(0)
        assert (database.looks, len(tasks)) == (seen, 0)


async def test_a_database_that_is_away_is_looked_at_the_next_time() -> None:
    tasks, database = Tasks(), Database(away=2)
    looking = Looking(database.look, 0.0, "look")
    await looking.once()
    looking.start(tasks)
    await asyncio.wait_for(database.looked(3), 5)
    looking.stop()
    await tasks.drain(5)
