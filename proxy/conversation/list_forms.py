"""The forms of a list in a text, line by line: where one begins, where its items do, and where it ends."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

Form = Literal["numbered", "bulleted", "table", "bold", "headings", "named"]

NAME_WORDS = 6  # of a line `Name: …`
LEAST_NAMED = 3  # lines or headings that make a list by their names alone

NUMBERED = re.compile(r"(?:#{1,6} +)?(?:\*\*|__)?\(?(\d{1,3})(?:\.-|[.)\u00ba\ufe0f\u20e3]+-?)(?:\*\*|__)?[ \t]+(?=\S)")
BULLET = re.compile(r"[-*+\u2022\u00b7\u25cf\u25aa\u2023\u2013][ \t]+(?:\[[ xX]\] +)?(?=\S)")
_RULE = re.compile(r"[ \t]*(?:[-*_=][ \t]*){3,}$")  # a horizontal line
HEADING = re.compile(r"(#{1,6}) +(\S.*)")
_BOLD_LINE = re.compile(r"(?:\*\*|__)(\S[^*\n]{0,100}?)(?:\*\*|__)[ \t]*(?:$|:|[-\u2013\u2014] |\()")
_BOLD_COLON = re.compile(r"(?:\*\*|__)(\S[^*\n:]{0,100}):(?:\*\*|__)")
_NAMED = re.compile(r"([^\W_][^:\n|]{0,60}):[ \t]+\S")
_SEPARATOR = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
FENCE = re.compile(r"[ \t]*(```|~~~)")


class Run(NamedTuple):
    """The lines of a list: items[i] begins at starts[i]."""

    start: int
    stop: int  # the line after the last one
    form: Form
    starts: tuple[int, ...]
    header: int = -1  # line of a table's header


def outside_code(lines: Sequence[str]) -> list[bool]:
    """Returns a flag for each line: it is not in a fenced code block."""
    shown, is_code = [], False
    for line in lines:
        is_fence = FENCE.match(line) is not None
        shown.append(not is_code and not is_fence)
        is_code ^= is_fence
    return shown


def tables(lines: Sequence[str], shown: Sequence[bool]) -> Iterator[Run]:
    """Yields the tables in lines; `shown`: which of them are outside of code."""
    stop = 0
    for at in range(1, len(lines)):
        if at <= stop or not (shown[at] and "|" in lines[at - 1] and "|" in lines[at] and _SEPARATOR.match(lines[at])):
            continue
        stop = at + 1
        while stop < len(lines) and "|" in lines[stop]:
            stop += 1
        if stop - at > 2:
            yield Run(at - 1, stop, "table", tuple(range(at + 1, stop)), at - 1)


class _Mark(NamedTuple):
    """The beginning of a line that may be an item."""

    at: int
    indent: int
    number: int | None  # None: a bullet


def _marks(lines: Sequence[str], shown: Sequence[bool]) -> list[_Mark]:
    found = []
    for at, line in enumerate(lines):
        if not shown[at] or not line or _RULE.match(line):
            continue
        indent = len(line) - len(line.lstrip(" \t"))
        if (numbered := NUMBERED.match(line, indent)) is not None:
            found.append(_Mark(at, indent, int(numbered[1])))
        elif BULLET.match(line, indent):
            found.append(_Mark(at, indent, None))
    return found


def marked(lines: Sequence[str], shown: Sequence[bool]) -> Iterator[Run]:
    """Yields the lists of lines with numbers or bullets."""
    marks, first = _marks(lines, shown), 0
    while first < len(marks):
        items = _siblings(marks, first, lines)
        if len(items) > 1:
            stop = _end(lines, items)
            form: Form = "bulleted" if items[0].number is None else "numbered"
            yield Run(items[0].at, stop, form, tuple(each.at for each in items))
            first = next((at for at in range(first, len(marks)) if marks[at].at >= stop), len(marks))
        else:
            first += 1


def _siblings(marks: Sequence[_Mark], first: int, lines: Sequence[str]) -> list[_Mark]:
    """Returns the items of the list that this mark begins."""
    items = [marks[first]]
    for at in range(first + 1, len(marks)):
        mark = marks[at]
        last = items[-1]
        if mark.indent > last.indent + 1:
            continue  # below the item
        if mark.indent < last.indent - 1:
            break
        if last.number is None:
            if mark.number is not None or _is_broken(lines, last.at, mark.at):
                break
            items.append(mark)
        elif mark.number == last.number + 1 or (mark.number == last.number == 1):
            items.append(mark)
        elif mark.number is not None:
            break
    return items


def _is_broken(lines: Sequence[str], start: int, stop: int) -> bool:
    """Tells whether a paragraph that belongs to no item stands between these lines."""
    return any(line.strip() for line in lines[_end_of_item(lines, start, stop) : stop])


def _end(lines: Sequence[str], items: Sequence[_Mark]) -> int:
    """Returns the line after the last item. If paragraphs stand between the items, the last one has one, too."""
    stop = _end_of_item(lines, items[-1].at, len(lines))
    if all(_is_broken(lines, each.at, after.at) for each, after in pairwise(items)):
        following = (at for at in range(stop, len(lines)) if lines[at].strip())
        stop = next(following, stop - 1) + 1
    return stop


def _end_of_item(lines: Sequence[str], start: int, stop: int) -> int:
    """Returns the line after an item that begins at `start`, at most `stop`: it has what is indented below it or
    follows without a blank line, but for the lead-in of another list; a heading has the next paragraph and bullets."""
    is_heading = lines[start].lstrip().startswith("#")
    indent, is_blank, end = _indent(lines[start]), False, start + 1
    for at in range(start + 1, stop):
        line = lines[at].strip()
        if not line:
            is_blank = True
            continue
        if _indent(lines[at]) <= indent:
            is_next = is_heading and (end == start + 1 or BULLET.match(line))
            if HEADING.match(line) or NUMBERED.match(line) or line.endswith(":") or (is_blank and not is_next):
                break
        end, is_blank = at + 1, False
    return end


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def bold(lines: Sequence[str], shown: Sequence[bool]) -> Iterator[Run]:
    """Yields the list of lines that begin with bold words, if there is one."""
    heads = [at for at, line in enumerate(lines) if shown[at] and (_BOLD_LINE.match(line) or _BOLD_COLON.match(line))]
    yield from _run_of(heads, lines, "bold", 2)


def headings(lines: Sequence[str], shown: Sequence[bool]) -> Iterator[Run]:
    """Yields the list that the headings of one level make, if there is one."""
    found = [(at, len(head[1])) for at, line in enumerate(lines) if shown[at] and (head := HEADING.match(line))]
    for level in sorted({level for _, level in found}):
        heads = [at for at, each in found if each == level]
        if len(heads) >= LEAST_NAMED:
            yield from _run_of(heads, lines, "headings", LEAST_NAMED)
            return


def _run_of(heads: Sequence[int], lines: Sequence[str], form: Form, least: int) -> Iterator[Run]:
    """Yields the list whose items begin at `heads`, and go on to the next; the last one, to the end of the paragraph or
    the bullets below it."""
    if len(heads) < least:
        return
    stop = heads[-1] + 1
    while stop < len(lines) and (lines[stop].strip() or stop == heads[-1] + 1 or BULLET.match(lines[stop - 1])):
        if not lines[stop].strip() and not (stop + 1 < len(lines) and BULLET.match(lines[stop + 1])):
            break
        stop += 1
    yield Run(heads[0], stop, form, tuple(heads))


def named(lines: Sequence[str], shown: Sequence[bool]) -> Iterator[Run]:
    """Yields the lists of lines of the form `Name: …`."""
    heads: list[int] = []
    for at, line in enumerate((*lines, "")):
        is_blank = not line.strip()
        if at < len(lines) and shown[at] and _names(line):
            heads.append(at)
        elif not is_blank or at == len(lines):
            names = {lines[head].partition(":")[0].lower() for head in heads}
            if len(names) == len(heads) >= LEAST_NAMED:
                yield Run(heads[0], heads[-1] + 1, "named", tuple(heads))
            heads = []


def _names(line: str) -> bool:
    """Tells whether a line has the form `Name: …`."""
    found = _NAMED.match(line)
    if found is None or len(found[1].split()) > NAME_WORDS:
        return False
    return found[1][0].isupper() or found[1][0].isdigit()
