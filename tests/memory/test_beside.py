"""Turns of files are on a shelf like others, and nothing stores them."""

from dataclasses import replace

import numpy as np
import pytest

from proxy.memory import shelving
from proxy.memory.beside import is_due, knows, place
from proxy.memory.shelf import Shelf
from proxy.storage.recollection import ArchiveChanges
from proxy.types import ArchivedTurn
from tests.memory.indexed import link, turn, vector


def of_files(number: int, *texts: str) -> ArchivedTurn:
    return replace(turn(number, *texts, session="old"), messages=b"")


ONE, TWO = of_files(1, "where is Lima", "in Peru"), of_files(2, "and Quito", "in Ecuador")


def texts(shelf: Shelf) -> set[str]:
    return {said.text for number in (1, 2, 3) for at in (0, 1) if (said := shelf.index.find(link(f"{number}.{at}")))}


def held(*turns: ArchivedTurn) -> Shelf:
    shelf = Shelf()
    place(shelf, turns)
    return shelf


def test_they_are_found_and_wait_for_vectors_but_do_not_count_as_unstored() -> None:
    shelf = held(ONE, TWO)
    assert texts(shelf) == {"where is Lima", "in Peru", "and Quito", "in Ecuador"}
    assert (shelf.kept, shelf.unstored, set(shelf.owed)) == (set(), 0.0, {ONE.link, TWO.link})
    made = np.stack([vector(text) for text in shelf.index.texts(ONE)])
    assert len(shelf.put_vectors([(shelf.owed[ONE.link], made)])) == 1
    assert (shelf.unstored, set(shelf.owed), len(shelf.beside)) == (0.0, {TWO.link}, 4)


@pytest.mark.parametrize(
    ("then", "left"),
    [
        ([ONE], {"where is Lima", "in Peru"}),
        ([], set()),
        ([ONE, of_files(2, "and Quito", "in the Andes")], {"where is Lima", "in Peru", "and Quito", "in the Andes"}),
        ([ONE, TWO], {"where is Lima", "in Peru", "and Quito", "in Ecuador"}),
    ],
    ids=["one goes", "all go", "one changes", "all stay"],
)
def test_they_go_and_change_with_their_files(then: list[ArchivedTurn], left: set[str]) -> None:
    shelf = held(ONE, TWO)
    place(shelf, then)
    assert texts(shelf) == left
    assert len(shelf.beside) == len(left)


def test_what_is_forgotten_or_wiped_is_refused() -> None:
    shelf = Shelf()
    shelf.forget(frozenset([link("1.0")]), 5.0)
    place(shelf, [ONE, TWO])
    assert texts(shelf) == {"and Quito", "in Ecuador"}
    shelf.wiped_at = 2.0
    place(shelf, [])
    place(shelf, [TWO])
    assert texts(shelf) == set()


def test_what_is_forgotten_leaves_and_the_files_are_looked_at_again() -> None:
    shelf = held(ONE, TWO)
    shelf.beside_at = 1e12
    assert not is_due(shelf)
    shelf.forget(frozenset([link("2.0"), link("2.1")]), 5.0)
    with shelf.lock:
        shelf.settle()
    assert set(shelf.beside) == {link("1.0"), link("1.1")}
    assert is_due(shelf)


def test_the_archive_takes_their_place() -> None:
    shelf = held(ONE, TWO)
    assert not knows(shelf, link("1.0"))
    archived = turn(1, "where is Lima, exactly", "in Peru")
    shelf.take(ArchiveChanges(((archived, None),)))
    shelf.put(turn(2, "and Quito", "in Ecuador", session="new"), None)
    assert knows(shelf, link("1.0"))
    assert (shelf.beside, shelf.kept) == ({}, {archived.link})
    place(shelf, [])
    assert texts(shelf) == {"where is Lima, exactly", "in Peru", "and Quito", "in Ecuador"}
    shelf.forget(frozenset([link("9")]), 1.0)
    assert knows(shelf, link("9"))


def test_a_stored_shelf_has_none_of_them() -> None:
    shelf = held(ONE)
    shelf.take(ArchiveChanges(((turn(2, "and Quito", "in Ecuador"), None),), upto=7))
    steps = shelving.packing(shelf, 7)
    stored = None
    while stored is None:
        try:
            next(steps)
        except StopIteration as end:
            stored = end.value
            break
    assert stored is not None
    read = Shelf()
    shelving.unpack(read, stored)
    assert texts(read) == texts(shelf) == {"and Quito", "in Ecuador"}
    assert shelf.beside == {}
