"""What the doctor finds out about PostgreSQL and Redis."""

import asyncio
from functools import partial

import pytest

from proxy.cli import servers
from proxy.config.shared import Shared
from proxy.storage.postgres import migrating, schema
from proxy.storage.postgres.connection import connect
from tests import postgres
from tests.redis_server import bulk, redis_here, run_redis, stub


def test_a_database_with_our_schema_is_well() -> None:
    status, text = servers.postgres(postgres.database())
    assert status == "ok"
    assert "is version 16." in text
    assert "pgvector" in text
    assert "its schema is that of this version" in text
    assert "clocks agree" in text


def test_an_empty_database_will_have_its_schema() -> None:
    status, text = servers.postgres(postgres.database(template="template1"))
    assert (status, "will be made at the first start" in text) == ("ok", True)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("DELETE FROM migrations", "was restored in part"),
        ("INSERT INTO migrations VALUES ('9999_newer', 0)", "newer version"),
    ],
)
def test_another_schema_fails(change: str, told: str) -> None:
    url = postgres.database()
    with connect(url) as connection:
        connection.execute(change.encode())
    status, text = servers.postgres(url)
    assert status == "fail"
    assert told in text


def test_an_older_schema_fails_with_the_command_that_mends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = {**schema.MIGRATIONS, "9999_next": ("SELECT 1",)}  # a version to come has one step more
    monkeypatch.setattr(migrating, "status", partial(migrating.status, migrations=steps))
    status, text = servers.postgres(postgres.database())
    assert status == "fail"
    assert "its schema lacks 9999_next: run `olvido db upgrade`" in text


def test_a_database_that_takes_no_writes_fails() -> None:
    url = postgres.database()
    with connect(url) as connection:
        (name,) = connection.execute("SELECT current_database()").fetchone() or ("",)
        connection.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on".encode())
    status, text = servers.postgres(url)
    assert (status, "takes no writes" in text) == ("fail", True)


def test_a_user_that_may_not_write_fails() -> None:
    url = postgres.database()
    with connect(url) as connection:
        connection.execute(
            "DROP ROLE IF EXISTS reader; CREATE ROLE reader LOGIN;"
            " GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader"
        )
    status, text = servers.postgres(url.replace("//postgres:", "//reader:"))
    assert status == "fail"
    assert "may not write" in text


def test_a_database_that_is_away_fails_without_its_password() -> None:
    status, text = servers.postgres("postgresql://me:secret123@127.0.0.1:1/none")
    assert status == "fail"
    assert text.startswith("127.0.0.1/none: PostgreSQL: ")
    assert "secret123" not in text


def test_a_redis_is_well() -> None:
    status, text = servers.redis(Shared.model_validate({"url": redis_here().url}))
    assert status == "ok"
    assert "no maxmemory (noeviction)" in text
    assert "is version " in text


def test_an_eviction_policy_that_drops_what_is_needed_is_warned_of() -> None:
    with run_redis("--maxmemory", "5mb", "--maxmemory-policy", "allkeys-lru") as other:
        status, text = servers.redis(Shared.model_validate({"url": other.url}))
    assert status == "warn"
    assert "maxmemory 5 MiB with allkeys-lru" in text
    assert "use a volatile one" in text


def test_a_redis_that_is_away_or_asks_for_a_password_fails() -> None:
    status, text = servers.redis(Shared.model_validate({"url": "redis://:secret123@127.0.0.1:1/0"}))
    assert status == "fail"
    assert text.startswith("Redis at 127.0.0.1:1 cannot be reached")
    with run_redis("--requirepass", "secret123") as locked:
        status, text = servers.redis(Shared.model_validate({"url": locked.url}))
    assert status == "fail"
    assert "asks for a password" in text


def test_a_redis_of_an_old_version_fails() -> None:
    async def asked() -> servers.Finding:
        async with stub({"INFO": bulk("redis_version:5.0.1")}) as url:
            return await asyncio.to_thread(servers.redis, Shared.model_validate({"url": url}))

    status, text = asyncio.run(asked())
    assert status == "fail"
    assert "has version 5.0.1" in text
