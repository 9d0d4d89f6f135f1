"""A database under any course of writes, flushes and kills. A kill is the files as they are at that moment, opened
again in another place: what was flushed is there, whole, and what was not is not there in part."""

import asyncio
import copy
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from proxy.storage.pending import WriterLimits
from proxy.storage.sqlite.archive import SqliteArchive
from proxy.storage.sqlite.database import Database
from proxy.storage.sqlite.facts import SqliteFacts
from proxy.storage.sqlite.ledger import SqliteLedger
from proxy.tasks import Tasks
from proxy.types import Fact
from tests.builders import NOW
from tests.contract.model import ModelArchive, ModelFacts
from tests.contract.test_archive import TTL, link, turn
from tests.contract.test_ledger import ROW

NOTHING_BY_ITSELF = WriterLimits(interval=3_600)

SCOPES = st.sampled_from(["a/", "b/"])
NUMBERS = st.integers(1, 5)


def fact(number: int, value: str) -> Fact:
    return Fact(f"f-{number}", "work", f"key-{number}", value, "high", "explicit", "s", 1, NOW + number, NOW)


class Kills(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.folder = Path(tempfile.mkdtemp())
        self.places = 0
        # What was queued, and what of that is durable.
        self.facts, self.archive, self.rows = ModelFacts(), ModelArchive(TTL), dict[tuple[str, str], float]()

    @initialize()
    def begin(self) -> None:
        self.open()
        self.note_durable()

    def open(self) -> None:
        self.tasks = Tasks()

        async def opened() -> Database:
            return Database(self.place / "olvido.sqlite3", self.tasks, NOTHING_BY_ITSELF)

        self.database = self.runner.run(opened())
        self.stored_facts = SqliteFacts(self.database)
        self.stored_archive = SqliteArchive(self.database, TTL)
        self.stored_ledger = SqliteLedger(self.database)

    @property
    def place(self) -> Path:
        return self.folder / str(self.places)

    def note_durable(self) -> None:
        self.durable = copy.deepcopy((self.facts, self.archive, self.rows))

    def put(self, *doing: object) -> None:
        """Writes are queued in the event loop."""

        async def done() -> None:
            for each in doing:
                assert callable(each)
                each()

        self.runner.run(done())

    @rule(scope=SCOPES, number=NUMBERS, value=st.sampled_from(["one", "another"]))
    def tell(self, scope: str, number: int, value: str) -> None:
        told = [replace(fact(number, value), id=f"{scope}{number}")]
        self.facts.put(scope, told)
        self.put(lambda: self.stored_facts.put(scope, told))

    @rule(scope=SCOPES, number=NUMBERS)
    def supersede(self, scope: str, number: int) -> None:
        newer = replace(fact(number + 10, "newer"), id=f"{scope}{number + 10}")
        older = replace(fact(number, "older"), id=f"{scope}{number}", superseded_by=newer.id, superseded_at=NOW)
        self.facts.put(scope, [older, newer])
        self.put(lambda: self.stored_facts.put(scope, [older, newer]))

    @rule(scope=SCOPES, number=NUMBERS)
    def forget_a_fact(self, scope: str, number: int) -> None:
        self.facts.forget(scope, [f"{scope}{number}"])
        self.put(lambda: self.stored_facts.forget(scope, [f"{scope}{number}"]))

    @rule(scope=SCOPES, number=NUMBERS)
    def archive_a_turn(self, scope: str, number: int) -> None:
        self.archive.add(scope, turn(number), None)
        self.put(lambda: self.stored_archive.add(scope, turn(number), None))

    @rule(scope=SCOPES, number=NUMBERS)
    def forget_a_turn(self, scope: str, number: int) -> None:
        links = [link(f"{number} asked")]
        self.archive.forget(scope, links, NOW)
        self.put(lambda: self.stored_archive.forget(scope, links, NOW))

    @rule(scope=SCOPES, number=NUMBERS, cost=st.floats(0, 1))
    def answer(self, scope: str, number: int, cost: float) -> None:
        self.rows.setdefault((scope, f"r{number}"), cost)  # a second row of a request is ignored
        told = replace(ROW, request_id=f"r{number}", scope=scope, cost=cost)
        self.put(lambda: self.stored_ledger.append(told))

    @rule()
    def flush(self) -> None:
        self.runner.run(self.database.writer.flush())
        self.note_durable()
        self.runner.run(self.compare())

    @rule()
    def kill(self) -> None:
        before = self.place
        self.places += 1
        shutil.copytree(before, self.place)
        self.abandon()
        self.open()
        self.facts, self.archive, self.rows = copy.deepcopy(self.durable)
        self.runner.run(self.compare())

    def abandon(self) -> None:
        self.runner.run(self.database.close())

    async def compare(self) -> None:
        """Only where nothing is queued: some reads write it first."""
        for scope in ("a/", "b/"):
            by_id = {each.id: each for each in await self.stored_facts.all(scope)}
            assert by_id == {each.id: each for each in await self.facts.all(scope)}
            links = [turn(number).link for number in range(1, 6)]
            assert await self.stored_archive.known(scope, links) == await self.archive.known(scope, links)
            assert set(await self.stored_archive.forgotten_at(scope, links)) == set(
                await self.archive.forgotten_at(scope, links)
            )
            costs = {each.request_id: each.cost for each in await self.stored_ledger.recent(scope)}
            assert costs == {name: cost for (owner, name), cost in self.rows.items() if owner == scope}

    def teardown(self) -> None:
        self.abandon()
        self.runner.close()
        shutil.rmtree(self.folder)


@pytest.mark.long
def test_what_was_flushed_survives_and_what_was_not_leaves_nothing() -> None:
    run_state_machine_as_test(Kills, settings=settings(max_examples=40, stateful_step_count=25, deadline=None))
