"""Separation of the author's own words in a user message from text that they pasted.

People paste mails, chats, logs, files, search results and stories into a chat; what those say is no statement of the
user. Enclosed text never is; for the rest, `voice` gives each piece a probability that it is the author's own. A
message without a piece that is likely another's is the author's as a whole; in one that hands something over, only
pieces that are surely the author's count. After the opening of a role play, a character speaks.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

from proxy.memory.attribution import TAKEN, Attributed, attributed, speaks_of_text
from proxy.memory.shapes import HANDOVER, enclosed
from proxy.memory.signals import folded
from proxy.memory.voice import Piece, voices

EDGE = 4_000  # characters that are read: a longer message is mostly pasted
# Least probability that each piece is the author's own, else the message hands something over; and the same where it
# asks for work on a text, or mentions a story.
HANDS_OVER, HANDS_OVER_ASKED = 0.35, 0.6
# Least probability for a piece of such a message to be read as the author's: in its opening, and behind it.
SURE, SURE_BEHIND = 0.6, 0.75
BEHIND = 0.9  # the same in a paragraph behind one that is surely another's
_REMEMBERED = 512  # messages that are cached: planning and learning ask for the same ones


@dataclass(frozen=True, slots=True)
class Own:
    """The passages of a message in its author's own words."""

    passages: tuple[str, ...]  # verbatim, in their order
    hands_over: bool = False  # it also has somebody else's text
    is_play: bool = False  # it opens a role play: a character says all that follows
    announces: bool = False  # it says that the next message is a text


def own_words(*parts: str) -> Own:
    """Extracts the author's own words from the text parts of a user message. Of several parts one counts, if the others
    are plainly somebody else's; in doubt none."""
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
    """The speaker of the next user message: the user, a character of a role play, or an announced text."""

    is_character: bool = False  # from a role play's opening on
    is_text: bool = False  # a text that the message before announced

    @property
    def is_own(self) -> bool:
        """Tells whether the user speaks."""
        return not self.is_character and not self.is_text

    def after(self, *parts: str) -> "Voice":
        """Returns the speaker after a user message. Cached: it is asked for each old message with every request."""
        if self.is_character:
            return self
        found = [_opens_or_announces(part[:EDGE]) for part in parts]
        return Voice(is_character=any(opens for opens, _ in found), is_text=any(text for _, text in found))


@lru_cache(4_096)
def _opens_or_announces(text: str) -> tuple[bool, bool]:
    rest = _without_enclosed(text)
    return _opens_play(rest) is not None, _announces(rest)


@lru_cache(_REMEMBERED)
def _own_words(text: str) -> Own:
    is_long = len(text) > EDGE
    text = text[:EDGE]
    rest = _without_enclosed(text)
    found = voices(text)
    if (play := _opens_play(rest)) is not None:
        found = [(piece, likely if piece.end <= play else 0.0) for piece, likely in found]
    elif is_long:  # pasted text begins behind the first line, at the latest
        line = text.find("\n") if "\n" in text else EDGE
        found = [(piece, likely if piece.end <= line + 1 else 0.0) for piece, likely in found]
    others = attributed(_without_enclosed(text, TAKEN))
    found = [part for piece, likely in found for part in _led_over(piece, likely, others)]
    plainly = folded(rest)
    asks = (
        speaks_of_text(rest)
        or HANDOVER.works.search(plainly) is not None
        or HANDOVER.fiction.search(plainly) is not None
    )
    hands_over = any(likely < (HANDS_OVER_ASKED if asks else HANDS_OVER) for _, likely in found)
    return Own(
        tuple(_passages(text, found, min((each.start for each in others), default=_first_line(text))))
        if hands_over
        else (text,) * bool(found),
        hands_over=hands_over,
        is_play=play is not None,
        announces=not is_long and play is None and _announces(rest),
    )


def _led_over(piece: Piece, likely: float, others: Sequence[Attributed]) -> Iterator[tuple[Piece, float]]:
    """Splits a piece where other people's words begin; yields the parts, each with its probability of being the
    author's own."""
    over = [each for each in others if piece.start < each.end and each.start < piece.end]
    start = min((each.start for each in over if each.is_sure), default=piece.end)
    if any(not each.is_sure for each in over) and likely < BEHIND:
        likely = 0.0
    if piece.start < start:
        yield Piece(piece.start, start, piece.is_enclosed), likely
    if start < piece.end:
        yield Piece(max(start, piece.start), piece.end, piece.is_enclosed), 0.0


def _first_line(text: str) -> int:
    """Returns the end of the first line that has words."""
    end = text.find("\n", len(text) - len(text.lstrip()))
    return len(text) if end < 0 else end + 1


def _passages(text: str, found: Sequence[tuple[Piece, float]], opening: int) -> Iterator[str]:
    """Yields the runs of pieces that are surely the author's own. `opening`: the earliest position at which another's
    words may begin."""
    own = [(piece, likely > (SURE if piece.end <= opening else SURE_BEHIND)) for piece, likely in found]
    for is_own, run in groupby(own, key=lambda each: each[1]):
        if is_own:
            pieces = [piece for piece, _ in run]
            yield text[pieces[0].start : pieces[-1].end]


def _without_enclosed(text: str, mark: str = " ") -> str:
    """Replaces each enclosed character of `text` by `mark`."""
    for start, end in enclosed(text):
        text = f"{text[:start]}{mark * (end - start)}{text[end:]}"
    return text


def _opens_play(text: str) -> int | None:
    """Returns the position at which a role play opens; None if none does."""
    found = HANDOVER.play.search(folded(text))
    return found.start() + 1 if found else None


def _announces(text: str) -> bool:
    """Tells whether a text says that another text comes in the next message, or ends in a colon that leads to one."""
    plainly = folded(text).rstrip()
    if HANDOVER.follows.search(plainly):
        return True
    last = plainly.rpartition("\n")[2]
    if not plainly.endswith(":") or HANDOVER.own_label.search(last[:-1]):
        return False
    return any(table.search(last) for table in (HANDOVER.works, HANDOVER.points, HANDOVER.fiction, HANDOVER.brings))
