"""What was delivered, read: its completion, whether it came to anything, the links that are known from now on."""

from dataclasses import replace
from typing import Any

import pytest

from proxy.errors import UpstreamBroken, UpstreamError
from proxy.pipeline.outcome import (
    came_to_nothing,
    chain_after,
    decoded,
    failed,
    has_answered,
    read,
    read_and_chain,
)
from proxy.types import Delivery, Directives, Usage
from tests.builders import assistant, completion, links
from tests.pipeline.test_record import REQUEST, passing, streamed, using, whole


@pytest.mark.parametrize(
    ("body", "said"), [(b'{"a": 1}', {"a": 1}), (b"garbage", {}), (b"[1]", {}), (b"[" * 100_000, {})]
)
def test_garbage_is_an_empty_completion(body: bytes, said: dict[str, Any]) -> None:
    assert decoded(body) == said


def test_an_answer_is_read_with_its_usage_and_its_model() -> None:
    found = read(whole(using({"prompt_tokens": 7, "completion_tokens": 2}) | {"model": "other"}))
    assert found.completion is not None
    assert (found.usage, found.model) == (Usage(7, 2), "other")


@pytest.mark.parametrize("delivery", [whole(status=500), whole(raw_completion=b"garbage"), streamed()])
def test_what_is_no_answer_or_was_read_as_it_passed_stays_as_it_is(delivery: Delivery) -> None:
    assert read(delivery) is delivery


@pytest.mark.parametrize(
    ("delivery", "nothing"),
    [
        (whole(), False),
        (whole(outcome="upstream_broken"), True),
        (whole(outcome="client_gone"), True),
        (streamed(partial={"error": {"message": "overloaded"}}), True),
        (streamed(partial=completion()), False),
    ],
)
def test_an_error_in_a_stream_is_nothing_too(delivery: Delivery, *, nothing: bool) -> None:
    assert came_to_nothing(delivery) is nothing


def test_who_waited_is_told_whether_it_broke_off_or_failed() -> None:
    assert isinstance(failed(whole(outcome="upstream_broken")), UpstreamBroken)
    assert type(failed(whole(outcome="upstream_error"))) is UpstreamError


@pytest.mark.parametrize(("status", "before", "known"), [(200, False, True), (500, False, False), (500, True, True)])
def test_a_scope_is_known_by_this_answer_or_an_earlier_one(status: int, *, before: bool, known: bool) -> None:
    exchange = passing(identity=replace(passing().identity, is_answered=before))
    assert has_answered(exchange, whole(status=status)) is known


def test_the_chain_goes_on_by_the_one_answer() -> None:
    exchange = passing()
    scope = exchange.identity.scope.id
    asked = [message.data for message in REQUEST.messages]
    assert chain_after(exchange, completion()) == tuple(links(scope, [*asked, assistant("hello")]))
    # Of two answers nobody knows which one the client has taken.
    two = {"choices": [*completion("a")["choices"], *completion("b")["choices"]]}
    assert chain_after(exchange, two) == exchange.identity.chain
    assert chain_after(passing(directives=Directives(mode="off")), completion()) == ()


@pytest.mark.parametrize("delivery", [whole(status=500), whole(outcome="our_error")])
def test_of_what_failed_no_link_is_known(delivery: Delivery) -> None:
    assert read_and_chain(passing(), delivery)[1] == ()
