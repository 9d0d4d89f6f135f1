"""Desks in SQLite: that their statements find rows by an index, that a step which is run twice writes once, and that
nothing of what is forgotten stays in the file. What every DeskStore does: tests/contract/test_desk_store.py."""

import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from proxy.storage.base import StorageError
from proxy.storage.sqlite import desk
from proxy.storage.sqlite.archive import SqliteArchive
from proxy.storage.sqlite.connection import migrate
from proxy.storage.sqlite.database import Database
from proxy.storage.sqlite.desk import SqliteDesks
from proxy.storage.sqlite.facts import SqliteFacts
from proxy.storage.sqlite.wipes import SqliteWipes
from proxy.storage.stores import desk_forgetting, desk_rows
from proxy.storage.stores.desk_changes import DeskChanges
from proxy.storage.transactions import carried_out
from proxy.storage.write_queue import LOOK_SECONDS
from proxy.tasks import Tasks
from proxy.types.desk import DeskEvent, DeskNews, Document, Edit, Ended, Hidden
from tests.contract.test_desk_forgetting import FACT, VALUE, message
from tests.contract.test_desk_store import NOW, SCOPE, line
from tests.contract.test_wipe_store import link

STATEMENTS = {
    f"{module.__name__}.{name} {place}": text
    for module in (desk, desk_forgetting, desk_rows)
    for name, value in vars(module).items()
    for place, text in enumerate(value if isinstance(value, tuple) else [value])
    if isinstance(text, str) and "{content}" not in text and re.match(r"\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b", text)
}
WHICH = [desk_forgetting._OF_TURN, desk_forgetting._ONE, desk_forgetting._WIPED_LINES, desk_forgetting._RESTORED_LINES]  # noqa: SLF001 (texts of statements)


@pytest.fixture(scope="module")
def connection() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as opened:
        migrate(opened)
        yield opened


def scans(connection: sqlite3.Connection, text: str) -> list[str]:
    values = dict.fromkeys(re.findall(r":(\w+)", text), 0)
    plan = [detail for *_, detail in connection.execute(f"EXPLAIN QUERY PLAN {text}", values)]
    return [step for step in plan if re.match(r"SCAN (?!CONSTANT)", step)]


def test_the_statements_are_found() -> None:
    assert len(STATEMENTS) > 50


@pytest.mark.parametrize("name", [name for name, text in STATEMENTS.items() if text != desk_rows.FOLDERS])
def test_rows_are_found_by_an_index(name: str, connection: sqlite3.Connection) -> None:
    assert scans(connection, STATEMENTS[name]) == []


def test_what_is_of_every_scope_goes_through_their_names_alone(connection: sqlite3.Connection) -> None:
    (step,) = scans(connection, desk_rows.FOLDERS)
    assert step.startswith("SCAN scopes USING COVERING INDEX")


@pytest.mark.parametrize("which", WHICH)
def test_so_are_lines_that_are_redacted(which: str, connection: sqlite3.Connection) -> None:
    assert scans(connection, desk.REWRITE.format(content="NULL", which=which)) == []


@pytest.mark.parametrize("statement", [desk_rows.LINES, desk_rows.TAPE, desk_rows.NEWEST_EVENTS, desk_rows.UNWRITTEN])
def test_a_page_of_a_list_is_read_in_its_order(statement: str, connection: sqlite3.Connection) -> None:
    values = dict.fromkeys(re.findall(r":(\w+)", statement), 0)
    plan = [detail for *_, detail in connection.execute(f"EXPLAIN QUERY PLAN {statement}", values)]
    assert [step for step in plan if "TEMP B-TREE" in step] == []


@pytest.fixture
async def database(tmp_path: Path) -> Any:
    opened = Database(tmp_path / "olvido.db", Tasks())
    yield opened
    await opened.close()


async def test_a_step_that_is_run_twice_writes_once(database: Database) -> None:
    changes = DeskChanges(desk.DIALECT)
    events = [DeskEvent(NOW, "req", Ended(str(number))) for number in range(2)]
    lines = [line("one"), line("two")]
    document = Document("a.md", "text", 1, NOW, "model")
    told: list[DeskNews] = []

    def step(connection: Any) -> None:
        for is_again in (False, True):
            told.append(changes.write(connection, SCOPE, "s-1", lines, events, 7, is_again=is_again))
            assert changes.put(connection, SCOPE, document) == document

    await carried_out(database.writer, step, scope=SCOPE)
    store = SqliteDesks(database)
    first, second = told
    assert first.events == second.events
    assert [replace(each, content=None) for each in first.lines] == list(second.lines)
    news = await store.since(SCOPE, "s-1", 0, 0)
    assert (news.events, news.lines) == (second.events, second.lines)
    assert await store.older(SCOPE, "a.md") == []


