"""Check that a user's own words, quoted from a message of theirs, state the value that somebody proposes to remember.

Whoever proposes may err in every way: take a question, a wish or a condition for a fact, the sister's trade for the
user's, what was for what is, once for always, a mail that was pasted for the user's words. The check looks for what
speaks against it, in the quotation and in the sentence around it; what nothing speaks against, and what has a word in
common with the quotation, is believed. Each refusal has a reason of `REASONS`.
"""

import re

from proxy.language.detect import language
from proxy.memory.claim_words import spoken_in_claims
from proxy.memory.other_speakers import attributed, speaks_of_text
from proxy.memory.own_words import own_words
from proxy.memory.shapes import TAKEN, opens_play, without_enclosed
from proxy.memory.support_content import denied, in_time, other_details, unrelated
from proxy.memory.support_holder import of_another
from proxy.memory.support_mood import no_statement
from proxy.memory.support_quoted import Quoted, said_in

REASONS = (
    "quote",  # the message has no such words
    "handed-over",  # they are somebody else's
    "question",
    "irony",
    "task",  # an order for what is at hand
    "condition",
    "wish",
    "holder",  # they are about somebody else
    "general",  # they are about nobody
    "details",  # a number, a name or a word that they do not have
    "polarity",
    "tense",
    "often",  # once is not always
    "passing",
    "unrelated",
)
_SPACE = re.compile(r"\s+")
_NAME_WORDS = 3  # of a quotation that is a title in quotation marks


def supports(quote: str, value: str, message: str, others: str = "") -> str:
    """Returns "" if the user's own words in `quote`, which stands in `message`, state `value`; else the reason why
    not, one of `REASONS`. `value`: a statement about the user in the third person. `others`: what the user said beside
    it, which may have the names and numbers that the quotation only refers to."""
    quote, value, text = (_SPACE.sub(" ", each).strip() for each in (quote, value, message))
    at = text.find(quote)
    if at < 0 or not any(map(str.isalnum, quote)) or not any(map(str.isalnum, value)):
        return "quote"
    if not _is_own(quote, message):
        return "handed-over"
    code = language(text) or spoken_in_claims(f"{text} {value}")
    quoted = Quoted(said_in(text, at, at + len(quote), others), value, code)
    checks = (no_statement, of_another, other_details, denied, in_time, unrelated)
    return next((reason for check in checks if (reason := check(quoted))), "")


# --- whose words ------------------------------------------------------------------------------------------------------


def _is_own(quote: str, message: str) -> bool:
    """Tells whether the author says it, not a text that they handed over."""
    enclosed = without_enclosed(message, TAKEN)
    if quote not in _SPACE.sub(" ", enclosed) and len(quote.split()) > _NAME_WORDS:
        return False
    passages = (_SPACE.sub(" ", each) for each in own_words(message).passages)
    return any(quote in each for each in passages) or _is_plain(quote, message, enclosed)


def _is_plain(quote: str, message: str, outside: str) -> bool:
    """Tells whether a message of one line encloses nothing, and nobody else is said to say the quotation."""
    if TAKEN in outside or "\n" in message.strip() or opens_play(outside) is not None:
        return False
    at = message.find(quote)
    if at < 0 or (":" in message[:at] and speaks_of_text(outside)):
        return False
    return not any(each.start < at + len(quote) and at < each.end for each in attributed(outside))
