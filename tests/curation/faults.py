"""Faults at every place where the worker of memory's model waits for storage or for the model: before what it asks for
is done, and after that, when nobody has heard of it yet."""

import asyncio
import inspect
import os
import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from zlib import crc32

from proxy.curation.model import Reply
from tests.curation.builders import fact, turns
from tests.curation.house import COST, MOST, House, Model, opened, operation, settings

SAID = turns("Como soy celíaca, ¿qué puedo pedir en una pizzería?", "Me mudé a Salta en marzo")
CITY = fact(1, "Vive en Puebla", key="ciudad")
GOLD = {
    "operations": [
        operation("add", key="dieta", value="Es celíaca", domain="personal", turn=1, quote="soy celíaca"),
        operation(
            "update", id="f1", key="ciudad", value="Vive en Salta", domain="personal", turn=2, quote="Me mudé a Salta"
        ),
    ],
    "events": [{"turn": 2, "text": "Contó que se mudó a Salta"}],
    "summary": {"topic": "Pizzas sin gluten", "discussed": ["pizzas"]},
    "slug": "pizza-sin-gluten",
}
LEASED = 130.0  # seconds after which nobody holds a job any more


class Killed(BaseException):
    """Nothing that follows is done."""


class Faults:
    """Counts the places, and fails at one of them."""

    def __init__(self, at: int | None = None, fail: Callable[[], object] = lambda: None) -> None:
        self.places: list[str] = []
        self._at = at
        self._fail = fail

    def wrap(self, part: Any) -> Any:
        return _Faulty(part, self)

    def pass_by(self, place: str) -> None:
        self.places.append(place)
        if len(self.places) - 1 == self._at:
            self._fail()


class _Faulty:
    """A store or a model whose awaits are places."""

    def __init__(self, part: Any, faults: Faults) -> None:
        self._part = part
        self._faults = faults

    def __getattr__(self, name: str) -> Any:
        of_part = getattr(self._part, name)
        if not inspect.iscoroutinefunction(of_part):
            return of_part

        async def awaited(*arguments: Any, **named: Any) -> Any:
            self._faults.pass_by(f"before {name}")
            done = await of_part(*arguments, **named)
            self._faults.pass_by(f"after {name}")
            return done

        return awaited


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def raises(error: BaseException) -> Callable[[], None]:
    def fail() -> None:
        raise error

    return fail


async def prepared(house: House) -> None:
    """A conversation is to be read."""
    await house.knows(CITY)
    await house.said(*SAID)


async def outcome(house: House) -> Sequence[Any]:
    """All that came of it, without its times."""
    jobs = [job for job in await house.jobs() if job.state == "done" and job.reason != "nothing new"]
    return (
        sorted((each.id, each.value, each.superseded_by, each.links) for each in await house.facts()),
        [(job.id, job.lines, job.read) for job in jobs],
        await house.storage.jobs.events(jobs[0].scope, 0, 2e9),
        [each.summary for each in await house.storage.jobs.summaries(jobs[0].scope)],
        sorted(job.kind for job in await house.storage.jobs.jobs(states=("waiting",))),
    )


# --- in processes of their own ----------------------------------------------------------------------------------------


def work_and_die(folder: Path, at: int) -> None:
    """Works in this process until it dies there."""

    async def work() -> None:
        faults = Faults(at, die)
        async with opened(folder, model=Model([GOLD]), wrapped=faults.wrap) as house:
            await house.work()

    asyncio.run(work())


class Expensive(Model):
    """A model that bills in a file what it costs, before it answers, fails, or takes its process with it."""

    bill: Path
    seed: int

    async def ask(self, scope: str, session: str, name: str, body: bytes) -> Reply | None:
        fate = crc32(f"{self.seed} {name}".encode()) % 10
        cost = COST if fate < 6 else MOST
        with self.bill.open("a", encoding="utf-8") as lines:
            lines.write(f"{scope} {cost}\n")
        if fate == 9:
            die()
        return await super().ask(scope, session, name, body) and (
            None if fate > 6 else Reply('{"operations": []}', cost)
        )


def spend(place: Path | str, bill: Path, number: int, per_day: float, now: float) -> None:
    """Works off what is due in this process, as one of several."""

    async def work() -> None:
        model = Expensive()
        model.bill, model.seed = bill, number
        limited = settings(per_day=per_day, allowance=0.02, max_share=0.1)
        async with opened(place, model=model, settings=limited, owner=f"worker {number}", now=now) as house:
            await house.work()

    asyncio.run(work())
