"""Jobs in SQLite: that their statements find rows by an index, that other processes notice what they write, and that
nothing of what is forgotten stays in the file. What every JobStore does: tests/contract/test_job_store.py."""

import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from proxy.storage.sqlite import jobs
from proxy.storage.sqlite.archive import SqliteArchive
from proxy.storage.sqlite.connection import migrate
from proxy.storage.sqlite.database import Database
from proxy.storage.sqlite.facts import SqliteFacts
from proxy.storage.sqlite.jobs import SqliteJobs
from proxy.storage.stores import job_changes, job_expiry, job_forgetting, job_rows
from proxy.storage.write_queue import LOOK_SECONDS
from proxy.tasks import Tasks
from proxy.types.curation import Finished
from tests.contract.test_job_store import EVENT, LEASE, LINE, NOW, SCOPE, STORED
from tests.contract.test_wipe_store import link

STATEMENTS = {
    f"{module.__name__}.{name} {place}": text
    for module in (jobs, job_changes, job_forgetting, job_rows)
    for name, value in vars(module).items()
    for place, text in enumerate(value if isinstance(value, tuple) else [value])
    if isinstance(text, str) and re.match(r"\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b", text)
} | {f"leaving {each.table}": each.deleting() for each in job_expiry.leaving(NOW, 1.0, 1.0, 0.0)}
TABLES = "jobs|job_lines|job_links|spending|events|digests|summaries|archive|archive_links|scopes|other"


@pytest.fixture(scope="module")
def connection() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as opened:
        migrate(opened)
        yield opened


def test_the_statements_are_found() -> None:
    assert len(STATEMENTS) > 50


@pytest.mark.parametrize("name", STATEMENTS)
def test_rows_are_found_by_an_index(name: str, connection: sqlite3.Connection) -> None:
    text = STATEMENTS[name].replace("{jobs}", "1, 2").replace("{whose}", "true").replace("{states}", "true")
    values = dict.fromkeys(re.findall(r":(\w+)", text), 0) or (0,) * text.count("?")
    plan = [detail for *_, detail in connection.execute(f"EXPLAIN QUERY PLAN {text}", values)]
    assert [step for step in plan if re.match(rf"SCAN ({TABLES})\b(?! USING INDEX)", step)] == []


async def done(store: SqliteJobs, finished: Finished) -> None:
    store.arm(SCOPE, "extract", "s-1", NOW)
    job = await store.claim("one", NOW, LEASE)
    assert job is not None
    read = [link("1 asked")]
    assert await store.asked(job.id, "one", model="m", prompt="p", shown=b"she was shown", read=read)
    assert await store.answered(job.id, "one", b"the model told", 0.0)
    assert await store.finish(job.id, "one", finished, NOW)


def forget(database: Database) -> None:
    SqliteArchive(database, 1e12).forget(SCOPE, [link("1 asked")])


def forget_a_fact(database: Database) -> None:
    SqliteFacts(database).forget(SCOPE, ["f-1"])


async def write(database: Database, how: str) -> None:
    store = SqliteJobs(database)
    made: dict[str, Callable[[Database], object]] = {"message": forget, "fact": forget_a_fact}
    if how in made:
        made[how](database)
        await database.writer.flush()
    else:
        await done(store, Finished(summary=STORED) if how == "summary" else Finished((LINE,)))


@pytest.mark.parametrize(("how", "noticed"), [("summary", True), ("message", True), ("fact", True), ("lines", False)])
async def test_other_processes_notice_a_summary_and_what_is_forgotten_and_nothing_else(
    tmp_path: Path, how: str, noticed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("proxy.storage.write_queue.LOOK_SECONDS", LOOK_SECONDS * -1)  # it looks every time
    path = tmp_path / "olvido.db"
    own, other = Database(path, Tasks()), Database(path, Tasks())
    await write(own, "lines")
    await other.foreign_writes(SCOPE, "facts")
    before = await other.foreign_writes(SCOPE, "facts")
    await write(own, how)
    assert ((await other.foreign_writes(SCOPE, "facts")) != before) == noticed
    await own.close()
    await other.close()


def everything(folder: Path) -> bytes:
    return b"".join(each.read_bytes() for each in folder.iterdir())


@pytest.mark.parametrize("forgets", [forget, forget_a_fact])
async def test_nothing_of_what_is_forgotten_stays_in_the_file(
    tmp_path: Path, forgets: Callable[[Database], object]
) -> None:
    path = tmp_path / "olvido.db"
    database = Database(path, Tasks())
    store = SqliteJobs(database)
    await done(store, Finished((LINE,)))
    if forgets is forget:
        await done(store, Finished(events=(EVENT,), summary=STORED))
    forgets(database)
    await database.writer.flush()
    stored = everything(tmp_path)
    texts = (LINE.quote, "she was shown", "the model told", EVENT.text, "buy food")
    assert [text for text in texts if text.encode() in stored] == []
    await database.close()
