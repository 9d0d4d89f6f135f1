"""An answered request is read for what is new in many small steps."""

import pytest

from proxy.memory.ingesting import Answered, Ingested, Steps, read
from proxy.memory.shelf import Shelf
from proxy.types import Directives, Exchange, Plan, PromptTokens, ReuseMiss
from tests.builders import assistant, chat, identity, incoming, links, user

PLAN = Plan("untouched", PromptTokens(9, 9))


def counted(steps: Steps[Ingested]) -> tuple[int, Ingested]:
    """How many steps it took, and what came of them."""
    number = 0
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return number, end.value
        number += 1


@pytest.mark.parametrize("known", [True, False])
def test_every_turn_and_every_message_of_the_user_is_a_step(known: bool) -> None:
    shelf, count = Shelf(), 200
    said = [each for at in range(count) for each in (user(f"I'm {at} years old."), assistant("I see."))]
    request = chat(*said)
    exchange = Exchange(
        incoming(), request, identity(request), Directives(), ReuseMiss("absent"), PLAN, "up", started=0.0
    )
    chain = links(exchange.identity.scope.id, said)
    answered = Answered(exchange, request.messages, chain)
    steps = read(answered, shelf, (lambda _: False) if known else None, frozenset(), keeps_facts=True)
    number, found = counted(steps)
    assert len(found.turns) == count
    assert [fact.turn for fact in found.facts if fact.superseded_by is None] == [count]
    assert number == (4 if known else 3) * count
    assert len(shelf.index) == (2 * count if known else 0)
