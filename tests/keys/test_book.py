"""All keys as one process knows them: whose a request is, names, limits, changes of other processes."""

import asyncio
from pathlib import Path

import pytest

from proxy.config import key_hash
from proxy.errors import Conflict
from proxy.http.access import Authenticator
from proxy.keys.book import KeyBook
from proxy.keys.making import tenant_of
from proxy.storage.base import StorageError
from proxy.storage.keys import Version
from proxy.storage.sqlite.database import Database
from proxy.storage.sqlite.keys import SqliteKeys
from proxy.tasks import Tasks
from proxy.types.keys import Limits, TenantName
from tests.builders import config
from tests.stores import AtOnce, nothing

SECRET = b"s" * 32
CONFIGURED = "configured-key-1234"
AUTH = {"mode": "keys", "keys": [{"name": "ana", "key": CONFIGURED, "team": "design"}]}


class Clock:
    now = 1_000.0

    def __call__(self) -> float:
        return self.now


def book(store: SqliteKeys | None = None, clock: Clock | None = None, **more: object) -> KeyBook:
    return KeyBook(config(auth=AUTH, **more), SECRET, store or SqliteKeys(AtOnce()), clock or Clock())


async def test_a_created_key_holds_at_once_beside_those_of_the_configuration() -> None:
    keys = book()
    given, made = await keys.create("ben", "sales", Limits())
    found = keys.find(given)
    assert found == made
    assert keys.tenant(made) == tenant_of("name", "ben", SECRET)
    own = keys.find(CONFIGURED)
    assert own is not None
    assert keys.tenant(own) == tenant_of("name", "ana", SECRET)
    assert keys.find("another-key-12345") is None
    assert [key.name for key in keys.all()] == ["ana", "ben"]


async def test_whose_a_key_is_is_what_its_requests_are_taken_for() -> None:
    keys = book()
    given, made = await keys.create("ben", "sales", Limits())
    assert (keys.whose(given), keys.whose("another-key-12345")) == (keys.tenant(made), None)
    through = config()
    passing = KeyBook(through, SECRET)
    gate = Authenticator(through, SECRET, passing)
    assert passing.whose("sk-of-a-client") == gate.tenant((("authorization", "Bearer sk-of-a-client"),))


async def test_a_revoked_key_is_refused_and_a_later_one_of_its_name_has_its_tenant() -> None:
    clock = Clock()
    keys = book(clock=clock)
    first, made = await keys.create("ben", "sales", Limits())
    assert await keys.revoke(made)
    assert keys.find(first) is None
    assert keys.named(keys.tenant(made)) == TenantName("ben", "sales")
    clock.now += 5
    second, again = await keys.create("ben", "design", Limits())
    assert keys.find(second) == again
    assert keys.tenant(again) == keys.tenant(made)
    assert keys.named(keys.tenant(made)) == TenantName("ben", "design")
    assert not await keys.revoke(made)


@pytest.mark.parametrize("name", ["ana", "ben"])
async def test_a_name_whose_key_holds_is_not_given_twice(name: str) -> None:
    keys = book()
    await keys.create("ben", "", Limits())
    with pytest.raises(Conflict, match="exists already"):
        await keys.create(name, "", Limits())


async def test_a_key_of_the_configuration_is_not_revoked_here() -> None:
    keys = book()
    own = keys.find(CONFIGURED)
    assert own is not None
    with pytest.raises(Conflict, match="in the configuration"):
        await keys.revoke(own)
    assert keys.find(CONFIGURED) == own


async def test_what_another_process_creates_and_revokes_is_seen_by_the_next_look(tmp_path: Path) -> None:
    here, there = Database(tmp_path / "db", Tasks()), Database(tmp_path / "db", Tasks())
    one, other = book(SqliteKeys(here)), book(SqliteKeys(there))
    given, made = await one.create("ben", "", Limits())
    assert other.find(given) is None
    await other.look()
    assert other.find(given) == made
    await one.revoke(made)
    await other.look()
    assert other.find(given) is None
    await here.close()
    await there.close()


class Away(SqliteKeys):
    is_away = False
    looks = 0

    async def version(self) -> Version:
        self.looks += 1
        if self.is_away:
            raise StorageError("away")
        return await super().version()


async def test_while_the_database_is_away_what_is_known_holds() -> None:
    store = Away(AtOnce())
    keys = book(store)
    given, made = await keys.create("ben", "", Limits())
    store.is_away = True
    tasks = Tasks()
    keys.start(tasks)
    looks = store.looks
    for _ in range(1_000):
        if store.looks > looks:
            break
        await asyncio.sleep(0)
    assert keys.find(given) == made
    keys.stop()
    await tasks.drain(1.0)
    assert len(tasks) == 0


async def test_the_last_use_is_written_once_a_minute() -> None:
    clock, store = Clock(), SqliteKeys(AtOnce())
    keys = book(store, clock)
    _, made = await keys.create("ben", "", Limits())
    seen = []
    for passed in (0, 30, 30, 30):
        clock.now += passed
        keys.use(made)
        seen.append((await store.all())[0].last_used_at)
    assert seen == [1_000.0, 1_000.0, 1_060.0, 1_060.0]


async def test_the_last_use_is_told_wherever_it_was() -> None:
    clock, store = Clock(), SqliteKeys(AtOnce())
    here, there = book(store, clock), book(store, clock)
    _, made = await here.create("ben", "", Limits())
    await there.look()
    for at, keys in ((1_100.0, here), (1_200.0, there)):
        clock.now = at
        keys.use(made)
        assert [[key.last_used_at for key in await each.used()] for each in (here, there)] == [[0.0, at]] * 2


async def test_limits_of_a_key_stand_before_those_of_all_and_zero_takes_them_away() -> None:
    keys = book(limits={"keys": {"requests_per_minute": 10, "dollars_per_day": 5}})
    assert keys.limits_any
    _, made = await keys.create("ben", "", Limits(requests_per_minute=100, dollars_per_day=0.0))
    assert keys.limits(keys.tenant(made)) == Limits(requests_per_minute=100, dollars_per_day=0.0)
    assert list(keys.limits(keys.tenant(made)).items()) == [("requests", "minute", 100)]
    assert keys.limits("f" * 32) == Limits(requests_per_minute=10, dollars_per_day=5.0)
    assert not book().limits_any


async def test_a_scope_is_named_by_its_tenant_and_a_foreign_one_has_no_name() -> None:
    keys = book()
    tenant = tenant_of("name", "ana", SECRET)
    assert keys.named(f"{tenant}/some-user") == keys.named(tenant) == TenantName("ana", "design")
    assert keys.named("f" * 32) is None
    assert keys.tenants() == {tenant: TenantName("ana", "design")}


async def test_where_the_upstream_judges_keys_or_nothing_is_kept_none_is_created() -> None:
    for keys in (
        KeyBook(config(), SECRET, SqliteKeys(AtOnce())),
        KeyBook(config(auth=AUTH), SECRET, SqliteKeys(nothing())),
    ):
        with pytest.raises(Conflict):
            await keys.create("ben", "", Limits())
        await keys.look()
    assert not KeyBook(config(), SECRET).checks


def test_a_key_may_be_configured_as_its_hash() -> None:
    auth = {"mode": "keys", "keys": [{"name": "ana", "key": key_hash(CONFIGURED)}]}
    found = KeyBook(config(auth=auth), SECRET).find(CONFIGURED)
    assert found is not None
    assert found.source == "configured"
