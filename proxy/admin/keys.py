"""Keys of this proxy in the admin API: list, create, revoke.

GET    /admin/api/keys?scope=
       every key, and every tenant without one that has spent something this month: name, team, limits, last use;
       sums of today and of this month (UTC). A key sees its own.
POST   /admin/api/keys {name, team?, limits?}
       201 with the key, which is told this once; 409 if a key of that name holds
DELETE /admin/api/keys/{id}
       204: it is refused within a second; 409 for one of the configuration
"""

from collections.abc import Mapping
from dataclasses import asdict
from time import time
from typing import Annotated

import msgspec

from proxy.admin.codec import Asked, as_json, without_body
from proxy.admin.parts import Admin
from proxy.errors import UnknownRoute
from proxy.http.exchange import Call
from proxy.keys.spending import NOTHING, days_of
from proxy.types import Answer, Json
from proxy.types.keys import ApiKey, KeySums, Limits

Count = Annotated[int, msgspec.Meta(ge=0, le=10**15)]
Amount = Annotated[float, msgspec.Meta(ge=0, le=10**9)]


class KeysAsked(Asked, frozen=True):
    """Parameters of the list of keys."""

    scope: str | None = None


class LimitsAsked(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Limits of a new key. Absent: those of all keys; 0: none."""

    requests_per_minute: Count | None = None
    tokens_per_minute: Count | None = None
    tokens_per_day: Count | None = None
    tokens_per_month: Count | None = None
    dollars_per_day: Amount | None = None
    dollars_per_month: Amount | None = None


class NewKey(Asked, frozen=True):
    """The body of a new key."""

    name: Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
    team: Annotated[str, msgspec.Meta(max_length=64)] = ""
    limits: LimitsAsked = LimitsAsked()


async def keys(call: Call, admin: Admin, asked: KeysAsked) -> Answer:
    """Answers with the keys, and what each has spent."""
    book, store = admin.services.keys, admin.services.storage.keys
    today, first = days_of(time())
    whose = None if asked.scope is None else asked.scope.partition("/")[0]
    day, month = dict(await store.sums_by_tenant(today, today)), dict(await store.sums_by_tenant(first, today))
    listed = [_card(key, book.tenant(key), book.limits(book.tenant(key)), day, month) for key in await book.used()]
    named = {each["tenant"] for each in listed}
    listed += [
        {**_NAMELESS, **_sums(tenant, day, month), "limits": asdict(book.limits(tenant))}
        for tenant in sorted(month.keys() - named)
    ]
    told = [each for each in listed if whose in (None, each["tenant"])]
    return as_json({"keys": told, "checks": book.checks, "creates": book.creates})


async def create(call: Call, admin: Admin, asked: NewKey) -> Answer:
    """Makes a key, and tells it."""
    book = admin.services.keys
    given, made = await book.create(asked.name, asked.team, Limits(**msgspec.structs.asdict(asked.limits)))
    tenant = book.tenant(made)
    return as_json({"key": given, **_card(made, tenant, book.limits(tenant), {}, {})}, 201)


async def revoke(call: Call, admin: Admin, asked: Asked) -> Answer:
    """Revokes a key."""
    key = admin.services.keys.by_id(call.parameters["id"])
    if key is None or not await admin.services.keys.revoke(key):
        raise UnknownRoute(f"There is no key {call.parameters['id'][:40]!r} that holds.")
    return without_body()


_NAMELESS: Mapping[str, Json] = {
    "id": "",
    "name": "",
    "team": "",
    "source": "client",
    "created_at": 0.0,
    "revoked_at": 0.0,
    "last_used_at": 0.0,
}


def _card(
    key: ApiKey, tenant: str, limits: Limits, day: Mapping[str, KeySums], month: Mapping[str, KeySums]
) -> dict[str, Json]:
    told = {name: value for name, value in asdict(key).items() if name != "hash"}
    return {**told, **_sums(tenant, day, month), "limits": asdict(limits)}


def _sums(tenant: str, day: Mapping[str, KeySums], month: Mapping[str, KeySums]) -> dict[str, Json]:
    return {
        "tenant": tenant,
        "today": asdict(day.get(tenant, NOTHING)),
        "month": asdict(month.get(tenant, NOTHING)),
    }
