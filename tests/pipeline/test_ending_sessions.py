"""Ends of conversations: each is told once, in time, and whatever the listener does."""

import asyncio
from dataclasses import dataclass, field

import pytest

from proxy.pipeline.ending_sessions import Ends, Listener, OnEnd, Why, to_all
from proxy.tasks import Tasks

SCOPE, OTHER = f"{'ab' * 16}/ana", f"{'cd' * 16}/"
LONG = 3_600.0


@dataclass
class Heard:
    """A listener that keeps what it is told, and a clock that is set by hand."""

    told: list[tuple[str, str, Why]] = field(default_factory=list)
    failures: list[tuple[str, str]] = field(default_factory=list)
    tasks: Tasks = field(default_factory=Tasks)
    now: float = 0.0
    came: asyncio.Event = field(default_factory=asyncio.Event)

    async def on_end(self, scope: str, session: str, why: Why) -> None:
        self.told.append((scope, session, why))
        self.came.set()

    async def settled(self, scope: str, session: str) -> None:
        pass

    def ends(self, idle: float = LONG, *, on_end: OnEnd | None = None, most: int = 100) -> Ends:
        listener = Listener(
            on_end or self.on_end, self.settled, lambda *failed: self.failures.append(failed), self.tasks
        )
        return Ends(idle, listener, clock=lambda: self.now, most=most)

    async def drained(self) -> list[tuple[str, str, Why]]:
        await self.tasks.drain(5.0)
        return self.told


async def test_an_end_is_told_once_and_again_once_the_conversation_has_gone_on() -> None:
    heard = Heard()
    ends = heard.ends()
    ends.heard(SCOPE, "s")
    assert ends.end(SCOPE, "s", "api")
    assert not ends.end(SCOPE, "s", "clear")
    ends.heard(SCOPE, "s")
    assert ends.end(SCOPE, "s", "header")
    ends.stop()
    assert await heard.drained() == [(SCOPE, "s", "api"), (SCOPE, "s", "header")]


@pytest.mark.note("Rumi Sesión/5")
async def test_a_conversation_that_an_earlier_process_had_can_end_here() -> None:
    heard = Heard()
    ends = heard.ends()
    assert not ends.knows(SCOPE, "before")
    assert ends.end(SCOPE, "before", "clear")
    assert ends.knows(SCOPE, "before")
    assert await heard.drained() == [(SCOPE, "before", "clear")]


@pytest.mark.note("Rumi Sesión/3")
async def test_silence_ends_a_conversation_and_a_request_puts_it_off() -> None:
    heard = Heard()
    ends = heard.ends(idle=0.01)
    ends.heard(SCOPE, "quiet")
    ends.heard(SCOPE, "lively")
    heard.now = 0.005
    ends.heard(SCOPE, "lively")
    heard.now = 0.0101
    await heard.came.wait()
    assert await heard.drained() == [(SCOPE, "quiet", "idle")]
    heard.came.clear()
    heard.now = 1.0
    await heard.came.wait()
    assert await heard.drained() == [(SCOPE, "quiet", "idle"), (SCOPE, "lively", "idle")]
    assert len(ends) == 0


async def test_of_too_many_the_one_that_has_been_quiet_longest_ends_early() -> None:
    heard = Heard()
    ends = heard.ends(most=2)
    for session in ("a", "b", "a", "c"):
        ends.heard(SCOPE, session)
    ends.stop()
    assert await heard.drained() == [(SCOPE, "b", "idle")]


@pytest.mark.note("Rumi Sesión/2")
async def test_what_is_open_when_the_process_ends_ends_with_it() -> None:
    heard = Heard()
    ends = heard.ends()
    for session in ("a", "b"):
        ends.heard(SCOPE, session)
    ends.heard(OTHER, "a")
    ends.end(SCOPE, "a", "api")
    await heard.drained()
    await ends.close()
    assert sorted(heard.told[1:]) == [(SCOPE, "b", "shutdown"), (OTHER, "a", "shutdown")]


async def test_a_listener_that_hangs_does_not_hold_up_the_end_of_the_process() -> None:
    heard = Heard()

    async def hangs(scope: str, session: str, why: Why) -> None:
        await asyncio.Event().wait()

    ends = heard.ends(on_end=hangs)
    ends.heard(SCOPE, "s")
    await ends.close(0.01)
    assert heard.failures == [("end", "deadline")]


async def test_a_listener_that_fails_is_counted_and_the_next_end_is_told() -> None:
    heard = Heard()

    async def fails(scope: str, session: str, why: Why) -> None:
        await heard.on_end(scope, session, why)
        raise OSError

    ends = heard.ends(on_end=fails)
    for _ in range(2):
        ends.heard(SCOPE, "s")
        ends.end(SCOPE, "s", "api")
        await heard.drained()
    ends.stop()
    assert len(heard.told) == 2
    assert heard.failures == [("end", "OSError")] * 2


async def test_nobody_is_told_of_a_scope_that_was_erased() -> None:
    heard = Heard()
    ends = heard.ends()
    for scope in (SCOPE, f"{SCOPE}~s", OTHER):
        ends.heard(scope, "s")
    ends.drop(SCOPE)
    assert not ends.knows(SCOPE, "s")
    await ends.close()
    assert heard.told == [(OTHER, "s", "shutdown")]


async def test_without_a_listener_ends_are_noted_and_no_timer_runs() -> None:
    ends = Ends(0.0)
    ends.heard(SCOPE, "s")
    await asyncio.sleep(0)
    assert len(ends) == 1
    assert ends.end(SCOPE, "s", "api")
    assert not ends.end(SCOPE, "s", "api")
    await ends.close()


async def test_of_several_listeners_each_is_told_whatever_another_does() -> None:
    heard, other = Heard(), Heard()

    async def fails(_scope: str, _session: str, _why: Why) -> None:
        raise ZeroDivisionError

    ends = heard.ends(on_end=to_all([heard.on_end, fails, other.on_end]))
    ends.end(SCOPE, "s", "api")
    await heard.drained()
    assert heard.told == other.told == [(SCOPE, "s", "api")]
    assert heard.failures == [("end", "ZeroDivisionError")]
