"""Jobs, in whatever order things happen to them: a store does what its model does (`model_jobs.py`)."""

import asyncio
import itertools
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.storage.jobs import DAY
from proxy.types.curation import Finished, SpendLimits
from tests.contract.model_jobs import ModelJob, ModelJobs
from tests.contract.test_job_store import BACKENDS, EVENT, LEASE, NOW, SCOPE, House
from tests.contract.test_wipe_store import link, turn
from tests.examples import examples

OWNERS, USERS, TALKS = ("one", "two"), (SCOPE, "tenant/bob"), ("s-1", "s-2")
MESSAGES = [link(f"{number} asked") for number in (1, 2, 3)]
TIGHT = SpendLimits(per_day=1.0, allowance=0.25, share=0.25)
owners, users, talks = (st.sampled_from(names) for names in (OWNERS, USERS, TALKS))
which, moments, turns = st.integers(0, 5), st.integers(0, 3), st.integers(1, 3)
steps = st.one_of(
    st.tuples(st.just("arm"), users, talks, moments, st.booleans()),
    st.tuples(st.just("claim"), owners),
    st.tuples(st.just("renew"), which, owners),
    st.tuples(st.just("reserve"), which, owners, st.sampled_from([0.125, 0.25, 0.5])),
    st.tuples(st.just("asked"), which, owners, st.lists(turns, max_size=2)),
    st.tuples(st.just("answered"), which, owners),
    st.tuples(st.just("finish"), which, owners),
    st.tuples(st.just("put off"), which, owners, moments, st.booleans()),
    st.tuples(st.just("forget"), users, turns),
    st.tuples(st.just("wipe"), users),
    st.tuples(st.just("later"), st.sampled_from([LEASE / 2, LEASE, DAY])),
)


class Play:
    """The steps of a test, in a store and in the model of it."""

    def __init__(self, house: House) -> None:
        self.house = house
        self.model = ModelJobs()
        self.now = NOW
        self.numbers: dict[int, int] = {}  # of jobs in the store, by the model's identity
        self.done: dict[int, float] = {}  # when jobs were finished
        self.said = itertools.count(1)

    def chosen(self, place: int) -> tuple[int, ModelJob] | None:
        """A job, as the store numbers it."""
        known = [job for job in (*self.model.jobs, *self.model.gone) if id(job) in self.numbers]
        return (self.numbers[id(known[place % len(known)])], known[place % len(known)]) if known else None

    async def step(self, name: str, *given: Any) -> None:
        jobs, model = self.house.jobs, self.model
        if name == "arm":
            scope, subject, moment, sooner = given
            due = self.now + moment * LEASE / 2
            jobs.arm(scope, "extract", subject, due, sooner=sooner)
            model.arm(scope, subject, due, sooner=sooner)
        elif name == "claim":
            found, expected = await jobs.claim(given[0], self.now, LEASE), model.claim(given[0], self.now, LEASE)
            assert (found and (found.scope, found.subject)) == (expected and (expected.scope, expected.subject))
            if found and expected:
                self.numbers[id(expected)] = found.id
        elif name == "forget":
            scope, number = given
            self.house.archive.forget(scope, [link(f"{number} asked")], self.now)
            model.forget(scope, link(f"{number} asked"))
        elif name == "wipe":
            self.house.wipes.wipe(given[0], [], at=self.now, until=self.now + 1)
            model.wipe(given[0], MESSAGES)
        elif name == "later":
            self.now += given[0]
        elif (chosen := self.chosen(given[0])) is not None:
            await self.changed(name, *chosen, *given[1:])

    async def changed(self, name: str, number: int, job: ModelJob, owner: str, *given: Any) -> None:
        """A step with a job."""
        jobs, model, is_gone = self.house.jobs, self.model, job not in self.model.jobs
        if is_gone:  # nobody has it any more
            job.owner, job.state = "", "gone"
        if name == "renew":
            until = self.now + 2 * LEASE
            assert await jobs.renew(number, owner, until) == model.renew(job, owner, until)
        elif name == "reserve":
            limit = await jobs.reserve(number, owner, given[0], self.now, TIGHT)
            assert limit == model.reserve(job, owner, given[0], self.now, TIGHT)
        elif name == "asked":
            read = [link(f"{each} asked") for each in given[0]]
            told = await jobs.asked(number, owner, model="m", prompt="p", shown=b"", read=read)
            assert told == model.asked(job, owner, read)
        elif name == "answered":
            answer = f"{next(self.said)}".encode()
            assert await jobs.answered(number, owner, answer, 0.0625) == model.answered(job, owner, answer, 0.0625)
        elif name == "finish":
            event = replace(EVENT, code=f"e-{number}")
            made = Finished(events=(event,))
            # Who says it again is told what was told before.
            told = model.finish(job, owner)
            expected = told or (job.state, job.owner, self.done.get(number)) == ("done", owner, self.now)
            assert await jobs.finish(number, owner, made, self.now) == expected
            if expected:
                self.done[number] = self.now
        else:
            moment, give_up = given
            due = self.now + moment * LEASE
            await jobs.put_off(number, owner, due, "why", give_up=give_up)
            model.put_off(job, owner, due, give_up=give_up)

    async def compare(self) -> None:
        """Asserts that the store has what the model has."""
        jobs = self.house.jobs
        for scope in USERS:
            found = [
                (each.subject, each.state, each.owner, each.due_at, each.attempts, each.answer)
                for each in await jobs.jobs(scope)
            ]
            expected = [
                (each.subject, each.state, each.owner, each.due, each.attempts, each.answer)
                for each in self.model.jobs
                if each.scope == scope
            ]
            assert sorted(found) == sorted(expected)
            read = {each for each in MESSAGES if (scope, each) in self.model.read}
            assert await jobs.was_read(scope, MESSAGES) == read
            made = sum(job.made for job in self.model.jobs if job.scope == scope)
            assert len(await jobs.events(scope, 0, 2 * NOW)) == made
            assert await jobs.spent(0, scope) == self.model.spent(scope)
        assert await jobs.spent(0) == self.model.spent()


@pytest.mark.parametrize("name", BACKENDS)
@given(steps=st.lists(steps, max_size=25))
@settings(max_examples=examples(25), deadline=None)
def test_it_does_what_its_model_does(name: str, steps: list[tuple[Any, ...]]) -> None:
    async def play(folder: Path) -> None:
        async with BACKENDS[name](folder) as house:
            playing = Play(house)
            for scope, number in itertools.product(USERS, (1, 2, 3)):
                house.archive.add(scope, turn(number), None)
            for step in steps:
                await playing.step(*step)
            await playing.compare()

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(play(Path(folder)))
