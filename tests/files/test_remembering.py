"""A person's folder keeps up with their memory: learnt, ended, forgotten, wiped, restored; one after the other, off the
event loop, and never at the cost of an answer."""

from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import time
from typing import Any

import pytest

from proxy.files import journal, recalling, snapshot_files, snapshots
from proxy.files.folder import MOST_BYTES, Folder
from proxy.files.journal import Learnt
from proxy.files.last_turns import last_turns
from proxy.files.lines import decoded
from proxy.files.names import long_code
from proxy.files.remembering import LATE, NAMED, Remembering, forget
from proxy.files.scrubbing import Gone
from proxy.memory.commands import Order, mark
from proxy.memory.library import Library
from proxy.memory.shelf import Shelf
from proxy.memory.watching import MemoryWatch
from proxy.storage.sqlite.archive import SqliteArchive
from proxy.storage.sqlite.facts import SqliteFacts
from proxy.storage.sqlite.wipes import SqliteWipes
from proxy.tasks import Tasks
from proxy.types import ArchivedTurn, Forgetting
from proxy.types.curation import Digest, MemoryEvent
from tests import stores
from tests.embedding.engines import until
from tests.files.held import NOON, stated, talk
from tests.memory.indexed import link
from tests.stores import AtOnce

WHO = f"{'0123456789abcdef' * 2}/ana"
TEA, LIMA = stated("I drink green tea", 1), stated("I live in Lima", 2)
TALK = (talk("I drink green tea", "Noted.", number=1), talk("Where is Quito?", "In Ecuador.", number=2, at=NOON + 60))
LOG = "2026-11-23.md"


def nothing(_link: bytes) -> bool:
    return False


@dataclass
class House:
    root: Path
    tasks: Tasks = field(default_factory=Tasks)
    now: float = NOON
    failed: list[tuple[str, str]] = field(default_factory=list)
    turns: Sequence[ArchivedTurn] = TALK
    deadline: float = 5.0

    def __post_init__(self) -> None:
        self.folder = Folder(self.root, WHO)
        self.keeper = self.another()

    def another(self, **bounds: Any) -> Remembering:
        """That of another process, as it were."""

        async def said(_scope: str, _session: str) -> Sequence[ArchivedTurn]:
            return self.turns

        def failed(stage: str, reason: str) -> None:
            self.failed.append((stage, reason))

        bounds = {"deadline": self.deadline, "pauses": (0.0,), **bounds}
        return Remembering(self.root, said, self.tasks, failed, clock=lambda: self.now, **bounds)

    def text(self, name: str = LOG) -> str:
        return (self.folder.read(name) or b"").decode()

    def every(self) -> str:
        return "\n".join(path.read_text("utf-8") for path in sorted(self.folder.path.rglob("*")) if path.is_file())

    async def settled(self) -> None:
        await self.keeper.work.settled(WHO)


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    opened = House(tmp_path / "files")
    yield opened
    await opened.tasks.drain(5.0)
    opened.keeper.work.close()


@pytest.mark.note("Extender/1")
def test_it_follows_memory(house: House) -> None:
    watch: MemoryWatch = house.keeper
    assert watch is house.keeper


@pytest.mark.note("Logs/1", "Archivos/3")
async def test_what_is_learnt_is_in_the_daily_log_once(house: House) -> None:
    house.keeper.learnt(WHO, [TEA], {}, NOON)
    house.keeper.learnt(WHO, [TEA, LIMA], {}, NOON)
    house.another().learnt(WHO, [TEA], {}, NOON)
    await house.tasks.drain(5.0)
    lines = house.text().splitlines()
    assert lines[0] == "# 2026-11-23"
    assert [line.partition(" <!--")[0] for line in lines[2:]] == [
        "- 12:00 stated: I drink green tea",
        "- 12:00 stated: I live in Lima",
    ]
    assert house.failed == []


