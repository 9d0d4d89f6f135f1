"""Undoes a wipe, the newest one: what it put aside comes back, and what has been said since still counts."""

import asyncio

from proxy.memory.reunion import reunited
from proxy.storage.recollection import FactStore, Wiped, WipeStore

_LOOKS = 3  # at the facts, until none is learnt in the meantime


async def undo(wipes: WipeStore, facts: FactStore, wiped: Wiped, now: float) -> None:
    """Queue that what the wipe put aside comes back, and that facts which others have ended are history: those that
    come back as well as those that were learnt after it."""
    scope = wiped.scope
    for _ in range(_LOOKS):
        groups = [*await wipes.facts(scope, now, wiped.until), await facts.all(scope)]
        rows = await asyncio.to_thread(reunited, groups)  # compares each with each
        if await facts.all(scope) == groups[-1]:
            break
    wipes.restore(scope, now, wiped.until)
    if rows:
        facts.put(scope, rows)
