"""Documents of the desk as texts of files: what becomes of one that a person and the model have changed, and of which
text a person has made theirs. Pure.

`None` is a document that there is not, on either side, or has no words.
"""

from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher

from proxy.desk.merging import merged
from proxy.files import text as texts
from proxy.files.text import Text
from proxy.language.values import FORGOTTEN, opening


def shown(text: str) -> str | None:
    """Returns a stored text as a file shows it: with what no file can say replaced, and the end of its last line. Shown
    again it is the same."""
    return said(texts.decode(texts.encode(Text(text.replace("\0", "\ufffd"))), may_have_markers=True).text)


def said(text: str) -> str | None:
    """Returns the text of a file; None if it has no words."""
    return ended(text) if text.strip() else None


def ended(text: str) -> str:
    """Returns a text whose last line has an end."""
    return text if not text or text.endswith("\n") else f"{text}\n"


def joined(base: str | None, stored: str | None, file: str | None) -> str | None:
    """Returns what a document becomes: what a person has made of `base` in their file, and others in `stored`. Where
    both changed the same lines the person's stay; a file that is gone removes only what nobody has changed since."""
    if file == base:
        return stored
    if stored in (base, file):
        return file
    if file is None or stored is None:
        return stored if file is None else file
    return ended(merged(base or "", stored, file))


def nearest(bases: Sequence[str | None], file: str | None) -> str | None:
    """Returns the one of these texts that the file was made of: that shares most lines with it, of equals the first.
    Of none it would be any: then it is the first, too."""
    if file is None:
        return bases[0]
    lines = Counter(file.splitlines())

    def apart(text: str | None) -> int:
        own = Counter((text or "").splitlines())
        return ((own - lines) + (lines - own)).total()

    return min(bases, key=apart)


def forgotten_lines(before: str, after: str) -> frozenset[str]:
    """Returns the lines of a text that have lost their words in the next one: they were forgotten."""
    old, new = before.splitlines(), after.splitlines()
    if sum(map(_is_forgotten, new)) <= sum(map(_is_forgotten, old)):
        return frozenset()
    found: set[str] = set()
    for tag, first, last, start, stop in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "replace" and any(map(_is_forgotten, new[start:stop])):
            found.update(line for line in old[first:last] if line.strip() and not _is_forgotten(line))
    return frozenset(found)


def without(text: str, gone: frozenset[str]) -> str:
    """Returns a text in which these lines have lost their words."""
    lines = text.split("\n")
    return "\n".join(f"{opening(line)}{FORGOTTEN[0]}" if line.rstrip("\r") in gone else line for line in lines)


def _is_forgotten(line: str) -> bool:
    return line[len(opening(line)) :].strip() in FORGOTTEN
