"""Orders to forget hold also for what the model reads only later."""

import pytest

from proxy.curation.retracting import given_in, is_retracted, since
from proxy.types import Forgetting
from tests.curation.builders import fact, turns

SAID = turns("Soy celíaca", "Olvidá que soy celíaca.", "Toco el cello", "Gracias")


def test_orders_are_those_of_the_user_in_their_order() -> None:
    (given,) = given_in(SAID)
    assert (given.at, given.number) == (SAID[1].at, 2)
    assert "celíaca" in given.order.what
    assert given_in(turns(("Hola", "Olvidá que soy celíaca."))) == ()


@pytest.mark.parametrize(("number", "holds"), [(1, True), (2, False), (3, False)])
def test_an_order_is_about_what_was_said_before_it(number: int, holds: bool) -> None:
    assert bool(since(given_in(SAID), SAID[number - 1].at, number)) is holds


def test_of_turns_of_one_time_their_number_tells() -> None:
    (given,) = given_in(SAID)
    assert since((given,), given.at, 1) == (given.order,)
    assert since((given,), given.at, 2) == ()


@pytest.mark.parametrize(
    ("value", "order", "retracted"),
    [
        ("Es celíaca", "que soy celíaca", True),
        ("Vive en Salta", "que soy celíaca", False),
        ("Is a coeliac", "that I'm a coeliac", True),
        ("Vive en Salta", "", True),
    ],
)
def test_an_order_means_what_it_would_remove(value: str, order: str, retracted: bool) -> None:
    assert is_retracted(fact(1, value), (Forgetting(order),)) is retracted