async def test_a_store_that_cannot_write_says_so(database: Database) -> None:
    store = SqliteDesks(database)
    await store.write(SCOPE, "s-1", [line("one")])
    database.writer.failing = "disk full"
    with pytest.raises(StorageError, match="disk full"):
        await store.write(SCOPE, "s-1", [line("two")])
    with pytest.raises(StorageError, match="disk full"):
        await store.put(SCOPE, "a.md", "text", version=0, at=NOW, by="model")
    database.writer.failing = None


async def test_numbers_go_on_where_rows_have_left(database: Database) -> None:
    store = SqliteDesks(database)
    await store.write(SCOPE, "s-1", [line("one"), line("two")], [DeskEvent(NOW, "", Ended("x"))])

    def leave(connection: Any) -> None:
        for table in ("desk_lines", "desk_events"):
            connection.execute(f"DELETE FROM {table}")

    await carried_out(database.writer, leave)
    assert (await store.sessions(SCOPE), await store.tape(SCOPE, "s-1")) == ([], [])
    news = await store.write(SCOPE, "s-1", [line("one")], [DeskEvent(NOW, "", Ended("y"))])
    assert ([each.id for each in news.lines], [each.number for each in news.events]) == ([3], [2])


async def fill(database: Database) -> None:
    store = SqliteDesks(database)
    SqliteFacts(database).put(SCOPE, [FACT])
    told = [line("1 asked", content=VALUE), replace(line("hidden 1"), content=message(VALUE))]
    hidden = Hidden(link("1 asked"), link("1 answered"), (message(VALUE),))
    events = [DeskEvent(NOW, "req", hidden), DeskEvent(NOW, "req", Edit("remember", "city", "", VALUE, fact="f-1"))]
    await store.write(SCOPE, "s-1", told, events)
    for version in range(2):
        await store.put(SCOPE, "a.md", f"- {VALUE} {version}", version=version, at=NOW, by="model")


def forget(database: Database) -> None:
    SqliteFacts(database).forget(SCOPE, ["f-1"])
    SqliteArchive(database, 1e12).forget(SCOPE, [link("1 asked")])


def wipe(database: Database) -> None:
    SqliteWipes(database).wipe(SCOPE, [], at=NOW, until=NOW)


def wipe_and_prune(database: Database) -> None:
    SqliteWipes(database).wipe(SCOPE, [], at=NOW, until=NOW + 1)
    SqliteWipes(database).prune(NOW + 1)


def wipe_and_forget(database: Database) -> None:
    SqliteWipes(database).wipe(SCOPE, [], at=NOW, until=NOW + 1)
    SqliteWipes(database).forget(SCOPE, [FACT])


@pytest.mark.parametrize("forgets", [forget, wipe, wipe_and_prune, wipe_and_forget])
async def test_nothing_of_what_is_forgotten_stays_in_the_file(
    tmp_path: Path, database: Database, forgets: Callable[[Database], object]
) -> None:
    await fill(database)

    def stored() -> bool:
        return VALUE.encode() in b"".join(each.read_bytes() for each in tmp_path.iterdir())

    assert stored()
    forgets(database)
    await database.writer.flush()
    assert not stored()


async def test_other_processes_notice_what_is_scrubbed_and_nothing_else(
    tmp_path: Path, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("proxy.storage.write_queue.LOOK_SECONDS", LOOK_SECONDS * -1)  # it looks every time
    other = Database(tmp_path / "olvido.db", Tasks())
    store = SqliteDesks(database)
    await fill(database)
    await other.foreign_writes(SCOPE, "facts")
    before = await other.foreign_writes(SCOPE, "facts")
    await store.write(SCOPE, "s-1", [line("more")])
    assert await other.foreign_writes(SCOPE, "facts") == before
    await store.scrub(SCOPE, [VALUE])
    assert await other.foreign_writes(SCOPE, "facts") != before
    await other.close()
