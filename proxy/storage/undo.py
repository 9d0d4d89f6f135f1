"""Undoes wipes: what was put aside comes back, and what has been said since still counts."""

import asyncio

from proxy.memory.reunion import reunited
from proxy.storage.recollection import FactStore, WipeStore

_LOOKS = 3  # at the facts, until none is learnt in the meantime


async def undo(wipes: WipeStore, facts: FactStore, scope: str, now: float) -> None:
    """Queue that what is aside of the scope comes back, and that facts which others have ended are history: those that
    come back as well as those that were learnt between two wipes."""
    for _ in range(_LOOKS):
        groups = [*await wipes.facts(scope, now), await facts.all(scope)]
        rows = await asyncio.to_thread(reunited, groups)  # compares each with each
        if await facts.all(scope) == groups[-1]:
            break
    wipes.restore(scope, now)
    if rows:
        facts.put(scope, rows)
