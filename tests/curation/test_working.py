"""The worker of memory's model: whatever becomes of it, each job is done once; nothing costs more than it may."""

import asyncio
import shutil
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from time import time
from typing import Any

import pytest

from proxy.curation.model import Reply
from proxy.curation.working import BACKOFF, GROWTH, MOST_ATTEMPTS, OUT
from proxy.storage.base import StorageError
from proxy.storage.jobs import DAY
from proxy.tasks import Tasks
from proxy.types import Json
from tests import postgres, stores
from tests.builders import NOW, TENANT
from tests.curation.builders import SCOPE, fact, turn
from tests.curation.faults import (
    GOLD,
    LEASED,
    SAID,
    Faults,
    Killed,
    outcome,
    prepared,
    raises,
    spend,
    work_and_die,
)
from tests.curation.house import MOST, House, Model, opened, settings
from tests.curation.tapes import CONCLUSION, at_the_desk
from tests.forked import PROCESSES


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with opened(tmp_path) as house:
        yield house


# --- faults at every place --------------------------------------------------------------------------------------------


def beginning(**differing: Any) -> House:
    """A process over one database, which writes at once."""
    database = stores.AtOnce()
    storage = stores.storage(
        facts=stores.facts(database),
        archive=stores.archive(database),
        jobs=stores.jobs(database),
        desks=stores.desks(database),
        wipes=stores.wipes(database),
    )
    return House(storage, Tasks(), **{"model": Model([GOLD]), **differing})


async def undisturbed() -> tuple[Sequence[Any], list[str]]:
    """What comes of the conversation, and the places at which something may fail meanwhile."""
    faults = Faults()
    house = beginning(wrapped=faults.wrap)
    await prepared(house)
    await house.work()
    return await outcome(house), faults.places


@pytest.mark.long
@pytest.mark.parametrize("error", [Killed(), StorageError("gone"), ZeroDivisionError()], ids=repr)
async def test_a_fault_at_any_place_loses_nothing_and_does_nothing_twice(error: BaseException) -> None:
    wanted, places = await undisturbed()
    assert {"before ask", "after answered", "before finish"} < set(places)
    for at, place in enumerate(places):
        faulty = beginning(wrapped=Faults(at, raises(error)).wrap)
        await prepared(faulty)
        try:
            await faulty.work()
        except Killed:
            assert isinstance(error, Killed)
        except (StorageError, ZeroDivisionError):
            assert "claim" in place
        next_one = House(faulty.storage, Tasks(), faulty.model, owner="two", now=faulty.now + LEASED)
        await next_one.work()
        assert await outcome(next_one) == wanted, place
        calls = len(faulty.model.asked)
        was_answered = places[:at].count("after answered") or place == "after answered"
        assert calls == 1 if was_answered else calls <= 2, place
        assert await faulty.storage.jobs.spent(0) <= 2 * MOST, place


@pytest.mark.note("Rumi Sesión/5")
@pytest.mark.long
async def test_kill_9_at_any_place_loses_nothing_and_does_nothing_twice(tmp_path: Path) -> None:
    _, places = await undisturbed()
    template = tmp_path / "template"
    async with opened(template) as house:
        await prepared(house)
    shutil.copytree(template, tmp_path / "whole")
    async with opened(tmp_path / "whole", model=Model([GOLD])) as house:
        await house.work()
        wanted = await outcome(house)
    for at, place in enumerate(places):
        folder = tmp_path / f"at {at}"
        shutil.copytree(template, folder)
        process = PROCESSES.Process(target=work_and_die, args=(folder, at))
        process.start()
        await asyncio.to_thread(process.join, 60)
        assert process.exitcode == -9, place
        async with opened(folder, model=Model([GOLD]), owner="two") as house:
            await house.work(later=LEASED)
            assert await outcome(house) == wanted, place


async def put_in_order(house: House) -> Json:
    """Two facts say the same; returns the model's answer."""
    house.now = time() + 1  # after the job is made, by the clock of the store
    await house.knows(
        fact(1, "Trabaja en Google", key="trabajo", domain="work"),
        fact(2, "Es empleado de Google", key="empleo", domain="work"),
    )
    house.storage.jobs.arm(SCOPE, "consolidate", "", house.now)
    await house.storage.flush()
    merged = {"op": "merge", "ids": ["f1", "f2"], "key": "trabajo", "value": "Trabaja en Google", "domain": "work"}
    return {"operations": [merged]}


async def a_full_hour(house: House) -> Json:
    """More has happened in an hour than is joined without a model; returns the model's answer."""
    house.now = NOW + 100
    things = [{"turn": 1, "text": f"Hizo {each}"} for each in ("pan", "yoga", "jabón", "gimnasia")]
    house.model.says = [{"operations": [], "events": things}]
    await house.said(turn(1, "Hoy hice pan, yoga, jabón, gimnasia"))
    await house.work()
    (due,) = (job for job in await house.jobs("digest") if job.state == "waiting")
    house.now = due.due_at
    return {"digest": "Hizo de todo."}


