"""The cache of paths. What is seen through it: test_turn_index.py."""

from proxy.memory.paths import Paths, Walked
from tests.memory.indexed import index_of, link, path, turn

LONG = "\n\n".join(f"Paragraph {number} of the log. " + "Filling words stand here. " * 12 for number in range(3))
TURNS = (turn(1, "My boat is blue", "A fine colour"), turn(2, LONG, "Noted"), turn(3, "Is it late?", LONG))
INDEX = index_of(TURNS)
LINKS = path(*TURNS)


def walked(length: int) -> Walked:
    return Walked(INDEX.view(LINKS[:length]), length, frozenset(), len(LINKS))


def test_the_longest_known_beginning_of_a_path_is_found() -> None:
    paths = Paths()
    assert paths.nearest(LINKS) is None
    for length in (2, 4):
        paths.keep(LINKS, walked(length))
    found = [paths.nearest(LINKS[:length]) for length in range(7)]
    assert [each.length if each else 0 for each in found] == [0, 0, 2, 2, 4, 4, 4]
    assert paths.nearest((*LINKS[:2], link("branch"))) is paths.nearest(LINKS[:2])
    assert paths.nearest((link("other"), LINKS[0], LINKS[1])) is None
    paths.clear()
    assert paths.nearest(LINKS) is None


def test_no_more_paths_are_kept_than_there_may_be_and_the_oldest_goes_first() -> None:
    paths = Paths(most=2)
    for length in (1, 2, 1, 3):
        paths.keep(LINKS, walked(length))
    assert [getattr(paths.nearest(LINKS[:length]), "length", 0) for length in (1, 2, 3)] == [1, 1, 3]
    assert paths.nbytes == walked(1).view.nbytes + walked(3).view.nbytes
