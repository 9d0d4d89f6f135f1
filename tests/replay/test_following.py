"""The order of requests, and the answers that they got."""

from typing import Any

import pytest

from proxy.replay.following import answered, in_order
from proxy.replay.reading import Logged
from proxy.wire.request import message
from tests.builders import assistant, user
from tests.replay.logs import logged

A, B, C = user("a"), assistant("b"), user("c")


@pytest.mark.parametrize(
    ("times", "order", "at"),
    [
        ((3.0, 1.0, 2.0), (2, 3, 1), (1.0, 2.0, 3.0)),
        ((None, None), (1, 2), (50.0, 51.0)),
        ((5.0, None, 2.0, None), (3, 4, 1, 2), (2.0, 2.0, 5.0, 5.0)),
        ((None, 7.0), (1, 2), (7.0, 7.0)),
        ((1.0, 1.0), (1, 2), (1.0, 1.0)),
    ],
)
def test_requests_go_by_time_and_else_as_they_stand(
    times: tuple[float | None, ...], order: tuple[int, ...], at: tuple[float, ...]
) -> None:
    given = [logged([A], at=each, line=line) for line, each in enumerate(times, 1)]
    found = in_order(given, 50.0)
    assert tuple(each.line for each in found) == order
    assert tuple(each.at for each in found) == at


def _contents(*given: Logged) -> list[Any]:
    return [each.answer and each.answer.text for each in answered(given)]


def test_an_answer_is_what_the_next_request_of_the_conversation_shows() -> None:
    other = logged([user("x"), assistant("y"), C])
    assert _contents(logged([A]), other, logged([A, B, C])) == ["b", None, None]


def test_one_that_the_log_has_is_left_as_it_is() -> None:
    assert _contents(logged([A], answer=message(assistant("as it was"))), logged([A, B, C])) == ["as it was", None]


def test_of_a_regenerated_request_the_last_one_got_the_answer_that_was_kept() -> None:
    assert _contents(logged([A]), logged([A]), logged([A, B, C])) == [None, "b", None]


@pytest.mark.parametrize("whose", [{"key": "other"}, {"headers": (("x-olvido-user", "ana"),)}])
def test_another_customers_conversation_answers_nothing(whose: dict[str, Any]) -> None:
    assert _contents(logged([A]), logged([A, B, C], **whose)) == [None, None]