async def a_session_at_the_desk(house: House) -> Json:
    """A session has ended; returns the model's answer."""
    await at_the_desk(house)
    return CONCLUSION


async def came_of(kind: str, house: House) -> Sequence[Any]:
    """All that came of a job, without its times."""
    jobs = [job for job in await house.jobs(kind) if job.state == "done" and job.reason != "nothing new"]
    return (
        sorted((each.id, each.value, each.superseded_by) for each in await house.facts()),
        [(job.id, job.lines, job.read) for job in jobs],
        await house.storage.jobs.digests(SCOPE, "hour", 0, 2e9),
        sorted((job.kind, job.subject) for job in await house.jobs("digest") if job.state == "waiting"),
        [(each.name, each.text, each.version) for each in await house.storage.desks.documents(SCOPE)],
        [each.payload for each in await house.storage.desks.events(SCOPE, "s")],
    )


@pytest.mark.long
@pytest.mark.parametrize(
    ("kind", "prepare"),
    [
        ("consolidate", put_in_order),
        ("digest", a_full_hour),
        ("conclude", a_session_at_the_desk),
    ],
)
async def test_of_every_kind_of_job_an_end_at_any_place_loses_nothing_and_does_nothing_twice(
    kind: str, prepare: Callable[[House], Awaitable[Json]]
) -> None:
    async def ended(at: int | None) -> tuple[Faults, House]:
        """Works until the process ends at a place; returns the one that goes on."""
        first = beginning(model=Model())
        answer, faults = await prepare(first), Faults(at, raises(Killed()))
        model = Model([answer])
        one = House(first.storage, Tasks(), model, now=first.now, wrapped=faults.wrap)
        with suppress(Killed):
            await one.work()
        two = House(first.storage, Tasks(), model, owner="two", now=first.now + LEASED)
        if at is not None:
            await two.work()
        return faults, two

    faults, house = await ended(None)
    wanted = await came_of(kind, house)
    assert wanted[1]
    assert {"before ask", "after answered", "before finish"} < set(faults.places)
    for at, place in enumerate(faults.places):
        _, house = await ended(at)
        assert await came_of(kind, house) == wanted, place
        was_answered = "after answered" in faults.places[: at + 1]
        assert len(house.model.asked) == 1 if was_answered else len(house.model.asked) <= 2, place


# --- what fails -------------------------------------------------------------------------------------------------------


async def test_what_fails_is_tried_again_ever_later_and_given_up_with_a_reason(house: House) -> None:
    house.model.says = [None]
    await house.said(*SAID)
    for attempt in range(1, MOST_ATTEMPTS):
        assert await house.work() == 1
        job = await house.job()
        assert (job.state, job.reason) == ("waiting", "no answer")
        assert job.due_at == house.now + BACKOFF * GROWTH ** (attempt - 1)
        assert await house.work() == 0
        house.now = job.due_at
    await house.work()
    job = await house.job()
    assert (job.state, job.reason, job.attempts) == ("given-up", "no answer", MOST_ATTEMPTS)
    assert house.results == [("extract", "put-off")] * (MOST_ATTEMPTS - 1) + [("extract", "given-up")]
    house.model.says = [GOLD]
    await house.said(turn(3, "Además toco el cello los jueves"))  # nothing is lost: it is read with what comes next
    await house.work()
    assert "Es celíaca" in await house.values()


async def test_a_job_that_takes_its_owners_with_it_is_given_up(tmp_path: Path) -> None:
    async with opened(tmp_path) as house:
        await house.said(*SAID)
        for number in range(MOST_ATTEMPTS):
            assert await house.storage.jobs.claim(f"victim {number}", house.now, 1.0) is not None
            house.now += LEASED
        await house.work()
        assert (await house.job()).state == "given-up"
        assert house.model.asked == []


async def test_without_money_a_job_waits_for_tomorrow_as_often_as_it_takes(tmp_path: Path) -> None:
    async with opened(tmp_path, settings=settings(allowance=MOST / 2)) as house:
        await house.said(*SAID)
        for _ in range(2 * MOST_ATTEMPTS):
            assert await house.work() == 1
            job = await house.job()
            assert (job.state, job.reason) == ("waiting", "share")
            assert job.due_at % DAY == 0 < job.due_at - house.now <= DAY
            house.now = job.due_at + 60
        assert (await house.job()).attempts == 0
        await house.saved(10.0)  # of which a tenth may be spent
        await house.work()
        assert (await house.job()).state == "done"
        assert house.results[-1] == ("extract", "done")


