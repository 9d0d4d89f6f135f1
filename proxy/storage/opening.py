"""Opens the storage that the configuration asks for. A database or cache that can't be used is told and done without:
the proxy serves, and forgets. Only the tenants' secret is indispensable."""

import asyncio
import logging
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from proxy.config import Config, shows_content
from proxy.embed.opening import vectors_of
from proxy.storage.accounts import Accounts, AccountsOff, ContentsOff, ContentStore
from proxy.storage.answered import OnRecord, nothing_on_record
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
from proxy.storage.links import MemoryAnswers, MemoryLedger, MemorySessions
from proxy.storage.memory_accounts import MemoryAccounts
from proxy.storage.recollection import (
    Archive,
    ArchiveOff,
    FactsOff,
    FactStore,
    StatesOff,
    StateStore,
    WipesOff,
    WipeStore,
)
from proxy.storage.reuse import MemoryReuse
from proxy.storage.secret import SECRET_BYTES, tenant_secret
from proxy.storage.sqlite.accounts import SqliteAccounts
from proxy.storage.sqlite.archive import SqliteArchive
from proxy.storage.sqlite.contents import ContentLimits, MemoryContents, SqliteContents
from proxy.storage.sqlite.database import Database, Observed
from proxy.storage.sqlite.facts import MemoryFacts, SqliteFacts
from proxy.storage.sqlite.ledger import SqliteLedger
from proxy.storage.sqlite.retention import OnFailure, Retention
from proxy.storage.sqlite.reuse import SqliteReuse
from proxy.storage.sqlite.sessions import SqliteSessions
from proxy.storage.sqlite.states import MemoryStates, SqliteStates
from proxy.storage.sqlite.wipes import SqliteWipes
from proxy.storage.wipes import MemoryWipes
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
    wipes: WipeStore
    accounts: Accounts
    contents: ContentStore
    secret: bytes = field(repr=False)
    on_record: OnRecord = nothing_on_record  # is anything kept of this scope?
    database: Database | None = None
    retention: Retention | None = None
    failures: Mapping[str, str] = field(default_factory=dict)  # part → why it is done without

    @property
    def queued(self) -> int:
        """Rows that are not durable yet."""
        return self.database.writer.depth if self.database else 0

    @property
    def dropped(self) -> Mapping[str, int]:
        """Rows lost since the start, by kind."""
        return self.database.writer.dropped if self.database else {}

    @property
    def failing(self) -> str | None:
        """Why what is said now cannot be written, as on a full disk: until what waits has been, which is tried again
        every few seconds."""
        return self.database.writer.failing if self.database else None

    @property
    def troubles(self) -> Mapping[str, str]:
        """Parts that can't do their work, and why."""
        failing = self.failing
        return self.failures if failing is None else {**self.failures, "database": f"cannot be written: {failing}"}

    @property
    def lag(self) -> float:
        """Seconds since the oldest queued row was queued."""
        return self.database.writer.lag if self.database else 0.0

    def stop(self) -> None:
        """What is done in the background ends soon."""
        if self.retention is not None:
            self.retention.stop()

    async def close(self) -> None:
        """Write what is queued, then close."""
        self.stop()
        await self.answers.close()
        await self.sessions.close()
        await self.ledger.close()
        await self.reuse.close()
        await self.facts.close()
        await self.archive.close()
        await self.states.close()
        await self.wipes.close()
        if self.database is not None:
            await self.database.close()


async def open_storage(
    config: Config,
    tasks: Tasks,
    observed: Observed = lambda _operation, _seconds: None,
    on_failure: OnFailure = lambda _part, _reason: None,
) -> Storage:
    """`on_failure` is told when work in the background fails. Raises SecretUnsafe if the folder can't hold a secret."""
    exact, log_rows = config.reuse.exact, config.reuse.intent.log_rows
    max_bytes, max_entry_bytes = exact.max_mb * 2**20, exact.max_entry_kb * 1024
    keeps_facts, archive_ttl = config.memory.facts, config.memory.archive_ttl
    keep = config.storage.keep
    limits = ContentLimits(keep.contents, keep.contents_mb * 2**20, keep.contents_entry_kb * 1024)
    keeps_contents = shows_content(config)
    if config.storage.kind == "off":
        return Storage(
            sessions=SessionsOff(),
            ledger=LedgerOff(),
            answers=AnswersOff(),
            reuse=ReuseOff(),
            facts=FactsOff(),
            archive=ArchiveOff(),
            states=StatesOff(),
            wipes=WipesOff(),
            accounts=AccountsOff(),
            contents=ContentsOff(),
            secret=secrets.token_bytes(SECRET_BYTES),
        )
    if config.storage.kind == "memory":
        ledger = MemoryLedger()
        facts = MemoryFacts() if keeps_facts else None
        archive = MemoryArchive(archive_ttl) if archive_ttl else None
        return Storage(
            sessions=MemorySessions(),
            ledger=ledger,
            answers=MemoryAnswers(max_bytes, max_entry_bytes),
            reuse=MemoryReuse(log_rows=log_rows),
            facts=facts or FactsOff(),
            archive=archive or ArchiveOff(),
            states=MemoryStates(),
            wipes=MemoryWipes(facts, archive),
            accounts=MemoryAccounts(ledger, archive),
            contents=MemoryContents(limits) if keeps_contents else ContentsOff(),
            secret=secrets.token_bytes(SECRET_BYTES),
            on_record=_with_facts(facts or FactsOff()),
        )

    folder = config.storage.path
    secret = await asyncio.to_thread(tenant_secret, folder)
    failures: dict[str, str] = {}
    # In this thread: SQLite's connections and the writer's task belong to it, and nothing is served yet.
    database = _opened(
        lambda: Database(folder / DATABASE, tasks, embedding=vectors_of(config), observed=observed),
        "database",
        failures,
    )
    cache = _opened(
        lambda: DiskAnswers(folder / ANSWERS, max_bytes=max_bytes, max_entry_bytes=max_entry_bytes), "answers", failures
    )
    retention: Retention | None = None
    if database is not None:
        retention = Retention(database.writer, keep, tasks, keeps_contents=keeps_contents, on_failure=on_failure)
        retention.start()
    return Storage(
        sessions=SqliteSessions(database) if database else SessionsOff(),
        ledger=SqliteLedger(database) if database else LedgerOff(),
        answers=cache or AnswersOff(),
        reuse=SqliteReuse(database, log_rows) if database else ReuseOff(),
        facts=SqliteFacts(database) if database and keeps_facts else FactsOff(),
        archive=SqliteArchive(database, archive_ttl) if database and archive_ttl else ArchiveOff(),
        states=SqliteStates(database) if database else StatesOff(),
        wipes=SqliteWipes(database) if database else WipesOff(),
        accounts=SqliteAccounts(database) if database else AccountsOff(),
        contents=SqliteContents(database, limits) if database and keeps_contents else ContentsOff(),
        secret=secret,
        on_record=database.has_scope if database else nothing_on_record,
        database=database,
        retention=retention,
        failures=failures,
    )


def _with_facts(facts: FactStore) -> OnRecord:
    """Somebody may have been told facts, by the API, before the first request."""

    async def on_record(scope: str) -> bool:
        return bool(await facts.all(scope))

    return on_record


def _opened(opening: Callable[[], T], part: str, failures: dict[str, str]) -> T | None:
    try:
        return opening()
    except StorageError as error:
        failures[part] = str(error)
        log.error("storage is done without", extra={"part": part, "why": str(error)})  # noqa: TRY400 (the text says it all)
        return None
