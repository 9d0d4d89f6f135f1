"""The command `olvido keys`: keys that this proxy gives out, made, listed and revoked, while proxies may be serving.

The key itself goes to standard output, alone and once; everything else about it to standard error.
"""

import argparse
import asyncio
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

import msgspec
from pydantic import TypeAdapter, ValidationError

from proxy import config as configuration
from proxy.cli.opened import opened
from proxy.cli.remembered import agreed, tell
from proxy.config import Config
from proxy.config.cautions import APART, counts_rates_apart
from proxy.config.settings import Name
from proxy.errors import Conflict
from proxy.keys.book import KeyBook
from proxy.keys.spending import days_of
from proxy.memory.showing import moment, plain
from proxy.storage.base import StorageError
from proxy.storage.keys import KeyStore
from proxy.types.keys import ApiKey, KeySums, Limits

ConfigOption = Callable[[argparse.ArgumentParser], None]
_name = TypeAdapter[str](Name)


def add_commands(parser: argparse.ArgumentParser, config_option: ConfigOption) -> None:
    """Adds the commands of `olvido keys` and their options to `parser`. Each sets `run`."""
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    creating = commands.add_parser("create", help="a new key, shown once")
    creating.add_argument("name", metavar="NAME", help="whose key it is; a later key of this name has the same memory")
    creating.add_argument("--team", default="", help="team that it belongs to")
    for each in fields(Limits):
        kind: type = float if "dollars" in each.name else int
        creating.add_argument(
            f"--{each.name.replace('_', '-')}", type=_at_least_none(kind), metavar="N", help="0: no limit"
        )
    creating.set_defaults(run=_run(_create))
    listing = commands.add_parser(
        "list", help="all keys, clients' own included, with what they have spent today and this month (UTC)"
    )
    listing.add_argument("--all", action="store_true", help="revoked ones as well")
    listing.add_argument("--json", action="store_true", help="a JSON object a line instead of the table")
    listing.add_argument("--key", metavar="sk-…", help="this key alone, of whoever gave it out")
    listing.set_defaults(run=_run(_list))
    revoking = commands.add_parser("revoke", help="revoke a key: it is refused within a second")
    revoking.add_argument("name", metavar="NAME|ID")
    revoking.add_argument("--yes", action="store_true", help="do not ask")
    revoking.set_defaults(run=_run(_revoke))
    for command in (creating, listing, revoking):
        config_option(command)


def _at_least_none(kind: type) -> Callable[[str], float]:
    def number(text: str) -> float:
        value: float = kind(text)
        if not 0 <= value < 1e15:
            raise ValueError(text)
        return value

    number.__name__ = "number"  # what argparse calls a value that is none
    return number


Work = Callable[[argparse.Namespace, Config, KeyBook, KeyStore], Any]


def _run(work: Work) -> Callable[[argparse.Namespace], int]:
    def run(options: argparse.Namespace) -> int:
        config = configuration.load(options.config, os.environ)
        try:
            return asyncio.run(_with_book(options, config, work))
        except (StorageError, Conflict) as error:
            _say(f"olvido keys: {error}")
            return 1

    return run


async def _with_book(options: argparse.Namespace, config: Config, work: Work) -> int:
    if config.auth.mode != "keys" and work is not _list:
        where = options.config or "no --config is given, and by default"
        _say(f"olvido keys: {where}: auth.mode is passthrough, so clients come with keys of the provider. This proxy")
        _say("has keys of its own with `auth: {mode: keys}` in the configuration; until then nothing is done here.")
        return 1
    async with opened(config, anew=config.auth.mode == "keys") as database:
        store = database.stores.keys(database.database)
        book = await database.keys(config)
        status = await work(options, config, book, store)
        await database.database.writer.flush()
        database.check()
        return int(status)


async def _create(options: argparse.Namespace, config: Config, book: KeyBook, store: KeyStore) -> int:  # noqa: ARG001 (a Work)
    try:
        name = _name.validate_python(options.name)
    except ValidationError:
        _say(f"{plain(options.name)} is no name: 1 to 64 letters, digits, dots, dashes, underscores.")
        return 2
    limits = Limits(**{each.name: getattr(options, each.name) for each in fields(Limits)})
    earlier = [key for key in book.all() if key.name == name]
    key, record = await book.create(name, options.team, limits)
    tell(key)
    _say(
        f"Key {record.id} of {name}: shown this once, and kept as a hash. Proxies that serve accept it within a second."
    )
    if counts_rates_apart(config, limits):
        _say(f"Its limit by the minute {APART}.")
    if earlier:
        _say(
            f"An earlier key of {name} was revoked {moment(earlier[-1].revoked_at)}: this one has its memory and sums."
        )
    return 0