async def test_while_the_upstream_is_out_a_job_waits_for_it_and_pays_nothing(house: House) -> None:
    house.model.says = [Reply("", 0.0, is_out=True)] * (2 * MOST_ATTEMPTS) + [GOLD]
    await house.said(*SAID)
    for _ in range(2 * MOST_ATTEMPTS):
        assert await house.work() == 1
        job = await house.job()
        assert (job.state, job.reason, job.attempts) == ("waiting", "unreachable", 0)
        assert job.due_at == house.now + OUT
        house.now = job.due_at
    assert await house.storage.jobs.spent(0) == 0.0
    await house.work()
    assert "Es celíaca" in await house.values()


async def test_a_model_that_hangs_is_left_alone_and_the_lease_is_held_meanwhile(house: House) -> None:
    async def hangs(*asked: Any) -> None:
        renewals = 0
        while renewals < 3:
            await asyncio.sleep(0.01)
            renewals = renewed.count("after renew")

    faults = Faults()
    renewed = faults.places
    watched = House(house.storage, house.tasks, Model([GOLD]), wrapped=faults.wrap, now=house.now)
    object.__setattr__(watched.doing.caller, "lease", 0.03)
    watched.model.ask = hangs  # type: ignore[method-assign, assignment]  # it answers no more
    await house.said(*SAID)
    await watched.curator.work()
    assert renewed.count("after renew") >= 3
    assert (await house.job()).reason == "no answer"
    assert await house.storage.jobs.spent(0) == pytest.approx(MOST)  # it may have cost that much


# --- several workers --------------------------------------------------------------------------------------------------


@pytest.mark.note("Rumi Extracción/5")
@pytest.mark.parametrize(("per_day", "limit"), [(0.12, "share"), (0.03, "per_day")])
@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
@pytest.mark.long
async def test_four_workers_never_spend_more_than_they_may_also_when_calls_hang_or_take_a_process_with_them(
    kind: str, per_day: float, limit: str, tmp_path: Path
) -> None:
    place: Path | str = tmp_path if kind == "sqlite" else postgres.database()
    scopes, now = [f"{TENANT}/{name}" for name in ("ana", "beto", "carla")], NOW + 100_000
    bill = tmp_path / "bill"
    async with opened(place, now=now) as house:
        for scope in scopes:
            for session in range(20):
                said = turn(1, f"Hola, {session}", session=f"s{session}")
                await house.said(said, scope=scope)
        await house.saved(0.3, scopes[0])
    for round_ in range(4):
        workers = [
            PROCESSES.Process(target=spend, args=(place, bill, 4 * round_ + number, per_day, now + LEASED * round_))
            for number in range(4)
        ]
        for each in workers:
            each.start()
        for each in workers:
            await asyncio.to_thread(each.join, 60)
            assert each.exitcode in (0, -9)
    spent: defaultdict[str, float] = defaultdict(float)
    for line in bill.read_text().splitlines():
        scope, _, dollars = line.partition(" ")
        spent[scope] += float(dollars)
    assert sum(spent.values()) <= per_day + 1e-9
    assert spent[scopes[0]] <= 0.02 + 0.1 * 0.3 + 1e-9
    assert all(spent[scope] <= 0.02 + 1e-9 for scope in scopes[1:])
    async with opened(place, now=now) as house:
        assert limit in {job.reason for job in await house.jobs()}
        assert await house.storage.jobs.spent(0) >= sum(spent.values()) - 1e-9


async def test_a_job_is_done_by_one_of_several_workers(tmp_path: Path) -> None:
    async with opened(tmp_path) as one, opened(tmp_path, owner="two") as two:
        for session in range(6):
            await one.said(turn(1, "Hola", session=f"s{session}"))
        done = await asyncio.gather(one.work(), two.work())
        assert sum(done) == 6 == len(one.model.asked) + len(two.model.asked)


# --- the end of the process -------------------------------------------------------------------------------------------


async def test_it_works_by_itself_and_stops_when_it_is_told(house: House) -> None:
    house.curator.start()
    house.model.says = [GOLD]
    await house.said(*SAID)
    await house.tasks.drain(10)
    assert "Es celíaca" in await house.values()
    house.curator.stop()
    await house.said(turn(3, "Además toco el cello los jueves"))
    await house.tasks.drain(10)
    assert (await house.job()).state == "waiting"


async def test_a_process_that_ends_leaves_a_call_under_way_to_the_next(house: House) -> None:
    asked = asyncio.Event()

    async def hangs(*_: Any) -> None:
        asked.set()
        await asyncio.Event().wait()

    house.model.ask = hangs  # type: ignore[method-assign, assignment]  # it answers no more
    house.curator.start()
    await house.said(*SAID)
    await asked.wait()
    await house.curator.close()
    next_one = House(house.storage, house.tasks, Model([GOLD]), owner="two", now=house.now + LEASED)
    await next_one.work()
    assert "Es celíaca" in await next_one.values()