@pytest.mark.note("Snapshots/3")
async def test_a_conversation_that_ends_leaves_a_read_only_snapshot(house: House) -> None:
    await house.keeper.ended(WHO, "s-1", "idle")
    (name,) = house.folder.names()
    assert name == "snapshots/2026-11-23-drink-green-tea-quito.md"
    assert (house.folder.path / name).stat().st_mode & 0o777 == 0o400
    assert [said.text for said in snapshots.parsed(house.text(name)).said] == [
        "I drink green tea", "Noted.", "Where is Quito?", "In Ecuador.",
    ]  # fmt: skip
    house.turns = [*TALK, talk("Thanks", number=3)]
    await house.keeper.ended(WHO, "s-1", "clear")
    assert house.folder.names() == [name]
    assert house.folder.kept() == []


async def test_what_is_forgotten_leaves_every_file_and_lines_stay(house: House) -> None:
    house.keeper.learnt(WHO, [TEA, LIMA], {}, NOON)
    await house.keeper.ended(WHO, "s-1", "idle")
    house.folder.keep(b"# Memory\n- I drink green tea <!-- o:aaaa -->\n", "MEMORY.md")
    house.folder.append("2026-11-20.md", b"I drink\ngreen tea!\n")
    before = len(house.text().splitlines())
    house.now += 300
    house.keeper.forgotten(WHO, [TEA.id], [link("1.0"), *TEA.links], [TEA.value])
    await house.settled()
    lines = house.text().splitlines()
    assert lines[2].startswith(f"- 12:00 forgotten <!-- o:{long_code(TEA.id)} m:")
    assert lines[before:] == [f"- 12:05 forgotten <!-- o:{long_code(TEA.id)} -->"]
    assert "I live in Lima" in lines[3]
    assert "tea" not in house.every().casefold()
    assert house.folder.names() == ["2026-11-20.md", LOG, "snapshots/2026-11-23-quito.md"]
    assert (house.folder.path / "snapshots/2026-11-23-quito.md").stat().st_mode & 0o777 == 0o400
    once = house.every()
    house.keeper.forgotten(WHO, [TEA.id], [link("1.0")], [TEA.value])
    await house.settled()
    assert house.every() == once


async def test_a_conversation_on_its_way_into_a_snapshot_is_forgotten_too(house: House) -> None:
    house.now = NOON + 30
    house.keeper.forgotten(WHO, [TEA.id], [link("1.0")], [TEA.value])
    house.turns = [*TALK, talk("So I drink green tea again", "Yes.", number=3, at=NOON + 90)]
    await house.keeper.ended(WHO, "s-1", "idle")
    (name,) = house.folder.names()
    assert [said.text or said.forgotten for said in snapshots.parsed(house.text(name)).said] == [
        "forgotten", "forgotten", "Where is Quito?", "In Ecuador.", "So I drink green tea again", "Yes.",
    ]  # fmt: skip


async def test_a_wipe_puts_all_aside_and_can_be_undone(house: House) -> None:
    house.keeper.learnt(WHO, [TEA], {}, NOON)
    await house.settled()
    before = house.text()
    house.keeper.wiped(WHO, NOON + 30, NOON + 1_000)
    await house.keeper.ended(WHO, "s-1", "idle")
    assert LOG not in house.folder.names()
    (name,) = house.folder.names()
    assert [said.text for said in snapshots.parsed(house.text(name)).said] == ["Where is Quito?", "In Ecuador."]
    house.keeper.forgotten(WHO, [LIMA.id], [], [LIMA.value])
    house.keeper.restored(WHO, NOON + 1_000)
    await house.settled()
    assert house.text().startswith(before)


async def test_a_wipe_that_cannot_be_undone_leaves_nothing(house: House) -> None:
    house.keeper.learnt(WHO, [TEA], {}, NOON)
    house.keeper.wiped(WHO, NOON + 30, NOON + 30)
    await house.settled()
    assert "tea" not in house.every()


async def test_what_waits_for_the_folder_of_somebody_who_is_erased_is_left(house: House) -> None:
    for fact in (TEA, replace(TEA, id="f-00000000000000aa", value="I grow roses")):
        house.keeper.learnt(WHO, [fact], {}, NOON)
    house.keeper.erased(WHO)
    await house.settled()
    assert "roses" not in house.every()


