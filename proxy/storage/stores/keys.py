"""Keys that this proxy gives out, and sums of their owners, in a database. Values stand in statements as `:name`: each
kind of database says them in its own way."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

import msgspec

from proxy.storage.database import LONG_SECONDS, Database, Store
from proxy.storage.keys import Version
from proxy.storage.pending import KEYS, Write
from proxy.storage.transactions import carried_out
from proxy.types.keys import ApiKey, KeySums, Limits
from proxy.types.quality import COMPARING

COLUMNS = ("id", "name", "hash", "team", "limits", "created_at", "revoked_at", "last_used_at")
# A keyed hash is the name of a tenant; rows of scopes that no upstream has answered have another one.
TENANT = 32  # characters
_NOW = "coalesce(max(created_at), 0.0) + coalesce(max(revoked_at), 0.0)"
VERSION = f"SELECT count(*), coalesce(sum(CASE WHEN revoked_at > 0 THEN 1 ELSE 0 END), 0), {_NOW} FROM api_keys"  # noqa: S608 (our own text)
ALL = f"SELECT {', '.join(COLUMNS)} FROM api_keys ORDER BY created_at, id"  # noqa: S608 (same)
CREATE = f"""
    INSERT INTO api_keys ({", ".join(COLUMNS)}) VALUES ({", ".join(f":{name}" for name in COLUMNS)})
    ON CONFLICT DO NOTHING
"""  # noqa: S608 (same)
REVOKE = "UPDATE api_keys SET revoked_at = :at WHERE id = :id AND revoked_at = 0"
USED = "UPDATE api_keys SET last_used_at = :at WHERE id = :id AND last_used_at < :at"

SUMMED = tuple(each.name for each in fields(KeySums))
_LISTED = ", ".join(f"coalesce(sum({name}), 0)" for name in SUMMED)
SUMS = f"SELECT {_LISTED} FROM key_sums WHERE tenant = :tenant AND day BETWEEN :since AND :until"  # noqa: S608 (same)
SUMS_BY_TENANT = f"SELECT tenant, {_LISTED} FROM key_sums WHERE day BETWEEN :since AND :until GROUP BY tenant"  # noqa: S608 (same)
# What a ledger row adds to them. A column, and the same of the other kind's rows, has its table's name before it.
# Requests that compare answers are ours, and no part of a key's budget.
_OURS = f"reuse_reason IN ({', '.join(map(repr, sorted(COMPARING)))})"
MEASURES = (
    f"CASE WHEN {_OURS} THEN 0 ELSE 1 END",
    f"CASE WHEN source = 'upstream' AND NOT {_OURS} THEN tokens_billed + tokens_completion ELSE 0 END",
    f"CASE WHEN {_OURS} THEN 0 ELSE cost END",
    "cost_saved",
)
MORE = ", ".join(f"{name} = key_sums.{name} + excluded.{name}" for name in SUMMED)

_limits = msgspec.json.Decoder(dict[str, float])

Said = Callable[[str], str]  # a statement of this module, as a kind of database says it


class DatabaseKeys(Store):
    """The `KeyStore` of a database."""

    def __init__(self, database: Database, said: Said) -> None:
        super().__init__(database)
        self._said = said

    async def version(self) -> Version:
        row = await self._database.row(self._said(VERSION), {}, lambda row: (int(row[0]), int(row[1]), float(row[2])))
        return row or (0, 0, 0.0)

    async def all(self) -> list[ApiKey]:
        return await self._database.rows(self._said(ALL), {}, _key_of, LONG_SECONDS)

    async def create(self, key: ApiKey) -> bool:
        limits = {name: value for name, value in asdict(key.limits).items() if value is not None}
        said = msgspec.json.encode(limits).decode()
        values = {**{name: getattr(key, name) for name in COLUMNS}, "limits": said}
        return await self._changed(CREATE, values)

    async def revoke(self, key_id: str, at: float) -> bool:
        return await self._changed(REVOKE, {"id": key_id, "at": at})

    def used(self, key_id: str, at: float) -> None:
        self._database.writer.put(
            Write(1, self._use, {"id": key_id, "at": at}, kind=KEYS, scope="", store=self, waited=True)
        )

    async def sums(self, tenant: str, since: int, until: int) -> KeySums:
        values = {"tenant": tenant, "since": since, "until": until}
        return await self._database.row(self._said(SUMS), values, _sums_of) or KeySums()

    async def sums_by_tenant(self, since: int, until: int) -> Sequence[tuple[str, KeySums]]:
        values = {"since": since, "until": until}
        found = await self._database.rows(
            self._said(SUMS_BY_TENANT), values, lambda row: (str(row[0]), _sums_of(row[1:])), LONG_SECONDS
        )
        return sorted(found, key=lambda each: each[0])

    async def _changed(self, statement: str, values: Mapping[str, Any]) -> bool:
        """Runs a change. A step may be run twice: the second time finds its own row."""
        said, done = self._said(statement), self._said(_DONE[statement])

        def step(connection: Any) -> bool:
            if connection.execute(said, values).rowcount > 0:
                return True
            return connection.execute(done, values).fetchone() is not None

        return await carried_out(self._database.writer, step, kind=KEYS)

    def _use(self, connection: Any, used: Sequence[Mapping[str, Any]]) -> None:
        for each in used:
            connection.execute(self._said(USED), each)


# Whether it is this very change that is there already.
_DONE = {
    CREATE: "SELECT 1 FROM api_keys WHERE id = :id AND hash = :hash",
    REVOKE: "SELECT 1 FROM api_keys WHERE id = :id AND revoked_at = :at",
}


def _key_of(row: Sequence[Any]) -> ApiKey:
    key_id, name, hashed, team, limits, created_at, revoked_at, last_used_at = row
    return ApiKey(key_id, name, bytes(hashed), team, limits_of(limits), created_at, revoked_at, last_used_at)


def limits_of(stored: str) -> Limits:
    """Returns limits from their JSON. Those that another version has added are left out."""
    known = {each.name for each in fields(Limits)}
    given = {name: value for name, value in _limits.decode(stored).items() if name in known}
    return Limits(**{name: value if "dollars" in name else int(value) for name, value in given.items()})  # type: ignore[arg-type]  # as they are named


def _sums_of(row: Sequence[Any]) -> KeySums:
    requests, tokens, dollars, saved = row
    return KeySums(int(requests), int(tokens), float(dollars), float(saved))
