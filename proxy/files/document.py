"""MEMORY.md as lines: headings that name domains, bullets that are facts, and whatever else a person writes there:
that stays as it is.

    # Memory

    ## work

    - I work at Initech <!-- o:7k2x -->

    <!-- olvido 12 -->

The code at the end of a bullet names its fact. The last line is the number of the text that a person had before them:
whoever saves an old one over a newer one has not deleted what came in between. The first line, where there is one, asks
for the confirmation of a large deletion. Lines end with a line feed here; a file's own style is `text.py`'s affair.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TypeAlias

from proxy.files.names import CODE
from proxy.types.memory import SELF_CORRECTION

UNNAMED = ""  # domain of bullets above every heading
APART = frozenset({SELF_CORRECTION})  # domains that are in no file
MOST_TEXT = 2_000  # characters of a fact

_HEADING = re.compile(r" {0,3}##[ \t]+(.+?)[ \t]*#*[ \t]*")
_TITLE = re.compile(r" {0,3}#[ \t]+\S.*")
_BULLET = re.compile(rf"([ \t]*[-*+][ \t]+)(.*?)(?:[ \t]*<!--[ \t]*o:({CODE})[ \t]*-->)?[ \t]*")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_NUMBER = re.compile(r"<!--[ \t]*olvido[ \t]+([0-9]{1,9})[ \t]*-->[ \t]*")
_NOTICE = re.compile(r"> \[([ xX]?)\] .*<!-- olvido waits -->[ \t]*")
_UNREADABLE = re.compile(r"[\s\x00-\x1f\x7f-\x9f\ud800-\udfff]+")  # half characters: no file can have them


@dataclass(frozen=True, slots=True)
class Bullet:
    """A line that is a fact, or is to be one."""

    text: str  # on one line
    code: str | None
    domain: str  # of the heading above it
    raw: str = ""  # as it stood in the file; "": it is new


@dataclass(frozen=True, slots=True)
class Heading:
    """A line that names a domain."""

    domain: str
    raw: str


@dataclass(frozen=True, slots=True)
class Note:
    """Any other line."""

    raw: str


Line: TypeAlias = Bullet | Heading | Note


@dataclass(frozen=True, slots=True)
class Document:
    """The text of MEMORY.md."""

    lines: tuple[Line, ...] = ()
    number: int | None = None  # of the text that it was made from; None: it says none
    is_waiting: bool = False  # its first line asks for a confirmation
    is_confirmed: bool = False  # and somebody gave it

    @property
    def bullets(self) -> list[Bullet]:
        """The bullets, in their order."""
        return [line for line in self.lines if isinstance(line, Bullet)]


def one_line(value: str) -> str:
    """Returns the text of a fact as a file has it: on one line, without control characters."""
    # Most are as they are to be: a file of 10,000 facts asks this 80,000 times.
    if len(value) <= MOST_TEXT and value.isprintable() and "  " not in value and value.strip() == value:
        return value
    return _UNREADABLE.sub(" ", value)[: MOST_TEXT + 1].strip()[:MOST_TEXT].strip()


@lru_cache(1_024)
def domain_of(heading: str) -> str:
    """Returns the domain that a heading names, and the one under which a fact of a domain stands: lower case, its words
    joined by "-"."""
    return "-".join(one_line(heading).lower().split())[:128].strip("#-") or "other"


def parse(text: str, like: Document | None = None) -> Document:
    """Returns the document of a text, which may be any. `like`: one that has most of its lines, which are not read
    again."""
    known = {line.raw: line for line in like.bullets} if like else {}
    raws = text.split("\n")
    if raws and not raws[-1]:
        raws.pop()
    notice = _NOTICE.fullmatch(raws[0]) if raws else None
    lines: list[Line] = []
    number, domain = None, UNNAMED
    fenced = _fenced(raws)
    for place in range(1 if notice else 0, len(raws)):
        raw, last = raws[place], lines[-1] if lines else None
        if (same := known.get(raw)) is not None and same.domain == domain and place not in fenced:
            lines.append(same)
            continue
        bullet = _BULLET.fullmatch(raw)
        if place in fenced:
            lines.append(Note(raw))
        elif bullet is not None and domain not in APART:
            lines.append(_bullet(bullet[2], bullet[3], domain, raw))
        elif (stamp := _NUMBER.fullmatch(raw)) is not None:
            number = int(stamp[1])
        elif (heading := _HEADING.fullmatch(raw)) is not None:
            domain = domain_of(heading[1])
            lines.append(Heading(domain, raw))
        elif isinstance(last, Bullet) and raw.startswith((" ", "\t")) and raw.strip():
            lines[-1] = _continued(last, raw)
        else:
            if _TITLE.fullmatch(raw):
                domain = UNNAMED
            lines.append(Note(raw))
    return Document(tuple(lines), number, notice is not None, notice is not None and notice[1] in ("x", "X"))


def _fenced(raws: Sequence[str]) -> set[int]:
    """Returns the places of lines in fences of code. One that is never closed is none."""
    found: set[int] = set()
    start, fence = 0, ""
    if not any(raw.lstrip(" ").startswith(("```", "~~~")) for raw in raws):
        return found
    for place, raw in enumerate(raws):
        match = _FENCE.match(raw)
        if fence:
            if match and match[1].startswith(fence) and not raw[match.end() :].strip():
                found.update(range(start, place + 1))
                fence = ""
        elif match:
            start, fence = place, match[1]
    return found


def _bullet(said: str, code: str | None, domain: str, raw: str) -> Line:
    text = one_line(said)
    return Bullet(text, code, domain, raw) if text and len(said.strip()) <= MOST_TEXT else Note(raw)


def _continued(bullet: Bullet, raw: str) -> Line:
    """Joins a bullet that a person has wrapped."""
    told = _BULLET.fullmatch(f"- {raw.strip()}")
    more, code = (told[2], told[3]) if told else (raw, None)
    return _bullet(f"{bullet.text} {more.strip()}", code or bullet.code, bullet.domain, f"{bullet.raw}\n{raw}")


def rendered(document: Document, notice: str = "") -> str:
    """Returns the text of a document. `notice`: asks for a confirmation, in one line."""
    first = [f"> [ ] {notice} <!-- olvido waits -->"] if notice else []
    lines = [line.raw for line in document.lines]
    while lines and not lines[-1].strip():
        lines.pop()
    last = [] if document.number is None else ["", f"<!-- olvido {document.number} -->"]
    return "".join(f"{line}\n" for line in (*first, *lines, *last))


def written(bullet: Bullet, text: str, code: str) -> Bullet:
    """Returns a bullet with this text and code, in the form in which it stands if both are the same."""
    if bullet.raw and (bullet.text, bullet.code) == (text, code):
        return bullet
    prefix = found[1] if (found := _BULLET.match(bullet.raw)) else "- "
    return Bullet(text, code, bullet.domain, f"{prefix}{text} <!-- o:{code} -->")


def kept_apart(lines: Sequence[Line], before: Sequence[Line]) -> tuple[Line, ...]:
    """Returns the lines with an empty one wherever a bullet would take the indented line behind it for more of its own
    text. `before`: the lines of the file as it was read, in which none does."""
    notes = {id(line) for bullet, line in pairwise(before) if isinstance(bullet, Bullet) and isinstance(line, Note)}
    made: list[Line] = []
    for line in lines:
        is_indented = isinstance(line, Note) and line.raw[:1] in (" ", "\t") and bool(line.raw.strip())
        if is_indented and made and isinstance(made[-1], Bullet) and id(line) not in notes:
            made.append(Note(""))
        made.append(line)
    return tuple(made)


def with_added(lines: Sequence[Line], added: Sequence[Bullet], domains: Sequence[str]) -> tuple[Line, ...]:
    """Adds bullets at the end of their domains' sections. `domains`: the order of sections that are new."""
    waiting: dict[str, list[Bullet]] = {}
    for bullet in added:
        waiting.setdefault(bullet.domain, []).append(bullet)
    made: list[Line] = []
    place: dict[str, int] = {}  # by domain, behind the last bullet of its first section, or behind its heading
    section, is_first = UNNAMED, True
    for line in lines:
        made.append(line)
        if isinstance(line, Heading):
            section, is_first = line.domain, line.domain not in place
        if is_first and (isinstance(line, Heading) or (isinstance(line, Bullet) and section != UNNAMED)):
            place[section] = len(made)
    for domain, at in sorted(place.items(), key=lambda each: -each[1]):
        if domain in waiting:
            new: list[Line] = [*waiting.pop(domain)]
            is_empty = isinstance(made[at - 1], Heading)
            made[at:at] = [Note(""), *new] if is_empty else new
    while made and isinstance(made[-1], Note) and not made[-1].raw.strip():
        made.pop()
    order = {domain: number for number, domain in enumerate(domains)}
    for domain in sorted(waiting, key=lambda name: (order.get(name, len(order)), name)):
        made += [*([Note("")] if made else []), Heading(domain, f"## {domain}"), Note(""), *waiting[domain]]
    return tuple(made)