async def test_what_a_wipe_put_aside_goes_when_its_time_has_passed(house: House) -> None:
    house.keeper.learnt(WHO, [TEA], {}, NOON)
    house.keeper.wiped(WHO, NOON + 30, NOON + 1_000)
    house.keeper.tidy([WHO])
    await house.settled()
    assert "tea" in house.every()
    house.now = NOON + 1_001
    assert await house.another().beside(WHO, b"", nothing, nothing) is not None
    await house.tasks.drain(5.0)
    assert "tea" not in house.every()


class Killed(BaseException):
    """Nothing of ours catches it, as a kill."""


@pytest.mark.parametrize("can_exchange", [True, False])
def test_a_forgetting_that_is_cut_off_at_any_step_is_done_by_the_next(tmp_path: Path, *, can_exchange: bool) -> None:
    gone = Gone(frozenset([TEA.id]), frozenset(TEA.links), frozenset([TEA.value]))
    told = journal.forgotten([TEA.id], NOON + 60)
    is_cut, steps = True, 0
    while is_cut:
        steps += 1
        folder = Folder(tmp_path / str(steps), WHO, can_exchange=can_exchange)
        journal.write(folder, journal.events(Learnt((TEA, LIMA), {}, NOON)))
        journal.write(folder, journal.noted([HOT]))
        for digest in (OF_DAY, replace(OF_DAY, span="week", text="Drinks all week.")):
            if (made := journal.of_digest(digest)) is not None:
                journal.retell(folder, made)
        snapshot_files.write(folder, snapshots.taken(TALK, "s", "idle"))
        snapshot_files.rename(folder, snapshots.mark_of("s"), "drinks-and-cities")
        folder.keep(b"- I drink green tea", "MEMORY.md")
        left = steps

        def cut(_step: str) -> None:
            nonlocal left
            left -= 1
            if left == 0:
                raise Killed

        folder.on_step = cut
        is_cut = False
        try:
            forget(folder, gone, told)
        except Killed:
            is_cut = True
        forget(Folder(tmp_path / str(steps), WHO, can_exchange=can_exchange), gone, told)
        texts = [path.read_text() for path in folder.path.rglob("*") if path.is_file()]
        assert not any("tea" in text.casefold() or "rink" in text for text in texts)
        assert not any("rink" in name for name in folder.names())
        assert sum("I live in Lima" in text for text in texts) == 1
    assert steps > 10


async def test_a_single_conversation_has_no_folder(house: House) -> None:
    scope = f"{WHO}~s-1"
    house.keeper.learnt(scope, [TEA], {}, NOON)
    house.keeper.happened(scope, [HOT])
    house.keeper.digested(scope, OF_DAY)
    house.keeper.named(scope, "s-1", "drinks")
    house.keeper.forgotten(scope, [TEA.id], [], [TEA.value])
    house.keeper.wiped(scope, NOON, NOON)
    await house.keeper.ended(scope, "s-1", "idle")
    assert await house.keeper.beside(scope, b"", nothing, nothing) is None
    assert house.keeper.work.pending == 0
    assert not house.root.exists()


async def test_forgetting_makes_no_folder(house: House) -> None:
    house.keeper.forgotten(WHO, [TEA.id], [], [TEA.value])
    await house.settled()
    assert not house.root.exists()


# --- what a model finds -----------------------------------------------------------------------------------------------

HOT = MemoryEvent("e-0123456789abcdef", NOON + 60, "s-1", 1, "Someone prefers a hot drink", TEA.links[0])
OF_DAY = Digest("day", journal.begun(LOG), "Drinks were the topic.", by_model=True)
CALLED = "snapshots/2026-11-23-drinks-and-cities.md"


@pytest.mark.note("Flush/3")
async def test_events_and_digests_are_in_the_logs_of_their_days_once(house: House) -> None:
    for keeper in (house.keeper, house.keeper, house.another()):
        keeper.happened(WHO, [HOT, replace(HOT, code="e-1", at=NOON - 86_400)])
        keeper.happened(WHO, [])
        keeper.digested(WHO, OF_DAY)
        keeper.digested(WHO, replace(OF_DAY, span="hour"))
    await house.tasks.drain(5.0)
    assert [line.partition(" <!--")[0] for line in house.text().splitlines()[2:]] == [
        "- 12:01 noted: Someone prefers a hot drink",
        "- 23:59 digest: Drinks were the topic.",
    ]
    assert house.text("2026-11-22.md").count("noted") == 1
    assert house.failed == []


