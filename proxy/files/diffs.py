"""The difference between two texts of MEMORY.md, as people read it."""

from dataclasses import dataclass
from difflib import SequenceMatcher

from proxy.files.document import Document


@dataclass(frozen=True, slots=True)
class Difference:
    """Lines that one text has and another has not."""

    added: tuple[str, ...] = ()
    changed: tuple[tuple[str, str], ...] = ()  # before and after
    removed: tuple[str, ...] = ()


def difference(before: Document, after: Document) -> Difference:
    """Returns what has become of the facts of `before`: a line in the place of another is a changed one."""
    old, new = ([(line.domain, line.text) for line in each.bullets] for each in (before, after))
    added: list[str] = []
    removed: list[str] = []
    changed: list[tuple[str, str]] = []
    for _, start, end, begin, stop in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        gone, come = [text for _, text in old[start:end]], [text for _, text in new[begin:stop]]
        if gone == come:
            continue
        pairs = min(len(gone), len(come))
        changed += zip(gone[:pairs], come[:pairs], strict=True)
        removed += gone[pairs:]
        added += come[pairs:]
    return Difference(tuple(added), tuple(changed), tuple(removed))
