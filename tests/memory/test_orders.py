"""Commands that are not carried out yet, and what they mean."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from proxy.memory.orders import RETRIED_WITHIN, Order, Orders, undo
from proxy.storage.recollection import FactStore, Wiped, WipeStore
from proxy.storage.sqlite.database import Database, NoDatabase
from proxy.storage.sqlite.facts import SqliteFacts, SqliteWipes
from proxy.tasks import Tasks
from proxy.types import Fact, Forgetting
from tests.context.told import fact
from tests.memory.indexed import link

GREEN_TEA = fact("I like green tea", link("1.0"), name="f-tea")
APPLES = fact("I like green apples", link("2.0"), name="f-apples")
AT = GREEN_TEA.created_at
COMMAND = Forgetting("that I like green tea")


def order(*what: Forgetting, at: float = AT, by: str = "9.0") -> Order:
    return Order(what or (COMMAND,), at, (link(by),))


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (order(), [GREEN_TEA]),
        (order(at=AT - 1), []),
        (order(COMMAND, Forgetting("that I like apples")), [GREEN_TEA, APPLES]),
        (order(Forgetting("")), [GREEN_TEA, APPLES]),
        (order(Forgetting("where I live")), []),
    ],
)
def test_an_order_means_what_its_words_name_and_was_said_before_it(given: Order, meant: list[Fact]) -> None:
    assert list(given.means([GREEN_TEA, APPLES])) == meant


def test_until_it_is_done_what_it_means_is_spared_nobody_of_another_scope() -> None:
    orders, given = Orders(), order()
    orders.give("a", given)
    assert list(orders.spared("a", [GREEN_TEA, APPLES])) == [APPLES]
    assert list(orders.spared("b", [GREEN_TEA, APPLES])) == [GREEN_TEA, APPLES]
    assert len(orders) == 1
    orders.done("a", given)
    orders.done("a", given)
    assert list(orders.spared("a", [GREEN_TEA])) == [GREEN_TEA]
    assert len(orders) == 0


def test_sent_again_it_means_what_it_meant_and_not_what_is_next_nearest() -> None:
    orders = Orders()
    assert orders.means("a", order(), [GREEN_TEA, APPLES]) == (GREEN_TEA,)
    assert orders.means("a", order(at=AT + 1), [APPLES]) == ()
    again = replace(GREEN_TEA, id="f-again")
    assert orders.means("a", order(at=AT + 2), [again, APPLES]) == (again,)


def test_much_later_it_is_another_order() -> None:
    orders = Orders()
    orders.means("a", order(), [GREEN_TEA, APPLES])
    assert orders.means("a", order(at=AT + RETRIED_WITHIN + 1), [APPLES]) == order().means([APPLES])


NOW, DAY = 1_700_000_000.0, 86_400.0


def lives(place: str, at: float) -> Fact:
    link = place.encode().ljust(16, b"\0")
    name = f"f-{place.lower():0>16}"
    return Fact(name, "personal", "residence", f"I live in {place}", "high", "explicit", "s", 1, at, at, links=(link,))


@pytest.fixture(params=["file", "memory"])
async def opened(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[tuple[FactStore, WipeStore]]:
    database = Database(tmp_path / "olvido.db" if request.param == "file" else None, Tasks())
    yield SqliteFacts(database), SqliteWipes(database)
    await database.close()


async def undone(wipes: WipeStore, facts: FactStore) -> None:
    """The newest wipe of "a/"."""
    (newest,) = await wipes.wiped(NOW + 5 * DAY, "a/")
    await undo(wipes, facts, newest, NOW + 5 * DAY)


async def test_what_was_said_since_ends_what_comes_back(opened: tuple[FactStore, WipeStore]) -> None:
    facts, wipes = opened
    madrid, porto, rome = lives("Madrid", NOW), lives("Porto", NOW + 2 * DAY), lives("Rome", NOW + 4 * DAY)
    for at, said in ((NOW + DAY, madrid), (NOW + 3 * DAY, porto)):
        facts.put("a/", [said])
        wipes.wipe("a/", [], at=at, until=at + 7 * DAY)
    facts.put("a/", [rome])
    facts.put("b/", [replace(madrid, id="f-of-another")])
    await undone(wipes, facts)
    assert {fact.value: fact.superseded_by for fact in await facts.all("a/")} == {
        "I live in Porto": rome.id,
        "I live in Rome": None,
    }
    assert [[fact.value for fact in wipe] for wipe in await wipes.facts("a/", NOW + 5 * DAY)] == [["I live in Madrid"]]
    await undone(wipes, facts)
    assert {fact.value: fact.superseded_by for fact in await facts.all("a/")} == {
        "I live in Madrid": rome.id,  # Porto has been ended by then
        "I live in Porto": rome.id,
        "I live in Rome": None,
    }
    assert [fact.superseded_by for fact in await facts.all("b/")] == [None]
    assert await wipes.facts("a/", NOW + 5 * DAY) == []
    before = await facts.all("a/")
    await undo(wipes, facts, Wiped("a/", 1, 0, NOW + 8 * DAY), NOW + 5 * DAY)  # once more
    assert await facts.all("a/") == before


async def test_where_nothing_is_kept_nothing_comes_back() -> None:
    nothing = NoDatabase()
    facts = SqliteFacts(nothing)
    facts.put("a/", [lives("Rome", NOW)])
    await undo(SqliteWipes(nothing), facts, Wiped("a/", 1, 0, NOW + DAY), NOW)
    assert await facts.all("a/") == []
    await nothing.close()
