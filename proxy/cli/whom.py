"""The end users whom `olvido erase` and `olvido export` mean, and the database that they look for them in."""

import argparse
import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from proxy.cli.opened import opened
from proxy.config import Config
from proxy.conversation.names import end_user, is_scope
from proxy.http.access import Authenticator
from proxy.keys.book import KeyBook
from proxy.storage.base import StorageError
from proxy.storage.erasing import Wanted
from proxy.storage.erasures import base_of
from proxy.storage.folder import SECRET, kept_secret, tenant_secret


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options that name an end user to `parser`."""
    parser.add_argument("--user", metavar="NAME", help="the end user, under all keys unless one is named")
    whose = parser.add_mutually_exclusive_group()
    whose.add_argument("--key", metavar="sk-…", help="of this API key alone; without --user: who has no name")
    whose.add_argument("--tenant", metavar="HASH", help="the same, by the 32 hex digits before the slash of a scope")
    whose.add_argument("--scope", metavar="S", help="this scope, as lists of scopes and the API name it")


def meant(options: argparse.Namespace, config: Config) -> tuple[Wanted, tuple[str, ...]]:
    """Returns the test for scopes that are meant, and those that are named whole. Raises ValueError, StorageError,
    Unauthorized."""
    if options.scope is not None:
        if options.user is not None:
            raise ValueError("--scope names the end user already")
        if not is_scope(options.scope) or base_of(options.scope) != options.scope:
            raise ValueError("--scope is 32 hex digits, a slash, and the end user's name or nothing")
        return (lambda scope: scope == options.scope), (options.scope,)
    tenant = options.tenant
    if options.key is not None:
        gate = Authenticator(config, secret(config), asyncio.run(_keys(config)))
        tenant = gate.tenant((("authorization", f"Bearer {options.key}"),))
    if tenant is not None:
        scope = f"{tenant}/{end_user(options.user) if options.user else ''}"
        if not is_scope(scope):
            raise ValueError("--tenant is 32 hex digits")
        return (lambda each: each == scope), (scope,)
    if not options.user:
        raise ValueError("say whom: --user NAME, with --key, --tenant or without; or --scope")
    user = end_user(options.user)
    return (lambda each: each.partition("/")[2] == user), ()


def counted(scopes: int) -> str:
    """Renders a number of scopes: "1 scope", "2 scopes"."""
    return f"{scopes} scope" if scopes == 1 else f"{scopes} scopes"


def unknown(options: argparse.Namespace, config: Config) -> list[str]:
    """Returns what helps where nothing is kept of an end user who was named: most often another name is meant."""
    if options.user is None:
        return []
    book = asyncio.run(_keys(config))
    key = next((each for each in book.all() if each.name == options.user), None) if book is not None else None
    if book is not None and key is not None:
        whose = f"--tenant {book.tenant(key)}"
        return [f"{key.name} is the name of a key. What came with it alone: {whose}; an end user of it: also --user."]
    return ["An end user is whom requests name: x-olvido-user, safety_identifier, user. The page lists all, as scopes."]


async def _keys(config: Config) -> KeyBook | None:
    """Returns the keys that this proxy gives out; None if those in the database cannot be read."""
    try:
        async with opened(config) as database:
            return await database.keys(config)
    except StorageError:
        return None


def secret(config: Config) -> bytes:
    """Returns the secret of the tenants; that of a shared database as this machine knows it, if it is away. Raises
    StorageError."""
    if config.storage.kind != "postgres":
        if not (config.storage.path / SECRET).exists():
            raise StorageError(f"{config.storage.path}: no proxy has kept anything here")
        return tenant_secret(config.storage.path)
    from proxy.storage.postgres.opening import shared_secret  # noqa: PLC0415 (the driver is an extra)

    try:
        with connected(config) as connection:
            return shared_secret(connection, config.storage.path)
    except StorageError:
        if (known := kept_secret(config.storage.path)) is None:
            raise
        return known


@contextmanager
def connected(config: Config) -> Iterator[Any]:
    """Gives a connection to PostgreSQL, whose schema is this version's. Raises StorageError."""
    from proxy.storage.postgres import connection, migrating  # noqa: PLC0415 (the driver is an extra)

    assert config.storage.url is not None
    url = config.storage.url.get_secret_value()
    with connection.storage_errors(url), connection.connect(url) as opened_one:
        connection.check_server(opened_one)
        migrating.ready(opened_one)
        yield opened_one
