"""Opens the storage that the configuration asks for. A database or cache that cannot be used is logged and left out:
the proxy serves, and forgets. Only the tenants' secret is indispensable."""

import asyncio
import logging
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

from proxy.config import Config, shows_content
from proxy.embedding.service import vectors_of
from proxy.storage.accounts import Accounts
from proxy.storage.answers import DiskAnswers, MemoryAnswers
from proxy.storage.base import AliasStore, AnswerCache, ContentStore, Ledger, SessionStore, StorageError
from proxy.storage.database import Database, Observed
from proxy.storage.desk import DeskStore
from proxy.storage.election import Alone, FileElection
from proxy.storage.folder import SECRET_BYTES, tenant_secret
from proxy.storage.hot import Hot
from proxy.storage.jobs import JobStore
from proxy.storage.keys import KeyStore
from proxy.storage.pending import WriterLimits
from proxy.storage.quality import QualityStore
from proxy.storage.recollection import Archive, FactStore, StateStore, WipeStore
from proxy.storage.redis import redis_answers, redis_connection, redis_hot_contexts
from proxy.storage.retention import IN_MEMORY, OnFailure, Pace, Retention
from proxy.storage.returns import ReturnStore
from proxy.storage.reuse import ReuseStore
from proxy.storage.sqlite.database import Database as SqliteDatabase
from proxy.storage.sqlite.database import NoDatabase
from proxy.storage.sqlite.expiry import Expiry
from proxy.storage.sqlite.stores import STORES as SQLITE
from proxy.storage.stores.contents import ContentLimits
from proxy.storage.stores.kinds import Kind
from proxy.tasks import Tasks

if TYPE_CHECKING:
    from proxy.storage.redis.connection import Connection

T = TypeVar("T")

log = logging.getLogger(__name__)

DATABASE = "olvido.db"
ANSWERS = "answers"
MOST_MEMORY = 256 * 2**20  # bytes of a database in memory, beside the bodies of requests


@dataclass(frozen=True, slots=True)
class SharedObserver:
    """An observer of what several processes share: `failed` is called with each part that does without it, and why;
    `changed` with each new state."""

    failed: Callable[[str, str], None]
    changed: Callable[[str], None]


UNOBSERVED = SharedObserver(lambda _part, _reason: None, lambda _status: None)


@dataclass(frozen=True, slots=True)
class Storage:
    """The stores of a process, and what is open below them. `open_storage` makes it; `close` closes all of it."""

    sessions: SessionStore
    ledger: Ledger
    answers: AnswerCache
    reuse: ReuseStore
    facts: FactStore
    archive: Archive
    states: StateStore
    wipes: WipeStore
    jobs: JobStore
    desks: DeskStore
    keys: KeyStore
    returns: ReturnStore
    quality: QualityStore
    accounts: Accounts
    aliases: AliasStore
    contents: ContentStore
    database: Database
    nothing: Database  # of the stores that keep nothing
    secret: bytes = field(repr=False)  # 32 bytes that tenants are hashed with
    retention: Retention | None = None
    hot: Hot | None = None  # conversations that several processes share
    shared: "Connection | None" = None  # to what several processes share; whoever serves opens it
    failures: Mapping[str, str] = field(default_factory=dict)  # part that could not be opened → why

    async def has_scope(self, scope: str) -> bool:
        """Returns True if something of the scope is kept, be it in a hot context alone. Raises StorageError."""
        return (self.hot is not None and await self.hot.contexts.has(scope)) or await self.database.has_scope(scope)

    def is_hot(self, scope: str, link: bytes) -> bool:
        """Tells whether the state of a link was in a hot context."""
        return self.hot is not None and self.hot.states.is_hot(scope, link)

    @property
    def failing(self) -> str | None:
        """The reason why rows may be lost now, such as a full disk; None if they are written, or wait on disk for a
        database that is away. It is tried again every few seconds."""
        return self.database.losing

    @property
    def troubles(self) -> Mapping[str, str]:
        """Parts that cannot do their work, each with the reason."""
        trouble = self.database.trouble
        own = self.failures if trouble is None else {**self.failures, "database": trouble}
        return own if self.shared is None else {**own, **self.shared.troubles}

    async def flush(self) -> None:
        """Returns when everything queued so far can be read, and is durable, if it can be written."""
        await self.database.writer.flush()

    def stop(self) -> None:
        """Stops the work in the background."""
        if self.retention is not None:
            self.retention.stop()

    async def close(self) -> None:
        """Writes what is queued, then closes everything."""
        self.stop()
        await self.answers.close()
        if self.shared is not None:
            await self.shared.close()
        await self.database.close()
        await self.nothing.close()


def with_hot_contexts(storage: Storage, over: "Connection", ttl: float) -> Storage:
    """Returns the storage with hot contexts, kept for `ttl` seconds, before its stores of conversations."""
    hot = Hot(redis_hot_contexts(over, ttl), storage.sessions, storage.states)
    storage.database.erasures.on_erased(hot.drop)
    over.on_news("erased", lambda told: storage.database.erasures.learn([(number, mark) for number, mark in told]))
    return replace(storage, sessions=hot.sessions, states=hot.states, hot=hot)


