"""Reads for administration from a file that other processes write."""

from pathlib import Path

import pytest

from proxy.storage.base import StorageError
from proxy.storage.pending import WriterLimits
from proxy.storage.sqlite.accounts import SqliteAccounts
from proxy.storage.sqlite.database import Database
from proxy.storage.sqlite.ledger import SqliteLedger
from proxy.tasks import Tasks
from proxy.types import LedgerRow


async def test_what_another_process_has_written_is_seen_at_once_and_what_is_queued_is_not(
    tmp_path: Path, row: LedgerRow
) -> None:
    lazy = WriterLimits(interval=60)
    here, other = (Database(tmp_path / "olvido.db", Tasks(), lazy) for _ in range(2))
    accounts = SqliteAccounts(here)
    SqliteLedger(other).append(row)
    assert await accounts.rows() == []
    await SqliteLedger(other).flush()
    assert [each for _, each in await accounts.rows()] == [row]
    (bucket,) = await accounts.buckets(0, row.at + 60, 60)
    assert bucket.sums.requests == 1
    await here.close()
    await other.close()


async def test_of_a_closed_file_nothing_is_told(tmp_path: Path) -> None:
    database = Database(tmp_path / "olvido.db", Tasks())
    await database.close()
    with pytest.raises(StorageError, match="closed"):
        await SqliteAccounts(database).last()
