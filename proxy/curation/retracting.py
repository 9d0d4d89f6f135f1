"""Orders to forget that came before the model has read what they are about: nothing was known then that they could
have removed, and nothing of it may be learnt now."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from proxy.memory.commands import commands
from proxy.memory.forgetting import forgotten
from proxy.types import ArchivedTurn, Fact, Forgetting

# Returns the orders that were given after turn `number` of a conversation, at a time.
OrdersSince: TypeAlias = Callable[[float, int], Sequence[Forgetting]]


@dataclass(frozen=True, slots=True)
class Given:
    """An order to forget, and the turn that it was given in."""

    at: float
    number: int
    order: Forgetting


def given_in(turns: Sequence[ArchivedTurn]) -> tuple[Given, ...]:
    """Returns the orders to forget in turns of one conversation, oldest first."""
    found: list[Given] = []
    before = ""
    for turn in turns:
        for said in turn.utterances:
            if said.role == "user":
                found += (Given(turn.at, turn.number, order) for order in commands((said.text,), before))
                before = said.text
    return tuple(found)


def since(given: Sequence[Given], at: float, number: int) -> tuple[Forgetting, ...]:
    """Returns those that came later than turn `number`."""
    return tuple(each.order for each in given if each.at > at or (each.at == at and each.number > number))


def is_retracted(fact: Fact, orders: Sequence[Forgetting]) -> bool:
    """Tells whether one of these orders means the fact."""
    return any(forgotten((fact,), order) for order in orders)
