"""What is switched off keeps nothing, and says so without failing."""

import numpy as np

from proxy.storage.recollection import ArchiveChanges, ArchiveOff, FactsOff, StatesOff
from proxy.types import ArchivedTurn, Fact

FACT = Fact("f-1", "work", "team", "I lead the team", "high", "explicit", "s", 1, 1000.0, 1000.0)
TURN = ArchivedTurn(b"t" * 16, b"", "s", 1, 1000.0, b"[]", ())


async def test_no_facts_are_kept() -> None:
    off = FactsOff()
    off.put("a/", [FACT])
    off.forget("a/", [FACT.id])
    await off.flush()
    assert (await off.all("a/"), await off.find(FACT.id), await off.scopes()) == ([], None, [])
    await off.close()


async def test_no_turns_are_kept() -> None:
    off = ArchiveOff()
    off.add("a/", TURN, np.zeros((1, 4), np.float32))
    off.forget("a/", [TURN.link])
    off.prune(1000.0)
    await off.flush()
    assert await off.turns("a/", 4, 1000.0) == ArchiveChanges(upto=4)
    assert (await off.known("a/", [TURN.link]), await off.path("a/", TURN.link, 9)) == (set(), [])
    assert await off.latest("a/", "s") is None
    await off.close()


async def test_no_states_are_kept() -> None:
    off = StatesOff()
    off.put("a/", "s", TURN.link, 1000.0, b"state")
    off.forget("a/")
    await off.flush()
    assert await off.get("a/", [TURN.link]) is None
    await off.close()
