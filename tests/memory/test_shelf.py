"""What one scope remembers, in memory: how something leaves it."""

import pytest

from proxy.memory.notes import Segment
from proxy.memory.shelf import Shelf
from proxy.storage.recollection import ArchiveChanges
from proxy.types import Summary
from tests.memory.indexed import link, turn

TEA, REST = turn(1, "I like tea", "Noted"), turn(2, "q", "a")


def shelf() -> Shelf:
    made = Shelf()
    for each in (TEA, REST):
        made.put(each, None)
    return made


def test_no_summary_is_kept_that_may_say_what_is_forgotten() -> None:
    made = shelf()
    segment = Segment(starts=(0,), link=link("1.1"), number=1, heard=(True,), tokens=50)
    made.notes.of(segment, lambda: Summary("tea", (), "", (), (), 1, 1))
    made.settle()
    assert made.notes.of(segment, lambda: None) is not None
    made.forget(frozenset({link("2.0")}), 9.0)
    made.settle()
    assert made.notes.size == 0


@pytest.mark.parametrize("by", ["search", "put", "take"])
def test_what_is_forgotten_leaves_the_index_before_anybody_else_uses_it(by: str) -> None:
    made = shelf()
    made.forget(frozenset({link("1.0"), link("1.1")}), 9.0)
    if by == "search":
        with made.lock:
            made.settle()
    elif by == "put":
        made.put(TEA, None)
        made.take(ArchiveChanges())
    else:
        made.take(ArchiveChanges(entries=((TEA, None),)))
    assert [link(name) in made.index for name in ("1.0", "1.1", "2.0")] == [False, False, True]
    assert made.since == {link("1.0"): 9.0, link("1.1"): 9.0}


def test_while_all_is_wiped_nothing_that_is_as_old_comes_in() -> None:
    made = Shelf(wiped_at=REST.at)
    made.take(ArchiveChanges(entries=((TEA, None), (REST, None), (turn(3, "q", "a"), None))))
    assert [link(name) in made.index for name in ("1.0", "2.0", "3.0")] == [False, False, True]