async def open_storage(
    config: Config,
    tasks: Tasks,
    observed: Observed = lambda _operation, _seconds: None,
    on_failure: OnFailure = lambda _part, _reason: None,
    writing: WriterLimits | None = None,
    sharing: SharedObserver = UNOBSERVED,
) -> Storage:
    """Opens the storage. `observed` is called with the seconds of each read and write, `on_failure` when work in the
    background fails, `sharing` hears of what several processes share. Raises SecretUnsafe if the folder cannot hold a
    secret; of a shared database every StorageError that a start cannot do without."""
    settings, memory = config.storage, config.memory
    failures: dict[str, str] = {}
    nothing = NoDatabase()
    retention: Retention | None
    if settings.kind == "postgres":
        database, secret, stores, retention = await _postgres(config, tasks, observed, on_failure, writing)
    else:
        is_kept = settings.kind == "sqlite"
        secret = await asyncio.to_thread(tenant_secret, settings.path) if is_kept else secrets.token_bytes(SECRET_BYTES)
        opened = None if settings.kind == "off" else _sqlite(config, tasks, observed, on_failure, writing, failures)
        database, retention = opened or (nothing, None)
        stores = SQLITE
    if retention is not None:
        retention.start()
    keeps_contents, keep = shows_content(config), settings.keep
    keeps_jobs = memory.facts and memory.archive_ttl > 0
    limits = ContentLimits(keep.contents, keep.contents_mb * 2**20, keep.contents_entry_kb * 1024)
    shared = redis_connection(config, secret, failed=sharing.failed, changed=sharing.changed)
    return Storage(
        sessions=stores.sessions(database),
        ledger=stores.ledger(database),
        answers=_answers(config, failures, shared),
        reuse=stores.reuse(database, config.reuse.intent.log_rows),
        facts=stores.facts(database) if memory.facts else SQLITE.facts(nothing),
        archive=(stores if memory.archive_ttl else SQLITE).archive(
            database if memory.archive_ttl else nothing, memory.archive_ttl
        ),
        states=stores.states(database),
        wipes=stores.wipes(database),
        jobs=(stores if keeps_jobs else SQLITE).jobs(database if keeps_jobs else nothing),
        # A tape says what turns say: whoever keeps none keeps no tape.
        desks=(stores if memory.archive_ttl else SQLITE).desks(database if memory.archive_ttl else nothing),
        keys=stores.keys(database),
        returns=stores.returns(database),
        quality=stores.quality(database),
        accounts=stores.accounts(database),
        aliases=stores.aliases(database),
        contents=(stores if keeps_contents else SQLITE).contents(database if keeps_contents else nothing, limits),
        database=database,
        nothing=nothing,
        secret=secret,
        retention=retention,
        shared=shared,
        failures=failures,
    )


def _sqlite(
    config: Config,
    tasks: Tasks,
    observed: Observed,
    on_failure: OnFailure,
    writing: WriterLimits | None,
    failures: dict[str, str],
) -> tuple[Database, Retention] | None:
    folder, keep, model = config.storage.path, config.storage.keep, vectors_of(config)
    path = folder / DATABASE if config.storage.kind == "sqlite" else None
    # In this thread: SQLite's connections and the writer's task belong to it, and nothing is served yet.
    database = _opened(
        lambda: SqliteDatabase(path, tasks, writing, embedding=model, observed=observed), "database", failures
    )
    if database is None:
        return None
    keeps_contents, memory = shows_content(config), config.memory
    most = None if path else MOST_MEMORY + (keep.contents_mb * 2**20 if keeps_contents else 0)
    retention = Retention(
        database.writer,
        Expiry(keep, keeps_contents, memory.archive_ttl, most, tapes=memory.tools.tape_ttl).work,
        tasks,
        on_failure=on_failure,
        pace=Pace() if most is None else IN_MEMORY,
        election=Alone() if path is None else FileElection(folder),
    )
    return database, retention


async def _postgres(
    config: Config, tasks: Tasks, observed: Observed, on_failure: OnFailure, writing: WriterLimits | None
) -> tuple[Database, bytes, Kind, Retention]:
    from proxy.storage.postgres.expiry import PostgresExpiry  # noqa: PLC0415 (the driver is an extra)
    from proxy.storage.postgres.opening import open_postgres  # noqa: PLC0415 (same)
    from proxy.storage.postgres.stores import STORES  # noqa: PLC0415 (same)

    settings = config.storage
    database, secret = await open_postgres(
        settings, tasks, embedding=vectors_of(config), writing=writing, observed=observed
    )
    # Each step asks for a lock of the database: of all machines, one does the work.
    memory = config.memory
    expiry = PostgresExpiry(settings.keep, shows_content(config), memory.archive_ttl, tapes=memory.tools.tape_ttl)
    retention = Retention(database.writer, expiry.work, tasks, on_failure=on_failure)
    return database, secret, STORES, retention


def _answers(config: Config, failures: dict[str, str], shared: "Connection | None") -> AnswerCache:
    kind, exact = config.storage.kind, config.reuse.exact
    most, most_of_one = exact.max_mb * 2**20, exact.max_entry_kb * 1024
    if shared is not None and kind != "off":
        return redis_answers(shared, most_of_one)
    if kind == "memory":
        return MemoryAnswers(most, most_of_one)
    folder = config.storage.path / ANSWERS
    found = None
    if kind in ("sqlite", "postgres"):
        found = _opened(lambda: DiskAnswers(folder, max_bytes=most, max_entry_bytes=most_of_one), "answers", failures)
    return found or MemoryAnswers(max_bytes=0)


def _opened(opening: Callable[[], T], part: str, failures: dict[str, str]) -> T | None:
    try:
        return opening()
    except StorageError as error:
        failures[part] = str(error)
        log.error("storage is done without", extra={"part": part, "why": str(error)})  # noqa: TRY400 (the text says it all)
        return None
