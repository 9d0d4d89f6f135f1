"""What there is to erase: every table with rows of a scope, bytes of files, answers, spools."""

import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from proxy.storage.answers import DiskAnswers
from proxy.storage.copying import TABLES as COPIED
from proxy.storage.erasing import (
    TABLES,
    erase_answers,
    erase_postgres,
    erase_spools,
    erase_sqlite,
    find,
    whose,
)
from proxy.storage.erasures import mark_of
from proxy.storage.pending import DELETIONS, FACTS, Write
from proxy.storage.postgres.connection import connect
from proxy.storage.postgres.facts import PostgresFacts
from proxy.storage.postgres.operations import OPERATIONS
from proxy.storage.schema import MIGRATIONS
from proxy.storage.spool import Spool
from proxy.storage.sqlite.database import Database
from proxy.storage.sqlite.facts import SqliteFacts
from proxy.tasks import Tasks
from proxy.types import StoredAnswer
from tests import postgres
from tests.contract.test_fact_store import NEW

ANA, BETO = "t/ana", "t/beto"
_STATEMENTS = [each for statements in MIGRATIONS.values() for each in statements]


def is_ana(scope: str) -> bool:
    return scope == ANA


def test_every_table_with_rows_of_a_scope_is_erased() -> None:
    with_scope = {
        found[1]
        for each in _STATEMENTS
        if (found := re.search(r"CREATE TABLE (\w+)", each)) is not None and "scope_id" in each
    } & set(COPIED)  # without one that only passes into another
    assert with_scope == set(TABLES)


def filled(execute: Callable[[str], Any], scope: str, number: int) -> None:
    """A row in most tables, as plain as they come."""
    execute(f"INSERT INTO scopes (id, name) VALUES ({number}, '{scope}')")
    execute(f"INSERT INTO sessions (id, scope_id, name) VALUES ({number}, {number}, 's')")
    execute(f"INSERT INTO links (scope_id, link, session_id, at, went_on) VALUES ({number}, 'l', {number}, 1, 0)")
    execute(
        "INSERT INTO archive (scope_id, link, session_id, turn, at, utterances, messages)"
        f" VALUES ({number}, 'l', {number}, 1, 1, '[]', 'said by {scope}')"
    )
    execute(f"INSERT INTO archive_links (link, change) SELECT 'm', change FROM archive WHERE scope_id = {number}")
    execute(
        f"INSERT INTO contents (scope_id, session_id, request_id, at, size, headers, body, sent, fates, answer)"
        f" VALUES ({number}, {number}, 'r', 1, 10, '{{}}', 'said by {scope}', '', '', '')"
    )
    execute("UPDATE contents_size SET bytes = bytes + 10")


def test_one_end_user_leaves_an_sqlite_file_and_the_other_one_stays(tmp_path: Path) -> None:
    path = tmp_path / "olvido.db"
    database = Database(path, Tasks())
    with closing(sqlite3.connect(path)) as connection, connection:
        filled(connection.execute, ANA, 1)
        filled(connection.execute, f"{ANA}~c-1", 2)
        filled(connection.execute, BETO, 3)
    found = erase_sqlite(path, is_ana)
    assert set(found.ids) == {ANA, f"{ANA}~c-1"}
    assert (found.rows["archive"], found.rows["contents"]) == (2, 2)
    written = bytes_in(tmp_path)
    assert ANA.encode() not in written
    assert BETO.encode() in written
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT name FROM scopes").fetchall() == [(BETO,)]
        assert connection.execute("SELECT bytes FROM contents_size").fetchone() == (10,)
        assert connection.execute("SELECT count(*) FROM archive_links").fetchone() == (1,)
        assert connection.execute("SELECT scope FROM erased").fetchall() == [(mark_of(ANA),)]
    assert erase_sqlite(path, is_ana).ids == {}
    assert database.folder == tmp_path  # it stays open until here, as a proxy has it


def test_one_end_user_leaves_postgresql_and_the_other_one_stays() -> None:
    with connect(postgres.database()) as connection:
        filled(lambda text: connection.execute(text.encode()), ANA, 11)
        filled(lambda text: connection.execute(text.encode()), BETO, 12)
        assert set(erase_postgres(connection, is_ana).ids) == {ANA}
        assert connection.execute("SELECT name FROM scopes").fetchall() == [(BETO,)]
        assert connection.execute("SELECT sum(bytes)::int FROM contents_size").fetchone() == (10,)
        assert connection.execute("SELECT count(*) FROM archive_links").fetchone() == (1,)
        assert find(connection, is_ana).ids == {}


