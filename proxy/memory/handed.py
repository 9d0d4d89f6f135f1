"""The author's own words in a user message, apart from text that it hands over.

People paste mails, chats, logs, files, search results and stories into a chat. What those say is not the user's word,
whatever it says. Which words are the user's own is read off the message's shape, not off a list of phrases to fear:

1. What is enclosed (fence, tag, quotation marks, comment) or headed ("[read_file a.py] Result:", "--- notes.md ---",
   "From: …") is handed over, up to its end if it has one.
2. What remains falls into blocks (`shapes`): paragraphs, and runs of lines that no sentence is written in.
3. If any of that was found, or if a sentence asks for work on a text, the message hands something over. Then the
   user's own words are what stands before the text, or else, if the text comes first, the last paragraph, if it asks
   for something. Everything in between is handed over; in doubt everything is.

A message that hands nothing over is the user's own.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from proxy.memory.handing import HANDING, folded
from proxy.memory.shapes import HOLE, NAME_WORDS, Block, blocks, question, without_enclosed

EDGE = 4_000  # characters that are read: a longer message was not typed by hand
_REMEMBERED = 512  # messages: planning and learning ask for the same ones
_LEADS_OVER = re.compile(r":(?=\s|\Z)|\s[-\u2013\u2014]\s|\s?(?:->|=>|>>+|\u2192)\s|\n")
_SEVERAL = re.compile(r"[.!?:\u2026]\s+\S")  # it is more than one sentence
_CLOSED = re.compile(r"[.!?\u2026][\"')*=\s\u2013\u2014-]*\s|\s[-\u2013\u2014*=]{2,}\s+|\n+")
_SENTENCE = re.compile(r"[.!?\u2026]+[)\"']*(?=\s|\Z)|\n+|(?=\u00bf)|;\s")


@dataclass(frozen=True, slots=True)
class Own:
    """What a message says in its author's own words."""

    passages: tuple[str, ...]  # verbatim, in their order
    hands_over: bool = False  # there is somebody else's text beside them
    is_play: bool = False  # it opens a role play: what follows in the conversation is said by a character
    announces: bool = False  # the next message is a text


def own_words(*parts: str) -> Own:
    """The author's own words in a user message, given its text parts. Of several parts one is the user's, if the others
    are plainly not; in doubt none is."""
    read = [_own_words(part[: EDGE + 1]) for part in parts if part.strip()]
    if len(read) == 1:
        return read[0]
    own = [each for each in read if each.passages or not each.hands_over]
    passages = own[0].passages if len(own) == 1 else ()
    return Own(
        passages,
        hands_over=bool(read),
        is_play=any(each.is_play for each in read),
        announces=any(each.announces for each in read),
    )


@dataclass(frozen=True, slots=True)
class Voice:
    """Whose words the next user message of a conversation is in."""

    is_character: bool = False  # from a role play's opening on
    is_text: bool = False  # one message, that the one before it announced

    @property
    def is_own(self) -> bool:
        return not self.is_character and not self.is_text

    def after(self, *parts: str) -> "Voice":
        """Behind a user message. Of messages that were read before it is asked with every request."""
        if self.is_character:
            return self
        found = [_opens_or_announces(part[:EDGE]) for part in parts]
        return Voice(is_character=any(opens for opens, _ in found), is_text=any(text for _, text in found))


@lru_cache(4_096)
def _opens_or_announces(text: str) -> tuple[bool, bool]:
    own = own_words(text)
    return own.is_play, own.announces


@lru_cache(_REMEMBERED)
def _own_words(text: str) -> Own:
    is_long = len(text) > EDGE
    rest = without_enclosed(text[:EDGE])
    if (play := HANDING.play.search(folded(rest))) is not None:
        return Own(_sentences_before(rest, play.start() + 1), hands_over=True, is_play=True)
    found = blocks(rest)
    if is_long and found:  # what was not typed by hand begins behind the first line, at the latest
        found = [replace(found[0], text=found[0].text.split("\n")[0]), *found[1:], Block("", foreign=True)]
    return replace(_chosen(found), announces=not is_long and _announces(rest))


def _announces(text: str) -> bool:
    """Does it say that a text comes in the next message, or end in a colon that leads to one?"""
    plainly = folded(text).rstrip()
    if HANDING.follows.search(plainly):
        return True
    last = plainly.rpartition("\n")[2]
    if not plainly.endswith(":") or HANDING.own_label.search(last[:-1]):
        return False
    return any(table.search(last) for table in (HANDING.works, HANDING.points, HANDING.fiction, HANDING.brings))


def _sentences_before(text: str, end: int) -> tuple[str, ...]:
    stops = [found.end() for found in _SENTENCE.finditer(text) if found.end() <= end]
    return (text[: stops[-1]],) if stops and text[: stops[-1]].strip() else ()


