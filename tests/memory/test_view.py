import numpy as np
import pytest

from proxy.memory.view import View, beside, best, joined, spread, total
from tests.memory.indexed import index_of, path, turn

LONG = "\n\n".join(f"Paragraph {number} of the log. " + "Filling words stand here. " * 12 for number in range(3))
TURNS = (turn(1, "My boat is blue", "A fine colour"), turn(2, LONG, "Noted"), turn(3, "Is it late?", LONG))
INDEX = index_of(TURNS)
LINKS = path(*TURNS)


def same(one: View, other: View) -> bool:
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in View.__slots__)


@pytest.mark.parametrize("cut", range(len(LINKS) + 1))
def test_what_was_said_since_joins_what_was_there(cut: int) -> None:
    index = index_of(TURNS)
    before, whole = index.view(LINKS[:cut]), index_of(TURNS).view(LINKS)
    assert same(index.view(LINKS), whole)
    assert before.messages.tolist() == whole.messages[:cut].tolist()


def test_another_conversation_begins_where_the_first_one_ends() -> None:
    one, other = INDEX.view(LINKS[:2]), INDEX.view(LINKS[2:])
    assert joined(one, other, goes_on=False).begins.tolist() == [True, False, True, False, False, False]
    assert joined(one, other, goes_on=True).begins.tolist() == [True, False, False, False, False, False]


def test_the_best_and_the_sum_of_a_message_are_those_of_its_passages() -> None:
    view = INDEX.view(LINKS)
    values = np.arange(len(view.passages), dtype=np.float32)
    parts = [values[view.message_of == position] for position in range(len(view.messages))]
    assert not view.is_even
    assert best(values, view).tolist() == [part.max() for part in parts]
    assert total(values, view).tolist() == [part.sum() for part in parts]
    assert spread(best(values, view), view).tolist() == [part.max() for part in parts for _ in part]


def test_where_every_message_is_one_passage_its_values_are_the_messages_own() -> None:
    view = INDEX.view(LINKS[:2])
    values = np.array([3, 5], dtype=np.float32)
    assert view.is_even
    assert best(values, view).tolist() == total(values, view).tolist() == spread(values, view).tolist() == [3, 5]


def test_neighbours_are_those_of_the_same_conversation() -> None:
    view = joined(INDEX.view(LINKS[:3]), INDEX.view(LINKS[3:]), goes_on=False)
    before, after = beside(np.array([1, 2, 3, 4, 5, 6], dtype=np.float32), view)
    assert before.tolist() == [0, 1, 2, 0, 4, 5]
    assert after.tolist() == [2, 3, 0, 5, 6, 0]