@pytest.mark.note("Snapshots/2")
@pytest.mark.parametrize("goes", [False, True])
async def test_a_name_is_given_to_the_snapshot_that_is_there_or_comes_soon(house: House, *, goes: bool) -> None:
    house.keeper.named(WHO, "s-2", "somebody-elses")
    if goes:
        await house.keeper.ended(WHO, "s-1", "idle")
    house.keeper.named(WHO, "s-1", "Drinks and cities!")
    await house.settled()
    assert house.folder.names() == ([CALLED] if goes else [])
    await house.keeper.ended(WHO, "s-1", "clear")
    assert house.folder.names() == [CALLED]
    assert (house.folder.path / CALLED).stat().st_mode & 0o777 == 0o400
    assert house.failed == []


async def test_a_name_does_not_wait_for_ever_and_makes_no_folder(house: House) -> None:
    house.keeper.named(WHO, "s-1", "drinks-and-cities")
    house.keeper.named(WHO, "s-1", "\N{WAVING HAND SIGN}")
    await house.settled()
    assert not house.root.exists()
    house.now += NAMED + 1
    await house.keeper.ended(WHO, "s-1", "idle")
    assert house.folder.names() == ["snapshots/2026-11-23-drink-green-tea-quito.md"]


async def test_what_a_model_made_of_what_is_forgotten_goes_with_it(house: House) -> None:
    house.keeper.happened(WHO, [HOT])
    house.keeper.digested(WHO, OF_DAY)
    await house.keeper.ended(WHO, "s-1", "idle")
    house.keeper.named(WHO, "s-1", "drinks-and-cities")
    house.keeper.named(WHO, "s-2", "drinks-again")
    await house.settled()
    house.now += 300
    house.keeper.forgotten(WHO, [TEA.id], [link("1.0"), *TEA.links], [TEA.value])
    await house.keeper.ended(WHO, "s-2", "idle")
    assert "rink" not in house.every()
    assert house.folder.names() == [LOG, "snapshots/2026-11-23-quito-2.md", "snapshots/2026-11-23-quito.md"]


def test_of_a_forgetting_that_is_cut_off_digests_are_not_all_that_is_left(tmp_path: Path) -> None:
    """They do not say what they are of: whoever looks next would not find them."""
    is_cut, steps = True, 0
    while is_cut:
        steps += 1
        folder = Folder(tmp_path / str(steps), WHO)
        journal.write(folder, journal.noted([HOT]))
        for digest in (OF_DAY, replace(OF_DAY, span="week")):
            if (made := journal.of_digest(digest)) is not None:
                journal.retell(folder, made)
        left = steps

        def cut(_step: str) -> None:
            nonlocal left
            left -= 1
            if left == 0:
                raise Killed

        folder.on_step = cut
        is_cut = False
        try:
            forget(folder, Gone(links=frozenset(TEA.links)), ())
        except Killed:
            is_cut = True
        texts = {name: decoded(folder.read(name) or b"") for name in folder.every()}
        is_left = any("Drinks" in text for text in texts.values())
        assert not is_left or recalling.gone(texts, set(TEA.links).__contains__)
        assert is_cut or not is_left
    assert steps > 10


