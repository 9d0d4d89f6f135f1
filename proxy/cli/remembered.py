"""The common parts of the commands of `olvido memory`: whose memory is meant, the stores of its database, the terminal.

A command reads, or writes in one short transaction, which the proxy sees within a second. What it finds goes to
standard output, what is wrong to standard error. Exit status 0: done; 1: it could not be; 2: it was not clear what.
"""

import argparse
import asyncio
import os
import sys
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

import msgspec

from proxy import config as configuration
from proxy.cli.opened import Opened, opened
from proxy.config import Config
from proxy.conversation.names import end_user, is_scope
from proxy.errors import Unauthorized
from proxy.http.access import Authenticator
from proxy.memory.ageing import decay
from proxy.memory.showing import card, plain, table
from proxy.storage.base import StorageError
from proxy.storage.stores.contents import ContentLimits
from proxy.types import Fact, Json, Scope

_YES = frozenset({"y", "yes", "s", "si", "sí"})


class Refused(Exception):
    """The reason for which a command did nothing, and its exit status."""

    def __init__(self, why: str, status: int = 1) -> None:
        super().__init__(why)
        self.status = status


WHOSE = "say whose: --scope with one of these, --user with the name behind its slash, or --key with its API key:"


def several(kept: Iterable[tuple[str, int]]) -> Refused:
    """`kept`: the number of facts by scope, as people know it."""
    return Refused("\n".join([WHOSE, *_counted(kept)]), 2)


def _counted(kept: Iterable[tuple[str, int]]) -> list[str]:
    return [f"  {plain(scope)}  {facts}" for scope, facts in kept]


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
        self._aliases = stores.aliases(over)

    @property
    def is_named(self) -> bool:
        """True if the options name a scope, a key or an end user."""
        return self.options.scope is not None or self.options.key is not None or bool(self.options.user)

    @property
    def is_json(self) -> bool:
        """True if programs read what is told."""
        return bool(self.options.json)

    async def scopes(self) -> list[str]:
        """The scopes that the options name, or all that have facts. Raises Refused if nobody has the name that is
        given."""
        options = self.options
        if options.scope is not None:
            if options.user:
                raise Refused("--scope names the end user already: leave --user out", 2)
            if not is_scope(options.scope):
                raise Refused("--scope is 32 hex digits, a slash, and the end user's name or nothing", 2)
            return [str(options.scope)]
        if options.key is not None:
            secret = await asyncio.to_thread(self.database.secret)
            gate = Authenticator(self.config, secret, await self.database.keys(self.config))
            tenant = gate.tenant((("authorization", f"Bearer {options.key}"),))
            return [Scope(tenant, end_user(options.user) if options.user else "").id]
        known = list(await self.facts.scopes())
        if not options.user:
            return known
        if not (found := [scope for scope in known if self._is_theirs(scope)]):
            nothing = f"nothing is remembered of an end user {plain(options.user)}"
            there_are = [f"{nothing}; facts are kept of:", *_counted(await self._kept(known))]
            raise Refused("\n".join(there_are) if known else nothing)
        return found

    async def scope(self) -> str:
        """The only one of these scopes; "" if there is none. Raises Refused if there are several."""
        found = await self.scopes()
        if len(found) > 1:
            raise several(await self._kept(found))
        return found[0] if found else ""

    async def new_scope(self) -> str:
        """The scope of what is written down or taken in, which may have no facts yet. Raises Refused where the options
        do not make it clear."""
        options, known = self.options, await self.facts.scopes()
        if options.user and options.scope is None and options.key is None and not any(map(self._is_theirs, known)):
            tenants = {scope.partition("/")[0] for scope in known}
            if len(tenants) != 1:
                raise Refused(f"nothing is remembered of {plain(options.user)} yet: say under which --key as well", 2)
            return Scope(tenants.pop(), end_user(options.user)).id
        if not (scope := await self.scope()):
            raise Refused(
                "nobody's facts are kept here yet: say whose, with --key (the API key of their client) or --scope",
                2,
            )
        return scope

    async def means(self, scope: str) -> bool:
        """Tells whether the options name this scope, which may have no facts left."""
        if self.options.scope is None and self.options.key is None:
            return self._is_theirs(scope)
        return scope in await self.scopes()

    def _is_theirs(self, scope: str) -> bool:
        return scope.partition("/")[2] == end_user(self.options.user)

    async def _kept(self, scopes: Sequence[str]) -> list[tuple[str, int]]:
        titles = await self.titles(scopes)
        return [(titles[scope], len(await self.facts.all(scope))) for scope in scopes]

    async def titles(self, scopes: Iterable[str]) -> Mapping[str, str]:
        """Returns scopes as people know them: with an alias, or the name of a key that this proxy has given out."""
        aliases = await self._aliases.all()
        book = await self.database.keys(self.config) if self.config.auth.mode == "keys" else None
        titles = {}
        for scope in scopes:
            key = book.named(scope) if book is not None else None
            name = aliases.get(scope) or (f"key {key.name}" if key is not None else "")
            titles[scope] = f"{scope} ({name})" if name else scope
        return titles

    def agreed(self, question: str) -> bool:
        """Asks, unless --yes has said so; returns True for a yes. Raises Refused where a program could not answer."""
        if self.options.yes:
            return True
        if self.is_json:
            raise Refused("--json asks nothing: say --yes as well", 2)
        return agreed(question)

    async def one(self, fact_id: str) -> tuple[str, Fact]:
        """The fact with this id and its scope, which need not be named. Raises Refused if there is none."""
        found = await self.facts.find(fact_id)
        if found is None or (self.is_named and found[0] not in await self.scopes()):
            raise Refused(f"there is no fact {plain(fact_id)}")
        return found

    def card(self, scope: str, fact: Fact) -> dict[str, Json]:
        """Returns a fact as the admin API tells it."""
        return card(scope, fact, time.time(), decay(self.config.memory))

    def tell_fact(self, scope: str, fact: Fact, ended: Iterable[Fact] = ()) -> None:
        """Tells a fact that was written, and those that it took the place of."""
        if self.is_json:
            tell_json({"fact": self.card(scope, fact), "replaced": [self.card(scope, each) for each in ended]})
            return
        tell(self.table([fact]))
        if ended := list(ended):
            tell("", "It took the place of:", self.table(ended))

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
        whose.add_argument(
            "--scope", metavar="S", help="whose memory, as `olvido memory list`, the page and the API name it"
        )
        whose.add_argument("--key", metavar="sk-…", help="whose memory, by the API key that their client has")
        made.add_argument(
            "--user",
            metavar="NAME",
            default="",
            help="whose memory, by the end user's name; with --key: under that key",
        )
        made.add_argument("--json", action="store_true", help="JSON instead of text: an object, or one a line")
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


def tell_json(*values: object) -> None:
    """Writes values to standard output, a line of JSON each."""
    tell(*(msgspec.json.encode(value).decode() for value in values))


def _write(text: str) -> None:
    """Writes UTF-8, whatever the terminal claims: values are in the language of who said them."""
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8", "replace"))
    sys.stdout.buffer.flush()
