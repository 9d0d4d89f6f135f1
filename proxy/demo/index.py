"""Waiting for a proxy of the demonstration, as whoever is outside of it can: over HTTP, until it has learnt what it was
told. People type slower than the demonstration plays; without these waits it would show how busy the machine is.
"""

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import httpx

POLL_SECONDS = 0.02
PATIENCE_SECONDS = 60.0  # that a wait takes at most


@dataclass(frozen=True, slots=True)
class Index:
    """Reads the state of the index of old turns of one proxy, or of several over one database, over HTTP routes."""

    clients: Sequence[httpx.AsyncClient]

    async def warm(self) -> bool:
        """Waits until nothing is being made ready any more; tells whether that was so in the end."""
        return await _in_time(self._warm())

    async def settled(self) -> bool:
        """Waits until what was said so far is learnt, and other proxies can read it; tells whether that was so."""
        return await _in_time(self._settled())

    async def _warm(self) -> None:
        for client in self.clients:
            while "warming" in (await client.get("/readyz")).json()["parts"].values():  # noqa: ASYNC110 (over HTTP)
                await asyncio.sleep(POLL_SECONDS)

    async def _settled(self) -> None:
        while await self._number("olvido_memory_pending"):  # noqa: ASYNC110 (over HTTP)
            await asyncio.sleep(POLL_SECONDS)
        while len(self.clients) > 1 and await self._number("olvido_writer_queue"):  # noqa: ASYNC110 (over HTTP)
            await asyncio.sleep(POLL_SECONDS)

    async def recalled(self) -> int:
        """The number of tokens of old turns that were put into prompts so far."""
        return int(await self._number("olvido_recall_tokens_sum"))

    async def entries(self) -> float:
        """The number of questions whose answers are kept, for others that mean the same."""
        return await self._number("olvido_reuse_entries")

    async def numbers(self, name: str, label: str) -> Mapping[str, float]:
        """The sums of a metric by the values of its one label."""
        found: dict[str, float] = {}
        for client in self.clients:
            for line in (await client.get("/metrics")).text.splitlines():
                if line.startswith(f'{name}{{{label}="'):
                    value = line.split('"')[1]
                    found[value] = found.get(value, 0.0) + float(line.rpartition(" ")[2])
        return found

    async def _number(self, name: str) -> float:
        lines = [line for client in self.clients for line in (await client.get("/metrics")).text.splitlines()]
        return sum(float(line.rpartition(" ")[2]) for line in lines if line.split("{")[0].split(" ")[0] == name)


async def _in_time(waiting: Coroutine[Any, Any, None]) -> bool:
    try:
        await asyncio.wait_for(waiting, PATIENCE_SECONDS)
    except TimeoutError:
        return False
    return True
