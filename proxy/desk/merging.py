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
        lines += _merged(old[start:stop], new[slice(*changed)], now[slice(*kept)])
    return "\n".join(lines) + ("\n" if person.endswith("\n") else "")


def _merged(was: Sequence[str], ours: Sequence[str], theirs: Sequence[str]) -> Sequence[str]:
    """Returns what becomes of lines that both may have changed. `theirs`: the person's."""
    if theirs == was:
        return ours
    if not was:  # both wrote something new there
        return [*theirs, *(line for line in ours if line not in theirs)]
    if len(theirs) == len(ours) == len(was):  # changed line by line
        return [mine if yours == before else yours for before, mine, yours in zip(was, ours, theirs, strict=True)]
    for one, other in ((theirs, ours), (ours, theirs)):  # one has only added to the lines that the other has changed
        if one[: len(was)] == was:
            return [*other, *one[len(was) :]]
        if one[-len(was) :] == was:
            return [*one[: -len(was)], *other]
    return theirs


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
