"""The storage folder as `olvido memory` uses it, whatever the configuration wants kept from now on."""

import argparse
import asyncio
import os
import time
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from proxy import config as configuration
from proxy.config import Config
from proxy.conversation.identify import end_user, is_scope
from proxy.http.edge import Authenticator
from proxy.memory import edits
from proxy.memory.portable import plain, table
from proxy.storage.folder import tenant_secret
from proxy.storage.opening import DATABASE
from proxy.storage.sqlite.archive import SqliteArchive
from proxy.storage.sqlite.contents import SqliteContents
from proxy.storage.sqlite.database import Database
from proxy.storage.sqlite.facts import SqliteFacts, SqliteWipes
from proxy.storage.sqlite.sessions import SqliteStates
from proxy.tasks import Tasks
from proxy.types import Fact, Scope


class Refused(Exception):
    """The reason for which a command did nothing, and its exit status."""

    def __init__(self, why: str, status: int = 1) -> None:
        super().__init__(why)
        self.status = status


@dataclass(frozen=True, slots=True)
class Memory:
    """The options of a command and the opened stores of the folder."""

    options: argparse.Namespace
    config: Config
    database: Database
    facts: SqliteFacts
    archive: SqliteArchive
    contents: SqliteContents
    states: SqliteStates
    wipes: SqliteWipes

    @property
    def is_named(self) -> bool:
        """True if the options name a scope or a key."""
        return self.options.scope is not None or self.options.key is not None

    async def scope(self) -> str:
        """The scope that the options name, or the only one that has facts; "" if none has. Raises Refused if there are
        several."""
        if self.options.user and self.options.key is None:
            raise Refused("--user goes with --key", 2)
        if self.options.scope is not None:
            if not is_scope(self.options.scope):
                raise Refused("--scope is 32 hex digits, a slash, and the end user's name or nothing", 2)
            return str(self.options.scope)
        if self.options.key is not None:
            gate = Authenticator(self.config, await asyncio.to_thread(tenant_secret, self.config.storage.path))
            tenant = gate.tenant((("authorization", f"Bearer {self.options.key}"),))
            return Scope(tenant, end_user(self.options.user) if self.options.user else "").id
        scopes = await self.facts.scopes()
        if len(scopes) > 1:
            counts = [f"  {plain(scope)}  {len(await self.facts.all(scope))}" for scope in scopes]
            raise Refused("\n".join(["name one of these with --scope, or its key with --key:", *counts]), 2)
        return scopes[0] if scopes else ""

    async def one(self, fact_id: str) -> tuple[str, Fact]:
        """The fact with this id and its scope, which need not be named. Raises Refused if there is none."""
        found = await self.facts.find(fact_id)
        if found is None or (self.is_named and found[0] != await self.scope()):
            raise Refused(f"there is no fact {plain(fact_id)}")
        return found

    def table(self, shown: Iterable[Fact]) -> str:
        """Renders facts as a table."""
        return table(shown, time.time(), edits.decay(self.config.memory))

    async def written(self) -> None:
        """Waits until all writes are durable. Raises Refused if they could not be written."""
        await self.facts.flush()
        writer = self.database.writer
        if writer.dropped or writer.failing is not None:
            raise Refused(f"{self.database.path} could not be written: nothing has changed")


@asynccontextmanager
async def opened(options: argparse.Namespace) -> AsyncIterator[Memory]:
    """Opens the storage folder. Raises Refused if there is none."""
    config = configuration.load(options.config, os.environ)
    if config.storage.kind != "sqlite":
        raise Refused(
            f"storage.kind is {config.storage.kind}: nothing is kept in a folder; see GET /admin/api/facts", 2
        )
    path = config.storage.path / DATABASE
    if not path.exists() and not getattr(options, "anew", False):
        raise Refused(f"{config.storage.path}: no proxy has kept anything here")
    database = Database(path, Tasks())
    try:
        yield Memory(
            options,
            config,
            database,
            SqliteFacts(database),
            SqliteArchive(database, config.memory.archive_ttl),
            SqliteContents(database),
            SqliteStates(database),
            SqliteWipes(database),
        )
    finally:
        await database.close()
