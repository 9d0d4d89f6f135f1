"""What is opened, what is done without, and that nothing queued is lost at the end."""

import asyncio
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from proxy.storage.archive import MemoryArchive
from proxy.storage.base import AnswersOff, LedgerOff, ReuseOff, SecretUnsafe, SessionsOff
from proxy.storage.links import MemoryAnswers, MemoryLedger, MemorySessions
from proxy.storage.opening import ANSWERS, DATABASE, open_storage
from proxy.storage.recollection import ArchiveOff, FactsOff, StatesOff
from proxy.storage.reuse import MemoryReuse
from proxy.storage.sqlite.archive import SqliteArchive
from proxy.storage.sqlite.facts import MemoryFacts, SqliteFacts
from proxy.storage.sqlite.states import MemoryStates, SqliteStates
from proxy.tasks import Tasks
from proxy.types import ArchivedTurn, Contents, Fact, ReuseDecision
from tests.builders import NOW, config, ledger_row, stored

DECISION = ReuseDecision("req_1", NOW, "hit", "r-1", 1.0, "how?", "how?")
FACT = Fact("f-1", "work", "team", "I lead the team", "high", "explicit", "s", 1, NOW, NOW)
TURN = ArchivedTurn(b"t" * 16, b"", "s", 1, NOW, b"[]", ())


def on_disk(folder: Path) -> dict[str, str]:
    return {"kind": "sqlite", "path": str(folder)}


async def test_off_keeps_nothing_and_memory_nothing_on_disk(tmp_path: Path) -> None:
    off = await open_storage(config(storage={"kind": "off", "path": str(tmp_path)}), Tasks())
    memory = await open_storage(config(storage={"kind": "memory", "path": str(tmp_path)}), Tasks())
    assert (type(off.sessions), type(off.ledger), type(off.answers)) == (SessionsOff, LedgerOff, AnswersOff)
    assert (type(memory.sessions), type(memory.ledger)) == (MemorySessions, MemoryLedger)
    assert isinstance(memory.answers, MemoryAnswers)
    assert (type(off.reuse), type(memory.reuse)) == (ReuseOff, MemoryReuse)
    assert (type(off.facts), type(off.archive), type(off.states)) == (FactsOff, ArchiveOff, StatesOff)
    assert (type(memory.facts), type(memory.archive), type(memory.states)) == (MemoryFacts, MemoryArchive, MemoryStates)
    assert off.secret != memory.secret
    assert len(off.secret) == len(memory.secret) == 32
    for storage in (off, memory):
        assert (storage.queued, storage.dropped, storage.lag, storage.failures) == (0, {}, 0.0, {})
        await storage.close()
    assert await asyncio.to_thread(lambda: list(tmp_path.iterdir())) == []


async def test_what_was_kept_is_there_when_it_is_opened_again(tmp_path: Path) -> None:
    settings = config(storage=on_disk(tmp_path / "new" / "folder"))
    tasks = Tasks()
    first = await open_storage(settings, tasks)
    first.ledger.append(ledger_row(scope="a"))
    first.sessions.remember("a", "s", [b"1" * 16], 0, NOW)
    first.reuse.log("a", DECISION)
    first.facts.put("a", [FACT])
    first.archive.add("a", TURN, None)
    first.states.put("a", "s", TURN.link, NOW, b"state")
    await first.answers.put("a", "key", stored(), 60.0)
    assert first.queued == 6
    await first.close()

    again = await open_storage(settings, tasks)
    assert again.secret == first.secret
    assert [row.request_id for row in await again.ledger.recent("a")] == ["req_1"]
    assert await again.reuse.recent("a") == [DECISION]
    assert await again.facts.all("a") == [FACT]
    assert await again.archive.latest("a", "s") == TURN
    assert await again.states.get("a", [TURN.link]) == (TURN.link, b"state")
    prefix = await again.sessions.longest_prefix("a", [b"1" * 16])
    assert prefix is not None
    assert prefix.sessions == ("s",)
    assert await again.answers.get("a", "key", NOW) == stored()
    await again.close()
    assert len(tasks) == 0


