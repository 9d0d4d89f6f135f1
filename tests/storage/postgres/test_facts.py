"""Facts in PostgreSQL."""

from dataclasses import replace

from proxy.storage.postgres.facts import PostgresFacts
from tests import postgres
from tests.contract.test_fact_store import NEW


async def test_scopes_are_sorted_as_their_bytes_are() -> None:
    async with postgres.processes(1) as (database,):
        store = PostgresFacts(database)
        names = ["b/", "B/", "a/", "_/", "é/"]
        for name in names:
            store.put(name, [NEW])
        await store.flush()
        assert await store.scopes() == sorted(names)


async def test_what_one_process_has_put_another_replaces_and_forgets() -> None:
    async with postgres.processes(2) as (one, other):
        mine, theirs = PostgresFacts(one), PostgresFacts(other)
        mine.put("a/", [replace(NEW, id=f"f-{number}") for number in range(1_200)])
        await mine.flush()
        theirs.put("a/", [replace(NEW, id="f-7", value="theirs")])
        theirs.forget("a/", [f"f-{number}" for number in range(8, 1_200)])
        await theirs.flush()
        found = {fact.id: fact.value for fact in await mine.all("a/")}
        assert found == {**{f"f-{number}": NEW.value for number in range(7)}, "f-7": "theirs"}