async def _list(options: argparse.Namespace, config: Config, book: KeyBook, store: KeyStore) -> int:
    now = time.time()
    today, first = days_of(now)
    sums = dict(await store.sums_by_tenant(today, today))
    month = dict(await store.sums_by_tenant(first, today))
    every = await book.used()
    shown = [key for key in every if options.all or key.is_active]
    clients = sorted(month.keys() - {book.tenant(key) for key in every})
    if options.key is not None:
        if (meant := book.whose(options.key)) is None:
            _say("That is no key of this proxy.")
            return 1
        shown, clients = [key for key in shown if book.tenant(key) == meant], [meant] if not book.checks else []
    if options.json:
        for key in shown:
            tenant = book.tenant(key)
            tell(msgspec.json.encode(_card(key, book, sums.get(tenant), month.get(tenant))).decode())
        for tenant in clients:
            tell(msgspec.json.encode(_card_of_client(tenant, book, sums.get(tenant), month.get(tenant))).decode())
        return 0
    if config.auth.mode != "keys":
        _say("Clients come with keys of the provider here (auth.mode: passthrough): each is a hash, and has no name.")
    if not shown and not clients:
        _say(_NOBODY if config.auth.mode != "keys" else "There is no key: `olvido keys create NAME` makes one.")
        return 0
    rows = [_HEAD, *(_row(key, book, sums, month) for key in shown)]
    rows += [_row_of_client(tenant, book, sums, month) for tenant in clients]
    widths = [max(len(row[at]) for row in rows) for at in range(len(_HEAD))]
    for row in rows:
        tell("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    return 0


_NOBODY = "Nobody has spent anything this month; who has is listed by the hash of the key, as scopes begin with it."
_HEAD = ("NAME", "TEAM", "TODAY", "THIS MONTH", "LIMITS", "LAST USED", "SINCE", "ID")


def _row(key: ApiKey, book: KeyBook, day: Mapping[str, KeySums], month: Mapping[str, KeySums]) -> Sequence[str]:
    tenant = book.tenant(key)
    since = "configuration" if key.source == "configured" else moment(key.created_at)
    if not key.is_active:
        since = f"revoked {moment(key.revoked_at)}"
    used = moment(key.last_used_at) if key.last_used_at else "-"
    return (
        plain(key.name),
        plain(key.team) or "-",
        dollars((day.get(tenant) or KeySums()).dollars),
        dollars((month.get(tenant) or KeySums()).dollars),
        limits_text(book.limits(tenant)) or "-",
        used,
        since,
        key.id,
    )


def _row_of_client(
    tenant: str, book: KeyBook, day: Mapping[str, KeySums], month: Mapping[str, KeySums]
) -> Sequence[str]:
    spent = (dollars(sums.get(tenant, KeySums()).dollars) for sums in (day, month))
    return (tenant, "-", *spent, limits_text(book.limits(tenant)) or "-", "-", "a client's own", "-")


def _card_of_client(tenant: str, book: KeyBook, today: KeySums | None, month: KeySums | None) -> Mapping[str, object]:
    told = {"tenant": tenant, "name": "", "source": "client", "limits": asdict(book.limits(tenant))}
    return {**told, "today": asdict(today or KeySums()), "month": asdict(month or KeySums())}


def dollars(amount: float) -> str:
    """Returns US dollars, with more digits where there are few of them."""
    return f"${amount:,.2f}" if amount >= 1 or not amount else f"${amount:.4f}"


def limits_text(limits: Limits) -> str:
    """Returns limits as people write them, such as `60 requests/min, $5/day`."""
    said = {"minute": "min", "day": "day", "month": "month"}
    return ", ".join(
        f"${limit:g}/{said[per]}" if unit == "dollars" else f"{limit:,.0f} {unit}/{said[per]}"
        for unit, per, limit in limits.items()
    )


def _card(key: ApiKey, book: KeyBook, today: KeySums | None, month: KeySums | None) -> Mapping[str, object]:
    told = {name: value for name, value in asdict(key).items() if name != "hash"}
    told["limits"] = asdict(book.limits(book.tenant(key)))
    return {
        **told,
        "tenant": book.tenant(key),
        "today": asdict(today or KeySums()),
        "month": asdict(month or KeySums()),
    }


async def _revoke(options: argparse.Namespace, config: Config, book: KeyBook, store: KeyStore) -> int:  # noqa: ARG001 (a Work)
    found = [key for key in book.all() if key.is_active and options.name in (key.name, key.id)]
    if not found:
        _say(f"There is no key {plain(options.name)} that holds.")
        return 1
    if not options.yes and not agreed(f"Revoke the key {found[0].id} of {found[0].name}? [y/N] "):
        _say("olvido keys: nothing was revoked (--yes revokes without asking)")
        return 1
    if not await book.revoke(found[0]):
        _say("It was revoked already.")
        return 1
    _say("Revoked: proxies that serve refuse it within a second. What it has spent and said stays.")
    return 0


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
