"""Lists in an assistant's message: their items, by which a user refers to them later ("tell me more about the second").

A list is two or more items in a row, outside of code blocks:

    marked       lines that begin with a number (`1.`, `2)`, `(3)`, `4.-`, `**5.**`, `## 6.`) or a bullet (`-`, `*`,
                 `+`, `•`); deeper ones, and bullets between two numbers, are part of the item before them, and so is
                 prose that stands between two numbers
    table rows   of a Markdown table, its header excluded
    bold         lines that begin with bold words which stand alone or are followed by `:` or a dash, and what is below
                 them, bullets included
    headings     Markdown headings of one level, three or more, if each has bullets below it or there is no other list
    named        three or more lines in a row of the form `Name: …`, each with another name of a few words

Nothing here knows of a language or of what a user asks. A list of a single item is none.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple

Form = Literal["numbered", "bulleted", "table", "bold", "headings", "named"]

MOST_READ = 30_000  # characters of a message: longer ones are files
MOST_NAME = 80  # characters of an item's name
LONGEST_LEAD = 300  # characters of a lead-in
NAME_WORDS = 6  # of a line `Name: …`
LEAST_NAMED = 3  # lines or headings that make a list by their names alone

_INDENT = re.compile(r"[ \t]*")
_NUMBERED = re.compile(
    r"(?:#{1,6} +)?(?:\*\*|__)?\(?(\d{1,3})(?:\.-|[.)\u00ba\ufe0f\u20e3]+-?)(?:\*\*|__)?[ \t]+(?=\S)"
)
_BULLET = re.compile(r"[-*+\u2022\u00b7\u25cf\u25aa\u2023\u2013][ \t]+(?:\[[ xX]\] +)?(?=\S)")
_RULE = re.compile(r"[ \t]*(?:[-*_=][ \t]*){3,}$")  # a horizontal line
_HEADING = re.compile(r"(#{1,6}) +(\S.*)")
_BOLD_LINE = re.compile(r"(?:\*\*|__)(\S[^*\n]{0,100}?)(?:\*\*|__)[ \t]*(?:$|:|[-\u2013\u2014] |\()")
_BOLD_COLON = re.compile(r"(?:\*\*|__)(\S[^*\n:]{0,100}):(?:\*\*|__)")
_NAMED = re.compile(r"([^\W_][^:\n|]{0,60}):[ \t]+\S")
_SEPARATOR = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
_FENCE = re.compile(r"[ \t]*(```|~~~)")
_BEGINS_BOLD = re.compile(r"(\*\*|__|\*|_|`)(?=\S)(.+?)(?<=\S)\1")
_LINK = re.compile(r"!?\[([^\]\n]+)\]\([^)\n]*\)")
_NAME_ENDS = re.compile(r":(?=\s|$)| [-\u2013\u2014\u2192] |\s?\u2014\s?| \(|[.;?!](?=\s|$)|, ")
_NO_NAME = re.compile(r"[\W\d_]*$")


@dataclass(frozen=True, slots=True)
class ListedItem:
    """An item of a list that an assistant's message gives."""

    name: str  # its bold or leading words, without marks
    position: int  # in its list, from 1
    text: str  # its own lines, verbatim
    list: int  # the number of its list in the message, from 0


@dataclass(frozen=True, slots=True)
class GivenList:
    """A list that a message gives."""

    form: Form
    lead: str  # the line before it, and a table's header; "" if there is none
    items: tuple[ListedItem, ...]


def listed(text: str) -> tuple[ListedItem, ...]:
    """Returns the items of all lists in an assistant's message, in their order."""
    return tuple(item for given in lists(text) for item in given.items)


def lists(text: str) -> tuple[GivenList, ...]:
    """Returns the lists in an assistant's message, in their order."""
    lines = text[:MOST_READ].splitlines()
    shown = _outside_code(lines)
    found = [*_tables(lines, shown), *_marked(lines, shown)]
    for titled in (*_bold(lines, shown), *_headings(lines, shown)):
        inside = [each for each in found if each.start < titled.stop and titled.start < each.stop]
        is_outer = all(each.form == "bulleted" and _line_before(lines, each.start) in titled.starts for each in inside)
        if is_outer and (inside or titled.form == "bold" or not found):
            found = [each for each in found if each not in inside] + [titled]
    found += [
        named for named in _named(lines, shown) if all(named.stop <= o.start or o.stop <= named.start for o in found)
    ]
    return tuple(_given(number, each, lines) for number, each in enumerate(sorted(found)))


class _Run(NamedTuple):
    """The lines of a list: items[i] begins at starts[i]."""

    start: int
    stop: int  # the line after the last one
    form: Form
    starts: tuple[int, ...]
    header: int = -1  # line of a table's header


def _outside_code(lines: Sequence[str]) -> list[bool]:
    """Returns a flag for each line: it is not in a fenced code block."""
    shown, is_code = [], False
    for line in lines:
        is_fence = _FENCE.match(line) is not None
        shown.append(not is_code and not is_fence)
        is_code ^= is_fence
    return shown


# --- the forms -------------------------------------------------------------------------------------------------------


def _tables(lines: Sequence[str], shown: Sequence[bool]) -> Iterator[_Run]:
    stop = 0
    for at in range(1, len(lines)):
        if at <= stop or not (shown[at] and "|" in lines[at - 1] and "|" in lines[at] and _SEPARATOR.match(lines[at])):
            continue
        stop = at + 1
        while stop < len(lines) and "|" in lines[stop]:
            stop += 1
        if stop - at > 2:
            yield _Run(at - 1, stop, "table", tuple(range(at + 1, stop)), at - 1)


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
        indent = _INDENT.match(line).end()  # type: ignore[union-attr]  # it matches everywhere
        if (numbered := _NUMBERED.match(line, indent)) is not None:
            found.append(_Mark(at, indent, int(numbered[1])))
        elif _BULLET.match(line, indent):
            found.append(_Mark(at, indent, None))
    return found


