"""Spans of a message that somebody else says, by what introduces them.

A person and a verb of saying ("my neighbour writes: …"), a noun for a document ("my horoscope: …", "Postcard from Ann.
…"), an order to work on a text that is named nowhere else ("Translate. …"): a statement in the first person behind one
of these is not the author's, whatever it says. Nor is the text before "…, says my neighbour" or "That's what my
neighbour wrote". Introductions of the author's own words do not count: "about me: …", "I have two kids: …". Records of
one shape (rows of values) are nobody's statement.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from proxy.language.phrases import expression
from proxy.language.tables import union
from proxy.memory.analysis import KIN
from proxy.memory.shapes import BLANK, HANDOVER, TAKEN
from proxy.memory.signals import folded

_SENTENCE = re.compile(r"[^.!?\n\u2026:]+(?:[.!?\u2026:](?!\s|\Z)[^.!?\n\u2026:]*)*")
_ROW = re.compile(r"[^\n,;\t|]{1,40}(?:(?P<mark>[,;|\t])(?! )[^\n,;\t|]{0,60}){2,}$", re.MULTILINE)
# Without two cells in a row there is none: found a hundred times as fast.
_CELLS = re.compile(r"[,;|\t](?! )[^\n,;\t|]{0,60}[,;|\t](?! )")
_LONGEST_LEAD = 160  # characters
# Between two lines in brackets, or from one rule to the next.
_BRACKETED = re.compile(
    r"^[ \t]*(?:\[[^\]\n]{3,80}\]|[-=*~#]{3,}[^\n]{1,80}?[-=*~#]{3,})[ \t]*$(.+?)"
    r"(?:^[ \t]*(?:\[[^\]\n]{2,80}\]|[-=*~#]{3,}[^\n]*)[ \t]*$|\n[ \t]*\n|\Z)",
    re.MULTILINE | re.DOTALL,
)
# The speaker of the lines below: in capitals, or with a time behind.
_SPEAKER = re.compile(
    r"^[^\n]{1,40}\s\(?\d{1,2}[:.]\d\d(?: ?[apAP]\.?[mM]\.?)?\)?[ \t]*$|^[^a-z\n.!?]*[A-Z]{3}[^a-z\n.!?]*$",
    re.MULTILINE,
)
_RECORD = re.compile(r"^[ \t]*(?:[\w.-]+\s?=\s?\S|[a-z]+[_ -]?\d+\s?[:.)]\s)[^\n]*", re.MULTILINE)
_LABEL = re.compile(r"^[ \t]*(?P<name>[^\W\d_][^\s:.!?]{0,24}):[ \t]", re.MULTILINE)

_find = partial(expression, union("leading_over"))

_BEARER = r"{bearers}(?:e?s)?"
_WHO = (  # a person as the subject of a verb
    r"(?:\b{somebody}|\b{determiners} (?:[\w'-]+ ){0,5}?[\w'-]+|(?:\A|(?<=[.!?:\n,;] )|(?<=\n))(?!{no_names}\b)[\w'-]+"
    r"(?: (?!{myself}\b)[\w'-]+)?(?= {goes}\b))"
)
_SPEAKS = rf"{_WHO} (?:{{often}} ){{0,3}}(?<!\bse ){{says}}\b(?: {{to_whom}})?(?: {{this}})?"
SPEAKS = _find(_SPEAKS)
_SPEAKING = _find(r" {says}\b")  # without it nobody speaks
# A whole sentence: somebody says or writes something.
_SAYS = _find(rf"(?:{{so}} )?{_SPEAKS}")
BEARERS = _find(
    r"(?<![\w'-])(?:{here_or_in} )?(?:{determiners} )?{of_others}?(?:(?!{is}\b)[\w'-]+ ){0,1}?"
    rf"{_BEARER}\b(?!')"
)
# A heading that names the text that follows: "Postcard from Ann", "Dictado".
_BEARS = _find(
    r"(?:{here_is} )?(?:{determiners} )?{of_others}?(?:[\w'-]+ )?"
    rf"(?:{{dictation}}|{_BEARER} {{by}} (?!{{for}}\b).+)"
)
# An order to work on a given text.
WORKS = _find(r"(?:\A|(?<=[.!?\n] )|(?<=\n))\s*(?:{politely} )*{works}\b")
# Any order about something assumed to be known: "Remove the adjectives", "Ponle título".
ORDERS = _find(
    r"\A\W*(?:{please} )*(?!\w*{no_clitics}\b)"
    r"(?:{clitic_orders}\b|(?!{no_orders}\b)(?!\w+ly\b)[a-z]+ (?:me )?{each}(?= (?!{no_things}\b))\b)"
)
_POINTS = _find(r"\b{points}\s*\Z|\b{points_anywhere}")
# A noun phrase without a statement: "my pen pal from Italy", "mi jefe".
_BARE = _find(
    r"(?!{look}\b)(?!.*{bare_verbs}\b)(?:{bare_behind} )?{determiners} (?:[\w'-]+ ){0,2}?[\w'-]+"
    r"(?: {bare_of} (?:[\w'-]+ ?){1,3})?(?:, ?[\w ]{1,12})?"
)
_OF_ANOTHER = _find(r"\W*(?:{behind_another} )?{of_another}\b|.*'s\b")
# Tells how the author got a text.
_FOUND = _find(r"\b{found}\b")
# Introduces the author's own words.
LICENSED = _find(
    r"\b{licensed}|\b{facts}\b"
    r"|\A\W*(?:{and} )?(?:{quantities} )*(?:\w+ )?{own_topics}(?: {about_what} (?:\w+ ?){1,3})?\s*\Z"
)
_SUBJECT = _find(r"\b{user}\b")
_TELLS_OF = _find(r"\b(?:{tells}|\?)\b")
_FIRST = _find(r"\b(?:{person}|{first_verbs})\b")
_OPENS_FIRST = r"[\s,:;\"'\u2013\u2014-]*(?:{opens}\b[\s,:]*){0,3}{person}\b"
OPENS_FIRST = _find(_OPENS_FIRST)
# The same, unless it begins as the author's: "what my cousin sent".
_OPENS_CLAUSE = _find(rf"(?!\W*{{mine}}\b){_OPENS_FIRST}")
# Attributes the text before it to somebody else, or calls it a text.
SAID_BEHIND = _find(
    r"(?:, ?| [\u2013\u2014-]+ ){says} (?:{determiners} [\w' -]{1,40}|{pronouns})(?=\s*(?:[.!?]|\Z))"
    r"|(?:(?<=[.!?\n] )|(?<=\n)|(?<=- ))(?:so )?(?:{that_is}|\^)(?: (?!{myself}\b)[\w']+){0,4}? (?:{says}|{arrived})\b"
    r"|(?:(?<=[.!?\n] )|(?<=\n)|(?<=- )|(?<=\u2014 )){is_that} (?:{one} )?(?:\w+ ){0,2}"
    rf"{_BEARER}\b"
)


@dataclass(frozen=True, slots=True)
class Attributed:
    """A span of a message that somebody else says."""

    start: int  # in the message
    end: int
    is_sure: bool = True  # False in later paragraphs, which may be the author's again


def attributed(text: str) -> list[Attributed]:
    """Returns the spans of a message that somebody else says, as introduced. `TAKEN` in `text` stands for enclosed
    text."""
    plainly = folded(text)
    return [*_behind(plainly), *_before(plainly), *_rows(plainly), *_spoken(text), *_boxed(plainly)]


def speaks_of_text(text: str) -> bool:
    """Tells whether a message mentions a document, a story, somebody saying something, or work on words."""
    plainly = folded(text)
    return any(t.search(plainly) for t in (BEARERS, SPEAKS, WORKS, HANDOVER["works"], HANDOVER["fiction"]))


def _behind(plainly: str) -> Iterator[Attributed]:
    somebody_speaks = _SPEAKING.search(plainly) is not None
    for found in _SENTENCE.finditer(plainly):
        lead, end = found.group(), found.end()
        mark = plainly[end : end + 1]
        if somebody_speaks:
            yield from _within(plainly, found)
        behind = plainly[end + 1 :].lstrip(" \t\n-*>\u2013\u2014")
        if (
            not behind
            or behind[0] == TAKEN
            or mark == "?"
            or len(lead) > _LONGEST_LEAD
            or _FIRST.search(behind) is None
        ):
            continue
        is_first = not any(map(str.isalnum, plainly[: found.start()]))
        if (mark == ":" and _leads_by_colon(lead, behind)) or _leads_alone(lead, is_first=is_first):
            if not any(table.search(lead) for table in (_SUBJECT, WORKS, ORDERS)):
                yield Attributed(found.start(), end + 1)  # nor is the heading
            yield from _paragraphs(plainly, end + 1)


def _paragraphs(plainly: str, start: int) -> Iterator[Attributed]:
    """Yields the span from `start` to the end of the first paragraph with words, as sure; the rest as unsure."""
    said = next((at for at in range(start, len(plainly)) if plainly[at].isalnum()), len(plainly))
    blank = BLANK.search(plainly, said)
    end = blank.start() if blank else len(plainly)
    yield Attributed(start, end)
    if end < len(plainly):
        yield Attributed(end, len(plainly), is_sure=False)


def _within(plainly: str, sentence: re.Match[str]) -> Iterator[Attributed]:
    """Yields the span behind a verb of saying in its sentence: "my daughter says I'm not a kid"."""
    for found in SPEAKS.finditer(plainly, sentence.start(), sentence.end()):
        if _OPENS_CLAUSE.match(plainly, found.end()) is not None:
            yield Attributed(found.end(), sentence.end())
            break


def _leads_by_colon(lead: str, behind: str) -> bool:
    if LICENSED.search(lead):
        return False
    if ORDERS.match(lead) or WORKS.search(lead):
        return True
    if _OPENS_CLAUSE.match(lead) is not None and _FOUND.search(lead) is None:
        return False
    if BEARERS.search(lead) or SPEAKS.search(lead) or (_POINTS.search(lead) and _SUBJECT.search(lead) is None):
        return True
    if _BARE.fullmatch(lead.strip()) is None or OPENS_FIRST.match(behind) is None:
        return False
    return _OF_ANOTHER.match(lead) is not None or KIN.search(lead) is not None


def _leads_alone(lead: str, *, is_first: bool) -> bool:
    """Tells whether a sentence is a heading that names a text, or an order to work on one that is named nowhere
    else."""
    said = lead.strip()
    is_heading = (is_first and WORKS.match(said)) or _BEARS.match(said) or _SAYS.fullmatch(said)
    return bool(is_heading) and LICENSED.search(said) is None and _TELLS_OF.search(said) is None


def _before(plainly: str) -> Iterator[Attributed]:
    for found in SAID_BEHIND.finditer(plainly):
        before = [blank.end() for blank in BLANK.finditer(plainly, 0, found.start())]
        start = next((at for at in reversed(before) if plainly[at : found.start()].strip()), 0)
        yield Attributed(start, found.start())
        if start:
            yield Attributed(0, start, is_sure=False)


def _spoken(text: str) -> Iterator[Attributed]:
    """Yields the lines of a script or a chat, up to a blank line."""
    speakers = list(_SPEAKER.finditer(text))
    for speaker in speakers if len(speakers) > 1 else ():
        blank = BLANK.search(text, speaker.end())
        yield Attributed(speaker.start(), blank.start() if blank else len(text))


def _boxed(plainly: str) -> Iterator[Attributed]:
    yield from (Attributed(*found.span(1)) for found in _BRACKETED.finditer(plainly))
    records = list(_RECORD.finditer(plainly))
    yield from (Attributed(*found.span()) for found in records if len(records) > 1)


def _rows(plainly: str) -> Iterator[Attributed]:
    rows = list(_ROW.finditer(plainly)) if _CELLS.search(plainly) else []
    for row in rows:
        marks = row.group().count(row["mark"])
        if sum(other.group().count(row["mark"]) == marks for other in rows) > 1:
            yield Attributed(row.start(), row.end())
    named = [label for label in _LABEL.finditer(plainly) if OPENS_FIRST.match(plainly, label.end())]
    if len({label["name"] for label in named if LICENSED.search(label["name"]) is None}) > 1:
        yield from (Attributed(label.start(), _line_end(plainly, label.end())) for label in named)


def _line_end(plainly: str, at: int) -> int:
    end = plainly.find("\n", at)
    return len(plainly) if end < 0 else end
