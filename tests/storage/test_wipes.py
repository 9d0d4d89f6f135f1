"""What was put aside in this process; the rest is tests/contract/test_wipe_store.py."""

from proxy.storage.archive import MemoryArchive
from proxy.storage.sqlite.facts import MemoryFacts
from proxy.storage.wipes import MemoryWipes
from tests.memory.indexed import link, turn
from tests.memory.told import fact


async def test_where_only_one_of_facts_and_turns_is_kept_that_is_put_aside() -> None:
    facts, archive, tea = MemoryFacts(), MemoryArchive(1e12), fact("likes tea", link("1.0"), name="f-tea")
    for kept in (MemoryWipes(facts, None), MemoryWipes(None, archive), MemoryWipes(None, None)):
        facts.put("a", [tea])
        archive.add("a", turn(1, "q", "a"), None)
        kept.wipe("a", [], at=1e10, until=2e10)
        kept.restore("a", 1e10)
        assert await facts.all("a") == [tea]
        assert await archive.known("a", [link("1.1")]) == {link("1.1")}


async def test_once_its_time_has_passed_this_process_holds_nothing_of_it() -> None:
    facts = MemoryFacts()
    facts.put("a", [fact("likes tea", link("1.0"), name="f-tea")])
    wipes = MemoryWipes(facts, None)
    wipes.wipe("a", [], at=1e10, until=2e10)
    wipes.prune(2e10)
    assert vars(wipes)["_aside"] == {}


async def test_of_too_much_the_wipes_that_would_end_first_are_final() -> None:
    facts = MemoryFacts()
    wipes = MemoryWipes(facts, None, max_rows=4)
    for number, scope in enumerate(("a", "b", "a", "c")):
        facts.put(scope, [fact(f"has {number} cats", link(f"{number}.0"), name=f"f-{number}")])
        wipes.wipe(scope, [], at=1e10 + number, until=2e10 + number)
    assert [(each.scope, each.facts) for each in await wipes.wiped(1e10)] == [("a", 1), ("b", 1), ("c", 1)]
    assert [len(each) for each in await wipes.facts("a", 1e10)] == [1, 1]
    facts.put("d", [fact(f"has {number} dogs", link(f"{number}.0"), name=f"f-{number}") for number in range(3)])
    wipes.wipe("d", [], at=1e10 + 9, until=2e10 + 9)
    assert [(each.scope, each.facts) for each in await wipes.wiped(1e10)] == [("c", 1), ("d", 3)]