def _marked(lines: Sequence[str], shown: Sequence[bool]) -> Iterator[_Run]:
    marks, first = _marks(lines, shown), 0
    while first < len(marks):
        items = _siblings(marks, first, lines)
        if len(items) > 1:
            stop = _end(lines, items)
            form: Form = "bulleted" if items[0].number is None else "numbered"
            yield _Run(items[0].at, stop, form, tuple(each.at for each in items))
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
            is_next = is_heading and (end == start + 1 or _BULLET.match(line))
            if _HEADING.match(line) or _NUMBERED.match(line) or line.endswith(":") or (is_blank and not is_next):
                break
        end, is_blank = at + 1, False
    return end


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _bold(lines: Sequence[str], shown: Sequence[bool]) -> Iterator[_Run]:
    heads = [at for at, line in enumerate(lines) if shown[at] and (_BOLD_LINE.match(line) or _BOLD_COLON.match(line))]
    yield from _run_of(heads, lines, "bold", 2)


def _headings(lines: Sequence[str], shown: Sequence[bool]) -> Iterator[_Run]:
    found = [(at, len(head[1])) for at, line in enumerate(lines) if shown[at] and (head := _HEADING.match(line))]
    for level in sorted({level for _, level in found}):
        heads = [at for at, each in found if each == level]
        if len(heads) >= LEAST_NAMED:
            yield from _run_of(heads, lines, "headings", LEAST_NAMED)
            return


def _run_of(heads: Sequence[int], lines: Sequence[str], form: Form, least: int) -> Iterator[_Run]:
    """Yields the list whose items begin at `heads`, and go on to the next; the last one, to the end of the paragraph or
    the bullets below it."""
    if len(heads) < least:
        return
    stop = heads[-1] + 1
    while stop < len(lines) and (lines[stop].strip() or stop == heads[-1] + 1 or _BULLET.match(lines[stop - 1])):
        if not lines[stop].strip() and not (stop + 1 < len(lines) and _BULLET.match(lines[stop + 1])):
            break
        stop += 1
    yield _Run(heads[0], stop, form, tuple(heads))


def _named(lines: Sequence[str], shown: Sequence[bool]) -> Iterator[_Run]:
    heads: list[int] = []
    for at, line in enumerate((*lines, "")):
        is_blank = not line.strip()
        if at < len(lines) and shown[at] and _names(line):
            heads.append(at)
        elif not is_blank or at == len(lines):
            names = {lines[head].partition(":")[0].lower() for head in heads}
            if len(names) == len(heads) >= LEAST_NAMED:
                yield _Run(heads[0], heads[-1] + 1, "named", tuple(heads))
            heads = []


def _names(line: str) -> bool:
    """Tells whether a line has the form `Name: …`."""
    found = _NAMED.match(line)
    if found is None or len(found[1].split()) > NAME_WORDS:
        return False
    return found[1][0].isupper() or found[1][0].isdigit()


# --- items -----------------------------------------------------------------------------------------------------------


def _given(number: int, run: _Run, lines: Sequence[str]) -> GivenList:
    bounds = (*run.starts, run.stop)
    items = []
    for position, (start, stop) in enumerate(pairwise(bounds), 1):
        text = "\n".join(lines[start:stop]).strip("\n")
        own = _cells(lines[start]) if run.form == "table" else lines[start]
        items.append(ListedItem(_name(own, run.form), position, text.rstrip(), number))
    lead = _lead(lines, run.start)
    if run.header >= 0:
        lead = f"{lead}\n{lines[run.header]}".strip("\n")
    return GivenList(run.form, lead, tuple(items))


def _lead(lines: Sequence[str], start: int) -> str:
    """Returns the paragraph's last line before a list; "" if it is too long to be said again."""
    at = _line_before(lines, start)
    before = lines[at].strip() if at >= 0 else ""
    return before if len(before) <= LONGEST_LEAD and not _FENCE.match(before) else ""


def _line_before(lines: Sequence[str], start: int) -> int:
    """Returns the last line before `start` that is not blank; -1 if there is none."""
    return next((at for at in range(start - 1, -1, -1) if lines[at].strip()), -1)


def _cells(row: str) -> str:
    """Returns the first cell of a table's row that is more than a number, or the first."""
    cells = [cell.strip() for cell in row.strip().strip("|").split("|")]
    return next((cell for cell in cells if not _NO_NAME.match(cell)), cells[0])


def _name(line: str, form: Form) -> str:
    """Returns the name of an item from its first line."""
    said = line.strip()
    is_numbered = _NUMBERED.match(said)
    if is_numbered and form != "named":
        bold = said[: is_numbered.end()].count("**") == 1  # "**1. Name**"
        said = ("**" if bold else "") + said[is_numbered.end() :]
    elif (bullet := _BULLET.match(said)) and form == "bulleted":
        said = said[bullet.end() :]
    elif heading := _HEADING.match(said):
        said = heading[2]
    said = _LINK.sub(r"\1", said.strip())
    if marked := _BEGINS_BOLD.match(said):
        return marked[2].strip(" :*_")[:MOST_NAME]
    if form in ("headings", "table"):
        return said.strip(" :*_")[:MOST_NAME]
    end = _NAME_ENDS.search(said, 1)
    return (said[: end.start()] if end else said).strip(" :*_`")[:MOST_NAME]
