"""Tests of the model's wishes: what becomes a mark, and why the rest does not."""

import pytest

from proxy.desk.planned import View
from proxy.desk.protecting import newest_step, protected, steps
from proxy.desk.tools import Prune, Summarise
from proxy.desk.wishes import Numbered, Unfit, place_of, pruned, summarised
from proxy.protocol.message import message
from proxy.types import Message


def said(role: str, text: str) -> Message:
    return message({"role": role, "content": text})


def calls(*names: str) -> Message:
    made = [{"id": name, "type": "function", "function": {"name": "run", "arguments": "{}"}} for name in names]
    return message({"role": "assistant", "content": None, "tool_calls": made})


def result(name: str) -> Message:
    return message({"role": "tool", "tool_call_id": name, "content": "x"})


MESSAGES = (
    said("system", "s"),  # id 1
    said("user", "u1"),
    calls("a", "b"),  # 3
    result("a"),
    result("b"),
    said("assistant", "done"),  # 6
    said("user", "u2"),
    calls("c"),  # 8
    result("c"),
    calls("d"),  # 10: the newest step
    result("d"),
)
LINKS = tuple(bytes([number]) * 16 for number in range(1, len(MESSAGES) + 1))


def link(*names: int) -> tuple[bytes, ...]:
    return tuple(LINKS[name - 1] for name in names)


def numbered(*pinned: int) -> Numbered:
    view = View(MESSAGES, LINKS, LINKS, ids=tuple(range(1, len(MESSAGES) + 1)))
    return Numbered(view, last=20, pinned=frozenset(link(*pinned)), tokens=lambda _index: 100)


@pytest.mark.note("SMMA 5/1")
@pytest.mark.parametrize(
    ("ids", "marks"),
    [((4,), (4,)), ((3,), (3, 4, 5)), ((2, 6), (2, 6)), ((4, 5, 9), (4, 5, 9)), ((8,), (8, 9))],
)
def test_a_prune_marks_messages_and_a_call_takes_its_results(ids: tuple[int, ...], marks: tuple[int, ...]) -> None:
    made = pruned(Prune(ids), numbered(), ())
    assert made.links == link(*marks)
    assert (made.first, made.last, made.tokens) == (marks[0], marks[-1], 100 * len(marks))


@pytest.mark.note("SMMA 8/4")
@pytest.mark.parametrize(
    ("ids", "reason"),
    [
        ((1,), "system"),
        ((7,), "newest"),
        ((10,), "newest"),
        ((11,), "newest"),
        ((5,), "pinned"),
        ((3,), "pinned"),
        ((15,), "not-here"),
        ((21,), "unknown-id"),
        ((0,), "unknown-id"),
    ],
)
def test_a_prune_of_what_stays_is_refused_whole(ids: tuple[int, ...], reason: str) -> None:
    with pytest.raises(Unfit) as unfit:
        pruned(Prune((*ids, 6)), numbered(4), ())
    assert unfit.value.reason == reason


def test_marked_messages_are_marked_once() -> None:
    assert pruned(Prune((4, 6)), numbered(), frozenset(link(4))).links == link(6)
    with pytest.raises(Unfit, match="marked-already"):
        pruned(Prune((4,)), numbered(), frozenset(link(4)))


@pytest.mark.note("SMMA 3.7/1", "SMMA 5/2")
@pytest.mark.parametrize(
    ("start", "end", "marks"), [(4, 4, (3, 4, 5)), (1, 6, (2, 3, 4, 5, 6)), (5, 6, (3, 4, 5, 6)), (8, 8, (8, 9))]
)
def test_a_range_is_widened_to_whole_steps_without_instructions(start: int, end: int, marks: tuple[int, ...]) -> None:
    assert summarised(Summarise(start, end, " s "), numbered(), (), 10).links == link(*marks)


@pytest.mark.parametrize(
    ("start", "end", "tokens", "reason"),
    [
        (1, 1, 10, "system"),
        (6, 7, 10, "newest"),
        (8, 10, 10, "newest"),
        (2, 6, 10, "pinned"),
        (8, 9, 200, "no-shorter"),
    ],
)
def test_a_range_is_refused(start: int, end: int, tokens: int, reason: str) -> None:
    with pytest.raises(Unfit) as unfit:
        summarised(Summarise(start, end, "s"), numbered(4), (), tokens)
    assert unfit.value.reason == reason


def test_an_id_is_found_by_its_message() -> None:
    assert place_of(7, numbered()) == 6


def test_the_newest_step_is_a_call_with_its_results_or_the_last_message() -> None:
    assert newest_step(MESSAGES) == range(9, 11)
    assert newest_step(MESSAGES[:7]) == range(6, 7)
    assert newest_step(MESSAGES[:4]) == range(2, 4)


def test_steps_hold_calls_and_results_together_wherever_they_are_cut() -> None:
    assert steps(MESSAGES, range(2, 8)) == [range(2, 5), range(5, 6), range(6, 7), range(7, 8)]
    assert steps(MESSAGES, range(3, 6)) == [range(3, 5), range(5, 6)]


def test_a_pinned_result_pins_its_call() -> None:
    stay = protected(MESSAGES, LINKS, link(4))
    assert {index + 1 for index, why in stay.items() if why == "pinned"} == {3, 4, 5}
