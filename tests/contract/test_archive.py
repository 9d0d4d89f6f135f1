"""What every Archive does, whatever it keeps its turns in."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.storage.postgres.archive import PostgresArchive
from proxy.storage.recollection import Archive, ArchiveChanges, StoredShelf
from proxy.storage.sqlite.archive import SqliteArchive
from proxy.storage.sqlite.database import Database
from proxy.tasks import Tasks
from proxy.types import ArchivedTurn, Utterance, Vector
from tests import stores
from tests.contract.model import ModelArchive
from tests.examples import examples
from tests.postgres import opened

Backend = Callable[[Path], AbstractAsyncContextManager[Archive]]

NOW = 1_700_000_000.5
TTL = 90 * 86_400.0
VECTORS = np.array([[0.5, 0.5, -0.5, 0.5], [0.0, 1.0, 0.0, 0.0]], np.float32)
OTHER = np.array([[0.0, 0.0, 1.0, 0.0]], np.float32)


def link(name: str) -> bytes:
    return name.encode().ljust(16, b"\0")


def turn(number: int, *, session: str = "s", branch: str = "", at: float = NOW) -> ArchivedTurn:
    """One of a conversation; `branch`: with another answer to the same message."""
    asked, answered = link(f"{number} asked"), link(f"{number} answered{branch}")
    return ArchivedTurn(
        link=answered,
        parent=link(f"{number - 1} answered") if number > 1 else b"",
        session=session,
        number=number,
        at=at + number,
        messages=b'[{"role":"user"},{"role":"assistant"}]',
        utterances=(
            Utterance("user", f"¿y el {number}? «\0»", asked),
            Utterance("assistant", f"the {number}th{branch}", answered),
        ),
    )


FIRST, SECOND, THIRD = (turn(number) for number in (1, 2, 3))


@asynccontextmanager
async def sqlite(folder: Path, name: str | None = "olvido.sqlite3") -> AsyncIterator[Archive]:
    database = Database(stores.begun(folder / name) if name else None, Tasks())
    try:
        yield SqliteArchive(database, TTL)
    finally:
        await database.close()


def memory(folder: Path) -> AbstractAsyncContextManager[Archive]:
    return sqlite(folder, name=None)


@asynccontextmanager
async def postgres(folder: Path) -> AsyncIterator[Archive]:
    async with opened(folder) as database:
        yield PostgresArchive(database, TTL)


BACKENDS = {"file": sqlite, "memory": memory, "postgres": postgres}


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> Backend:
    return BACKENDS[request.param]


@pytest.fixture
async def archive(backend: Backend, tmp_path: Path) -> AsyncIterator[Archive]:
    async with backend(tmp_path) as opened:
        yield opened


async def turns(archive: Archive, scope: str = "a/", *, now: float = NOW) -> list[ArchivedTurn]:
    await archive.flush()
    return [each for each, _ in (await archive.changes(scope, 0, now)).entries]


class TestArchive:
    @pytest.mark.note("v2 Resumen/3")
    @pytest.mark.parametrize("vectors", [None, VECTORS, OTHER, np.zeros((0, 4), np.float32)])
    async def test_a_turn_comes_back_as_it_was(self, archive: Archive, vectors: Vector | None) -> None:
        archive.add("a/", SECOND, vectors)
        await archive.flush()
        ((found, theirs),) = (await archive.changes("a/", 0, NOW)).entries
        assert found == SECOND
        if vectors is None:
            assert theirs is None
        else:
            assert theirs is not None
            assert theirs.dtype == np.float32
            assert theirs.shape == vectors.shape
            assert theirs.tolist() == vectors.tolist()

    async def test_an_empty_archive_has_nothing(self, archive: Archive) -> None:
        archive.forget("a/", [])
        archive.prune(NOW)
        changes = await archive.changes("a/", 0, NOW)
        assert (changes.entries, changes.gone, changes.upto, changes.more) == ((), (), 0, False)
        assert await archive.known("a/", [FIRST.link]) == set()
        assert await archive.known("a/", []) == set()
        assert await archive.path("a/", FIRST.link, 9) == []
        assert await archive.latest("a/", "s") is None

    async def test_what_is_known_already_is_not_taken_again(self, archive: Archive) -> None:
        archive.add("a/", FIRST, VECTORS)
        await archive.flush()
        seen = await archive.changes("a/", 0, NOW)
        archive.add("a/", replace(FIRST, session="t", at=NOW + 99), OTHER)
        archive.add("a/", FIRST, None)
        await archive.flush()
        assert await archive.changes("a/", seen.upto, NOW) == replace(seen, entries=())
        ((found, vectors),) = (await archive.changes("a/", 0, NOW)).entries
        assert found == FIRST
        assert vectors is not None
        assert vectors.tolist() == VECTORS.tolist()

    @pytest.mark.note("1.3/7")
    @pytest.mark.parametrize("flushed", [True, False])
    async def test_vectors_that_were_missing_may_come_later(self, archive: Archive, flushed: bool) -> None:
        archive.add("a/", FIRST, None)
        archive.add("a/", SECOND, VECTORS)
        if flushed:
            await archive.flush()
        archive.add("a/", replace(FIRST, number=9), OTHER)
        archive.add("a/", FIRST, VECTORS)
        await archive.flush()
        entries = (await archive.changes("a/", 0, NOW)).entries
        assert [each for each, _ in entries] == [SECOND, FIRST]
        assert entries[1][1] is not None
        assert entries[1][1].tolist() == OTHER.tolist()
        archive.forget("a/", [FIRST.utterances[0].link])
        assert await turns(archive) == [SECOND]

    async def test_a_reader_gets_what_has_changed_since_it_asked_last(self, archive: Archive) -> None:
        archive.add("a/", FIRST, None)
        archive.add("a/", SECOND, None)
        await archive.flush()
        seen = await archive.changes("a/", 0, NOW)
        assert [each for each, _ in seen.entries] == [FIRST, SECOND]
        archive.add("a/", THIRD, None)
        archive.add("a/", FIRST, VECTORS)
        archive.forget("a/", [SECOND.link])
        await archive.flush()
        news = await archive.changes("a/", seen.upto, NOW)
        assert [each for each, _ in news.entries] == [THIRD, FIRST]
        assert news.gone == (SECOND.link,)
        last = await archive.changes("a/", news.upto, NOW)
        assert (last.entries, last.gone, last.upto, last.more) == ((), (), news.upto, False)

    async def test_pages_follow_one_another(self, archive: Archive) -> None:
        for number in range(1, 8):
            archive.add("a/", turn(number), None)
            archive.add("b/", turn(number), None)
        archive.forget("a/", [turn(2).link])
        await archive.flush()
        pages: list[list[int | bytes]] = []
        upto, more = 0, True
        while more:
            changes = await archive.changes("a/", upto, NOW, limit=3)
            pages.append([*(each.number for each, _ in changes.entries), *changes.gone])
            upto, more = changes.upto, changes.more
        assert pages == [[1, 3, 4], [5, 6, 7], [turn(2).link]]

    @pytest.mark.parametrize("by", [SECOND.link, *(said.link for said in SECOND.utterances)])
    async def test_a_turn_is_forgotten_by_its_link_or_that_of_a_message(self, archive: Archive, by: bytes) -> None:
        for each in (FIRST, SECOND, THIRD):
            archive.add("a/", each, VECTORS)
        archive.forget("a/", [by])
        assert await turns(archive) == [FIRST, THIRD]
        assert set((await archive.changes("a/", 0, NOW)).gone) == {by, SECOND.link}
        assert await archive.known("a/", [FIRST.link, SECOND.link, THIRD.link]) == {FIRST.link, THIRD.link}

    async def test_with_a_message_all_answers_to_it_are_forgotten(self, archive: Archive) -> None:
        archive.add("a/", SECOND, None)
        archive.add("a/", turn(2, branch=" again"), None)
        archive.forget("a/", [SECOND.utterances[0].link])
        assert await turns(archive) == []

    async def test_what_is_forgotten_does_not_come_again(self, archive: Archive) -> None:
        archive.add("a/", FIRST, None)
        archive.forget("a/", [FIRST.link, SECOND.utterances[0].link])
        archive.add("a/", FIRST, VECTORS)
        archive.add("a/", SECOND, VECTORS)  # it was not there when its message was forgotten
        await archive.flush()
        seen = await archive.changes("a/", 0, NOW)
        archive.add("a/", FIRST, VECTORS)
        archive.add("a/", SECOND, VECTORS)
        archive.forget("a/", [FIRST.link])
        await archive.flush()
        assert seen.entries == ()
        assert set(seen.gone) == {FIRST.link, SECOND.link, SECOND.utterances[0].link}
        assert await archive.changes("a/", 0, NOW) == seen

    @pytest.mark.note("1.2/8", "7 NO/1")
    async def test_a_turn_is_pruned_when_its_time_has_passed(self, archive: Archive) -> None:
        archive.add("a/", FIRST, None)
        archive.add("b/", SECOND, None)
        await archive.flush()
        assert await turns(archive, now=FIRST.at + TTL - 1) == [FIRST]
        assert await turns(archive, now=FIRST.at + TTL) == []
        archive.prune(FIRST.at + TTL - 0.5)
        assert await turns(archive) == [FIRST]
        archive.prune(FIRST.at + TTL)
        assert await turns(archive) == []
        assert await turns(archive, "b/") == [SECOND]
        assert await archive.known("a/", [FIRST.link]) == set()

    async def test_a_turn_that_was_pruned_may_come_again(self, archive: Archive) -> None:
        archive.add("a/", FIRST, None)
        await archive.flush()
        seen = await archive.changes("a/", 0, NOW)
        archive.prune(FIRST.at + TTL)
        again = replace(FIRST, at=FIRST.at + TTL)
        archive.add("a/", again, None)
        await archive.flush()
        assert [each for each, _ in (await archive.changes("a/", seen.upto, NOW + TTL)).entries] == [again]

    async def test_pruning_takes_nothing_from_what_was_forgotten(self, archive: Archive) -> None:
        archive.forget("a/", [FIRST.link])
        archive.prune(FIRST.at + TTL)
        archive.add("a/", FIRST, None)
        assert await turns(archive) == []

    async def test_of_some_links_it_knows_those_of_turns(self, archive: Archive) -> None:
        archive.add("a/", FIRST, None)
        archive.add("b/", SECOND, None)
        assert await archive.known("a/", [SECOND.link, FIRST.utterances[0].link, FIRST.link]) == {FIRST.link}

    async def test_a_path_leads_back_along_the_parents(self, archive: Archive) -> None:
        branch = turn(2, branch=" again")
        for each in (THIRD, branch, FIRST, SECOND):
            archive.add("a/", each, VECTORS)
        assert await archive.path("a/", THIRD.link, 9) == [FIRST, SECOND, THIRD]
        assert await archive.path("a/", branch.link, 9) == [FIRST, branch]
        assert await archive.path("a/", THIRD.link, 2) == [SECOND, THIRD]
        assert await archive.path("a/", THIRD.link, 0) == []
        assert await archive.path("a/", THIRD.utterances[0].link, 9) == []

    async def test_a_path_ends_where_a_parent_is_not_there(self, archive: Archive) -> None:
        archive.add("a/", FIRST, None)
        archive.add("a/", THIRD, None)
        assert await archive.path("a/", THIRD.link, 9) == [THIRD]

    @pytest.mark.parametrize("first", ["add", "forget"])
    async def test_a_path_goes_on_before_what_was_forgotten(self, archive: Archive, first: str) -> None:
        if first == "forget":
            archive.forget("a/", [SECOND.utterances[0].link, THIRD.link])
        for each in (FIRST, SECOND, THIRD, turn(4)):
            archive.add("a/", each, None)
        archive.forget("a/", [SECOND.utterances[0].link, THIRD.link])
        assert await archive.path("a/", turn(4).link, 2) == [FIRST, turn(4)]
        assert await archive.path("a/", turn(4).link, 1) == [turn(4)]
        assert await archive.path("a/", THIRD.link, 9) == [FIRST]

    async def test_turns_are_found_by_what_was_said_in_them(self, archive: Archive) -> None:
        branch = turn(2, branch=" again", at=NOW + 9)
        for each in (FIRST, branch, SECOND):
            archive.add("a/", each, None)
        asked = SECOND.utterances[0].link
        assert await archive.containing("a/", [asked, SECOND.link, link("nobody's")]) == [SECOND, branch]
        assert await archive.containing("a/", [FIRST.link]) == [FIRST]
        assert await archive.containing("a/", []) == []
        assert await archive.containing("b/", [asked]) == []
        archive.forget("a/", [asked])
        assert await archive.containing("a/", [asked, SECOND.link]) == []

    async def test_what_may_come_again_does(self, archive: Archive) -> None:
        archive.add("a/", FIRST, None)
        archive.forget("a/", [FIRST.utterances[0].link], NOW)
        await archive.flush()
        seen = await archive.changes("a/", 0, NOW)
        links = [FIRST.link, FIRST.utterances[0].link]
        assert await archive.forgotten_at("a/", [*links, SECOND.link]) == dict.fromkeys(links, NOW)
        archive.lift("a/", [*links, SECOND.link])
        archive.lift("b/", links)
        assert await archive.forgotten_at("a/", links) == {}
        archive.add("a/", FIRST, VECTORS)
        await archive.flush()
        news = await archive.changes("a/", seen.upto, NOW)
        assert ([each for each, _ in news.entries], news.gone, set(news.back)) == ([FIRST], (), set(links))
        assert await archive.known("a/", [*links, SECOND.link]) == {FIRST.link}

    async def test_it_tells_the_newest_turn_of_a_session(self, archive: Archive) -> None:
        at_once = [replace(each, at=NOW) for each in (SECOND, THIRD, FIRST)]
        for each in (*at_once, turn(4, session="t", at=NOW + 9)):
            archive.add("a/", each, None)
        assert await archive.latest("a/", "s") == at_once[1]
        newer = turn(1, branch=" again", at=NOW + 5)
        archive.add("a/", newer, None)
        assert await archive.latest("a/", "s") == newer
        archive.forget("a/", [newer.link])
        assert await archive.latest("a/", "s") == at_once[1]
        assert await archive.latest("b/", "s") is None

    async def test_the_same_link_in_another_scope_is_another_turn(self, archive: Archive) -> None:
        theirs = replace(FIRST, messages=b"theirs")
        archive.add("a/", FIRST, None)
        archive.add("b/", theirs, VECTORS)
        archive.forget("c/", [FIRST.link, FIRST.utterances[0].link])
        assert await archive.path("a/", FIRST.link, 9) == [FIRST]
        assert await archive.latest("b/", "s") == theirs
        archive.forget("a/", [FIRST.utterances[0].link])
        assert await turns(archive) == []
        assert await turns(archive, "b/") == [theirs]

    async def test_a_shelf_comes_back_as_it_was_in_its_own_scope(self, archive: Archive) -> None:
        kept = await shelved(archive)
        assert await archive.shelf("a/", NOW) == kept
        assert await archive.shelf("b/", NOW) is None
        newer = replace(kept, upto=kept.upto + 1, shelf=b"newer")
        archive.keep_shelf("a/", newer)
        archive.keep_shelf("a/", kept)  # of a process that began earlier
        await archive.flush()
        assert await archive.shelf("a/", NOW) == newer

    async def test_a_shelf_is_kept_until_something_in_it_is_forgotten(self, archive: Archive) -> None:
        kept = await shelved(archive)
        archive.forget("b/", [FIRST.link])
        archive.add("a/", THIRD, VECTORS)
        await archive.flush()
        assert await archive.shelf("a/", NOW) == kept
        archive.forget("a/", [FIRST.utterances[0].link])
        assert await archive.shelf("a/", NOW) is None
        archive.keep_shelf("a/", kept)  # of a process that has not heard of it yet
        await archive.flush()
        assert await archive.shelf("a/", NOW) is None
        upto = (await archive.changes("a/", 0, NOW)).upto
        archive.keep_shelf("a/", replace(kept, upto=upto))
        await archive.flush()
        assert await archive.shelf("a/", NOW) == replace(kept, upto=upto)

    async def test_a_shelf_with_an_expired_turn_is_not_given_and_pruned(self, archive: Archive) -> None:
        kept = await shelved(archive)
        assert await archive.shelf("a/", kept.oldest + TTL - 1) == kept
        assert await archive.shelf("a/", kept.oldest + TTL) is None
        archive.prune(kept.oldest + TTL - 1)
        await archive.flush()
        assert await archive.shelf("a/", NOW) == kept
        archive.prune(kept.oldest + TTL)
        await archive.flush()
        assert await archive.shelf("a/", NOW) is None


async def shelved(archive: Archive) -> StoredShelf:
    """What is kept as the shelf of two turns."""
    for each in (FIRST, SECOND):
        archive.add("a/", each, None)
    await archive.flush()
    kept = StoredShelf((await archive.changes("a/", 0, NOW)).upto, FIRST.at, b"\0 packed \xff" * 1_000)
    archive.keep_shelf("a/", kept)
    await archive.flush()
    return kept


names = st.sampled_from(["", "a", "a/", "a/b", "A", "á"])
steps = st.lists(
    st.tuples(
        names, st.integers(1, 4), st.sampled_from(["add", "add", "embed", "again", "forget", "unsay", "prune", "flush"])
    ),
    max_size=20,
)


def apply(archive: Archive, scope: str, number: int, step: str) -> None:
    own = replace(turn(number), messages=scope.encode())
    match step:
        case "add":
            archive.add(scope, own, None)
        case "embed":
            archive.add(scope, own, VECTORS)
        case "again":
            archive.add(scope, turn(number, branch=" again"), None)
        case "forget":
            archive.forget(scope, [own.link])
        case "unsay":
            archive.forget(scope, [own.utterances[0].link])
        case "prune":
            archive.prune(own.at + TTL)


@pytest.mark.parametrize("name", BACKENDS)
@given(steps=steps)
@settings(max_examples=examples(20), deadline=None)
def test_nothing_crosses_a_scope(name: str, steps: list[tuple[str, int, str]]) -> None:
    """Each scope has what it would have if it were alone; pruning is the one thing that is for all."""

    async def state(archive: Archive, scope: str) -> tuple[object, ...]:
        await archive.flush()
        changes = await archive.changes(scope, 0, NOW)
        links = [turn(number).link for number in range(1, 5)]
        return (
            [(each, vectors is None) for each, vectors in changes.entries],
            set(changes.gone),
            await archive.known(scope, links),
            [await archive.path(scope, each, 9) for each in links],
            await archive.latest(scope, "s"),
        )

    async def play(folder: Path) -> None:
        async with BACKENDS[name](folder) as shared:
            for step in steps:
                apply(shared, *step)
                if step[2] == "flush":
                    await shared.flush()
            for scope in {scope for scope, *_ in steps} | {"nobody"}:
                alone = ModelArchive(TTL)
                for step in steps:
                    if step[0] == scope or step[2] == "prune":
                        apply(alone, *step)
                assert await state(shared, scope) == await state(alone, scope)

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(play(Path(folder)))


async def test_off_keeps_nothing() -> None:
    store: Archive = SqliteArchive(stores.nothing(), TTL)
    store.add("a/", FIRST, VECTORS)
    store.forget("a/", [SECOND.link])
    store.prune(NOW)
    store.keep_shelf("a/", StoredShelf(1, NOW, b"packed"))
    await store.flush()
    assert await store.shelf("a/", NOW) is None
    assert await store.changes("a/", 4, NOW) == ArchiveChanges(upto=4)
    assert (await store.known("a/", [FIRST.link]), await store.path("a/", FIRST.link, 9)) == (set(), [])
    assert (await store.latest("a/", "s"), await store.forgotten_at("a/", [SECOND.link])) == (None, {})
    await store.flush()
