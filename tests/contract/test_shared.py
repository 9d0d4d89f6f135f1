"""State that processes share, as every backend has to keep it: flights, open turns, hit rates, calibrations, breakers,
throttles and logouts."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.conversation.turns import open_turn
from proxy.storage.redis import shared_state
from proxy.storage.shared import SharedState, SingleFlight
from proxy.storage.shared.flights import MOST_FAILURES
from proxy.storage.shared.learnt import ANOMALOUS, LEAST_REPEATED, MISSES, PAUSE
from proxy.storage.shared.local import MOST_WRONG, WRONG_SECONDS, local_state
from proxy.tasks import Tasks
from proxy.types import Answer, OpenTurn, ReuseEntry, Served, StoredAnswer, Usage
from tests.builders import NOW, calling, messages, stored, user
from tests.redis_server import connected, fresh_redis, redis_here


@dataclass(frozen=True, slots=True)
class Running:
    """The shared state of a process, and how to wait until everything in it that can go on has gone on."""

    shared: SharedState
    settled: Callable[[], Awaitable[None]]


Build = Callable[[Path | None], AbstractAsyncContextManager[Running]]


async def _gone_on() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


@asynccontextmanager
async def local(folder: Path | None) -> AsyncIterator[Running]:
    yield Running(local_state(folder), _gone_on)


@asynccontextmanager
async def redis(folder: Path | None) -> AsyncIterator[Running]:
    async with connected(redis_here().url, lambda over: shared_state(over, folder)) as (connection, shared):

        async def settled() -> None:
            """A new flight asks Redis; who leads next in this process is settled without it."""
            await _gone_on()
            while not connection.is_idle:
                await asyncio.sleep(0.0005)
                await _gone_on()

        yield Running(shared, settled)


@asynccontextmanager
async def redis_gone(folder: Path | None) -> AsyncIterator[Running]:
    """As it is while nobody listens at the address."""
    nowhere = f"unix://{Path(tempfile.gettempdir()) / 'olvido-nobody-listens.sock'}"
    async with connected(nowhere, lambda over: shared_state(over, folder)) as (_, shared):
        yield Running(shared, _gone_on)


BACKENDS: tuple[Build, ...] = (local, redis, redis_gone)


def names(build: Build) -> str:
    return build.__name__


@pytest.fixture(params=BACKENDS, ids=names)
async def running(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Running]:
    if request.param is redis:
        fresh_redis()
    async with request.param(tmp_path) as built:
        yield built


@pytest.fixture
def shared(running: Running) -> SharedState:
    return running.shared


@pytest.fixture
def crew(running: Running) -> "Crew":
    return Crew(running)


# --- flights --------------------------------------------------------------------------------------------------------

ANSWER = stored()
PATIENCE = 60.0


Told: TypeAlias = int | StoredAnswer | Answer | None
ERROR = Answer(503, (), b"overloaded")


async def led(flights: SingleFlight, key: str = "k") -> int:
    lead = await flights.lead_or_wait(key, PATIENCE)
    assert isinstance(lead, int)
    return lead


class Crew:
    """Requests for one key at once."""

    def __init__(self, running: Running) -> None:
        self.flights = running.shared.flights
        self.settled = running.settled
        self.tasks = Tasks()

    async def followers(self, count: int) -> list[asyncio.Task[Told]]:
        waiting = [
            self.tasks.spawn(self.flights.lead_or_wait("k", PATIENCE), name=f"follower {i}") for i in range(count)
        ]
        await self.settled()
        return waiting

    async def handed_on(self, followers: list[asyncio.Task[Told]]) -> int:
        """The number of the one that leads now; it is no follower any more."""
        await self.settled()
        (leader,) = [each for each in followers if each.done()]
        followers.remove(leader)
        lead = leader.result()
        assert isinstance(lead, int)
        return lead


async def test_the_first_leads_and_the_others_get_what_it_brings(crew: Crew) -> None:
    lead = await led(crew.flights)
    followers = await crew.followers(3)
    assert not any(each.done() for each in followers)
    crew.flights.land("k", lead, ANSWER)
    assert await asyncio.gather(*followers) == [ANSWER] * 3
    await led(crew.flights)  # it is over


async def test_another_key_is_another_flight(shared: SharedState) -> None:
    flights = shared.flights
    assert await led(flights, "k") != await led(flights, "other")


async def test_after_landing_the_next_one_leads(shared: SharedState) -> None:
    flights = shared.flights
    first = await led(flights)
    flights.land("k", first, ANSWER)
    assert await led(flights) != first


async def test_nothing_to_share_sends_each_on_alone(crew: Crew) -> None:
    lead = await led(crew.flights)
    followers = await crew.followers(3)
    crew.flights.land("k", lead, None)
    assert await asyncio.gather(*followers) == [None] * 3
    await led(crew.flights)  # it is over


async def test_who_has_waited_long_enough_goes_alone_and_the_flight_goes_on(crew: Crew) -> None:
    lead = await led(crew.flights)
    assert await crew.flights.lead_or_wait("k", 0.0) is None
    (stayer,) = await crew.followers(1)
    crew.flights.land("k", lead, ANSWER)
    assert await stayer == ANSWER


async def test_an_abandoned_flight_is_led_by_exactly_one_of_those_who_wait_until_somebody_stays(
    crew: Crew,
) -> None:
    lead = await led(crew.flights)
    followers = await crew.followers(5)
    for _ in range(3):
        crew.flights.abandon("k", lead)
        lead = await crew.handed_on(followers)
    crew.flights.land("k", lead, ANSWER)
    assert [await each for each in followers] == [ANSWER] * 2


async def test_after_a_failure_one_leads_and_the_others_go_on_waiting(crew: Crew) -> None:
    lead = await led(crew.flights)
    followers = await crew.followers(4)
    crew.flights.fail("k", lead, ERROR)
    lead = await crew.handed_on(followers)
    crew.flights.land("k", lead, ANSWER)
    assert [await each for each in followers] == [ANSWER] * 3


async def test_of_failures_in_a_row_all_who_wait_are_told_and_the_next_one_begins_anew(crew: Crew) -> None:
    lead = await led(crew.flights)
    followers = await crew.followers(5)
    for _ in range(MOST_FAILURES - 1):
        crew.flights.fail("k", lead, ERROR)
        lead = await crew.handed_on(followers)
    crew.flights.abandon("k", lead)  # says nothing about the upstream
    lead = await crew.handed_on(followers)
    crew.flights.fail("k", lead, ERROR)
    assert [await each for each in followers] == [ERROR] * len(followers)
    followers = [*await crew.followers(2)]
    crew.flights.fail("k", await crew.handed_on(followers), ERROR)
    assert isinstance(await crew.handed_on(followers), int)


async def test_a_follower_that_leaves_does_no_harm(crew: Crew) -> None:
    lead = await led(crew.flights)
    leaver, stayer = await crew.followers(2)
    leaver.cancel()
    await crew.settled()
    assert leaver.cancelled()
    assert not stayer.done()
    crew.flights.land("k", lead, ANSWER)
    assert await stayer == ANSWER


async def test_nor_does_one_that_leaves_as_it_is_about_to_lead(crew: Crew) -> None:
    lead = await led(crew.flights)
    leaver, stayer = await crew.followers(2)
    crew.flights.abandon("k", lead)
    leaver.cancel()
    await crew.settled()
    assert leaver.cancelled()
    assert isinstance(stayer.result(), int)


async def test_an_answer_is_shared_before_it_has_landed(crew: Crew) -> None:
    lead = await led(crew.flights)
    followers = await crew.followers(2)
    crew.flights.share("k", lead, ANSWER)
    assert await asyncio.gather(*followers) == [ANSWER] * 2
    assert await crew.flights.lead_or_wait("k", PATIENCE) == ANSWER
    crew.flights.land("k", lead, ANSWER)
    await led(crew.flights)
    crew.flights.share("other", lead, ANSWER)
    await led(crew.flights, "other")


async def test_who_does_not_lead_lands_nothing(crew: Crew) -> None:
    crew.flights.land("k", None, ANSWER)
    first = await led(crew.flights)
    followers = await crew.followers(2)
    crew.flights.abandon("k", first)
    second = await crew.handed_on(followers)
    for late in (first, None):
        crew.flights.share("k", late, ANSWER)
        crew.flights.land("k", late, None)
        crew.flights.fail("k", late, ERROR)
    assert not followers[0].done()
    crew.flights.land("k", second, ANSWER)
    assert await followers[0] == ANSWER


Step = Literal["ask", "answer", "nothing", "abandon", "fail", "leave"]
steps = st.lists(st.sampled_from(["ask", "ask", "answer", "nothing", "abandon", "fail", "leave"]), max_size=25)


@pytest.mark.parametrize("build", BACKENDS, ids=names)
@given(taken=steps)
def test_at_any_time_one_leads_and_nobody_waits_for_nobody(taken: list[Step], build: Build) -> None:
    async def play() -> None:
        async with build(None) as running:
            await played(Crew(running))

    async def played(crew: Crew) -> None:
        leading: list[int] = []
        waiting: list[asyncio.Task[Told]] = []
        for step in [*taken, "nothing"]:
            match step:
                case "ask":
                    waiting += await crew.followers(1)
                case "leave" if waiting:
                    waiting.pop().cancel()
                case "answer" | "nothing" if leading:
                    crew.flights.land("k", leading.pop(), ANSWER if step == "answer" else None)
                case "abandon" if leading:
                    crew.flights.abandon("k", leading.pop())
                case "fail" if leading:
                    crew.flights.fail("k", leading.pop(), ERROR)
            await crew.settled()
            leading += [told for each in waiting if each.done() and isinstance(told := each.result(), int)]
            waiting = [each for each in waiting if not each.done()]
            assert len(leading) <= 1
            assert leading or not waiting
        assert await crew.tasks.drain(5.0) == 0

    if build is redis:
        fresh_redis()
    asyncio.run(play())


async def test_an_answer_that_lands_is_counted_and_nothing_else_is(shared: SharedState) -> None:
    flights = shared.flights
    before = flights.landed
    for key, answer in (("a", stored()), ("b", None)):
        flights.land(key, await led(flights, key), answer)
    assert flights.landed == before + 1


# --- open turns -------------------------------------------------------------------------------------------------------


def turn(asked: str = "q") -> OpenTurn:
    found = open_turn(messages(user(asked), calling("c")), [b"q", b"c"])
    assert found is not None
    return found


async def test_an_open_turn_is_its_scopes_and_sessions_alone_and_the_newest(shared: SharedState) -> None:
    shared.open_turns.put("a", "1", turn())
    shared.open_turns.put("a", "1", turn("another"))
    assert await shared.open_turns.get("a", "1") == turn("another")
    assert await shared.open_turns.get("a", "2") is None
    assert await shared.open_turns.get("b", "1") is None


async def test_a_turn_that_is_over_is_gone(shared: SharedState) -> None:
    shared.open_turns.put("a", "1", turn())
    for _ in range(2):
        shared.open_turns.put("a", "1", None)
        assert await shared.open_turns.get("a", "1") is None


# --- reuse --------------------------------------------------------------------------------------------------------


def served(at: float = NOW) -> Served:
    return Served(ReuseEntry("r-1", "p", "how?", (), "key", NOW, NOW + 60), 0.9, at)


async def test_the_last_reuse_of_a_session_is_told_once(shared: SharedState) -> None:
    last = shared.last_served
    last.note("a/", "s", served())
    last.note("a/", "s", served(NOW + 1))
    assert await last.take("a/", "s") == served(NOW + 1)
    assert await last.take("a/", "s") is None


@pytest.mark.parametrize(("scope", "session"), [("b/", "s"), ("a/", "t"), ("a/s", ""), ("", "a/s")])
async def test_and_to_no_other_session_or_scope(scope: str, session: str, shared: SharedState) -> None:
    shared.last_served.note("a/", "s", served())
    assert await shared.last_served.take(scope, session) is None
    assert await shared.last_served.take("a/", "s") == served()


def test_a_partition_that_one_entry_answers_is_stopped_for_a_while_and_no_other_is(shared: SharedState) -> None:
    rates = shared.hit_rates
    for number in range(ANOMALOUS):
        assert not rates.is_open("p", NOW)
        rates.note("p", f"question {number}", "r", NOW)
        rates.note("q", f"question {number}", None, NOW)
    assert rates.is_open("p", NOW)
    assert not rates.is_open("q", NOW)
    assert not rates.is_open("p", NOW + PAUSE)
    assert rates.open_partitions(NOW) == 1


# --- what usage teaches -----------------------------------------------------------------------------------------------


def test_a_calibration_is_learnt_per_upstream_and_model_and_kind(shared: SharedState) -> None:
    learnt = shared.calibrations
    learnt.rough.observe("kimi", "k3", counted=1_000, measured=1_200)
    assert learnt.rough.factor("kimi", "k3") == pytest.approx(1.2)
    assert learnt.exact.factor("kimi", "k3") is None
    assert learnt.rough.factor("kimi", "k2") is None
    assert learnt.rough.factor("other", "k3") is None


def test_an_upstream_that_never_reports_a_find_has_no_cache(shared: SharedState) -> None:
    caches = shared.calibrations.caches
    for _ in range(MISSES):
        assert not caches.shows_none("up", "m")
        caches.observe("up", "m", Usage(9_000, 9, reports_none_cached=True), repeated=LEAST_REPEATED)
    assert caches.shows_none("up", "m")
    assert not caches.shows_none("up", "other")


# --- breakers ---------------------------------------------------------------------------------------------------------


def test_a_breaker_opens_for_its_upstream_alone(shared: SharedState) -> None:
    breaker, other = shared.breakers.of("a", 2, 60.0), shared.breakers.of("b", 2, 60.0)
    for _ in range(2):
        assert (breaker.allow(), breaker.state) == (True, "closed")
        breaker.failure()
    assert (breaker.allow(), breaker.state, breaker.retry_after > 0) == (False, "open", True)
    assert (other.allow(), other.state, other.retry_after) == (True, "closed", 0.0)


def test_a_half_open_breaker_lets_one_probe_at_a_time_through(shared: SharedState) -> None:
    breaker = shared.breakers.of("a", 1, 0.0)
    breaker.failure()
    assert [breaker.allow() for _ in range(3)] == [True, False, False]
    breaker.abandoned()
    assert [breaker.allow() for _ in range(2)] == [True, False]
    breaker.success()
    assert breaker.state == "closed"


# --- throttles and logouts --------------------------------------------------------------------------------------------


async def test_who_guesses_too_often_waits_and_nobody_else(shared: SharedState) -> None:
    for _ in range(MOST_WRONG):
        assert await shared.throttle.wait("a", NOW) == 0
        await shared.throttle.note("a", NOW)
    assert await shared.throttle.wait("a", NOW) == WRONG_SECONDS
    assert await shared.throttle.wait("b", NOW) == 0
    assert await shared.throttle.wait("a", NOW + WRONG_SECONDS) == 0


@pytest.mark.parametrize("build", BACKENDS, ids=names)
async def test_a_logout_is_known_at_once_and_to_those_that_begin_later(build: Build, tmp_path: Path) -> None:
    if build is redis:
        fresh_redis()
    async with build(tmp_path) as one:
        await one.shared.logouts.add("a", 2**32)
        async with build(tmp_path) as later:
            await later.shared.logouts.refresh()
            for each in (one, later):
                assert (each.shared.logouts.has("a"), each.shared.logouts.has("b")) == (True, False)
