"""Random interleavings of what a person, the proxy and the API do to one memory, with real files and a real database:
whatever anybody wrote, and nobody deleted, stays; and syncing comes to an end."""

import asyncio
import os
import tempfile
from collections.abc import Collection, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from proxy.files.document import one_line, parse
from proxy.files.names import folder_of
from proxy.files.syncing import Synced, Syncs
from proxy.memory import edits
from proxy.memory.edits import Draft, Edit
from proxy.storage.sqlite.facts import SqliteFacts
from proxy.types import Fact
from tests.examples import examples
from tests.stores import AtOnce

T = TypeVar("T")

SCOPE = "0123456789abcdef" * 2 + "/ana"


class Killed(BaseException):
    """The process ends here."""


class Memory:
    """Facts in SQLite, in memory."""

    def __init__(self) -> None:
        self.store = SqliteFacts(AtOnce())
        self.gone: set[str] = set()

    async def facts(self, scope: str) -> list[Fact]:
        return await self.store.all(scope)

    async def forgotten(self, scope: str, values: Sequence[str]) -> set[str]:
        return self.gone & set(values)

    async def write(self, scope: str, rows: Sequence[Fact], known: Collection[str] = ()) -> None:
        self.store.put(scope, rows)

    async def forget(self, scope: str, fact: Fact) -> None:
        self.store.forget(scope, [fact.id])
        self.gone.add(one_line(fact.value))


