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
from proxy.storage.archive import MemoryArchive
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
from proxy.storage.facts import MemoryFacts, SqliteFacts
from proxy.storage.memory import MemoryAnswers, MemoryLedger, MemorySessions
from proxy.storage.recollection import Archive, ArchiveOff, FactsOff, FactStore, StatesOff, StateStore
from proxy.storage.reuse import MemoryReuse
from proxy.storage.secret import SECRET_BYTES, tenant_secret
from proxy.storage.sqlite import Database
from proxy.storage.sqlite_archive import SqliteArchive
from proxy.storage.sqlite_reuse import SqliteReuse
from proxy.storage.states import MemoryStates, SqliteStates
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
    facts: FactStore
    archive: Archive
    states: StateStore
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
        await self.facts.close()
        await self.archive.close()
        await self.states.close()
        if self.database is not None:
            await self.database.close()


async def open_storage(config: Config, tasks: Tasks) -> Storage:
    """Raises SecretUnsafe if the folder can't hold a secret."""
    exact, log_rows = config.reuse.exact, config.reuse.intent.log_rows
    max_bytes, max_entry_bytes = exact.max_mb * 2**20, exact.max_entry_kb * 1024
    keeps_facts, archive_ttl = config.memory.facts, config.memory.archive_ttl
    if config.storage.kind == "off":
        return Storage(
            sessions=SessionsOff(),
            ledger=LedgerOff(),
            answers=AnswersOff(),
            reuse=ReuseOff(),
            facts=FactsOff(),
            archive=ArchiveOff(),
            states=StatesOff(),
            secret=secrets.token_bytes(SECRET_BYTES),
        )
    if config.storage.kind == "memory":
        return Storage(
            sessions=MemorySessions(),
            ledger=MemoryLedger(),
            answers=MemoryAnswers(max_bytes, max_entry_bytes),
            reuse=MemoryReuse(log_rows=log_rows),
            facts=MemoryFacts() if keeps_facts else FactsOff(),
            archive=MemoryArchive(archive_ttl) if archive_ttl else ArchiveOff(),
            states=MemoryStates(),
            secret=secrets.token_bytes(SECRET_BYTES),
        )

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
        facts=SqliteFacts(database) if database and keeps_facts else FactsOff(),
        archive=SqliteArchive(database, archive_ttl) if database and archive_ttl else ArchiveOff(),
        states=SqliteStates(database) if database else StatesOff(),
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
