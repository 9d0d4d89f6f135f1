"""Desks as they are left in a store, for tests of what happens to all that is stored."""

from typing import Protocol

from proxy.storage.desk import DeskStore
from proxy.types.desk import DeskEvent, Ended, TapeLine

DAY = 86_400.0


async def desk_made(store: DeskStore, number: int, at: float, session: str = "") -> None:
    """Leaves a line, an event and two versions of a document of that time."""
    line = TapeLine(0, number.to_bytes(16, "big"), at, "user", 1, b"{}", is_hidden=number % 2 == 0)
    await store.write("a/", session or f"s-{number}", [line], [DeskEvent(at, f"r{number}", Ended("loop"))])
    for version in range(2):
        await store.put("a/", f"{number}.md", f"text {version}", version=version, at=at, by="model")


class Retaining(Protocol):
    """A run of what lets go, which keeps tapes for 60 days, on the 100th day of a test."""

    async def run(self) -> dict[str, int]:
        """Lets go once; returns how much, by kind."""


async def desks_leave_in_time(job: Retaining, store: DeskStore) -> None:
    """Asserts what leaves, and what stays, of desks of 60 and 59 days ago."""
    now = 1_700_006_400.0 + 100 * DAY
    for number, days in ((1, 60), (2, 59), (3, 60)):
        await desk_made(store, number, now - days * DAY, session="s-3" if number == 3 else "s")
    done = await job.run()
    assert (done["desk_lines"], done["desk_events"]) == (2, 2)
    assert [(each.id, each.link[-1]) for each in await store.tape("a/", "s")] == [(2, 2)]
    assert [each.request_id for each in await store.events("a/", "s")] == ["r2"]
    assert [(each.session, each.messages, each.events) for each in await store.sessions("a/")] == [("s", 1, 1)]
    assert [each.name for each in await store.documents("a/")] == ["1.md", "2.md", "3.md"]
    assert [each.text for each in await store.older("a/", "1.md")] == ["text 0"]
    await desk_made(store, 4, now, session="s-3")
    assert [each.id for each in await store.tape("a/", "s-3")] == [2]
