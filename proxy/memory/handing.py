"""Signs that a text is handed over: what asks for work on a text, what points at one, what opens a role play, what
begins and ends a letter. Patterns for `folded` text: lower case, no accents, nothing moved."""

import re
from dataclasses import dataclass

from proxy.language.phrases import expression
from proxy.language.tables import union
from proxy.memory.signals import folded

__all__ = ["HANDING", "Handing", "folded"]


@dataclass(frozen=True, slots=True)
class Handing:
    works: re.Pattern[str]  # asks for something to be done with a text
    makes: re.Pattern[str]  # asks for a text to be made
    fiction: re.Pattern[str]  # names a piece of fiction: what stands behind it is said in it
    points: re.Pattern[str]  # points at a text that stands beside it
    play: re.Pattern[str]  # opens a role play
    follows: re.Pattern[str]  # says that the next message is a text
    refers_back: re.Pattern[str]  # begins a sentence about what stands before it
    asks: re.Pattern[str]  # asks the assistant for anything
    brings: re.Pattern[str]  # says that somebody else's text follows
    first_person: re.Pattern[str]
    orders: re.Pattern[str]  # a sentence that begins with an order
    remember: re.Pattern[str]  # before a colon: what follows is to be remembered
    own_label: re.Pattern[str]  # before a colon: names what the user's own words are about
    dear: re.Pattern[str]  # a line that opens a letter
    mail_head: re.Pattern[str]  # a line of a mail's head
    signs_off: re.Pattern[str]  # a line that ends a letter
    context_label: re.Pattern[str]  # before what a program's prompt gives as context
    question_label: re.Pattern[str]  # before the user's question, in a prompt made by a program


_FRAMES = {
    "works": r"\b{works}",
    "makes": r"\b{makes}",
    "fiction": r"\b{fiction}\b",
    "points": r"\b{points}\b|\^|\u2193",
    "play": r"(?:\A|[.!?\n]\s*|,\s|:\s){play_opens}|\b{play}",
    "follows": r"\b{follows}\b",
    "refers_back": "{refers_back}",
    "asks": r"[?\u00bf]|\b{asks}\b",
    "brings": r"\b{brings}",
    "first_person": r"\b{first_person}\b",
    "orders": "{orders}",
    "remember": r"\b{remember}$",
    "own_label": "^{own_label}$",
    "dear": "{dear}",
    "mail_head": "{mail_head}",
    "signs_off": "{signs_off}",
    "context_label": r"(?:^|[.!?]\s)\s*{context_label}\s*(?: \d+)?:(?=\s)",
    "question_label": r"(?:^|[.!?)]\s)\s*{question_label}",
}
# People mix languages, and hand over English texts in Spanish: the tables of all are read.
_TABLES = union("handed_over")
HANDING = Handing(**{name: expression(_TABLES, frame, re.MULTILINE) for name, frame in _FRAMES.items()})
