"""What stands outside of the database, for an export: answers and waiting rows of those who are meant, unchanged."""

from pathlib import Path

import diskcache

from proxy.storage.answers import DiskAnswers
from proxy.storage.exporting import answers, waiting
from proxy.storage.pending import FACTS, Write
from proxy.storage.postgres import facts
from proxy.storage.postgres.operations import OPERATIONS
from proxy.storage.spool import Spool
from proxy.types import StoredAnswer
from tests.builders import NOW

SAID = StoredAnswer(b'{"choices":[]}', NOW, "up", "m", streamed=False)


def is_ana(scope: str) -> bool:
    return scope == "t/ana"


async def test_answers_of_a_scope_are_told_with_their_keys_and_stay(tmp_path: Path) -> None:
    cache = DiskAnswers(tmp_path, max_bytes=2**20, max_entry_bytes=2**20)
    for scope in ("t/ana", "t/beto", "t/ana~s"):
        await cache.put(scope, f"key of {scope}", SAID, 1e12)
    await cache.close()
    for _ in range(2):
        found = dict(answers(tmp_path / diskcache.core.DBNAME, is_ana))
        assert found.keys() == {"key of t/ana", "key of t/ana~s"}
        assert found["key of t/ana"].answer == SAID


def test_rows_that_wait_in_a_spool_are_told_and_wait_on(tmp_path: Path) -> None:
    spool = Spool(tmp_path, OPERATIONS)
    for scope in ("t/ana", "t/beto"):
        spool.put([Write(1, facts.STATEMENTS.forget, [{"scope": scope, "id": "f"}], kind=FACTS, scope=scope)])
    for _ in range(2):
        (row,) = waiting(tmp_path, is_ana)
        assert (row.scope, row.operation, row.what) == ("t/ana", "facts.forget", [{"scope": "t/ana", "id": "f"}])
    assert spool.rows == 2


def test_where_there_is_nothing_nothing_is_told(tmp_path: Path) -> None:
    assert list(waiting(tmp_path / "none", is_ana)) == []
