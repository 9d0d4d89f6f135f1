"""Findings of `olvido doctor` about the servers that machines share: PostgreSQL and Redis. Nothing stays changed there,
and no text has a password."""

import asyncio
import time
from typing import Literal

from proxy.config.shared import Shared

Status = Literal["ok", "warn", "fail"]
Finding = tuple[Status, str]

_SECONDS = 5.0  # that Redis may take in all

_ASKED = """
    SELECT current_setting('server_version'), extract(epoch FROM clock_timestamp())::float8,
        coalesce(bool_and(has_table_privilege(oid, may)), true)
    FROM (SELECT to_regclass(name) AS oid FROM unnest(%s::text[]) AS names (name)) AS tables
    CROSS JOIN unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS may
    WHERE oid IS NOT NULL
"""
_TABLES = ["scopes", "ledger", "archive"]


def postgres(url: str) -> Finding:
    """Returns what a PostgreSQL database is like: its version, schema, extension, clock, and whether it can be
    written."""
    try:
        from proxy.storage.postgres import connection, migrating  # noqa: PLC0415 (the driver is an extra)
    except ImportError:
        return "fail", "the driver is not installed: pip install 'olvido[cluster]'"
    from proxy.storage.base import StorageError  # noqa: PLC0415 (beside the driver)

    at = connection.place(url)
    try:
        with connection.storage_errors(url), connection.connect(url) as one:
            connection.check_server(one)
            found = migrating.status(one)
            vectors = connection.has_vectors(one)
            before = time.time()
            ((version, its, may_write),) = one.execute(_ASKED.encode(), (_TABLES,)).fetchall()
            ahead = its - (before + time.time()) / 2
    except StorageError as error:
        return "fail", f"{at}: {error}"
    extension = "pgvector is there" if vectors else "without pgvector: vectors are compared in the process"
    told = f"{at} is version {version.split()[0]}, {extension}"
    try:
        migrating.refuse(found)
    except StorageError as error:
        return "fail", f"{told}; {error}"
    if found.missing and not found.is_empty:
        return "fail", f"{told}; its schema lacks {', '.join(found.missing)}: run `olvido db upgrade`"
    if not may_write:
        return "fail", f"{told}; its user may not write our tables: GRANT ALL on them"
    schema = "its schema will be made at the first start" if found.is_empty else "its schema is that of this version"
    if abs(ahead) > connection.MOST_SKEW:
        return "warn", f"{told}; {schema}; {_skewed(ahead)}"
    return "ok", f"{told}; {schema}; it can be written, the clocks agree"


def redis(shared: Shared) -> Finding:
    """Returns what a Redis is like: its version, eviction policy, clock, and whether it can be written."""
    try:
        from proxy.storage.redis import checks, errors, links  # noqa: PLC0415 (the client library is an extra)
    except ImportError:
        return "fail", "the client library is not installed: pip install 'olvido[cluster]'"

    async def ask() -> tuple[dict[str, str], float]:
        async with asyncio.timeout(_SECONDS), links.connected(shared) as link:
            info = dict(checks.usable(checks.parsed(await links.call(link, "INFO"))))
            await links.call(link, "SET", "olvido:doctor", "", "PX", 1)
            return info, await links.clock_ahead(link, time.time)

    try:
        info, ahead = asyncio.run(ask())
    except Exception as error:  # noqa: BLE001 (whatever it is, it is the finding)
        return "fail", f"Redis at {shared.place} {errors.of_connecting(error).text}"
    policy, limit = info.get("maxmemory_policy", "noeviction"), int(info.get("maxmemory", "0"))
    memory = f"maxmemory {limit // 2**20} MiB with {policy}" if limit else f"no maxmemory ({policy})"
    told = f"{shared.place} is version {info.get('redis_version', 'unknown')[:20]}, {memory}"
    if warnings := checks.warnings(info, ahead):
        return "warn", f"{told}; {'; '.join(warnings.values())}"
    return "ok", f"{told}; it can be written, the clocks agree"


def _skewed(ahead: float) -> str:
    return f"its clock is {abs(ahead):.0f} s {'ahead of' if ahead > 0 else 'behind'} this machine's"
