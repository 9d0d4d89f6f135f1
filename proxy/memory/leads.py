"""What leads over to somebody else's words: who says or writes them, the text that bears them, the work that is asked
for on them.

A person of whom the author speaks and a verb of saying ("my neighbour writes: …"), a noun of something that bears
words ("my horoscope: …", "Postcard from Ann. …"), an order to work on a text that is named nowhere else ("Translate.
…"): a statement in the first person behind one of these is not the author's, whatever it says. Nor is what stands
before "…, says my neighbour" or "That's what my neighbour wrote". What introduces the author's own words is no such
lead: "about me: …", "I have two kids: …". Records of one shape (rows of values) are nobody's statement.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from proxy.memory.lead_words import (
    BARE,
    BEARERS,
    BEARS,
    FIRST,
    FOUND,
    LICENSED,
    OF_ANOTHER,
    OPENS_CLAUSE,
    OPENS_FIRST,
    ORDERS,
    POINTS,
    SAID_BEHIND,
    SAYS,
    SPEAKS,
    SUBJECT,
    TELLS_OF,
    WORKS,
)
from proxy.memory.signals import folded
from proxy.memory.subject import KIN

TAKEN = "\ufffc"  # stands for what is enclosed
_SENTENCE = re.compile(r"[^.!?\n\u2026:]+(?:[.!?\u2026:](?!\s|\Z)[^.!?\n\u2026:]*)*")
_ROW = re.compile(r"[^\n,;\t|]{1,40}(?:(?P<mark>[,;|\t])(?! )[^\n,;\t|]{0,60}){2,}$", re.MULTILINE)
_BLANK = re.compile(r"\n[ \t]*\n")
_LONGEST_LEAD = 160  # characters
# Between two lines in brackets, or from one rule to the next.
_BRACKETED = re.compile(
    r"^[ \t]*(?:\[[^\]\n]{3,80}\]|[-=*~#]{3,}[^\n]{1,80}?[-=*~#]{3,})[ \t]*$(.+?)"
    r"(?:^[ \t]*(?:\[[^\]\n]{2,80}\]|[-=*~#]{3,}[^\n]*)[ \t]*$|\n[ \t]*\n|\Z)",
    re.MULTILINE | re.DOTALL,
)
# Who speaks in the lines below: in capitals, or with a time behind.
_SPEAKER = re.compile(
    r"^[^\n]{1,40}\s\(?\d{1,2}[:.]\d\d(?: ?[apAP]\.?[mM]\.?)?\)?[ \t]*$|^[^a-z\n.!?]*[A-Z]{3}[^a-z\n.!?]*$",
    re.MULTILINE,
)
_RECORD = re.compile(r"^[ \t]*(?:[\w.-]+\s?=\s?\S|[a-z]+[_ -]?\d+\s?[:.)]\s)[^\n]*", re.MULTILINE)
_LABEL = re.compile(r"^[ \t]*(?P<name>[^\W\d_][^\s:.!?]{0,24}):[ \t]", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Led:
    """Words that somebody else says."""

    start: int  # in the message
    end: int
    is_sure: bool = True  # what stands in later paragraphs may be the author's again


def led(text: str) -> list[Led]:
    """What of a message is said by somebody else, by what leads over to it; `TAKEN` in `text` is what is enclosed."""
    plainly = folded(text).replace("\u2019", "'")
    return [*_behind(plainly), *_before(plainly), *_rows(plainly), *_spoken(text), *_boxed(plainly)]


def speaks_of_text(text: str) -> bool:
    """Does a message speak of a text, of who said something, or of work on words?"""
    plainly = folded(text).replace("\u2019", "'")
    return any(table.search(plainly) for table in (BEARERS, SPEAKS, WORKS))


def _behind(plainly: str) -> Iterator[Led]:
    for found in _SENTENCE.finditer(plainly):
        lead, end = found.group(), found.end()
        mark = plainly[end : end + 1]
        yield from _within(plainly, found)
        behind = plainly[end + 1 :].lstrip(" \t\n-*>\u2013\u2014")
        if not behind or behind[0] == TAKEN or mark == "?" or len(lead) > _LONGEST_LEAD or FIRST.search(behind) is None:
            continue
        is_first = not any(map(str.isalnum, plainly[: found.start()]))
        if (mark == ":" and _leads_by_colon(lead, behind)) or _leads_alone(lead, is_first=is_first):
            if not any(table.search(lead) for table in (SUBJECT, WORKS, ORDERS)):
                yield Led(found.start(), end + 1)  # nor is the heading
            yield from _paragraphs(plainly, end + 1)


def _paragraphs(plainly: str, start: int) -> Iterator[Led]:
    """From `start` to the end of the first paragraph that says something; and what stands behind it."""
    said = next((at for at in range(start, len(plainly)) if plainly[at].isalnum()), len(plainly))
    blank = _BLANK.search(plainly, said)
    end = blank.start() if blank else len(plainly)
    yield Led(start, end)
    if end < len(plainly):
        yield Led(end, len(plainly), is_sure=False)


def _within(plainly: str, sentence: re.Match[str]) -> Iterator[Led]:
    """Behind a verb of saying, in its sentence: "my daughter says I'm not a kid"."""
    for found in SPEAKS.finditer(plainly, sentence.start(), sentence.end()):
        if OPENS_CLAUSE.match(plainly, found.end()) is not None:
            yield Led(found.end(), sentence.end())
            break


def _leads_by_colon(lead: str, behind: str) -> bool:
    if LICENSED.search(lead):
        return False
    if ORDERS.match(lead) is not None:
        return True
    if WORKS.search(lead):
        return True
    if OPENS_CLAUSE.match(lead) is not None and FOUND.search(lead) is None:
        return False
    if BEARERS.search(lead) or SPEAKS.search(lead) or (POINTS.search(lead) and SUBJECT.search(lead) is None):
        return True
    if BARE.fullmatch(lead.strip()) is None or OPENS_FIRST.match(behind) is None:
        return False
    return OF_ANOTHER.match(lead) is not None or KIN.search(lead) is not None


def _leads_alone(lead: str, *, is_first: bool) -> bool:
    """Is it a heading that names a text, or an order to work on one that is named nowhere else?"""
    said = lead.strip()
    if LICENSED.search(said) or TELLS_OF.search(said):
        return False
    if is_first and WORKS.match(said) is not None:
        return True
    return BEARS.match(said) is not None or SAYS.fullmatch(said) is not None


def _before(plainly: str) -> Iterator[Led]:
    for found in SAID_BEHIND.finditer(plainly):
        before = [blank.end() for blank in _BLANK.finditer(plainly, 0, found.start())]
        start = next((at for at in reversed(before) if plainly[at : found.start()].strip()), 0)
        yield Led(start, found.start())
        if start:
            yield Led(0, start, is_sure=False)


def _spoken(text: str) -> Iterator[Led]:
    """The lines of a script or a chat, up to a blank line."""
    speakers = list(_SPEAKER.finditer(text))
    for speaker in speakers if len(speakers) > 1 else ():
        blank = _BLANK.search(text, speaker.end())
        yield Led(speaker.start(), blank.start() if blank else len(text))


def _boxed(plainly: str) -> Iterator[Led]:
    yield from (Led(*found.span(1)) for found in _BRACKETED.finditer(plainly))
    records = list(_RECORD.finditer(plainly))
    yield from (Led(*found.span()) for found in records if len(records) > 1)


def _rows(plainly: str) -> Iterator[Led]:
    rows = list(_ROW.finditer(plainly))
    for row in rows:
        marks = row.group().count(row["mark"])
        if sum(other.group().count(row["mark"]) == marks for other in rows) > 1:
            yield Led(row.start(), row.end())
    named = [label for label in _LABEL.finditer(plainly) if OPENS_FIRST.match(plainly, label.end())]
    if len({label["name"] for label in named if LICENSED.search(label["name"]) is None}) > 1:
        yield from (Led(label.start(), _line_end(plainly, label.end())) for label in named)


def _line_end(plainly: str, at: int) -> int:
    end = plainly.find("\n", at)
    return len(plainly) if end < 0 else end
