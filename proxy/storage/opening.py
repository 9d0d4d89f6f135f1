"""Opens the storage that the configuration asks for. A database or cache that can't be used is told and done without:
the proxy serves, and forgets. Only the tenants' secret is indispensable."""

import asyncio
import logging
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from proxy.config import Config
from proxy.storage.answers import DiskAnswers
from proxy.storage.base import (
    AnswerCache,
    AnswersOff,
    Ledger,
    LedgerOff,
    ReuseOff,
    ReuseStore,
    SessionsOff,
    SessionStore,
    StorageError,
)
from proxy.storage.memory import MemoryAnswers, MemoryLedger, MemorySessions
from proxy.storage.reuse import MemoryReuse
from proxy.storage.secret import SECRET_BYTES, tenant_secret
from proxy.storage.sqlite import Database
from proxy.storage.sqlite_reuse import SqliteReuse
from proxy.tasks import Tasks

T = TypeVar("T")

log = logging.getLogger(__name__)

DATABASE = "olvido.db"
ANSWERS = "answers"


@dataclass(frozen=True, slots=True)
class Storage:
    sessions: SessionStore
    ledger: Ledger
    answers: AnswerCache
    reuse: ReuseStore
    secret: bytes = field(repr=False)
    database: Database | None = None
    failures: Mapping[str, str] = field(default_factory=dict)  # part → why it is done without

    @property
    def queued(self) -> int:
        """Rows that are not durable yet."""
        return self.database.writer.depth if self.database else 0

    @property
    def dropped(self) -> int:
        """Rows lost since the start."""
        return self.database.writer.dropped if self.database else 0

    @property
    def lag(self) -> float:
        """Seconds since the oldest queued row was queued."""
        return self.database.writer.lag if self.database else 0.0

    async def close(self) -> None:
        """Write what is queued, then close."""
        await self.answers.close()
        await self.sessions.close()
        await self.ledger.close()
        await self.reuse.close()
        if self.database is not None:
            await self.database.close()


async def open_storage(config: Config, tasks: Tasks) -> Storage:
    """Raises SecretUnsafe if the folder can't hold a secret."""
    exact, log_rows = config.reuse.exact, config.reuse.intent.log_rows
    max_bytes, max_entry_bytes = exact.max_mb * 2**20, exact.max_entry_kb * 1024
    if config.storage.kind == "off":
        return Storage(SessionsOff(), LedgerOff(), AnswersOff(), ReuseOff(), secrets.token_bytes(SECRET_BYTES))
    if config.storage.kind == "memory":
        answers = MemoryAnswers(max_bytes, max_entry_bytes)
        reuse = MemoryReuse(log_rows=log_rows)
        return Storage(MemorySessions(), MemoryLedger(), answers, reuse, secrets.token_bytes(SECRET_BYTES))

    folder = config.storage.path
    secret = await asyncio.to_thread(tenant_secret, folder)
    failures: dict[str, str] = {}
    # In this thread: SQLite's connections and the writer's task belong to it, and nothing is served yet.
    database = _opened(lambda: Database(folder / DATABASE, tasks), "database", failures)
    cache = _opened(
        lambda: DiskAnswers(folder / ANSWERS, max_bytes=max_bytes, max_entry_bytes=max_entry_bytes), "answers", failures
    )
    return Storage(
        sessions=database.sessions if database else SessionsOff(),
        ledger=database.ledger if database else LedgerOff(),
        answers=cache or AnswersOff(),
        reuse=SqliteReuse(database, log_rows) if database else ReuseOff(),
        secret=secret,
        database=database,
        failures=failures,
    )


def _opened(opening: Callable[[], T], part: str, failures: dict[str, str]) -> T | None:
    try:
        return opening()
    except StorageError as error:
        failures[part] = str(error)
        log.error("storage is done without", extra={"part": part, "why": str(error)})  # noqa: TRY400 (the text says it all)
        return None
