"""What is opened, what is done without, and that nothing queued is lost at the end."""

import asyncio
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from proxy.storage.base import SecretUnsafe
from proxy.storage.opening import ANSWERS, DATABASE, Storage, open_storage
from proxy.tasks import Tasks
from proxy.types import ArchivedTurn, Contents, Fact, ReuseDecision
from tests.builders import NOW, config, ledger_row, stored

DECISION = ReuseDecision("req_1", NOW, "hit", "r-1", 1.0, "how?", "how?")
FACT = Fact("f-1", "work", "team", "I lead the team", "high", "explicit", "s", 1, NOW, NOW)
TURN = ArchivedTurn(b"t" * 16, b"", "s", 1, NOW, b"[]", ())


def on_disk(folder: Path) -> dict[str, str]:
    return {"kind": "sqlite", "path": str(folder)}


async def fill(storage: Storage) -> None:
    """One of each kind."""
    await storage.desks.put("a", "a.md", "text", version=0, at=NOW, by="model")
    storage.ledger.append(ledger_row(scope="a"))
    storage.sessions.remember("a", "s", [b"1" * 16], 0, NOW)
    storage.reuse.log("a", DECISION)
    storage.facts.put("a", [FACT])
    storage.archive.add("a", TURN, None)
    storage.states.put("a", "s", TURN.link, NOW, b"state")
    storage.jobs.arm("a", "extract", "s", NOW)
    storage.contents.put(Contents("a", "req_1", "s", NOW, b"{}"))
    await storage.answers.put("a", "key", stored(), 60.0)


async def kept(storage: Storage) -> set[str]:
    """What there is of it, by the part's name."""
    await storage.flush()
    found = {
        "ledger": await storage.ledger.recent("a"),
        "sessions": await storage.sessions.longest_prefix("a", [b"1" * 16]),
        "reuse": await storage.reuse.recent("a"),
        "facts": await storage.facts.all("a"),
        "archive": await storage.archive.latest("a", "s"),
        "states": await storage.states.get("a", [TURN.link]),
        "jobs": await storage.jobs.jobs("a"),
        "desks": await storage.desks.documents("a"),
        "contents": await storage.contents.recent(9),
        "accounts": await storage.accounts.rows(),
        "answers": await storage.answers.get("a", "key", NOW),
        "scope": await storage.database.has_scope("a"),
    }
    return {name for name, value in found.items() if value}


ALL = {
    "ledger", "sessions", "reuse", "facts", "archive", "states", "jobs", "desks", "contents", "accounts", "answers",
    "scope",
}  # fmt: skip
SHOWN = {"keep": {"contents": 0}}


async def test_off_keeps_nothing_and_memory_nothing_on_disk(tmp_path: Path) -> None:
    off, memory = [
        await open_storage(config(storage={"kind": kind, "path": str(tmp_path), **SHOWN}), Tasks())
        for kind in ("off", "memory")
    ]
    for storage, wanted in ((off, set[str]()), (memory, ALL)):
        await fill(storage)
        assert await kept(storage) == wanted
        assert storage.database.folder is None
        writer = storage.database.writer
        assert (writer.depth, writer.dropped, writer.lag, storage.failures) == (0, {}, 0.0, {})
        await storage.close()
    assert off.secret != memory.secret
    assert len(off.secret) == len(memory.secret) == 32
    assert await asyncio.to_thread(lambda: list(tmp_path.iterdir())) == []


async def test_what_was_kept_is_there_when_it_is_opened_again(tmp_path: Path) -> None:
    settings = config(storage=on_disk(tmp_path / "new" / "folder"))
    tasks = Tasks()
    first = await open_storage(settings, tasks)
    await fill(first)
    assert first.database.writer.depth == 8
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
    where = {"kind": kind, "path": str(tmp_path), **SHOWN}
    for memory, wanted in (
        ({"facts": False, "archive_ttl": 0}, ALL - {"facts", "archive", "jobs", "desks"}),
        ({"facts": False}, ALL - {"facts", "jobs"}),
        ({"archive_ttl": 0}, ALL - {"archive", "jobs", "desks"}),
        ({}, ALL),
    ):
        storage = await open_storage(config(storage=where, memory=memory), Tasks())
        await fill(storage)
        assert await kept(storage) == wanted
        assert (storage.facts.keeps, storage.jobs.keeps) == ("facts" in wanted, "jobs" in wanted)
        await storage.close()


@pytest.mark.note("1.2/8")
@pytest.mark.parametrize("kind", ["memory", "sqlite"])
async def test_turns_are_kept_as_long_as_configured(tmp_path: Path, kind: str) -> None:
    settings = config(storage={"kind": kind, "path": str(tmp_path)}, memory={"archive_ttl": "1h"})
    storage = await open_storage(settings, Tasks())
    storage.archive.add("a", TURN, None)
    await storage.archive.flush()
    assert len((await storage.archive.changes("a", 0, NOW + 3599)).entries) == 1
    assert len((await storage.archive.changes("a", 0, NOW + 3600)).entries) == 0
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
    assert storage.database.folder is None
    await fill(storage)
    assert await kept(storage) == {"answers"}
    await storage.close()


async def test_so_is_a_damaged_cache(tmp_path: Path) -> None:
    (tmp_path / ANSWERS).write_text("a file where the folder should be")
    storage = await open_storage(config(storage=on_disk(tmp_path)), Tasks())
    assert list(storage.failures) == ["answers"]
    await fill(storage)
    assert await kept(storage) == ALL - {"answers", "contents"}
    await storage.close()


async def test_without_a_secret_there_is_no_storage(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SecretUnsafe):
        await open_storage(config(storage=on_disk(tmp_path / "file")), Tasks())