@pytest.mark.parametrize("is_wipe", [False, True])
async def test_nor_is_it_written_late(house: House, *, is_wipe: bool) -> None:
    await house.keeper.ended(WHO, "s-1", "idle")
    house.now = NOON + 300
    if is_wipe:
        house.keeper.wiped(WHO, house.now, house.now)
    else:
        house.keeper.forgotten(WHO, [TEA.id], [link("1.0"), *TEA.links], [TEA.value])
    await house.keeper.ended(WHO, "s-1", "idle")
    house.keeper.happened(WHO, [HOT, replace(HOT, code="e-1", link=link("9"), text="So I drink green tea.")])
    house.keeper.digested(WHO, OF_DAY)
    house.keeper.named(WHO, "s-1", "drinks-and-cities")
    await house.settled()
    assert "rink" not in house.every()
    assert not any("rink" in name for name in house.folder.names())
    house.now += LATE + 1
    house.keeper.digested(WHO, replace(OF_DAY, text="Cities were the topic."))
    if not is_wipe:
        house.keeper.digested(WHO, replace(OF_DAY, text="What was said: I drink green tea."))
    house.keeper.happened(WHO, [replace(HOT, at=house.now, text="Tea again")])
    await house.settled()
    assert [line.partition(" <!--")[0] for line in house.text().splitlines()[-2:]] == [
        "- 23:59 digest: Cities were the topic.",
        "- 12:06 noted: Tea again",
    ]


async def test_for_whom_was_erased_no_name_waits(house: House) -> None:
    house.keeper.named(WHO, "s-1", "drinks-and-cities")
    await house.settled()
    house.keeper.erased(WHO)
    await house.keeper.ended(WHO, "s-1", "idle")
    assert CALLED not in house.folder.names()


# --- what fails -------------------------------------------------------------------------------------------------------


async def test_a_folder_that_is_no_folder_is_counted_and_costs_nothing(house: House, caplog: Any) -> None:
    house.root.write_text("a file")
    house.keeper.learnt(WHO, [TEA], {}, NOON)
    house.keeper.forgotten(WHO, [TEA.id], [], [TEA.value])
    await house.keeper.ended(WHO, "s-1", "idle")
    assert await house.keeper.beside(WHO, b"", nothing, nothing) is None
    assert {stage for stage, _ in house.failed} == {"files"}
    assert "tea" not in caplog.text


async def test_a_forgetting_that_fails_is_tried_again(house: House) -> None:
    house.keeper.learnt(WHO, [TEA], {}, NOON)
    await house.settled()
    log = house.folder.path / LOG
    text = log.read_bytes()
    log.write_bytes(text + b"x" * MOST_BYTES)
    keeper = house.another(pauses=(0.01,) * 500)
    keeper.forgotten(WHO, [TEA.id], [], [TEA.value])
    await until(lambda: bool(house.failed))
    log.write_bytes(text)
    await keeper.work.settled(WHO)
    assert "tea" not in house.text()
    assert {reason for _, reason in house.failed} == {"Unusable"}


# --- what only files have ---------------------------------------------------------------------------------------------


async def test_what_only_files_have_is_brought_back(house: House) -> None:
    house.keeper.learnt(WHO, [TEA, LIMA], {}, NOON)
    await house.keeper.ended(WHO, "s-1", "idle")
    found = await house.keeper.beside(WHO, b"", {link("m2"), link("1.0"), link("1.1")}.__contains__, nothing)
    assert found is not None
    assert await house.keeper.beside(WHO, found.version, nothing, nothing) is None
    assert [said.text for turn in found.turns for said in turn.utterances] == [
        "I drink green tea", "Where is Quito?", "In Ecuador.",
    ]  # fmt: skip


async def test_words_that_a_killed_process_left_are_taken_out_at_the_next_look(house: House) -> None:
    house.now = NOON - 5 * 86_400
    house.keeper.learnt(WHO, [stated("I drink green tea", 1, at=house.now)], {}, house.now)
    house.now = NOON
    house.keeper.learnt(WHO, [LIMA], {}, NOON)
    await house.keeper.ended(WHO, "s-1", "idle")
    keeper = house.another()
    gone = {link("2.1"), mark("I drink green tea")}
    found = await keeper.beside(WHO, b"", gone.__contains__, gone.__contains__)
    assert found is not None
    await keeper.work.settled(WHO)
    assert "tea" not in house.every().casefold()
    assert "Ecuador" not in house.every()
    assert "I live in Lima" in house.every()


async def test_nothing_from_before_a_wipe_is_brought_back_even_if_the_files_stay(house: House) -> None:
    house.keeper.learnt(WHO, [TEA], {}, NOON)
    await house.settled()
    (house.folder.path / ".aside").write_text("in the way")
    house.keeper.wiped(WHO, NOON + 30, NOON + 1_000)
    house.keeper.learnt(WHO, [stated("I live in Lima", 2, at=NOON + 60)], {}, NOON + 60)
    found = await house.keeper.beside(WHO, b"", nothing, nothing)
    assert found is not None
    assert [said.text for turn in found.turns for said in turn.utterances] == ["I live in Lima"]


