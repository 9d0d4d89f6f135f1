"""Commands that are not carried out yet, and what they mean."""

from dataclasses import replace

import pytest

from proxy.memory.orders import RETRIED_WITHIN, Order, Orders
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
