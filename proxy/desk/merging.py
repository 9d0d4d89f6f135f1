"""The three-way merge of a text that model and person edit: by lines, and where both changed the same lines the
person's stay. New lines at one place stay from both."""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher


def merged(base: str, model: str, person: str) -> str:
    """Returns `base` with the changes of both. Equal changes count once. The end of the last line is the person's."""
    if model in (base, person):
        return person
    if person == base:
        return model
    old, new, now = (text.splitlines() for text in (base, model, person))
    lines: list[str] = []
    for start, stop, changed, kept in _regions(old, new, now):
        theirs, ours = now[slice(*kept)], new[slice(*changed)]
        if theirs == old[start:stop]:
            lines += ours
        elif start == stop:  # both wrote something new there
            lines += [*theirs, *(line for line in ours if line not in theirs)]
        elif len(theirs) == len(ours) == stop - start:  # lines that were changed, each by itself
            lines += [a if b == was else b for was, a, b in zip(old[start:stop], ours, theirs, strict=True)]
        else:
            lines += theirs
    return "\n".join(lines) + ("\n" if person.endswith("\n") else "")


def _regions(
    base: Sequence[str], one: Sequence[str], other: Sequence[str]
) -> Iterator[tuple[int, int, tuple[int, int], tuple[int, int]]]:
    """Yields regions between lines that all three share: of the base, and what the other two have there."""
    in_one, in_other = _matches(base, one), _matches(base, other)
    begun = (0, 0, 0)
    for at in sorted(in_one.keys() & in_other.keys()):
        mine, yours = in_one[at], in_other[at]
        if mine >= begun[1] and yours >= begun[2]:
            yield begun[0], at, (begun[1], mine), (begun[2], yours)
            yield at, at + 1, (mine, mine + 1), (yours, yours + 1)
            begun = (at + 1, mine + 1, yours + 1)
    yield begun[0], len(base), (begun[1], len(one)), (begun[2], len(other))


def _matches(base: Sequence[str], text: Sequence[str]) -> dict[int, int]:
    """Returns the lines of the base that a text still has, in order: index by index."""
    matcher = SequenceMatcher(None, base, text, autojunk=False)
    return {block.a + at: block.b + at for block in matcher.get_matching_blocks() for at in range(block.size)}
