from collections.abc import Iterator

import pytest

from proxy.memory.list_items import Answer, resolved
from proxy.memory.list_references import Reference, reference

BARS = Answer(1, "Buscame bares", "Estos bares:\n1. Uno: barra\n2. Dos: patio\n3. Tres: terraza")
HOTELS = Answer(3, "which hotels?", "- **Inn**: pool\n- **Ritz**: spa")
PROSE = Answer(5, "¿y el clima?", "Buen tiempo.")
TWO = Answer(7, "what now?", "Options:\n1. Walk\n2. Ride\n3. Swim\n\nI need:\n- your age\n- your name")
MIXED = Answer(9, "mezcla", "Bares:\n1. a\n2. b\n\nHoteles:\n1. c\n2. d")


@pytest.mark.parametrize(
    ("text", "answers", "items"),
    [
        ("dame más info del segundo", (PROSE, HOTELS, BARS), ["Ritz"]),
        ("¿y el tercero?", (PROSE, HOTELS, BARS), ["Tres"]),  # the newest list has no third item
        ("y el segundo bar?", (HOTELS, BARS), ["Dos"]),
        ("del segundo hotel", (BARS, HOTELS), ["Ritz"]),
        ("the last one", (BARS,), ["Tres"]),
        ("el penúltimo", (BARS,), ["Dos"]),
        ("the first two", (BARS,), ["Uno", "Dos"]),
        ("the first and the last one", (BARS,), ["Uno", "Tres"]),
        ("what about the one with the spa?", (BARS, HOTELS), ["Ritz"]),
        ("¿y el de la terraza?", (HOTELS, BARS), ["Tres"]),
        ("tell me about number 2", (TWO,), ["Ride"]),  # not what was asked of the user
        ("dame más info del segundo hotel", (MIXED,), ["d"]),
        ("the second idea please", (BARS,), ["Dos"]),  # a noun for items of many lists
    ],
)
def test_the_item_is_found_in_the_list_that_is_meant(text: str, answers: tuple[Answer, ...], items: list[str]) -> None:
    wanted = reference(text)
    assert wanted is not None
    found = resolved(wanted, answers)
    assert found is not None
    assert [item.name for item in found.items] == items


@pytest.mark.parametrize(
    ("text", "answers"),
    [
        ("dame más info del segundo", ()),
        ("dame más info del segundo", (PROSE,)),
        ("¿y el quinto?", (BARS, HOTELS)),
        ("Cuéntame más sobre el segundo museo", (BARS, HOTELS)),
        ("what about the one with the garage?", (BARS, HOTELS)),
    ],
)
def test_where_no_list_has_it_nothing_is_found(text: str, answers: tuple[Answer, ...]) -> None:
    wanted = reference(text)
    assert wanted is not None
    assert resolved(wanted, answers) is None


def test_what_two_items_have_tells_neither() -> None:
    answer = Answer(1, "", "- a: pool\n- b: pool\n- c: spa")
    assert resolved(Reference("attribute", terms=("pool",), newest=False), [answer]) is None
    assert resolved(Reference("attribute", terms=("spa",), newest=False), [answer]) is not None


def test_answers_are_read_no_further_than_needed() -> None:
    def answers() -> list[Answer]:
        raise AssertionError

    def newest_first() -> Iterator[Answer]:
        yield BARS
        answers()

    wanted = reference("the last one")
    assert wanted is not None
    assert resolved(wanted, newest_first()) is not None
