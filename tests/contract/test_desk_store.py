"""Behaviour of every DeskStore, whatever it keeps its desks in."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from proxy.storage.base import StorageError
from proxy.storage.desk import MOST_BYTES, MOST_DOCUMENTS, OLDER_VERSIONS, DeskStore
from proxy.storage.erasing import erase_postgres, erase_sqlite
from proxy.storage.postgres.archive import PostgresArchive
from proxy.storage.postgres.connection import connect
from proxy.storage.postgres.desk import PostgresDesks
from proxy.storage.postgres.wipes import PostgresWipes
from proxy.storage.recollection import Archive, WipeStore
from proxy.storage.sqlite.archive import SqliteArchive
from proxy.storage.sqlite.database import Database, NoDatabase
from proxy.storage.sqlite.desk import SqliteDesks
from proxy.storage.sqlite.wipes import SqliteWipes
from proxy.storage.stores.desk_rows import packed, unpacked
from proxy.tasks import Tasks
from proxy.types.desk import (
    KINDS,
    Applied,
    Board,
    Called,
    Confirmed,
    DeskEvent,
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
from tests.postgres import opened, url_of

NOW = 1_700_006_400.0
TTL = 90 * 86_400.0
SCOPE = "tenant/ann"

# Every value differs from every other and from its default, so that a swapped or forgotten field shows.
PAYLOADS: tuple[Payload, ...] = (
    Offered("es", ("forget", "remember_memory"), "fold"),
    Hidden(b"l" * 16, b"a" * 16, (b'{"role":"assistant"}', b"{}"), b"{1}", (b"{2}",), ("call_1",), 77),
    Board(b"b" * 16, "Pressure: high\0", "high", "prune"),
    Mark("range", (b"1" * 16, b"2" * 16), 3, 9, "in short\n", 1_234),
    Applied((3, 4), "pressure", 500),
    Pin(b"p" * 16, is_pinned=False),
    Edit("remember", "city", "Oslo", "Rosario", "waiting", 3, "f-1"),
    Called("forget", '{"key": "ñ"}', "no-fact", 2),
    Confirmed(12, is_allowed=False),
    Ended("loop"),
    Reset(("agent_notes.md", "city")),
)


def line(number: int, content: bytes | None = b"{}", *, hidden: bool = False) -> TapeLine:
    return TapeLine(0, number.to_bytes(16, "big"), NOW + number, "user", number * 10, content, is_hidden=hidden)


def events(*payloads: Payload) -> list[DeskEvent]:
    return [DeskEvent(NOW, f"req_{number}", payload) for number, payload in enumerate(payloads)]


@dataclass
class House:
    desks: DeskStore
    archive: Archive
    wipes: WipeStore
    erase: Callable[[str], object]

    async def contents(self, session: str = "s") -> list[bytes | None]:
        return [each.content for each in await self.desks.tape(SCOPE, session)]

    async def payloads(self, session: str = "s") -> list[Payload]:
        return [each.payload for each in (await self.desks.since(SCOPE, session, 0, 0)).events]

    async def wrote(self, name: str, text: str | None, version: int = 0, at: float = NOW) -> Document | None:
        return await self.desks.put(SCOPE, name, text, version=version, at=at, by="model")


@asynccontextmanager
async def sqlite(folder: Path, name: str | None = "olvido.sqlite3") -> AsyncIterator[House]:
    path = folder / name if name else None
    database = Database(path, Tasks())

    def erase(base: str) -> None:
        assert path is not None
        erase_sqlite(path, lambda scope: scope == base)

    try:
        yield House(SqliteDesks(database), SqliteArchive(database, TTL), SqliteWipes(database), erase)
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

        yield House(PostgresDesks(database), PostgresArchive(database, TTL), PostgresWipes(database), erase)


Backend = Callable[[Path], AbstractAsyncContextManager[House]]
BACKENDS: dict[str, Backend] = {"file": sqlite, "memory": memory, "postgres": postgres}
SHARED = {name: BACKENDS[name] for name in ("file", "postgres")}  # several processes may open them


@pytest.fixture(params=BACKENDS)
async def house(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[House]:
    async with BACKENDS[request.param](tmp_path) as opened_:
        yield opened_


@pytest.fixture(params=SHARED)
async def houses(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[list[House]]:
    """Three processes with one database."""
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(SHARED[request.param](tmp_path)) for _ in range(3)]


async def test_what_is_written_is_read_as_it_was(house: House) -> None:
    wrote = await house.desks.write(SCOPE, "s", [line(1), line(2, hidden=True)], events(*PAYLOADS))
    assert [each.id for each in wrote.lines] == [1, 2]
    assert [each.number for each in wrote.events] == list(range(1, len(PAYLOADS) + 1))
    news = await house.desks.since(SCOPE, "s", 0, 0)
    assert news.events == wrote.events
    assert news.lines == wrote.lines == tuple(replace(each, content=None) for each in news.lines)
    tape = await house.desks.tape(SCOPE, "s")
    assert tape == [replace(line(1), id=1), replace(line(2, hidden=True), id=2)]
    assert await house.desks.tape(SCOPE, "s", links=[line(2).link, b"x"]) == tape[1:]
    assert await house.desks.events(SCOPE, "s", before=3) == list(wrote.events[1::-1])


def test_every_kind_of_event_is_tried_here() -> None:
    assert sorted(type(each).__struct_config__.tag for each in PAYLOADS) == sorted(KINDS)  # type: ignore[type-var]
    assert [unpacked(packed(each)) for each in PAYLOADS] == list(PAYLOADS)


@pytest.mark.parametrize("damaged", [b"", b"\x02" + packed(PAYLOADS[0])[1:], packed(PAYLOADS[1])[:-3]])
def test_a_payload_that_cannot_be_read_is_none(damaged: bytes) -> None:
    assert unpacked(damaged) is None


async def test_a_message_is_numbered_once_and_later_ones_go_on(house: House) -> None:
    await house.desks.write(SCOPE, "s", [line(1), line(2)])
    again = await house.desks.write(SCOPE, "s", [line(2, b"[]"), line(3)])
    assert [(each.id, each.link) for each in again.lines] == [(2, line(2).link), (3, line(3).link)]
    assert await house.contents() == [b"{}", b"{}", b"{}"]
    assert [each.id for each in (await house.desks.since(SCOPE, "s", 0, 2)).lines] == [3]


async def test_sessions_and_scopes_have_numbers_of_their_own(house: House) -> None:
    for scope, session in ((SCOPE, "s"), (SCOPE, "t"), ("other/", "s")):
        wrote = await house.desks.write(scope, session, [line(1)], events(Ended("loop")))
        assert (wrote.lines[0].id, wrote.events[0].number) == (1, 1)
    cards = await house.desks.sessions(SCOPE)
    assert sorted((each.session, each.messages, each.events) for each in cards) == [("s", 1, 1), ("t", 1, 1)]
    assert await house.desks.sessions("nobody/") == []


async def test_processes_that_write_at_once_see_one_tape(houses: list[House]) -> None:
    async def write(house: House, first: int) -> None:
        for number in range(first, first + 8):
            await house.desks.write(SCOPE, "s", [line(number)], events(Ended(str(number))))

    await asyncio.gather(*(write(house, 1 + 4 * at) for at, house in enumerate(houses)))  # with some in common
    seen = [await house.desks.since(SCOPE, "s", 0, 0) for house in houses]
    assert seen[0] == seen[1] == seen[2]
    assert [each.id for each in seen[0].lines] == list(range(1, 17))
    assert len({each.link for each in seen[0].lines}) == 16
    assert [each.number for each in seen[0].events] == list(range(1, 25))


class TestDocuments:
    async def test_a_document_is_written_against_the_version_that_was_read(self, house: House) -> None:
        first = await house.wrote("agent_notes.md", "one")
        assert first == Document("agent_notes.md", "one", 1, NOW, "model")
        assert await house.wrote("agent_notes.md", "lost") is None
        second = await house.wrote("agent_notes.md", "two", 1, NOW + 1)
        assert second is not None
        assert await house.desks.document(SCOPE, "agent_notes.md") == second
        assert await house.desks.older(SCOPE, "agent_notes.md") == [first]
        assert await house.desks.documents(SCOPE) == [second]

    async def test_a_removed_one_is_listed_no_more_and_its_version_counts_on(self, house: House) -> None:
        await house.wrote("a.md", "one")
        gone = await house.wrote("a.md", None, 1)
        assert gone is not None
        assert (gone.is_removed, gone.version) == (True, 2)
        assert await house.desks.documents(SCOPE) == []
        back = await house.wrote("a.md", "back", 2)
        assert back is not None
        assert (await house.desks.document(SCOPE, "a.md")) == back

    async def test_of_several_who_write_at_once_one_wins(self, houses: list[House]) -> None:
        wrote = await asyncio.gather(*(house.wrote("a.md", str(at)) for at, house in enumerate(houses)))
        assert [each is not None for each in wrote].count(True) == 1

    async def test_there_are_so_many_of_such_a_size_with_so_many_versions(self, house: House) -> None:
        with pytest.raises(ValueError, match="too large"):
            await house.wrote("a.md", "x" * (MOST_BYTES + 1))
        for number in range(MOST_DOCUMENTS):
            assert await house.wrote(f"{number}.md", "x")
        with pytest.raises(ValueError, match="too many"):
            await house.wrote("more.md", "x")
        for version in range(1, OLDER_VERSIONS + 5):
            assert await house.wrote("1.md", str(version), version)
        older = await house.desks.older(SCOPE, "1.md", limit=1_000)
        assert len(older) == OLDER_VERSIONS
        assert older[0].version == OLDER_VERSIONS + 4


class TestForgetting:
    async def fill(self, house: House) -> None:
        mark = Mark("range", (line(1).link, line(3).link), 1, 3, "text")
        other = Mark("prune", (line(3).link,), 3, 3)
        payloads = (PAYLOADS[1], mark, other, PAYLOADS[9])
        await house.desks.write(SCOPE, "s", [line(1), line(2, hidden=True), line(3)], events(*payloads))
        await house.desks.write(SCOPE, "t", [line(7, hidden=True)], events(PAYLOADS[1]))

    async def test_a_forgotten_message_leaves_its_id_and_nothing_that_was_made_of_it(self, house: House) -> None:
        await self.fill(house)
        before = await house.desks.since(SCOPE, "s", 0, 0)
        house.archive.forget(SCOPE, [line(1).link])
        await house.archive.flush()
        assert await house.contents() == [None, None, b"{}"]
        assert [type(each) for each in await house.payloads()] == [Mark, Ended]
        after = await house.desks.since(SCOPE, "s", 0, 0)
        assert after.lines == before.lines
        assert [each.number for each in after.events] == [3, 4]
        wrote = await house.desks.write(SCOPE, "s", [], events(Ended("again")))
        assert wrote.events[0].number == 5
        assert await house.contents("t") == [b"{}"]

    async def test_a_redacted_line_comes_again_for_the_tape_on_disk(self, house: House) -> None:
        await self.fill(house)
        told = await house.desks.unwritten(SCOPE, 0)
        assert [(session, each.id) for _, session, each in told] == [("s", 1), ("s", 2), ("s", 3), ("t", 1)]
        house.archive.forget(SCOPE, [line(3).link])
        await house.archive.flush()
        again = await house.desks.unwritten(SCOPE, told[-1][0])
        assert sorted((session, each.id, each.content) for _, session, each in again) == [
            ("s", 2, None),
            ("s", 3, None),
        ]

    async def test_forgotten_values_leave_documents_and_events(self, house: House) -> None:
        await house.wrote("a.md", "- moved to Bergen\n- likes tea\n")
        await house.wrote("a.md", "- lives in Bergen\n- likes tea\n", 1)
        edit = Edit("remember", "city", "", "lives in Bergen", fact="f-1")
        said = b'{"role":"assistant","content":"You live in Bergen."}'
        await house.desks.write(SCOPE, "s", [line(1, said, hidden=True)], events(edit, PAYLOADS[7], PAYLOADS[3]))
        await house.desks.scrub(SCOPE, ["Bergen"])
        document = await house.desks.document(SCOPE, "a.md")
        assert document is not None
        assert (document.text, document.version) == ("- likes tea\n", 3)
        assert [each.text for each in await house.desks.older(SCOPE, "a.md")] == ["- likes tea\n"]
        assert await house.payloads() == [Edit("remember", "", "", "", fact="f-1"), PAYLOADS[7], PAYLOADS[3]]
        assert await house.contents() == [None]

    async def test_a_wipe_takes_everything(self, house: House) -> None:
        await self.fill(house)
        await house.wrote("a.md", "one")
        house.wipes.wipe(SCOPE, [], at=NOW, until=NOW + 10)
        await house.wipes.flush()
        assert await house.desks.sessions(SCOPE) == []
        assert await house.desks.documents(SCOPE) == []

    async def test_an_erased_scope_has_no_desk(self, houses: list[House]) -> None:
        await self.fill(houses[0])
        await houses[0].wrote("a.md", "one")
        houses[0].erase(SCOPE)
        assert await houses[1].desks.sessions(SCOPE) == []
        assert await houses[1].desks.document(SCOPE, "a.md") is None


async def test_a_store_that_keeps_nothing_has_nothing() -> None:
    desks = SqliteDesks(NoDatabase())
    assert not desks.keeps
    assert (await desks.write(SCOPE, "s", [line(1)])).lines == ()
    assert await desks.put(SCOPE, "a.md", "x", version=0, at=NOW, by="model") is None


async def test_a_database_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    async with sqlite(tmp_path) as house:
        await house.desks.write(SCOPE, "s", [line(1)])
        writer = house.desks._database.writer  # type: ignore[attr-defined] # noqa: SLF001 (there is no other way to fail)
        writer.failing = "disk full"
        with pytest.raises(StorageError, match="disk full"):
            await house.desks.write(SCOPE, "s", [line(2)])