async def test_nobody_else_may_read_it(tmp_path: Path) -> None:
    storage = await open_storage(config(storage=on_disk(tmp_path / "olvido")), Tasks())
    await storage.close()
    modes = {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "olvido").rglob("*") if path.is_file()}
    assert modes == {0o600}
    assert stat.S_IMODE((tmp_path / "olvido").stat().st_mode) == 0o700


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
@pytest.mark.parametrize("rows", [0, 2])
async def test_the_reuse_log_is_as_long_as_configured(tmp_path: Path, kind: str, rows: int) -> None:
    settings = config(storage={"kind": kind, "path": str(tmp_path)}, reuse={"intent": {"log_rows": rows}})
    storage = await open_storage(settings, Tasks())
    for _ in range(3):
        storage.reuse.log("a", DECISION)
    await storage.reuse.flush()
    assert await storage.reuse.recent("a") == [DECISION] * rows
    await storage.close()


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
async def test_facts_and_archive_are_kept_unless_the_configuration_says_no(tmp_path: Path, kind: str) -> None:
    where = {"kind": kind, "path": str(tmp_path)}
    kept = await open_storage(config(storage=where), Tasks())
    refused = await open_storage(config(storage=where, memory={"facts": False, "archive_ttl": 0}), Tasks())
    wanted = (
        (SqliteFacts, SqliteArchive, SqliteStates) if kind == "sqlite" else (MemoryFacts, MemoryArchive, MemoryStates)
    )
    assert (type(kept.facts), type(kept.archive), type(kept.states)) == wanted
    assert (type(refused.facts), type(refused.archive), type(refused.states)) == (FactsOff, ArchiveOff, wanted[2])
    await kept.close()
    await refused.close()


@pytest.mark.note("1.2/8")
@pytest.mark.parametrize("kind", ["memory", "sqlite"])
async def test_turns_are_kept_as_long_as_configured(tmp_path: Path, kind: str) -> None:
    settings = config(storage={"kind": kind, "path": str(tmp_path)}, memory={"archive_ttl": "1h"})
    storage = await open_storage(settings, Tasks())
    storage.archive.add("a", TURN, None)
    await storage.archive.flush()
    assert len((await storage.archive.turns("a", 0, NOW + 3599)).entries) == 1
    assert len((await storage.archive.turns("a", 0, NOW + 3600)).entries) == 0
    await storage.close()


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
async def test_what_requests_said_is_kept_where_it_is_shown(tmp_path: Path, kind: str) -> None:
    where = {"kind": kind, "path": str(tmp_path), "keep": {"contents_entry_kb": 1, "contents_mb": 1, "contents": 0}}
    said = Contents("a", "req_1", "s", NOW, b"x" * 1_024)
    for shown in (True, False):
        storage = await open_storage(config(storage=where, admin={"show_content": shown}), Tasks())
        storage.contents.put(said)
        storage.contents.put(replace(said, request_id="req_2", body=b"x" * 1_025))
        assert list(await storage.contents.recent(9)) == ([said] if shown else [])
        await storage.close()


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
async def test_what_is_in_the_ledger_is_told_by_the_accounts(tmp_path: Path, kind: str) -> None:
    storage = await open_storage(config(storage={"kind": kind, "path": str(tmp_path)}), Tasks())
    storage.ledger.append(ledger_row(scope="a"))
    storage.archive.add("a", TURN, None)
    await storage.ledger.flush()
    assert await storage.accounts.rows() == [(1, ledger_row(scope="a"))]
    assert [turn.link for turn in await storage.accounts.turns("a", "s")] == [TURN.link]
    await storage.close()


async def test_what_runs_in_the_background_is_over_when_it_is_closed(tmp_path: Path) -> None:
    tasks = Tasks()
    storage = await open_storage(config(storage=on_disk(tmp_path)), tasks)
    assert storage.retention is not None
    await storage.close()
    assert await storage.retention.run() == {}
    assert len(tasks) == 0


async def test_a_damaged_database_is_told_and_done_without(tmp_path: Path) -> None:
    (tmp_path / DATABASE).write_bytes(b"this is no database" * 1_000)
    storage = await open_storage(config(storage=on_disk(tmp_path)), Tasks())
    assert list(storage.failures) == ["database"]
    assert DATABASE in storage.failures["database"]
    assert isinstance(storage.sessions, SessionsOff)
    assert isinstance(storage.reuse, ReuseOff)
    assert (type(storage.facts), type(storage.archive), type(storage.states)) == (FactsOff, ArchiveOff, StatesOff)
    await storage.answers.put("a", "key", stored(), 60.0)
    assert await storage.answers.get("a", "key", NOW) == stored()
    await storage.close()


async def test_so_is_a_damaged_cache(tmp_path: Path) -> None:
    (tmp_path / ANSWERS).write_text("a file where the folder should be")
    storage = await open_storage(config(storage=on_disk(tmp_path)), Tasks())
    assert list(storage.failures) == ["answers"]
    assert isinstance(storage.answers, AnswersOff)
    storage.ledger.append(ledger_row(scope="a"))
    await storage.ledger.flush()
    assert len(await storage.ledger.recent("a")) == 1
    await storage.close()


async def test_without_a_secret_there_is_no_storage(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SecretUnsafe):
        await open_storage(config(storage=on_disk(tmp_path / "file")), Tasks())
