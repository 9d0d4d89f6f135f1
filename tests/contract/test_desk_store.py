"""What every DeskStore does, whatever it keeps desks in. How forgetting reaches it: test_desk_forgetting.py."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.storage.base import ScopeErased
from proxy.storage.database import Database as AnyDatabase
from proxy.storage.desk import MOST_BYTES, MOST_DOCUMENTS, OLDER_VERSIONS, DeskStore
from proxy.storage.erasing import erase_postgres, erase_sqlite
from proxy.storage.pending import BEGUN, DELETIONS, Write
from proxy.storage.postgres.connection import connect
from proxy.storage.postgres.stores import STORES as POSTGRES
from proxy.storage.recollection import Archive, FactStore, WipeStore
from proxy.storage.sqlite.database import Database
from proxy.storage.sqlite.desk import SqliteDesks
from proxy.storage.sqlite.stores import STORES as SQLITE
from proxy.storage.stores.kinds import Kind
from proxy.tasks import Tasks
from proxy.types.desk import (
    KINDS,
    Applied,
    Board,
    Called,
    Confirmed,
    DeskCard,
    DeskEvent,
    DeskNews,
    Document,
    Edit,
    Ended,
    Hidden,
    Mark,
    Offered,
    Payload,
    Pin,
    Reset,
    TapeLine,
)
from tests import stores
from tests.contract.test_wipe_store import link
from tests.examples import examples
from tests.postgres import opened, url_of

NOW = 1_700_006_400.0
TTL = 90 * 86_400.0
SCOPE, OTHER = "tenant/ann", "tenant/bob"

# Every value differs from every other and from its default, so that a swapped or forgotten field shows.
PAYLOADS: tuple[Payload, ...] = (
    Offered("es", ("prune_messages", "forget"), "fold"),
    Hidden(link("1"), link("2"), (b'{"a":1}', b"\xff\0"), b"instead", (b"after",), ("call-1", "call-2"), 77),
    Board(link("3"), "a dashboard\0", "high", "prune"),
    Mark("range", (link("4"), link("5")), 4, 9, "in short", 300),
    Applied((4, 5), "economic", 250),
    Pin(link("6"), is_pinned=False),
    Edit("edit_section", "agent_notes.md", "before", "after", "waiting", 3, "f-1"),
    Called("remember", '{"key": "city"}', "ok", 2),
    Confirmed(7, is_allowed=True),
    Ended("loop"),
    Reset(("agent_notes.md", "city")),
)


@dataclass
class House:
    desks: DeskStore
    facts: FactStore
    archive: Archive
    wipes: WipeStore
    database: AnyDatabase
    erase: Callable[[str], object]

    async def say(self, *names: str, scope: str = SCOPE, session: str = "s-1", at: float = NOW) -> DeskNews:
        return await self.desks.write(scope, session, [line(name, at) for name in names])

    async def note(self, *payloads: Payload, scope: str = SCOPE, session: str = "s-1", at: float = NOW) -> DeskNews:
        return await self.desks.write(scope, session, (), [DeskEvent(at, "req-1", each) for each in payloads])

    async def texts(self, scope: str = SCOPE, session: str = "s-1") -> list[bytes | None]:
        """The contents of a tape."""
        return [each.content for each in await self.desks.tape(scope, session)]

    async def payloads(self, scope: str = SCOPE, session: str = "s-1") -> list[Payload]:
        return [each.payload for each in (await self.desks.since(scope, session, 0, 0)).events]

    async def put(self, name: str, text: str | None, version: int = 0, scope: str = SCOPE) -> Document | None:
        return await self.desks.put(scope, name, text, version=version, at=NOW + version, by="model")

    async def text(self, name: str, scope: str = SCOPE) -> str | None:
        document = await self.desks.document(scope, name)
        return None if document is None or document.is_removed else document.text


ROLES = {
    "answer": "assistant",
    "answered": "assistant",
    "result": "tool",
    "rules": "system",
    "hidden": "assistant",
}


def line(name: str, at: float = NOW, content: str | None = None) -> TapeLine:
    """A line whose role is told by a word of its name: that of the user, if by none."""
    role = next((ROLES[word] for word in name.split() if word in ROLES), "user")
    said = b'{"content":"%b"}' % (name if content is None else content).encode()
    return TapeLine(0, link(name), at, role, len(name), said, is_hidden=name.startswith("hidden"))


def _house(kind: Kind, database: AnyDatabase, erase: Callable[[str], object]) -> House:
    return House(
        kind.desks(database),
        kind.facts(database),
        kind.archive(database, TTL),
        kind.wipes(database),
        database,
        erase,
    )


@asynccontextmanager
async def sqlite(folder: Path, name: str | None = "olvido.sqlite3") -> AsyncIterator[House]:
    path = stores.begun(folder / name) if name else None
    database = Database(path, Tasks())

    def erase(base: str) -> None:
        assert path is not None
        erase_sqlite(path, lambda scope: scope == base)

    try:
        yield _house(SQLITE, database, erase)
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

        yield _house(POSTGRES, database, erase)


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


def bare(lines: Sequence[TapeLine]) -> list[TapeLine]:
    return [replace(each, content=None) for each in lines]


class TestTapes:
    @pytest.mark.note("SMMA 4/2", "SMMA 4/8", "SMMA 8/1")
    async def test_lines_are_numbered_and_come_back_as_they_were(self, house: House) -> None:
        lines = [replace(line("rules"), content=b"\0\xff"), line("hello", NOW + 1), line("hidden call"), line("answer")]
        news = await house.desks.write(SCOPE, "s-1", lines)
        numbered = [replace(each, id=number) for number, each in enumerate(lines, start=1)]
        assert news == DeskNews((), tuple(numbered))
        assert await house.desks.tape(SCOPE, "s-1") == numbered
        assert await house.desks.since(SCOPE, "s-1", 0, 0) == DeskNews((), tuple(bare(numbered)))

    @pytest.mark.note("SMMA 4/7", "SMMA 8/5")
    async def test_a_link_that_is_known_keeps_its_line(self, house: House) -> None:
        (first,) = (await house.say("hello")).lines
        again = [line("answer"), line("hello", NOW + 9, "otherwise"), line("answer", NOW + 9)]
        news = await house.desks.write(SCOPE, "s-1", again)
        assert news.lines == (replace(line("answer"), id=2), replace(first, content=None))
        assert await house.texts() == [line("hello").content, line("answer").content]

    async def test_news_are_what_comes_after_what_a_reader_knows(self, house: House) -> None:
        await house.say("one", "two")
        await house.note(*PAYLOADS[:2])
        await house.say("three")
        news = await house.desks.since(SCOPE, "s-1", 1, 2)
        assert [each.number for each in news.events] == [2]
        assert [(each.id, each.link, each.content) for each in news.lines] == [(3, link("three"), None)]
        assert await house.desks.since(SCOPE, "s-1", 2, 3) == DeskNews()

    async def test_a_tape_is_read_page_by_page_or_by_link(self, house: House) -> None:
        await house.say("one", "two", "three", "four")
        assert [each.id for each in await house.desks.tape(SCOPE, "s-1", after=1, limit=2)] == [2, 3]
        wanted = [link("four"), link("one"), link("one"), link("unknown")]
        assert [each.id for each in await house.desks.tape(SCOPE, "s-1", links=wanted)] == [1, 4]
        assert [each.id for each in await house.desks.tape(SCOPE, "s-1", links=wanted, after=1)] == [4]
        assert [each.id for each in await house.desks.tape(SCOPE, "s-1", links=wanted, limit=1)] == [1]
        assert await house.desks.tape(SCOPE, "s-1", links=[]) == []

    async def test_sessions_and_scopes_have_tapes_of_their_own(self, house: House) -> None:
        for scope, session in ((SCOPE, "s-1"), (SCOPE, "s-2"), (OTHER, "s-1")):
            news = await house.say("hello", f"of {scope} {session}", scope=scope, session=session)
            await house.note(Ended(session), scope=scope, session=session)
            assert [each.id for each in news.lines] == [1, 2]
        assert await house.payloads(SCOPE, "s-2") == [Ended("s-2")]
        assert (await house.texts(OTHER, "s-1"))[1] == line(f"of {OTHER} s-1").content
        assert (await house.texts(OTHER, "s-2"), await house.payloads("nobody/")) == ([], [])

    async def test_sessions_are_listed_the_latest_first(self, house: House) -> None:
        await house.say("one", "two", session="s-1", at=NOW)
        await house.say("one", session="s-2", at=NOW + 5)
        await house.note(Ended("loop"), session="s-1", at=NOW + 9)
        await house.note(Ended("loop"), session="s-3", at=NOW + 1)
        cards = [DeskCard("s-1", NOW + 9, 2, 1), DeskCard("s-2", NOW + 5, 1, 0), DeskCard("s-3", NOW + 1, 0, 1)]
        assert await house.desks.sessions(SCOPE) == cards
        assert await house.desks.sessions(SCOPE, limit=1) == cards[:1]
        assert await house.desks.sessions(OTHER) == []

    async def test_lines_of_all_sessions_come_in_the_order_in_which_they_were_written(self, house: House) -> None:
        await house.say("one")
        await house.say("two", session="s-2")
        await house.say("else", scope=OTHER)
        await house.say("three")
        found = await house.desks.unwritten(SCOPE, 0)
        assert [(session, each.content) for _, session, each in found] == [
            (session, line(name).content) for session, name in (("s-1", "one"), ("s-2", "two"), ("s-1", "three"))
        ]
        changes = [change for change, *_ in found]
        assert changes == sorted(set(changes))
        assert await house.desks.unwritten(SCOPE, changes[0], limit=1) == found[1:2]
        assert await house.desks.unwritten(SCOPE, changes[-1]) == []


class TestEvents:
    def test_there_is_one_of_each_kind(self) -> None:
        assert tuple(each.__struct_config__.tag for each in PAYLOADS) == KINDS

    async def test_events_of_all_kinds_come_back_as_they_were(self, house: House) -> None:
        news = await house.note(*PAYLOADS)
        expected = tuple(DeskEvent(NOW, "req-1", each, number) for number, each in enumerate(PAYLOADS, start=1))
        assert news.events == expected == (await house.desks.since(SCOPE, "s-1", 0, 0)).events

    async def test_the_newest_come_first_page_by_page(self, house: House) -> None:
        await house.note(*PAYLOADS)
        newest = await house.desks.events(SCOPE, "s-1", limit=3)
        assert [each.number for each in newest] == [11, 10, 9]
        assert [each.number for each in await house.desks.events(SCOPE, "s-1", before=9, limit=2)] == [8, 7]
        assert len(await house.desks.events(SCOPE, "s-1")) == 11

    async def test_those_of_one_request_are_found_among_others(self, house: House) -> None:
        events = [DeskEvent(NOW, f"req-{number % 2}", each) for number, each in enumerate(PAYLOADS[:5])]
        await house.desks.write(SCOPE, "s-1", (), events)
        await house.desks.write(SCOPE, "s-2", (), events)
        assert [each.number for each in await house.desks.events(SCOPE, "s-1", request="req-0")] == [5, 3, 1]
        found = await house.desks.events(SCOPE, "s-1", request="req-0", before=5, limit=1)
        assert [each.number for each in found] == [3]
        assert await house.desks.events(SCOPE, "s-1", request="") == []

    async def test_lines_and_events_of_one_call_are_written_together(self, house: House) -> None:
        event = DeskEvent(NOW + 1, "", Ended("person"))
        news = await house.desks.write(SCOPE, "s-1", [line("hello")], [event])
        assert news == DeskNews((replace(event, number=1),), (replace(line("hello"), id=1),))
        assert await house.desks.write(SCOPE, "s-1", ()) == DeskNews()

    @pytest.mark.parametrize("damage", [b"", b"\x02\x81", b"\x01", b"\x01\xc1", b"\x01\x81\xa4type\xa5later"])
    async def test_one_that_cannot_be_read_is_skipped(self, house: House, damage: bytes) -> None:
        await house.note(PAYLOADS[0], PAYLOADS[1], PAYLOADS[2])
        await execute(house, "UPDATE desk_events SET payload = {} WHERE number = 2", damage)
        assert [each.number for each in (await house.desks.since(SCOPE, "s-1", 0, 0)).events] == [1, 3]
        assert [each.number for each in await house.desks.events(SCOPE, "s-1")] == [3, 1]


async def execute(house: House, statement: str, *values: object) -> None:
    """Changes the database behind the store's back."""

    def step(connection: Any, _: object) -> None:
        mark = "?" if isinstance(house.database, Database) else "%s"
        connection.execute(statement.format(*(mark for _ in values)), values)

    house.database.writer.put(Write(1, step, kind=DELETIONS, scope=SCOPE))
    await house.database.writer.flush()


