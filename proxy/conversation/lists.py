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
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from proxy.conversation import list_forms
from proxy.conversation.list_forms import BULLET, FENCE, HEADING, NUMBERED, Form, Run

MOST_READ = 30_000  # characters of a message: longer ones are files
MOST_NAME = 80  # characters of an item's name
LONGEST_LEAD = 300  # characters of a lead-in

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
    shown = list_forms.outside_code(lines)
    found = [*list_forms.tables(lines, shown), *list_forms.marked(lines, shown)]
    for titled in (*list_forms.bold(lines, shown), *list_forms.headings(lines, shown)):
        inside = [each for each in found if each.start < titled.stop and titled.start < each.stop]
        is_outer = all(each.form == "bulleted" and _line_before(lines, each.start) in titled.starts for each in inside)
        if is_outer and (inside or titled.form == "bold" or not found):
            found = [each for each in found if each not in inside] + [titled]
    found += [
        named
        for named in list_forms.named(lines, shown)
        if all(named.stop <= o.start or o.stop <= named.start for o in found)
    ]
    return tuple(_given(number, each, lines) for number, each in enumerate(sorted(found)))


def _given(number: int, run: Run, lines: Sequence[str]) -> GivenList:
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
    return before if len(before) <= LONGEST_LEAD and not FENCE.match(before) else ""


def _cells(row: str) -> str:
    """Returns the first cell of a table's row that is more than a number, or the first."""
    cells = [cell.strip() for cell in row.strip().strip("|").split("|")]
    return next((cell for cell in cells if not _NO_NAME.match(cell)), cells[0])


def _name(line: str, form: Form) -> str:
    """Returns the name of an item from its first line."""
    said = line.strip()
    is_numbered = NUMBERED.match(said)
    if is_numbered and form != "named":
        bold = said[: is_numbered.end()].count("**") == 1  # "**1. Name**"
        said = ("**" if bold else "") + said[is_numbered.end() :]
    elif (bullet := BULLET.match(said)) and form == "bulleted":
        said = said[bullet.end() :]
    elif heading := HEADING.match(said):
        said = heading[2]
    said = _LINK.sub(r"\1", said.strip())
    if marked := _BEGINS_BOLD.match(said):
        return marked[2].strip(" :*_")[:MOST_NAME]
    if form in ("headings", "table"):
        return said.strip(" :*_")[:MOST_NAME]
    end = _NAME_ENDS.search(said, 1)
    return (said[: end.start()] if end else said).strip(" :*_`")[:MOST_NAME]


def _line_before(lines: Sequence[str], start: int) -> int:
    """Returns the last line before `start` that is not blank; -1 if there is none."""
    return next((at for at in range(start - 1, -1, -1) if lines[at].strip()), -1)
