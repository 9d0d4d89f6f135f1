"""What every JobStore does, whatever it keeps its jobs in."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import get_args

import pytest

from proxy.storage.erasing import erase_postgres, erase_sqlite
from proxy.storage.jobs import DAY, JobStore
from proxy.storage.postgres.archive import PostgresArchive
from proxy.storage.postgres.connection import connect
from proxy.storage.postgres.facts import PostgresFacts
from proxy.storage.postgres.jobs import PostgresJobs
from proxy.storage.postgres.wipes import PostgresWipes
from proxy.storage.recollection import Archive, FactStore, WipeStore
from proxy.storage.sqlite.archive import SqliteArchive
from proxy.storage.sqlite.database import Database
from proxy.storage.sqlite.facts import SqliteFacts
from proxy.storage.sqlite.jobs import SqliteJobs
from proxy.storage.sqlite.wipes import SqliteWipes
from proxy.tasks import Tasks
from proxy.types import Fact
from proxy.types.curation import (
    Digest,
    DigestSpan,
    Finished,
    Job,
    JobKind,
    MemoryEvent,
    OutcomeLine,
    SpendLimits,
    StoredSummary,
)
from proxy.types.memory import Summary
from tests import stores
from tests.contract.test_wipe_store import link, turn
from tests.postgres import opened, url_of

NOW = 1_700_006_400.0  # a midnight of UTC
TTL = 90 * DAY
LEASE = 120.0
FREE = SpendLimits(per_day=1e9, allowance=1e9, share=0.0)
SCOPE = "tenant/ann"

# Every value differs from every other and from its default, so that a swapped or forgotten column shows.
LINE = OutcomeLine(
    op="update", result="kept", reason="changed", domain="work", key="team", value="leads\0 the team", quote="I lead",
    turn=3, link=b"\0" * 16, fact_id="f-1", before=("f-2", "f-3"),
)  # fmt: skip
REFUSED = OutcomeLine(op="add", result="refused", reason="no quote", value="likes cats", quote="cats", fact_id="f-9")
EVENT = MemoryEvent("e-0123456789abcdef", NOW + 60, "s-1", 4, "moved to «Rosario»\0", b"\xff" * 16)
SUMMARY = Summary("cats", ("food", "names\0"), "fed", ("buy food",), ("which?",), 2, 7)
STORED = StoredSummary(link("7 answered"), "s-1", NOW + 50, SUMMARY)
NOTHING = Finished()
HOUR = Digest("hour", NOW, "moved house", by_model=True)


@dataclass
class House:
    jobs: JobStore
    facts: FactStore
    archive: Archive
    wipes: WipeStore
    erase: Callable[[str], object]

    async def claimed(self, owner: str = "one", now: float = NOW) -> Job:
        job = await self.jobs.claim(owner, now, LEASE)
        assert job is not None
        return job

    async def begun(self, *numbers: int, owner: str = "one", scope: str = SCOPE, subject: str = "s-1") -> Job:
        """A job that was claimed and has asked about these turns, which are in the archive."""
        for number in numbers:
            self.archive.add(scope, turn(number, NOW), None)
        self.jobs.arm(scope, "extract", subject, NOW)
        job = await self.claimed(owner)
        assert job.scope == scope
        assert await self.ask(job, numbers)
        return job

    async def ask(self, job: Job, numbers: Sequence[int] = ()) -> bool:
        read = [said.link for number in numbers for said in turn(number).utterances]
        return await self.jobs.asked(job.id, job.owner, model="m", prompt="extract.en 12345678", shown=b"{}", read=read)

    async def done(self, *numbers: int, finished: Finished = NOTHING, subject: str = "s-1") -> Job:
        job = await self.begun(*numbers, subject=subject)
        assert await self.jobs.answered(job.id, job.owner, b"{}", 0.0)
        assert await self.jobs.finish(job.id, job.owner, finished, NOW)
        return await self.now(job)

    async def now(self, job: Job) -> Job:
        """The job as it is now."""
        found = await self.jobs.job(job.id)
        assert found is not None
        return found

    async def flush(self) -> None:
        await self.jobs.flush()

    async def texts(self, scope: str = SCOPE) -> list[object]:
        """Whatever is kept of what somebody said."""
        made = [
            *await self.jobs.events(scope, 0, 2 * NOW),
            *await self.jobs.summaries(scope),
            *[each for span in SPANS for each in await self.jobs.digests(scope, span, 0, 2 * NOW)],
        ]
        jobs = await self.jobs.jobs(scope)
        lines = [line.value or line.quote or line.key or line.domain for job in jobs for line in job.lines]
        return [*made, *filter(None, lines), *(job.answer for job in jobs if job.answer)]


SPANS: tuple[DigestSpan, ...] = get_args(DigestSpan)


@asynccontextmanager
async def sqlite(folder: Path, name: str | None = "olvido.sqlite3") -> AsyncIterator[House]:
    path = stores.begun(folder / name) if name else None
    database = Database(path, Tasks())

    def erase(base: str) -> None:
        assert path is not None
        erase_sqlite(path, lambda scope: scope == base)

    try:
        yield House(
            SqliteJobs(database), SqliteFacts(database), SqliteArchive(database, TTL), SqliteWipes(database), erase
        )
    finally:
        await database.close()


def memory(folder: Path) -> AbstractAsyncContextManager[House]:
    return sqlite(folder, name=None)


@asynccontextmanager
async def postgres(folder: Path) -> AsyncIterator[House]:
    async with opened(folder) as database:
        await database.ready()

        def erase(base: str) -> None:
            with connect(url_of(folder)) as connection:
                erase_postgres(connection, lambda scope: scope == base)

        yield House(
            PostgresJobs(database),
            PostgresFacts(database),
            PostgresArchive(database, TTL),
            PostgresWipes(database),
            erase,
        )


Backend = Callable[[Path], AbstractAsyncContextManager[House]]
BACKENDS: dict[str, Backend] = {"file": sqlite, "memory": memory, "postgres": postgres}
SHARED = {name: BACKENDS[name] for name in ("file", "postgres")}  # several processes may open them


@pytest.fixture(params=BACKENDS)
async def house(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[House]:
    async with BACKENDS[request.param](tmp_path) as opened:
        yield opened


@pytest.fixture(params=SHARED)
async def houses(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[list[House]]:
    """Four processes with one database."""
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(SHARED[request.param](tmp_path)) for _ in range(4)]


class TestArming:
    async def test_an_armed_job_waits_until_it_is_due(self, house: House) -> None:
        house.jobs.arm(SCOPE, "extract", "s-1", NOW + 600)
        assert await house.jobs.claim("one", NOW + 599, LEASE) is None
        (waiting,) = await house.jobs.jobs(SCOPE)
        job = await house.claimed(now=NOW + 600)
        assert (waiting.state, waiting.attempts, waiting.owner) == ("waiting", 0, "")
        assert job == replace(waiting, state="running", attempts=1, owner="one", lease_until=NOW + 600 + LEASE)
        assert (job.scope, job.kind, job.subject, job.due_at) == (SCOPE, "extract", "s-1", NOW + 600)

    @pytest.mark.parametrize(
        ("first", "then", "sooner", "due"),
        [(10, 20, False, 20), (20, 10, False, 10), (10, 20, True, 10), (20, 10, True, 10)],
    )
    async def test_a_job_that_is_armed_again_is_moved_with_sooner_only_to_an_earlier_time(
        self, house: House, first: int, then: int, sooner: bool, due: int
    ) -> None:
        house.jobs.arm(SCOPE, "extract", "s-1", NOW + first)
        house.jobs.arm(SCOPE, "extract", "s-1", NOW + then, sooner=sooner)
        assert [job.due_at for job in await house.jobs.jobs()] == [NOW + due]

    async def test_scope_kind_and_subject_tell_jobs_apart(self, house: House) -> None:
        for scope in (SCOPE, "other/"):
            house.jobs.arm(scope, "extract", "s-1", NOW)
            house.jobs.arm(scope, "extract", "s-2", NOW)
            house.jobs.arm(scope, "consolidate", "", NOW)
        assert len(await house.jobs.jobs()) == 6
        assert len(await house.jobs.jobs(SCOPE)) == 3

    async def test_what_is_said_while_a_job_runs_is_another_job_which_waits_for_its_end(self, house: House) -> None:
        job = await house.begun(1)
        house.jobs.arm(SCOPE, "extract", "s-1", NOW)
        assert await house.jobs.claim("two", NOW, LEASE) is None
        assert await house.jobs.finish(job.id, "one", Finished(), NOW)
        assert (await house.claimed("two")).id != job.id

    async def test_to_wait_for_what_is_not_there_is_no_attempt(self, house: House) -> None:
        job = await house.begun(1)
        await house.jobs.put_off(job.id, "one", NOW, "per_day", counts=False)
        await house.jobs.put_off(job.id, "one", NOW, "per_day", counts=False)  # it is no longer its owner's
        again = await house.claimed("two")
        assert (again.id, again.attempts) == (job.id, 1)
        await house.jobs.put_off(job.id, "two", NOW, "no answer")
        assert (await house.claimed("three")).attempts == 2

    async def test_an_armed_job_does_not_come_before_the_time_it_was_put_off_to(self, house: House) -> None:
        job = await house.begun(1)
        await house.jobs.put_off(job.id, "one", NOW + 240, "per_day")
        for sooner in (True, False):
            house.jobs.arm(SCOPE, "extract", "s-1", NOW + 10, sooner=sooner)
            assert (await house.now(job)).due_at == NOW + 240
        house.jobs.arm(SCOPE, "extract", "s-1", NOW + 600)
        assert (await house.now(job)).due_at == NOW + 600
        house.jobs.arm(SCOPE, "extract", "s-1", NOW + 10, sooner=True, anyway=True)
        assert (await house.now(job)).due_at == NOW + 10


class TestOwning:
    async def test_a_job_has_one_owner(self, house: House) -> None:
        house.jobs.arm(SCOPE, "extract", "s-1", NOW)
        first, second = await asyncio.gather(*(house.jobs.claim(owner, NOW, LEASE) for owner in ("one", "two")))
        assert [first is None, second is None].count(True) == 1

    async def test_the_job_that_is_due_longest_comes_first(self, house: House) -> None:
        for subject, due in (("b", 5), ("a", 3), ("c", 4), ("later", 99)):
            house.jobs.arm(SCOPE, "extract", subject, NOW + due)
        claimed = [await house.jobs.claim("one", NOW + 9, LEASE) for _ in range(4)]
        assert [job and job.subject for job in claimed] == ["a", "c", "b", None]

    async def test_a_job_whose_owner_is_not_heard_of_goes_to_another(self, house: House) -> None:
        job = await house.begun(1)
        assert await house.jobs.claim("two", NOW + LEASE - 1, LEASE) is None
        again = await house.claimed("two", NOW + LEASE)
        assert (again.id, again.owner, again.attempts, again.state) == (job.id, "two", 2, "running")

    async def test_a_renewed_lease_holds(self, house: House) -> None:
        job = await house.begun(1)
        assert await house.jobs.renew(job.id, "one", NOW + 300)
        assert not await house.jobs.renew(job.id, "two", NOW + 900)
        assert await house.jobs.claim("two", NOW + 299, LEASE) is None
        assert (await house.claimed("two", NOW + 300)).id == job.id
        assert not await house.jobs.renew(job.id, "one", NOW + 900)

    async def test_an_answer_is_carried_out_by_the_next_owner_without_asking_again(self, house: House) -> None:
        job = await house.begun(1)
        assert await house.jobs.answered(job.id, "one", b"[1]", 0.5)
        again = await house.claimed("two", NOW + LEASE)
        assert (again.state, again.answer, again.model, again.shown) == ("answered", b"[1]", "m", b"{}")
        assert again.read == (link("1 asked"), link("1 answered"))
        assert not await house.jobs.finish(job.id, "one", Finished(), NOW)
        assert await house.jobs.finish(job.id, "two", Finished(), NOW)

    async def test_who_is_not_the_owner_changes_nothing(self, house: House) -> None:
        job = await house.begun(1)
        before = await house.now(job)
        assert not await house.ask(replace(job, owner="two"))
        assert not await house.jobs.answered(job.id, "two", b"[]", 0.5)
        assert not await house.jobs.finish(job.id, "two", Finished(lines=(LINE,)), NOW)
        assert await house.jobs.reserve(job.id, "two", 0.1, NOW, FREE) == "owner"
        for give_up in (True, False):
            await house.jobs.put_off(job.id, "two", NOW, "why", give_up=give_up)
        assert await house.now(job) == before

    async def test_of_no_job_nothing_can_be_said(self, house: House) -> None:
        nobody = Job(99, SCOPE, "extract", "s", "running", NOW, NOW, owner="one")
        assert not await house.ask(nobody)
        assert not await house.jobs.renew(99, "one", NOW)
        assert not await house.jobs.answered(99, "one", b"[]", 0.5)
        assert not await house.jobs.finish(99, "one", Finished(), NOW)
        assert not await house.jobs.undone(99, "f-1")
        assert await house.jobs.reserve(99, "one", 0.1, NOW, FREE) == "owner"
        await house.jobs.put_off(99, "one", NOW, "why")
        await house.jobs.settle(99, 0.5)
        assert (await house.jobs.job(99), await house.jobs.jobs(), await house.jobs.spent(0)) == (None, [], 0.0)

    async def test_jobs_are_claimed_once_by_four_processes(self, houses: list[House]) -> None:
        for number in range(8):
            houses[0].jobs.arm(f"tenant/{number}", "extract", "s", NOW)
        await houses[0].flush()

        async def worked(place: int) -> list[int]:
            found = []
            while (job := await houses[place].jobs.claim(f"owner {place}", NOW, LEASE)) is not None:
                found.append(job.id)
            return found

        claimed = [number for found in await asyncio.gather(*map(worked, range(4))) for number in found]
        claimed += await worked(0)  # one that another was just writing is left out
        assert sorted(claimed) == sorted(set(claimed))
        assert len(claimed) == 8


class TestEnding:
    async def test_what_came_of_a_job_comes_back_as_it_was(self, house: House) -> None:
        finished = Finished((LINE, REFUSED), (EVENT,), HOUR, STORED, reason="kept 1")
        job = await house.done(1, finished=finished)
        assert (job.state, job.done_at, job.reason, job.answer) == ("done", NOW, "kept 1", b"")
        assert (job.lines, job.read) == ((LINE, REFUSED), (link("1 asked"), link("1 answered")))
        assert (job.model, job.prompt) == ("m", "extract.en 12345678")
        assert await house.jobs.events(SCOPE, NOW, NOW + 61) == [EVENT]
        assert await house.jobs.digests(SCOPE, "hour", NOW, NOW + 1) == [HOUR]
        assert await house.jobs.summaries(SCOPE) == [STORED]

    async def test_nothing_of_it_is_in_another_scope(self, house: House) -> None:
        await house.done(1, finished=Finished((LINE,), (EVENT,), HOUR, STORED))
        assert await house.texts("other/") == []
        assert await house.jobs.was_read("other/", [link("1 asked")]) == set()

    async def test_messages_are_read_once_their_job_is_done(self, house: House) -> None:
        links = [link("1 asked"), link("1 answered"), link("2 asked")]
        job = await house.begun(1)
        assert await house.jobs.was_read(SCOPE, links) == set()
        assert await house.jobs.finish(job.id, "one", Finished(), NOW)
        assert await house.jobs.was_read(SCOPE, links) == set(links[:2])
        assert await house.jobs.was_read(SCOPE, []) == set()

    async def test_a_job_is_finished_once(self, house: House) -> None:
        job = await house.done(1, finished=Finished((LINE,)))
        assert not await house.jobs.finish(job.id, "two", Finished((REFUSED,)), NOW)
        assert not await house.jobs.finish(job.id, "one", Finished((REFUSED,)), NOW + 1)
        assert (await house.now(job)).lines == (LINE,)
        assert await house.jobs.claim("two", NOW + 2 * LEASE, LEASE) is None

    async def test_a_job_that_is_put_off_waits_again(self, house: House) -> None:
        job = await house.begun(1)
        await house.jobs.put_off(job.id, "one", NOW + 60, "unreachable")
        waiting = await house.now(job)
        assert (waiting.state, waiting.due_at, waiting.reason, waiting.owner) == (
            "waiting",
            NOW + 60,
            "unreachable",
            "",
        )
        assert await house.jobs.claim("two", NOW + 59, LEASE) is None
        assert (await house.claimed("two", NOW + 60)).attempts == 2

    async def test_an_answer_stays_while_its_job_is_put_off(self, house: House) -> None:
        job = await house.begun(1)
        assert await house.jobs.answered(job.id, "one", b"[1]", 0.5)
        await house.jobs.put_off(job.id, "one", NOW + 60, "disk")
        assert await house.jobs.claim("two", NOW + 59, LEASE) is None
        again = await house.claimed("two", NOW + 60)
        assert (again.id, again.state, again.answer) == (job.id, "answered", b"[1]")

    async def test_a_job_that_is_put_off_and_one_armed_meanwhile_are_one(self, house: House) -> None:
        job = await house.begun(1)
        house.jobs.arm(SCOPE, "extract", "s-1", NOW + 600)
        await house.jobs.put_off(job.id, "one", NOW + 60, "unreachable")
        (waiting,) = await house.jobs.jobs(SCOPE)
        assert (waiting.id, waiting.due_at, waiting.attempts) == (job.id, NOW + 600, 1)

    async def test_a_job_that_is_given_up_is_never_claimed_and_has_read_nothing(self, house: House) -> None:
        job = await house.begun(1)
        await house.jobs.put_off(job.id, "one", NOW, "unreachable", give_up=True)
        assert await house.jobs.claim("two", NOW + 2 * LEASE, LEASE) is None
        given_up = await house.now(job)
        assert (given_up.state, given_up.reason) == ("given-up", "unreachable")
        assert given_up.done_at > 0
        assert await house.jobs.was_read(SCOPE, [link("1 asked")]) == set()

    async def test_what_a_job_made_of_a_fact_is_undone(self, house: House) -> None:
        job = await house.done(1, finished=Finished((LINE, REFUSED)))
        assert await house.jobs.undone(job.id, "f-1")
        assert not await house.jobs.undone(job.id, "f-9")
        assert not await house.jobs.undone(job.id, "f-unknown")
        assert [line.result for line in (await house.now(job)).lines] == ["undone", "refused"]

    async def test_jobs_are_listed_newest_first_page_by_page_and_by_state(self, house: House) -> None:
        for number in range(3):
            await house.done(number + 1, subject=f"s-{number}")
        house.jobs.arm(SCOPE, "consolidate", "", NOW)
        newest = await house.jobs.jobs(SCOPE, limit=2)
        assert [job.subject for job in newest] == ["", "s-2"]
        assert [job.subject for job in await house.jobs.jobs(before=newest[-1].id)] == ["s-1", "s-0"]
        assert [job.subject for job in await house.jobs.jobs(states=["waiting", "given-up"])] == [""]
        assert await house.jobs.jobs(states=["no such state"]) == []

    async def test_a_digest_of_the_same_time_replaces_the_one_before(self, house: House) -> None:
        day, newer = Digest("day", NOW, "a", by_model=False), Digest("day", NOW, "b", by_model=True)
        for number, digest in enumerate((day, newer, HOUR)):
            await house.done(number + 1, finished=Finished(digest=digest))
        assert await house.jobs.digests(SCOPE, "day", NOW, NOW + 1) == [newer]
        assert await house.jobs.digests(SCOPE, "day", NOW + 1, NOW + 2) == []

    async def test_an_event_is_written_once(self, house: House) -> None:
        for number in range(2):
            await house.done(number + 1, finished=Finished(events=(EVENT,)))
        assert await house.jobs.events(SCOPE, NOW, NOW + DAY) == [EVENT]
        assert await house.jobs.events(SCOPE, NOW, EVENT.at) == []


class TestMoney:
    async def owned(self, house: House, number: int = 0, scope: str = SCOPE) -> Job:
        house.jobs.arm(scope, "extract", f"s-{number}", NOW)
        return await house.claimed()

    async def test_what_is_set_aside_is_corrected_to_what_the_call_has_cost(self, house: House) -> None:
        job = await self.owned(house)
        assert await house.jobs.reserve(job.id, "one", 0.5, NOW, FREE) == ""
        assert ((await house.now(job)).spent, await house.jobs.spent(NOW, SCOPE)) == (0.5, 0.5)
        await house.jobs.settle(job.id, 0.125)
        assert await house.jobs.reserve(job.id, "one", 0.25, NOW, FREE) == ""
        assert await house.jobs.answered(job.id, "one", b"{}", 0.0625)
        assert ((await house.now(job)).spent, await house.jobs.spent(NOW)) == (0.1875, 0.1875)

    async def test_no_more_than_the_days_limit_is_spent_by_all(self, house: House) -> None:
        limits = SpendLimits(per_day=1.0, allowance=9.0, share=0.0)
        first, second = await self.owned(house), await self.owned(house, scope="other/")
        assert await house.jobs.reserve(first.id, "one", 0.75, NOW, limits) == ""
        assert await house.jobs.reserve(second.id, "one", 0.5, NOW + DAY - 1, limits) == "per_day"
        assert await house.jobs.reserve(second.id, "one", 0.25, NOW + DAY - 1, limits) == ""
        assert await house.jobs.reserve(second.id, "one", 0.5, NOW + DAY, limits) == ""

    async def test_what_is_above_the_allowance_of_each_day_is_limited_by_the_share(self, house: House) -> None:
        limits = SpendLimits(per_day=9.0, allowance=0.25, share=0.5)
        job = await self.owned(house)
        told = []
        for day, dollars in ((0, 0.5), (0, 0.5), (1, 0.5), (2, 0.5), (2, 0.25), (29, 0.5), (30, 0.5), (30, 0.25)):
            told.append(await house.jobs.reserve(job.id, "one", dollars, NOW + day * DAY, limits))
        assert told == ["", "share", "", "share", "", "share", "", "share"]

    async def test_spending_counts_for_the_end_user_of_all_their_scopes_and_for_nobody_else(self, house: House) -> None:
        limits = SpendLimits(per_day=9.0, allowance=0.5, share=0.0)
        own, other = await self.owned(house, scope=f"{SCOPE}~c-1"), await self.owned(house, scope="tenant/bob")
        assert await house.jobs.reserve(own.id, "one", 0.5, NOW, limits) == ""
        assert await house.jobs.reserve(other.id, "one", 0.5, NOW, limits) == ""
        again = await self.owned(house)
        assert await house.jobs.reserve(again.id, "one", 0.25, NOW, limits) == "share"
        assert await house.jobs.spent(NOW, SCOPE) == await house.jobs.spent(NOW, f"{SCOPE}~c-2") == 0.5
        assert await house.jobs.spent(NOW) == 1.0
        assert await house.jobs.spent(NOW + 1) == 0.0

    async def test_the_whole_limit_can_be_spent_in_parts_that_no_float_is(self, house: House) -> None:
        limits = SpendLimits(per_day=0.3, allowance=0.3, share=0.0)
        job = await self.owned(house)
        assert [await house.jobs.reserve(job.id, "one", 0.1, NOW, limits) for _ in range(4)] == ["", "", "", "per_day"]

    async def test_four_processes_pass_no_limit(self, houses: list[House]) -> None:
        limits = SpendLimits(per_day=1.0, allowance=0.25, share=0.5)
        jobs = [await self.owned(houses[0], number, f"tenant/{number // 3}") for number in range(12)]

        async def reserved(place: int, job: Job) -> tuple[str, str]:
            return job.scope, await houses[place % 4].jobs.reserve(job.id, "one", 0.25, NOW, limits)

        told = await asyncio.gather(*(reserved(place, job) for place, job in enumerate([*jobs, *jobs])))
        assert [limit for _, limit in told].count("") == 4
        assert await houses[1].jobs.spent(NOW) == 1.0
        for scope in {scope for scope, _ in told}:
            assert await houses[2].jobs.spent(NOW, scope) <= 0.75

    async def test_the_cost_of_a_call_whose_job_went_to_another_is_that_of_its_owner(self, house: House) -> None:
        job = await self.owned(house)
        assert await house.jobs.reserve(job.id, "one", 0.5, NOW, FREE) == ""
        await house.claimed("two", NOW + LEASE)
        assert await house.jobs.reserve(job.id, "two", 1.0, NOW, FREE) == ""
        assert not await house.jobs.answered(job.id, "one", b"late", 0.25)
        assert await house.jobs.spent(NOW) == 1.25
        assert (await house.now(job)).answer == b""


Forgets = Callable[[House], object]


def forgets_a_message(house: House) -> None:
    house.archive.forget(SCOPE, [link("1 asked")])


def forgets_a_turn(house: House) -> None:
    house.archive.forget(SCOPE, [turn(1).link])


def forgets_a_fact(house: House) -> None:
    house.facts.forget(SCOPE, ["f-1"])


def wipes_all(house: House) -> None:
    house.wipes.wipe(SCOPE, [], at=NOW + 99, until=NOW + DAY)


FORGETTING: list[Forgets] = [forgets_a_message, forgets_a_turn, forgets_a_fact, wipes_all]
FACT = Fact("f-1", "work", "team", "I lead the team", "high", "explicit", "s", 1, NOW, NOW, links=(link("1 asked"),))


@pytest.mark.parametrize("forgets", FORGETTING)
class TestForgetting:
    async def test_what_was_made_of_a_forgotten_message_is_gone(self, house: House, forgets: Forgets) -> None:
        house.facts.put(SCOPE, [FACT])
        await house.done(1, finished=Finished((LINE,), (EVENT,), HOUR, STORED))
        await house.done(9, finished=Finished((REFUSED,), digest=Digest("week", NOW, "a week", by_model=False)))
        forgets(house)
        assert await house.texts() == []

    async def test_an_answer_about_it_is_not_carried_out(self, house: House, forgets: Forgets) -> None:
        house.facts.put(SCOPE, [FACT])
        job = await house.begun(1, 2)
        assert await house.jobs.answered(job.id, "one", b"she said", 0.5)
        forgets(house)
        assert await house.texts() == []
        assert not await house.jobs.finish(job.id, "one", Finished((LINE,), (EVENT,), HOUR, STORED), NOW)
        assert await house.texts() == []

    async def test_an_answer_that_comes_after_it_is_not_kept_but_paid(self, house: House, forgets: Forgets) -> None:
        house.facts.put(SCOPE, [FACT])
        job = await house.begun(1, 2)
        assert await house.jobs.reserve(job.id, "one", 0.5, NOW, FREE) == ""
        forgets(house)
        assert not await house.jobs.answered(job.id, "one", b"she said", 0.25)
        assert await house.texts() == []
        assert await house.jobs.spent(NOW) == 0.25

    async def test_an_answer_that_waits_for_a_later_time_is_gone(self, house: House, forgets: Forgets) -> None:
        house.facts.put(SCOPE, [FACT])
        job = await house.begun(1, 2)
        assert await house.jobs.answered(job.id, "one", b"she said", 0.5)
        await house.jobs.put_off(job.id, "one", NOW + 60, "disk")
        house.jobs.arm(SCOPE, "extract", "s-1", NOW + 30)
        forgets(house)
        assert await house.texts() == []
        assert [job.state for job in await house.jobs.jobs(SCOPE)] in (["waiting"], [])

    async def test_what_others_have_stays(self, house: House, forgets: Forgets) -> None:
        house.facts.put(SCOPE, [FACT])
        job = await house.begun(1, scope="other/")
        made = Finished((LINE,), (EVENT,), HOUR, STORED)
        assert await house.jobs.answered(job.id, "one", b"{}", 0.0)
        forgets(house)
        await house.facts.flush()
        assert await house.jobs.finish(job.id, "one", made, NOW)
        assert len(await house.texts("other/")) == 4
        assert await house.jobs.was_read("other/", [link("1 asked")]) == {link("1 asked")}


class TestForgettingOfSome:
    async def test_events_of_other_messages_stay(self, house: House) -> None:
        await house.done(1, finished=Finished(events=(EVENT,), summary=STORED))
        forgets = [link("9 asked"), link("8 answered")]
        house.archive.forget(SCOPE, forgets)
        assert await house.texts() == [EVENT, STORED]

    @pytest.mark.parametrize("forgets", [forgets_a_message, forgets_a_turn])
    async def test_an_answer_about_other_messages_is_carried_out(self, house: House, forgets: Forgets) -> None:
        house.archive.add(SCOPE, turn(1, NOW), None)
        job = await house.begun(2)
        assert await house.jobs.answered(job.id, "one", b"{}", 0.0)
        forgets(house)
        assert await house.jobs.finish(job.id, "one", Finished((LINE,)), NOW)

    @pytest.mark.parametrize("kind", ["consolidate", "digest"])
    async def test_an_answer_about_what_was_made_of_messages_is_not(self, house: House, kind: JobKind) -> None:
        house.jobs.arm(SCOPE, kind, "", NOW)
        job = await house.claimed()
        assert await house.ask(job)
        assert await house.jobs.answered(job.id, "one", b"she said", 0.0)
        house.archive.forget(SCOPE, [link("1 asked")])
        assert not await house.jobs.finish(job.id, "one", Finished(digest=HOUR), NOW)
        assert await house.texts() == []

    @pytest.mark.parametrize("forgets", FORGETTING[:2])
    async def test_a_message_that_was_just_forgotten_is_not_asked_about(self, house: House, forgets: Forgets) -> None:
        house.archive.add(SCOPE, turn(1, NOW), None)
        house.archive.add(SCOPE, turn(2, NOW), None)
        house.jobs.arm(SCOPE, "extract", "s-1", NOW)
        job = await house.claimed()
        forgets(house)
        for said in turn(1).utterances:
            assert not await house.jobs.asked(job.id, "one", model="m", prompt="p", shown=b"", read=[said.link])
        assert await house.ask(job, [2])
        assert await house.jobs.answered(job.id, "one", b"{}", 0.0)

    @pytest.mark.parametrize("forgets", [forgets_a_message, forgets_a_turn])
    @pytest.mark.parametrize("name", ["1 asked", "1 answered"])
    async def test_who_was_shown_one_message_of_a_forgotten_turn_begins_anew(
        self, house: House, forgets: Forgets, name: str
    ) -> None:
        house.archive.add(SCOPE, turn(1, NOW), None)
        house.jobs.arm(SCOPE, "extract", "s-1", NOW)
        job = await house.claimed()
        assert await house.jobs.asked(job.id, "one", model="m", prompt="p", shown=b"", read=[link(name)])
        forgets(house)
        assert not await house.jobs.answered(job.id, "one", b"she said", 0.0)

    async def test_a_message_that_was_forgotten_before_the_job_was_claimed_is_not_asked_about(
        self, house: House
    ) -> None:
        house.archive.add(SCOPE, turn(1, NOW), None)
        forgets_a_message(house)
        house.jobs.arm(SCOPE, "extract", "s-1", NOW)
        assert not await house.ask(await house.claimed(), [1])

    async def test_who_was_shown_facts_begins_anew_when_one_is_forgotten(self, house: House) -> None:
        house.facts.put(SCOPE, [FACT])
        job = await house.begun(2)
        forgets_a_fact(house)
        assert not await house.jobs.answered(job.id, "one", b"she leads", 0.0)

    @pytest.mark.parametrize("kind", ["consolidate", "digest"])
    async def test_facts_and_events_that_were_read_before_one_was_forgotten_are_not_asked_about(
        self, house: House, kind: JobKind
    ) -> None:
        house.jobs.arm(SCOPE, kind, "", NOW)
        job = await house.claimed()
        house.archive.forget(SCOPE, [link("1 asked")])
        assert not await house.ask(job)
        assert not await house.jobs.finish(job.id, "one", Finished(digest=HOUR), NOW)
        assert await house.ask(await house.claimed("two"))

    async def test_the_next_owner_of_a_job_that_was_shown_it_asks_anew(self, house: House) -> None:
        await house.begun(1, 2)
        forgets_a_message(house)
        again = await house.claimed("two", NOW + LEASE)
        assert (again.state, again.answer, again.read) == ("running", b"", ())
        assert await house.ask(again, [2])
        assert await house.jobs.answered(again.id, "two", b"{}", 0.0)
        assert await house.jobs.finish(again.id, "two", Finished(), NOW)

    async def test_the_next_owner_finishes_a_job_without_asking(self, house: House) -> None:
        house.jobs.arm(SCOPE, "digest", "", NOW)
        assert await house.ask(await house.claimed())
        house.archive.forget(SCOPE, [link("1 asked")])
        again = await house.claimed("two", NOW + LEASE)
        assert await house.jobs.finish(again.id, "two", Finished(digest=HOUR), NOW)

    async def test_a_job_that_has_read_it_waits_and_asks_anew(self, house: House) -> None:
        job = await house.begun(1, 2)
        forgets_a_message(house)
        assert not await house.jobs.answered(job.id, "one", b"she said", 0.0)
        again = await house.claimed("two")
        assert (again.id, again.state, again.read, again.shown) == (job.id, "running", (), b"")
        assert await house.ask(again, [2])
        assert await house.jobs.answered(job.id, "two", b"{}", 0.0)
        assert await house.jobs.finish(job.id, "two", Finished(), NOW)
        assert await house.jobs.was_read(SCOPE, [link("1 asked"), link("2 asked")]) == {link("2 asked")}

    async def test_a_message_that_may_come_again_is_read_again(self, house: House) -> None:
        await house.done(1, 2)
        forgets_a_message(house)
        house.archive.lift(SCOPE, [link("1 asked"), turn(1).link])
        assert await house.jobs.was_read(SCOPE, [link("1 asked"), link("2 asked")]) == {link("2 asked")}

    async def test_what_is_left_of_a_line_tells_what_came_of_it_and_can_be_undone(self, house: House) -> None:
        job = await house.done(1, finished=Finished((LINE,)))
        forgets_a_message(house)
        blank = replace(LINE, domain="", key="", value="", quote="")
        assert (await house.now(job)).lines == (blank,)
        assert await house.jobs.undone(job.id, "f-1")

    async def test_a_wipe_leaves_what_was_spent(self, house: House) -> None:
        job = await house.begun(1)
        assert await house.jobs.reserve(job.id, "one", 0.5, NOW, FREE) == ""
        wipes_all(house)
        assert await house.jobs.jobs() == []
        await house.jobs.settle(job.id, 0.25)
        assert (await house.jobs.spent(NOW), await house.jobs.spent(NOW, SCOPE)) == (0.25, 0.25)
        house.wipes.restore(SCOPE, NOW)
        assert await house.texts() == []


class TestErasing:
    async def test_of_an_erased_user_nothing_is_left_but_a_sum_that_is_nobodys(self, houses: list[House]) -> None:
        house, *others = houses
        await house.done(1, finished=Finished((LINE,), (EVENT,), HOUR, STORED))
        job = await house.begun(2, scope=f"{SCOPE}~c-1")
        assert await house.jobs.reserve(job.id, "one", 0.5, NOW, FREE) == ""
        await house.flush()
        house.erase(SCOPE)
        assert await others[0].texts() == []
        assert await others[0].jobs.jobs() == []
        assert (await house.jobs.spent(NOW), await house.jobs.spent(NOW, SCOPE)) == (0.5, 0.0)
        assert not await house.jobs.answered(job.id, "one", b"she said", 0.25)
        assert not await house.jobs.finish(job.id, "one", Finished((LINE,), (EVENT,)), NOW)
        assert await others[0].jobs.jobs() == []
        assert await others[0].jobs.spent(NOW) == 0.25

    async def test_what_a_process_learns_for_a_job_of_an_erased_user_is_refused(self, houses: list[House]) -> None:
        house, other, *_ = houses
        await house.begun(1)
        house.erase(SCOPE)
        house.facts.put("tenant/bob", [FACT])
        await house.facts.flush()  # it has learnt of the erasure
        house.jobs.arm(SCOPE, "consolidate", "", NOW)
        house.facts.put(SCOPE, [FACT])
        await house.facts.flush()
        assert (await other.facts.all(SCOPE), await other.jobs.jobs()) == ([], [])

    @pytest.mark.parametrize("name", SHARED)
    async def test_a_job_of_one_who_came_back_is_worked_on(self, name: str, tmp_path: Path) -> None:
        async with SHARED[name](tmp_path) as house:
            await Tasks().spawn(house.begun(1), name="a worker")
            house.erase(SCOPE)
            async with SHARED[name](tmp_path) as began_after:
                began_after.jobs.arm(SCOPE, "extract", "s-2", NOW)
                await began_after.flush()
                job = await house.claimed()
                house.facts.put(SCOPE, [FACT])
                assert await house.jobs.finish(job.id, "one", Finished(), NOW)
                await house.facts.flush()
                assert await began_after.facts.all(SCOPE) == [FACT]


async def test_off_keeps_nothing() -> None:
    store: JobStore = SqliteJobs(stores.nothing())
    store.arm("a/", "extract", "s", NOW)
    await store.flush()
    assert not store.keeps
    assert await store.claim("one", NOW, LEASE) is None
    assert await store.jobs() == []
    assert await store.reserve(1, "one", 0.1, NOW, FREE) == "owner"
    assert not await store.answered(1, "one", b"", 0.0)
    await store.settle(1, 0.1)
    await store.put_off(1, "one", NOW, "why")
    assert (await store.spent(0), await store.was_read("a/", [b"x"])) == (0.0, set())