def _chosen(found: Sequence[Block]) -> Own:
    if all(block.foreign for block in found):
        return Own((), hands_over=bool(found))
    first, last = found[0], found[-1]
    if len(found) == 1:
        return _of_paragraph(first.text)
    if not any(block.foreign for block in found) and not (
        _works(first.text) or _works(last.text) or _opens(first.text)
    ):
        return Own(tuple(block.text for block in found))
    asked = next((block for block in reversed(found) if question(block.text)), None)
    if asked is not None:
        lead = [_led(first.text)] if asked is not first and not first.foreign and _speaks(first.text) else []
        own = [*lead, question(asked.text)]
    elif not first.foreign and (
        _speaks(first.text) or last.foreign or not _speaks(last.text) or (len(found) == 2 and _opens(first.text))
    ):
        own = _before_text(found)
    else:
        own = [last.text] if not last.foreign and _speaks(last.text) else []
    return Own(tuple(said for said in own if said.strip()), hands_over=True)


def _before_text(found: Sequence[Block]) -> list[str]:
    """The user speaks first: up to where the text begins, and, where the text shows its end, behind it."""
    begins = next((at for at, block in enumerate(found) if block.foreign), 1)
    opens = _opens(found[0].text)
    own = [_led(block.text) for block in found[: 1 if opens else begins]]
    is_closed = all(block.marked for block in found if block.foreign) and found[begins].foreign
    if is_closed and (begins == 1 or not opens):
        own += [block.text for block in found[begins:] if not block.foreign]
    return own


def _of_paragraph(text: str) -> Own:
    """What it asks to be done with a text stands behind the request, or in quotation marks."""
    is_fiction = _SEVERAL.search(text) is not None and HANDING.fiction.search(folded(text)) is not None
    if not (_works(text) or is_fiction or (HOLE in text and _points(text)) or _leads_over(text)):
        return Own((text.replace(HOLE, "\u2026"),), hands_over=HOLE in text)
    said = _led(text)
    if HOLE in text:
        behind = text.rpartition(HOLE)[2]
        return Own(tuple(each for each in (said, behind) if each.strip(" .,;:")), hands_over=True)
    # Where nothing shows where the text begins, it begins behind the sentence that asks for the work.
    plainly = folded(said)
    asked = HANDING.works.search(plainly) or HANDING.fiction.search(plainly)
    if asked is None and HANDING.makes.search(plainly) and said == text:
        return Own((said,), hands_over=True)
    asked = asked or HANDING.points.search(plainly)
    start = max((each.end() for each in _CLOSED.finditer(said, 0, asked.start())), default=0) if asked else 0
    if asked and start and HANDING.refers_back.match(plainly, start):
        return Own((said[start:],), hands_over=True)  # "… That's how my story begins."
    stop = next((found.end() for found in _SENTENCE.finditer(said) if asked and found.end() >= asked.end()), len(said))
    return Own((said[:stop],) if said[:stop].strip() else (), hands_over=True)


def _leads_over(text: str) -> bool:
    """Does a colon or an arrow lead from a request, or from what points at a text, to something of several words?"""
    found = _LEADS_OVER.search(text)
    if found is None or len(text[found.end() :].split()) < NAME_WORDS:
        return False
    before = folded(_SENTENCE.split(text[: found.start()])[-1]).strip()
    if HANDING.remember.search(before):
        return False
    return bool(HANDING.orders.match(before) or HANDING.points.search(before) or "?" in before)


def _led(text: str) -> str:
    """What leads over to a text: all but what follows the colon or the dash of the sentence that asks."""
    plainly = folded(text)
    asked = HANDING.works.search(plainly) or HANDING.makes.search(plainly) or HANDING.points.search(plainly)
    if asked is None and not _leads_over(text):
        return text.replace(HOLE, "\u2026")
    opened = _LEADS_OVER.search(text, asked.end() if asked else 0) or _LEADS_OVER.search(text)
    return text[: opened.start() if opened else len(text)].replace(HOLE, "\u2026")


def _works(text: str) -> bool:
    """Does it ask for something to be done with a text, or for a text to be made?"""
    plainly = folded(text)
    return HANDING.works.search(plainly) is not None or HANDING.makes.search(plainly) is not None


def _points(text: str) -> bool:
    return HANDING.points.search(folded(text)) is not None


def _opens(text: str) -> bool:
    """Does it lead over to what stands behind it?"""
    if text.rstrip().endswith((":", "\u2193")) or HANDING.brings.search(folded(text)):
        return True
    return _points(text) and HANDING.asks.search(folded(text)) is not None


def _speaks(text: str) -> bool:
    """Does it speak to the assistant? "Search results for X:" does not."""
    leads = text.rstrip().endswith(":") and HANDING.first_person.search(folded(text)) is not None
    return leads or HANDING.speaks(folded(text))