# --- with a library ---------------------------------------------------------------------------------------------------


@dataclass
class Kept:
    """A library whose folders are kept up."""

    house: House
    archive: SqliteArchive = field(default_factory=stores.archive)
    executor: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1))

    def __post_init__(self) -> None:
        database = AtOnce()
        self.facts, self.wipes = SqliteFacts(database), SqliteWipes(database)
        self.keeper = Remembering(
            self.house.root,
            lambda scope, session: last_turns(self.library, self.executor, scope, session),
            self.house.tasks,
            lambda stage, reason: self.house.failed.append((stage, reason)),
            clock=lambda: self.house.now,
        )
        self.library = Library(
            self.facts, self.archive, stores.states(), self.wipes, self.executor, self.house.tasks,
            undo=1_000.0, watch=self.keeper, beside=self.keeper.beside,
        )  # fmt: skip

    async def shelf(self) -> Shelf:
        shelf = await self.library.shelf(WHO)
        await self.library.indexes.read(WHO, shelf, seconds=5.0)
        return shelf


async def test_what_a_library_learns_forgets_wipes_and_restores_is_in_the_files(house: House) -> None:
    kept = Kept(house)
    house.now = now = time()
    tea, lima = stated("I drink green tea", 1, at=now), stated("I live in Lima", 2, at=now)
    kept.library.learn(WHO, await kept.shelf(), [tea, lima])
    await kept.keeper.work.settled(WHO)
    assert "I drink green tea" in house.every()
    await kept.library.forget(WHO, [tea])
    await kept.keeper.work.settled(WHO)
    assert "tea" not in house.every()
    logs = house.folder.names()
    order = Order((Forgetting(""),), now + 1, (link("w"),))
    kept.library.hide(WHO, order)
    await kept.library.carry_out(WHO, order, lambda: None)
    await kept.keeper.work.settled(WHO)
    assert house.folder.names() == []
    assert "I live in Lima" in house.every()
    assert await kept.library.restore(WHO) is not None
    await kept.keeper.work.settled(WHO)
    assert house.folder.names() == logs
    assert house.failed == []
    kept.executor.shutdown()


@pytest.mark.parametrize("is_archived", [True, False])
async def test_a_snapshot_has_what_was_said_whether_it_is_archived_or_not(house: House, *, is_archived: bool) -> None:
    kept = Kept(house, stores.archive() if is_archived else SqliteArchive(stores.nothing(), 0.0))
    shelf = await kept.shelf()
    for turn in TALK:
        shelf.put(turn, None)
        kept.library.keep_turn(WHO, turn, None)
    await kept.keeper.ended(WHO, "s", "idle")
    (name,) = house.folder.names()
    texts = [said.text for said in snapshots.parsed(house.text(name)).said]
    assert texts[-2:] == ["Where is Quito?", "In Ecuador."]
    kept.executor.shutdown()


@pytest.mark.note("Logs/3", "Rumi ADR/4")
async def test_what_only_files_have_is_on_the_shelf_and_leaves_it_when_it_leaves_them(house: House) -> None:
    await house.keeper.ended(WHO, "s-1", "idle")
    house.folder.append(LOG, b"bought milk\n")
    kept = Kept(house, SqliteArchive(stores.nothing(), 0.0))
    shelf = await kept.shelf()
    assert {link("1.0"), link("1.1"), link("2.0"), link("2.1")} < set(shelf.beside)
    assert len(shelf.index) == 5
    assert (shelf.kept, shelf.unstored) == (set(), 0.0)
    shelf.forget(frozenset([link("2.0")]), NOON)
    (house.folder.path / LOG).unlink()
    await kept.shelf()
    shelf = await kept.shelf()
    assert set(shelf.beside) == {link("1.0"), link("1.1"), link("2.1")}
    assert len(shelf.index) == 3
    kept.executor.shutdown()
