"""Random interleavings of what a person, the model and syncs do to one document, with real files and a real database:
what the person wrote, and nobody deleted, stays; nothing is there twice; and syncing comes to an end."""

import asyncio
import tempfile
from collections import Counter
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from proxy.config.memory import DeskSections
from proxy.files.desk_syncing import DeskSyncing
from proxy.files.names import folder_of
from proxy.files.syncing import Synced, Syncs
from tests.examples import examples
from tests.files.syncing_once import SCOPE, Stored
from tests.stores import AtOnce, desks

T = TypeVar("T")

PLAN = "plan.md"


class Killed(BaseException):
    """The process ends here."""


class Interleavings(RuleBasedStateMachine):
    """A person with an editor, the model, and syncs of which some are killed. Nobody changes a line: they write new
    ones, and delete them, so that it is known whose each is."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.temporary = tempfile.TemporaryDirectory()
        self.root = Path(self.temporary.name)
        self.folder = self.root / folder_of(SCOPE)
        self.folder.mkdir(parents=True)
        self.file = self.folder / PLAN
        self.store = desks(AtOnce())
        self.executor = ThreadPoolExecutor(1)
        self.numbers = count(1)
        self.now = 1e10  # nobody is saving
        self.left: int | None = None  # steps until the process is killed
        self.own: set[str] = set()  # lines that the person wrote and nobody has deleted
        self.made = self.new_process()

    def new_process(self) -> Syncs:
        desk = DeskSyncing(self.store, DeskSections(), len, "Rules.", lambda: self.now)
        return Syncs(self.root, Stored(AtOnce()), self.executor, desk, on_step=self.step)

    def step(self, _: str) -> None:
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                self.left = None
                raise Killed

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(work)

    def stored(self) -> str:
        found = self.run(self.store.document(SCOPE, PLAN))
        return "" if found is None or found.is_removed else found.text

    def text(self) -> str:
        return self.file.read_text() if self.file.exists() else ""

    def changed(self, data: st.DataObject, text: str, who: str) -> tuple[str, set[str], set[str]]:
        """The text with some lines deleted, and new ones written; these, and those that are gone."""
        lines = text.splitlines()
        gone = {
            lines.pop(data.draw(st.integers(0, len(lines) - 1))) for _ in range(data.draw(st.integers(0, 1))) if lines
        }
        new = [f"{who} {next(self.numbers)}" for _ in range(data.draw(st.integers(0, 2)))]
        for line in new:
            lines.insert(data.draw(st.integers(0, len(lines))), line)
        return "".join(f"{line}\n" for line in lines), set(new), gone

    # --- what happens ---

    @rule(data=st.data())
    def the_model_writes(self, data: st.DataObject) -> None:
        text, _, gone = self.changed(data, self.stored(), "model")
        self.put(text)
        self.own -= gone

    def put(self, text: str) -> None:
        now = self.run(self.store.document(SCOPE, PLAN))
        version = now.version if now else 0
        if text or now is not None:
            assert self.run(self.store.put(SCOPE, PLAN, text or None, version=version, at=self.tick(), by="model"))

    @rule(data=st.data())
    def the_person_saves(self, data: st.DataObject) -> None:
        text, new, gone = self.changed(data, self.text(), "person")
        self.file.write_text(text)
        self.own = (self.own | new) - gone

    @rule()
    def sync(self) -> None:
        self.run(self.made.sync(SCOPE))

    @rule(steps=st.integers(0, 40))
    def a_sync_is_killed(self, steps: int) -> None:
        self.left = steps
        try:
            self.run(self.made.sync(SCOPE))
        except Killed:
            self.made = self.new_process()
        self.left = None

    def tick(self) -> float:
        self.now += 1.0
        return self.now

    # --- what holds ---

    @invariant()
    def nothing_is_there_twice(self) -> None:
        for text in (self.stored(), self.text()):
            assert max(Counter(text.splitlines()).values(), default=1) == 1

    @invariant()
    def nothing_of_the_person_is_lost(self) -> None:
        assert self.own <= {*self.stored().splitlines(), *self.text().splitlines()}

    def teardown(self) -> None:
        try:
            first, second = self.settled(), self.settled()
            assert not first.problem
            assert (second.documents, second.is_written) == ((), False), "a fixed point, after one sync"
            assert self.text() == self.stored()
            assert self.own <= set(self.text().splitlines())
        finally:
            self.executor.shutdown()
            self.temporary.cleanup()
            self.loop.close()

    def settled(self) -> Synced:
        return self.run(self.made.sync(SCOPE))


TestInterleavings: Any = Interleavings.TestCase
TestInterleavings.settings = settings(max_examples=examples(40), stateful_step_count=12, deadline=None)


@pytest.mark.long
def test_a_thousand_interleavings() -> None:
    run_state_machine_as_test(
        Interleavings, settings=settings(max_examples=1_000, stateful_step_count=14, deadline=None)
    )
