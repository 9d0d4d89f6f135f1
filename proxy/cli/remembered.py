"""The common parts of the commands of `olvido memory`: whose memory is meant, the stores of its database, the terminal.

A command reads, or writes in one short transaction, which the proxy sees within a second. What it finds goes to
standard output, what is wrong to standard error. Exit status 0: done; 1: it could not be; 2: it was not clear what.
"""

import argparse
import asyncio
import os
import sys
import time
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Protocol

from proxy import config as configuration
from proxy.cli.opened import Opened, opened
from proxy.config import Config
from proxy.conversation.names import end_user, is_scope
from proxy.errors import Unauthorized
from proxy.http.access import Authenticator
from proxy.memory.ageing import decay
from proxy.memory.showing import plain, table
from proxy.storage.base import StorageError
from proxy.storage.stores.contents import ContentLimits
from proxy.types import Fact, Scope

_YES = frozenset({"y", "yes", "s", "si", "sí"})


class Refused(Exception):
    """The reason for which a command did nothing, and its exit status."""

    def __init__(self, why: str, status: int = 1) -> None:
        super().__init__(why)
        self.status = status


def several(kept: Iterable[tuple[str, int]]) -> Refused:
    """`kept`: the number of facts by scope."""
    lines = [f"  {plain(scope)}  {facts}" for scope, facts in kept]
    return Refused("\n".join(["name one of these with --scope, or its key with --key:", *lines]), 2)


class Memory:
    """The options of a command, and the stores of its database, whatever the configuration wants kept from now on."""

    def __init__(self, options: argparse.Namespace, config: Config, database: Opened) -> None:
        stores, over = database.stores, database.database
        self.options = options
        self.config = config
        self.database = database
        self.facts = stores.facts(over)
        self.archive = stores.archive(over, config.memory.archive_ttl)
        self.contents = stores.contents(over, ContentLimits())
        self.states = stores.states(over)
        self.wipes = stores.wipes(over)
        self.jobs = stores.jobs(over)
        self.desks = stores.desks(over)

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
            secret = await asyncio.to_thread(self.database.secret)
            gate = Authenticator(self.config, secret, await self.database.keys(self.config))
            tenant = gate.tenant((("authorization", f"Bearer {self.options.key}"),))
            return Scope(tenant, end_user(self.options.user) if self.options.user else "").id
        scopes = await self.facts.scopes()
        if len(scopes) > 1:
            raise several([(scope, len(await self.facts.all(scope))) for scope in scopes])
        return scopes[0] if scopes else ""

    async def one(self, fact_id: str) -> tuple[str, Fact]:
        """The fact with this id and its scope, which need not be named. Raises Refused if there is none."""
        found = await self.facts.find(fact_id)
        if found is None or (self.is_named and found[0] != await self.scope()):
            raise Refused(f"there is no fact {plain(fact_id)}")
        return found

    def table(self, shown: Iterable[Fact]) -> str:
        """Renders facts as a table."""
        return table(shown, time.time(), decay(self.config.memory))

    async def written(self) -> None:
        """Waits until all writes are durable. Raises StorageError if they could not be written."""
        await self.facts.flush()
        self.database.check()


Work = Callable[[Memory], Awaitable[None]]


class Command(Protocol):
    """Makes a command with the options that all of them have."""

    def __call__(self, name: str, work: Work, text: str) -> argparse.ArgumentParser:
        """`text`: its help."""


def maker(commands: Any, config_option: Callable[[argparse.ArgumentParser], None]) -> Command:
    """Returns what adds a command to these subparsers."""

    def command(name: str, work: Work, text: str) -> argparse.ArgumentParser:
        made: argparse.ArgumentParser = commands.add_parser(name, help=text, description=text)
        config_option(made)
        whose = made.add_mutually_exclusive_group()
        whose.add_argument("--scope", metavar="S", help="whose memory, as the list of scopes and the API name it")
        whose.add_argument("--key", metavar="sk-…", help="whose memory, by the API key that their client has")
        made.add_argument("--user", metavar="NAME", default="", help="with --key: this end user's")
        made.set_defaults(run=lambda options: _run(options, work))
        return made

    return command


def _run(options: argparse.Namespace, work: Work) -> int:
    try:
        asyncio.run(_do(options, work))
    except (Refused, StorageError, Unauthorized, OSError) as error:
        sys.stderr.write(f"olvido memory: {error}\n")
        return error.status if isinstance(error, Refused) else 1
    return 0


async def _do(options: argparse.Namespace, work: Work) -> None:
    config = configuration.load(options.config, os.environ)
    if config.storage.kind in ("memory", "off"):
        raise Refused(
            f"storage.kind is {config.storage.kind}: nothing is kept in a folder; see GET /admin/api/facts", 2
        )
    async with opened(config, anew=getattr(options, "anew", False)) as database:
        await work(Memory(options, config, database))


# --- the terminal ---


def agreed(question: str) -> bool:
    """Asks, and returns True for a yes."""
    _write(question)
    return sys.stdin.readline().strip().lower() in _YES


def tell(*lines: str) -> None:
    """Writes lines to standard output."""
    _write("".join(f"{line}\n" for line in lines))


def _write(text: str) -> None:
    """Writes UTF-8, whatever the terminal claims: values are in the language of who said them."""
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8", "replace"))
    sys.stdout.buffer.flush()