async def test_what_was_queued_before_an_erasure_is_not_written_after_it(tmp_path: Path) -> None:
    path = tmp_path / "olvido.db"
    database = Database(path, Tasks())
    facts = SqliteFacts(database)
    facts.put(ANA, [NEW])
    erase_sqlite(path, is_ana, [ANA])
    await facts.flush()
    assert await facts.all(ANA) == []
    facts.put(ANA, [NEW])  # a new beginning
    await facts.flush()
    assert await facts.all(ANA) == [NEW]
    await database.close()


async def test_what_was_queued_before_is_not_written_to_postgresql_either_nor_is_its_name() -> None:
    async with postgres.processes(1) as (database,):
        await database.ready()
        facts = PostgresFacts(database)
        facts.put(ANA, [NEW])
        facts.put(BETO, [NEW])
        await database.change(erase_marks)
        await facts.flush()
        assert await facts.all(ANA) == []
        assert await facts.all(BETO) == [NEW]
        assert not await database.has_scope(ANA)
        before = await database.foreign_writes(ANA, "facts")
        facts.put(ANA, [NEW])
        await facts.flush()
        assert await facts.all(ANA) == [NEW]
        assert await database.foreign_writes(ANA, "facts") == before  # its own


def erase_marks(connection: Any) -> None:
    connection.execute("INSERT INTO erased (scope, at) VALUES (%s, 1)", (mark_of(ANA),))


async def test_a_scope_that_was_erased_counts_as_changed_by_another_process() -> None:
    async with postgres.processes(2) as (here, there):
        await here.ready()
        PostgresFacts(there).put(ANA, [NEW])
        await there.writer.flush()
        before = [await here.foreign_writes(ANA, part) for part in ("paths", "facts", "turns", "reuse")]
        dropped: list[str] = []
        here.erasures.on_erased(dropped.append)
        await there.change(erase_marks)
        after = [await here.foreign_writes(ANA, part) for part in ("paths", "facts", "turns", "reuse")]
        assert all(new > old for new, old in zip(after, before, strict=True))
        assert dropped == [ANA]


ANSWER = StoredAnswer(b'{"said": "secretly"}', 1.0, "kimi", "m", streamed=False)


def bytes_in(folder: Path) -> bytes:
    return b"".join(each.read_bytes() for each in folder.iterdir())


async def test_answers_of_one_end_user_leave_the_cache(tmp_path: Path) -> None:
    answers = DiskAnswers(tmp_path)
    await answers.put(ANA, "a" * 32, ANSWER, 1e12)
    await answers.put(BETO, "b" * 32, ANSWER, 1e12)
    assert erase_answers(tmp_path / "cache.db", is_ana) == 1
    assert await answers.get(BETO, "b" * 32, 2.0) == ANSWER
    await answers.close()
    written = bytes_in(tmp_path)
    assert (b"a" * 32 in written, b"b" * 32 in written) == (False, True)


@pytest.mark.parametrize("value", [None, b"", b"\xc1", b"\x01", b"\x90", "text"])
def test_what_does_not_say_whose_it_is_is_nobodys(value: object) -> None:
    assert whose(value) is None


def spooled(folder: Path) -> Spool:
    spool = Spool(folder, OPERATIONS)
    operation = OPERATIONS["facts.forget"].apply
    spool.put([Write(1, operation, [{"scope": who, "id": "f"}], kind=FACTS, scope=who) for who in (ANA, BETO)])
    return spool


def test_rows_leave_the_spools_of_processes_that_have_ended(tmp_path: Path) -> None:
    spooled(tmp_path).close()
    running = spooled(tmp_path)
    waiting = erase_spools(tmp_path, is_ana)
    assert (waiting.erased, waiting.left) == (1, 1)
    assert erase_spools(tmp_path, is_ana).erased == 0
    running.close()
    assert erase_spools(tmp_path, is_ana).erased == 1
    written = bytes_in(tmp_path)
    assert ANA.encode() not in written
    assert BETO.encode() in written


def test_what_waits_keeps_the_number_that_it_was_begun_at(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "one", OPERATIONS)
    spool.put([Write(1, OPERATIONS["states.forget"].apply, ANA, kind=DELETIONS, scope=ANA, begun=6)])
    spool.close()
    (write,) = Spool(tmp_path / "one", OPERATIONS).adopt()
    assert write.begun == 6