class TestDocuments:
    @pytest.mark.note("SMMA 4/1", "SMMA 4/3")
    async def test_a_document_comes_back_as_it_was(self, house: House) -> None:
        text = "# Notes\n\0\ud800 «ñ» 🙂"
        wrote = await house.desks.put(SCOPE, "agent_notes.md", text, version=0, at=NOW, by="person")
        assert wrote == Document("agent_notes.md", text, 1, NOW, "person")
        assert await house.desks.document(SCOPE, "agent_notes.md") == wrote
        assert await house.desks.documents(SCOPE) == [wrote]
        assert (await house.desks.document(OTHER, "agent_notes.md"), await house.desks.documents(OTHER)) == (None, [])

    async def test_documents_come_by_name(self, house: House) -> None:
        for name in ("b.md", "B.md", "a_b.md", "a-b.md"):
            await house.put(name, name)
        assert [each.name for each in await house.desks.documents(SCOPE)] == ["B.md", "a-b.md", "a_b.md", "b.md"]

    async def test_who_has_read_another_version_writes_nothing(self, house: House) -> None:
        assert await house.put("a.md", "one", 1) is None
        assert await house.put("a.md", "one") is not None
        for version in (0, 2):
            assert await house.put("a.md", "other", version) is None
        assert await house.text("a.md") == "one"
        assert await house.put("a.md", "two", 1) == Document("a.md", "two", 2, NOW + 1, "model")

    async def test_scopes_with_documents_are_told_with_a_number_that_changes(self, house: House) -> None:
        assert await house.desks.folders() == {}
        await house.say("hello", scope=OTHER)
        seen = []
        for version, text in enumerate(("one", "two", None)):
            await house.put("a.md", text, version)
            seen.append((await house.desks.folders())[SCOPE])
        await house.put("b.md", "one")
        assert len({*seen, (await house.desks.folders())[SCOPE]}) == 4
        assert (await house.desks.folders()).keys() == {SCOPE}

    async def test_whoever_asked_for_it_hears_of_each_change(self, house: House) -> None:
        told: list[str] = []
        house.desks.on_change(told.append)
        await house.put("a.md", "one")
        await house.put("a.md", "other", 7)
        await house.put("a.md", "two", 1, OTHER)
        assert told == [SCOPE]

    @pytest.mark.note("SMMA 8/3")
    async def test_what_tells_of_a_document_is_written_with_it_or_not_at_all(self, house: House) -> None:
        told = DeskEvent(NOW, "", Edit("", "a.md", "", "one", version=1))
        for version, events in ((0, [replace(told, number=1)]), (2, [])):  # the other one has read another version
            session = f"of version {version}"
            await house.desks.put(
                SCOPE, "a.md", "one", version=version, at=NOW, by="memory model", session=session, events=[told]
            )
            assert await house.desks.events(SCOPE, session) == events

    @pytest.mark.note("SMMA 8/3")
    async def test_earlier_versions_stay_the_newest_of_them(self, house: House) -> None:
        for version in range(OLDER_VERSIONS + 3):
            await house.put("a.md", f"text {version}", version)
        older = await house.desks.older(SCOPE, "a.md")
        assert [each.text for each in older] == [f"text {version}" for version in range(OLDER_VERSIONS + 1, 1, -1)]
        assert [each.version for each in older][:2] == [OLDER_VERSIONS + 2, OLDER_VERSIONS + 1]
        assert await house.desks.older(SCOPE, "a.md", limit=1) == older[:1]
        assert await house.desks.older(SCOPE, "b.md") == []

    async def test_a_removed_document_keeps_counting(self, house: House) -> None:
        await house.put("a.md", "one")
        removed = await house.put("a.md", None, 1)
        assert removed == Document("a.md", "", 2, NOW + 1, "model", is_removed=True)
        assert await house.desks.document(SCOPE, "a.md") == removed
        assert await house.desks.documents(SCOPE) == []
        assert await house.put("a.md", None, 2) == removed
        assert await house.put("a.md", "again") is None
        again = await house.put("a.md", "again", 2)
        assert again is not None
        assert (again.version, again.is_removed) == (3, False)
        assert [(each.text, each.is_removed) for each in await house.desks.older(SCOPE, "a.md")] == [
            ("", True),
            ("one", False),
        ]

    async def test_there_are_so_many_documents_of_such_a_size_at_most(self, house: House) -> None:
        assert await house.put("large.md", "x" * MOST_BYTES) is not None
        with pytest.raises(ValueError, match="bytes"):
            await house.put("larger.md", "ñ" * (MOST_BYTES // 2 + 1))
        for number in range(MOST_DOCUMENTS - 1):
            assert await house.put(f"{number}.md", "x") is not None
        with pytest.raises(ValueError, match="documents"):
            await house.put("one-more.md", "x")
        assert await house.put("0.md", "y", 1) is not None
        assert await house.put("0.md", "x", scope=OTHER) is not None
        assert await house.put("0.md", None, 2) is not None
        assert await house.put("one-more.md", "x") is not None
        with pytest.raises(ValueError, match="documents"):
            await house.put("0.md", "x", 3)

    async def test_of_removed_ones_so_many_are_remembered(self, house: House) -> None:
        for number in range(MOST_DOCUMENTS + 2):
            for version, text in enumerate(("x", None)):
                at = NOW + number
                await house.desks.put(SCOPE, f"{number}.md", text, version=version, at=at, by="model")
        assert [await house.desks.document(SCOPE, f"{number}.md") for number in (0, 1)] == [None, None]
        assert await house.desks.older(SCOPE, "0.md") == []
        assert await house.desks.document(SCOPE, "2.md") is not None

    async def test_of_processes_that_write_at_once_one_does(self, houses: list[House]) -> None:
        for version in range(3):
            wrote = await asyncio.gather(*(house.put("a.md", f"by {at}", version) for at, house in enumerate(houses)))
            (winner,) = (each for each in wrote if each is not None)
            assert await houses[0].desks.document(SCOPE, "a.md") == winner


# A write of one of two processes: messages, by name, and how many events.
writes = st.lists(
    st.tuples(st.integers(0, 1), st.lists(st.integers(0, 7), max_size=4), st.integers(0, 2)), min_size=1, max_size=8
)


class TestProcesses:
    @pytest.mark.parametrize("name", SHARED)
    @given(rounds=st.lists(writes, min_size=1, max_size=3))
    @settings(max_examples=examples(15), deadline=None)
    def test_who_appends_at_once_sees_one_tape(self, name: str, rounds: list[list[tuple[int, list[int], int]]]) -> None:
        async def play() -> None:
            with tempfile.TemporaryDirectory() as folder:
                async with SHARED[name](Path(folder)) as one, SHARED[name](Path(folder)) as two:
                    await appended(one, two, rounds)

        asyncio.run(play())

    @pytest.mark.note("SMMA 8/1")
    async def test_four_processes_number_one_session(self, houses: list[House]) -> None:
        async def write(at: int, house: House) -> list[DeskNews]:
            return [
                await house.desks.write(
                    SCOPE,
                    "s-1",
                    [line(f"shared {number}"), line(f"{at} {number}")],
                    [DeskEvent(NOW, f"{at} {number}", Ended("x"))],
                )
                for number in range(5)
            ]

        told = [news for each in await asyncio.gather(*map(write, range(4), houses)) for news in each]
        events, lines = await same_everywhere(houses)
        assert ({each.link: each.id for news in told for each in news.lines}) == {each.link: each.id for each in lines}
        assert len(lines) == 25
        numbers = {each.request_id: each.number for news in told for each in news.events}
        assert numbers == {each.request_id: each.number for each in events}
        assert len(numbers) == 20

    async def test_what_one_has_written_another_reads_at_once(self, houses: list[House]) -> None:
        one, two, *_ = houses
        await one.say("hello")
        await one.put("a.md", "by one")
        assert (await two.texts(), await two.text("a.md")) == (await one.texts(), "by one")

    async def test_what_was_written_for_an_erased_user_is_gone_and_the_rest_of_it_refused(
        self, houses: list[House]
    ) -> None:
        one, two, *_ = houses
        for scope in (SCOPE, f"{SCOPE}~c-1", OTHER):
            await one.say("hello", scope=scope)
            await one.note(*PAYLOADS, scope=scope)
            for version in range(2):
                await one.put("a.md", "text", version, scope=scope)
            one.wipes.wipe(scope, [], at=NOW + 9, until=NOW + 99)
        await one.database.writer.flush()
        BEGUN.set(one.database.erasures.seen)
        one.erase(SCOPE)
        with pytest.raises(ScopeErased):
            await one.say("goodbye")
        with pytest.raises(ScopeErased):
            await one.put("a.md", "text")
        BEGUN.set(None)
        for scope in (SCOPE, f"{SCOPE}~c-1"):
            assert (await two.texts(scope), await two.payloads(scope)) == ([], [])
            assert (await two.desks.document(scope, "a.md"), await two.desks.sessions(scope)) == (None, [])
            assert (await two.desks.older(scope, "a.md"), await two.desks.unwritten(scope, 0)) == ([], [])
        assert len(await two.texts(OTHER)) == 1
        assert len((await one.say("hello")).lines) == 1  # a new beginning


async def same_everywhere(houses: Sequence[House]) -> tuple[list[DeskEvent], list[TapeLine]]:
    """What all processes read: numbers without gaps, each link once."""
    read = [await house.desks.since(SCOPE, "s-1", 0, 0) for house in houses]
    assert all(each == read[0] for each in read)
    assert [each.number for each in read[0].events] == list(range(1, len(read[0].events) + 1))
    assert [each.id for each in read[0].lines] == list(range(1, len(read[0].lines) + 1))
    assert len({each.link for each in read[0].lines}) == len(read[0].lines)
    return list(read[0].events), list(read[0].lines)


async def appended(one: House, two: House, rounds: Sequence[Sequence[tuple[int, list[int], int]]]) -> None:
    """Appends what processes write, those of a round at once; compares with a model: of each link the line of who came
    first, each event once, and every reader who follows knows the same."""
    said: set[bytes] = set()
    noted: set[str] = set()
    follower = DeskNews()
    for place, writing in enumerate(rounds):

        async def write(number: int, process: int, names: list[int], events: int, place: int = place) -> None:
            request = f"{place}.{number}"
            lines = [line(f"message {name}", content=f"{name} by {request}") for name in names]
            told = await (one, two)[process].desks.write(
                SCOPE, "s-1", lines, [DeskEvent(NOW, f"{request}.{at}", Ended("x")) for at in range(events)]
            )
            assert [each.link for each in told.lines] == list(dict.fromkeys(each.link for each in lines))
            assert [each.request_id for each in told.events] == [f"{request}.{at}" for at in range(events)]
            noted.update(each.request_id for each in told.events)
            said.update(each.link for each in told.lines)

        await asyncio.gather(*(write(number, *each) for number, each in enumerate(writing)))
        event, last = len(follower.events), len(follower.lines)
        news = await two.desks.since(SCOPE, "s-1", event, last)
        follower = DeskNews(follower.events + news.events, follower.lines + news.lines)
    events, lines = await same_everywhere([one, two])
    assert ({each.link for each in lines}, {each.request_id for each in events}) == (said, noted)
    assert (list(follower.events), list(follower.lines)) == (events, lines)


async def test_off_keeps_nothing() -> None:
    store: DeskStore = SqliteDesks(stores.nothing())
    assert not store.keeps
    assert await store.write(SCOPE, "s-1", [line("hello")], [DeskEvent(NOW, "", Ended("x"))]) == DeskNews()
    assert await store.put(SCOPE, "a.md", "text", version=0, at=NOW, by="model") is None
    assert await store.since(SCOPE, "s-1", 0, 0) == DeskNews()
    assert (await store.tape(SCOPE, "s-1"), await store.events(SCOPE, "s-1"), await store.sessions(SCOPE)) == (
        [],
        [],
        [],
    )
    assert (await store.documents(SCOPE), await store.document(SCOPE, "a.md")) == ([], None)
    assert await store.older(SCOPE, "a.md") == []
    assert await store.unwritten(SCOPE, 0) == []
