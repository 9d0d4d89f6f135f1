"""Separation of the author's own words in a user message from text that they pasted.

People paste mails, chats, logs, files, search results and stories into a chat; what those say is no statement of the
user. Enclosed text never is; for the rest, `voice` gives each piece a probability that it is the author's own. A
message without a piece that is likely another's is the author's as a whole; in one that hands something over, only
pieces that are surely the author's count. After the opening of a role play, a character speaks.

Text is also another's by what introduces it ("my neighbour writes: …"), which `other_speakers` reads, however likely
its pieces are the author's.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby, pairwise

from proxy.memory.other_speakers import Attributed, attributed, speaks_of_text
from proxy.memory.remember_orders import orders
from proxy.memory.shapes import BLANK, EDGE, HANDOVER, TAKEN, opens_play, without_enclosed
from proxy.memory.signals import folded
from proxy.memory.voice import Piece, voices

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


def own_words(*parts: str) -> Own:
    """Extracts the author's own words from the text parts of a user message. Of several parts one counts, if the others
    are plainly somebody else's; in doubt none."""
    read = [_own_words(part[: EDGE + 1]) for part in parts if part.strip()]
    if len(read) == 1:
        return read[0]
    own = [each for each in read if each.passages or not each.hands_over]
    return Own(own[0].passages if len(own) == 1 else (), hands_over=bool(read))


@lru_cache(_REMEMBERED)
def _own_words(text: str) -> Own:
    is_long = len(text) > EDGE
    text = text[:EDGE]
    taken = without_enclosed(text, TAKEN)
    rest = taken.replace(TAKEN, " ")
    others = attributed(_without_leads(taken))
    found = _with_orders(text, voices(text), others)
    if (own_until := opens_play(rest)) is None and is_long:
        # Pasted text begins behind the first line, at the latest.
        own_until = text.find("\n") + 1 or EDGE + 1
    if own_until is not None:
        found = [(piece, likely if piece.end <= own_until else 0.0) for piece, likely in found]
    found = [part for piece, likely in found for part in _led_over(piece, likely, others)]
    least = min((likely for _, likely in found), default=1.0)
    if least >= HANDS_OVER_ASKED or (least >= HANDS_OVER and not speaks_of_text(rest)):
        return Own((text,) * bool(found))
    opening = min((each.start for each in others), default=_first_line(text))
    return Own(tuple(_passages(text, found, opening)), hands_over=True)


def _without_leads(text: str) -> str:
    """Replaces the colons of an order to remember: they lead on to the author's own words."""
    for each in orders(text):
        if each.keeps:
            order = text[each.start : each.end].replace(":", ",")
            text = f"{text[: each.start]}{order}{text[each.end :]}"
    return text


def _with_orders(
    text: str, found: Sequence[tuple[Piece, float]], others: Sequence[Attributed]
) -> list[tuple[Piece, float]]:
    """Counts an order to remember as the author's, however unsure its own wording is: it is told to the assistant. Not
    in a letter, nor behind another's words or a paragraph that points at them, nor in one that is another's beside
    it."""
    given = [each for each in orders(text) if each.keeps]
    if not given or any(HANDOVER[name].search(folded(text)) for name in ("dear", "mail_head")):
        return list(found)
    opening = min((each.start for each in others), default=len(text))
    paragraphs = [0, *(blank.end() for blank in BLANK.finditer(text)), len(text)]

    def is_ordered(piece: Piece) -> bool:
        return any(each.start < piece.end and piece.start < each.end for each in given)

    raised = list(found)
    for start, end in pairwise(paragraphs):
        if HANDOVER["points"].search(folded(text[:start])) is not None:
            break
        inside = [
            (at, piece, likely) for at, (piece, likely) in enumerate(found) if start <= piece.start < min(end, opening)
        ]
        if all(likely >= HANDS_OVER for _, piece, likely in inside if not (piece.is_enclosed or is_ordered(piece))):
            for at, piece, _ in inside:
                if is_ordered(piece) and not piece.is_enclosed:
                    raised[at] = piece, 1.0
    return raised


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