class Interleavings(RuleBasedStateMachine):
    """A person with an editor, the API, the proxy that learns, and syncs of which some are killed."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.folder = tempfile.TemporaryDirectory()
        self.root = Path(self.folder.name)
        self.file = self.root / folder_of(SCOPE) / "MEMORY.md"
        self.memory = Memory()
        self.executor = ThreadPoolExecutor(1)
        self.now, self.numbers = 1_000.0, count(1)
        self.left: int | None = None  # steps until the process is killed
        self.buffer: list[str] = []  # of the person's editor
        self.wrote: set[str] = set()  # lines that somebody wrote and nobody has deleted
        self.forgotten: set[str] = set()
        self.made = self.new_process()

    def new_process(self) -> Syncs:
        return Syncs(self.root, self.memory, self.executor, clock=lambda: self.now, on_step=self.step)

    def step(self, _: str) -> None:
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                self.left = None
                raise Killed

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(work)

    def facts(self) -> list[Fact]:
        return self.run(self.memory.facts(SCOPE))

    def holding(self) -> list[Fact]:
        return [each for each in self.facts() if each.superseded_by is None]

    def words(self) -> str:
        return f"line {next(self.numbers)}"

    def text(self) -> str:
        return self.file.read_text() if self.file.exists() else ""

    # --- the proxy ---

    @initialize(number=st.integers(0, 5))
    def remember(self, number: int) -> None:
        for _ in range(number):
            self.learn("work")

    @rule(domain=st.sampled_from(["work", "personal", "my garden"]))
    def learn(self, domain: str) -> None:
        said = self.words()
        self.wrote.add(said)
        made = edits.add(self.facts(), Draft(domain, said, said), scope=SCOPE, now=self.tick(), source="api")
        self.run(self.memory.write(SCOPE, made.rows))

    @rule(by=st.floats(-500, 500))
    def the_clock_jumps(self, by: float) -> None:
        self.now = max(1.0, self.now + by)

    def tick(self) -> float:
        self.now += 1.0
        return self.now

    @rule()
    def sync(self) -> None:
        self.run(self.made.sync(SCOPE))

    @rule(steps=st.integers(0, 12))
    def a_sync_is_killed(self, steps: int) -> None:
        self.left = steps
        try:
            self.run(self.made.sync(SCOPE))
        except Killed:
            self.made = self.new_process()
        self.left = None

    # --- the API ---

    @rule(data=st.data())
    def the_api_changes(self, data: st.DataObject) -> None:
        if known := self.holding():
            fact, said = data.draw(st.sampled_from(known)), self.words()
            self.wrote.add(said)
            made = edits.edit(self.facts(), fact, Edit(value=said), scope=SCOPE, now=self.tick(), source="api")
            self.run(self.memory.write(SCOPE, made.rows))

    @rule(data=st.data())
    def the_api_deletes(self, data: st.DataObject) -> None:
        if known := self.holding():
            fact = data.draw(st.sampled_from(known))
            self.run(self.memory.write(SCOPE, [edits.delete(fact, self.tick())]))

    @rule(data=st.data())
    def the_api_forgets(self, data: st.DataObject) -> None:
        if known := self.holding():
            fact = data.draw(st.sampled_from(known))
            self.run(self.memory.forget(SCOPE, fact))
            self.wrote.discard(one_line(fact.value))
            self.forgotten.add(one_line(fact.value))

    # --- the person ---

    @rule()
    def the_editor_is_opened(self) -> None:
        self.buffer = self.text().splitlines()

    @rule(data=st.data())
    def a_line_is_written(self, data: st.DataObject) -> None:
        self.buffer.insert(data.draw(st.integers(0, len(self.buffer))), f"- {self.words()}")

    @rule(data=st.data())
    def a_line_is_changed(self, data: st.DataObject) -> None:
        places = [at for at, line in enumerate(self.buffer) if line.startswith("- ")]
        if places:
            at = data.draw(st.sampled_from(places))
            _, _, code = self.buffer[at].partition(" <!--")
            self.buffer[at] = f"- {self.words()}" + (f" <!--{code}" if code else "")

    @rule(data=st.data())
    def a_line_is_deleted_or_moved(self, data: st.DataObject) -> None:
        if self.buffer:
            line = self.buffer.pop(data.draw(st.integers(0, len(self.buffer) - 1)))
            if data.draw(st.booleans()):
                self.buffer.insert(data.draw(st.integers(0, len(self.buffer))), line)

    @rule(by_renaming=st.booleans())
    def it_is_saved(self, by_renaming: bool) -> None:
        if not self.file.parent.exists():
            return
        before = {each.text for each in parse(self.text()).bullets}
        text = "".join(f"{line}\n" for line in self.buffer)
        new = {each.text for each in parse(text).bullets}
        self.wrote -= before - new  # a line that is overwritten before a sync has seen it is the editors' affair
        # A buffer of before may have what was deleted, or forgotten, since: that does not come back.
        self.wrote |= new - {one_line(each.value) for each in self.facts() if each.is_deleted} - self.forgotten
        if by_renaming:
            other = self.file.with_name("x.tmp")
            other.write_text(text)
            other.rename(self.file)
        else:
            self.file.write_text(text)

    # --- what holds ---

    @invariant()
    def nothing_is_lost(self) -> None:
        kept = {one_line(each.value) for each in self.facts()}
        kept |= {each.text for each in parse(self.text()).bullets}
        missing = self.wrote - kept
        if missing:
            older = (each.read_text() for each in (self.file.parent / ".history").glob("*"))
            missing -= {each.text for text in older for each in parse(text).bullets}
        assert not missing

    def teardown(self) -> None:
        try:
            self.comes_to_an_end()
        finally:
            self.executor.shutdown()
            self.folder.cleanup()
            self.loop.close()

    def comes_to_an_end(self) -> None:
        done = [self.settled(), self.settled(), self.settled()]
        assert not any(each.rows or each.is_written for each in done[1:]), "a fixed point, after one sync"
        assert [each.waiting for each in done[1:]] == [done[0].waiting] * 2
        if done[0].waiting is None and not done[0].problem:
            shown = {each.text for each in parse(self.text()).bullets}
            assert shown >= {one_line(each.value) for each in self.holding()}

    def settled(self) -> Synced:
        if self.file.exists():
            os.utime(self.file, (1.0, 1.0))  # nobody is saving
        return self.run(self.made.sync(SCOPE))


TestInterleavings: Any = Interleavings.TestCase
TestInterleavings.settings = settings(max_examples=examples(60), stateful_step_count=14, deadline=None)


@pytest.mark.long
def test_two_thousand_interleavings() -> None:
    run_state_machine_as_test(
        Interleavings, settings=settings(max_examples=2_000, stateful_step_count=14, deadline=None)
    )
