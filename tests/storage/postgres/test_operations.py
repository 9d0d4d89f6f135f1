"""Whatever memory writes can wait on a disk, and another process makes the same of it."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from proxy.storage.base import KnownPrefix
from proxy.storage.pending import WriterLimits
from proxy.storage.postgres import writer
from proxy.storage.postgres.archive import PostgresArchive
from proxy.storage.postgres.database import PostgresDatabase
from proxy.storage.postgres.facts import PostgresFacts
from proxy.storage.postgres.jobs import PostgresJobs
from proxy.storage.postgres.operations import OPERATIONS
from proxy.storage.postgres.sessions import PostgresSessions
from proxy.storage.postgres.states import PostgresStates
from proxy.storage.postgres.wipes import PostgresWipes
from proxy.storage.recollection import Wiped
from proxy.storage.spool import Spool
from proxy.tasks import Tasks
from proxy.types import Fact
from tests.postgres import processes
from tests.storage.sqlite.conftest import chain_of
from tests.storage.sqlite.test_archive import turn

NOWHERE = "postgresql://127.0.0.1:9/nobody"
VECTORS = np.array([[0.0, 1.0]], np.float32)
FACT = Fact("f-1", "work", "team", "a\0b", "high", "explicit", "s", 1, 1.0, 1.0, links=(turn(5).utterances[0].link,))
OTHER = replace(FACT, id="f-2", created_at=2.0, links=())


async def test_what_waited_on_a_disk_is_there_when_another_process_has_written_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "WRITE_SECONDS", 0.05)
    limits, chain = WriterLimits(pauses=()), chain_of("hi", "hello", "bye")
    away = PostgresDatabase(NOWHERE, Tasks(), limits=limits, spool=Spool(tmp_path, OPERATIONS))
    sessions, states, facts = PostgresSessions(away), PostgresStates(away), PostgresFacts(away)
    archive, wipes = PostgresArchive(away, 1e12), PostgresWipes(away)
    sessions.remember("a/", "s", chain[:2], 0, 1.0)
    sessions.remember("a/", "s", chain, 2, 2.0)
    states.put("b/", "s", chain[0], 1.0, b"before")
    states.forget("b/")
    states.put("b/", "s", chain[1], 1.0, b"\xff")
    facts.put("a/", [FACT, OTHER])
    facts.forget("a/", [OTHER.id])
    for number, vectors in ((1, VECTORS), (2, None)):
        archive.add("a/", turn(number), vectors)
    archive.forget("a/", [turn(2).link], 9.0)
    archive.lift("a/", [turn(2).link])
    archive.add("a/", turn(2), None)
    archive.forget("a/", [turn(3).link], 9.0)
    for scope in ("c/", "d/"):
        facts.put(scope, [FACT, OTHER])
        archive.add(scope, turn(5), None)
        wipes.wipe(scope, [b"command"], at=100.0, until=200.0)
    wipes.restore("c/", 100.0)
    wipes.forget("d/", [FACT])
    wipes.prune(150.0)
    archive.prune(0.0)
    PostgresJobs(away).arm("a/", "extract", "s", 5.0, sooner=True)
    await away.close()
    assert not away.writer.dropped
    monkeypatch.undo()

    async with processes(1, spool=Spool(tmp_path, OPERATIONS)) as (back,):
        back.writer.adopt()
        await back.writer.flush()
        archive = PostgresArchive(back, 1e12)
        assert await PostgresSessions(back).longest_prefix("a/", chain) == KnownPrefix(3, ("s",), is_tip=True)
        assert await PostgresStates(back).get("b/", chain) == (chain[1], b"\xff")
        assert await PostgresFacts(back).all("a/") == [FACT]
        changes = await archive.changes("a/", 0, 0.0)
        assert [(each, vectors is not None) for each, vectors in changes.entries] == [(turn(1), True), (turn(2), False)]
        assert await archive.forgotten_at("a/", [turn(2).link, turn(3).link]) == {turn(3).link: 9.0}
        assert await PostgresFacts(back).all("c/") == [FACT, OTHER]
        assert await archive.known("c/", [turn(5).link]) == {turn(5).link}
        assert [(job.subject, job.due_at) for job in await PostgresJobs(back).jobs("a/")] == [("s", 5.0)]
        assert await PostgresWipes(back).wiped(100.0) == [Wiped("d/", 1, 0, 200.0)]
        assert not back.writer.dropped
