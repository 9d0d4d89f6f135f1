"""The evidence of an operation: a quotation of a user message that the model was shown, in the user's own words."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Literal

from proxy.curation.carrying import Source, mentions
from proxy.language.words import terms
from proxy.memory.analysis import analyse
from proxy.memory.commands import mark
from proxy.memory.ending import ended_by
from proxy.memory.extract import extract
from proxy.memory.likeness import ComparedValues
from proxy.memory.own_words import own_words
from proxy.memory.support import supports
from proxy.protocol.message import unpacked
from proxy.types import ArchivedTurn, Fact, Utterance

DETAILS = "details"  # the reason of `supports` where a value says more than its quotation
_CUT = re.compile(r"\s*[;,:(]|\s(?:y|and|porque|because|con|with)\s")  # between two clauses of a value

# Reasons to refuse an operation, beside those of `support.supports`.
Refusal = Literal[
    "malformed",  # no operation, or without what it needs
    "too long",  # the value
    "credential",  # the value tells a password, a key, a code of access or the number of a card
    "turn",  # the model was shown no such turn
    "quote",  # the user did not say that in that turn
    "handed over",  # the user did, in somebody else's words
    "unknown id",  # the model was shown no such fact
    "changed",  # the fact is not as it was shown
    "explicit",  # a person has stated or kept the fact
    "older",  # the fact was confirmed later
    "ended since",  # what the value says has ended later
    "forgotten",
    "unrelated",  # the quotation is not about the fact
    "no end",  # the quotation tells of no end
    "not the same",  # the facts that are to be merged
    "not compared",  # the model was not asked about these facts together
]


class RefusedError(Exception):
    """An operation is refused; the message is the reason, a `Refusal` or one of `support.supports`."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A quotation that was found."""

    source: Source
    link: bytes  # of the user message
    quote: str  # on one line
    message: str
    others: str = ""  # what the user said in the other turns, in their own words


def evidence(
    turns: Mapping[int, ArchivedTurn], number: int | None, quoted: str | None, forgotten: Callable[[bytes], bool]
) -> Evidence:
    """Finds the quotation in the user message of turn `number`. `forgotten`: tells whether a link, or the mark of a
    value, is. Raises RefusedError if it is not there, not the user's own, or forgotten."""
    turn = turns.get(number or 0)
    if turn is None:
        raise RefusedError("turn")
    quote = on_one_line(quoted or "")
    said = next((each for each in turn.utterances if each.role == "user" and quote in on_one_line(each.text)), None)
    if said is None or not any(map(str.isalnum, quote)):
        raise RefusedError("quote")
    if _is_forgotten(said, quote, forgotten):
        raise RefusedError("forgotten")
    if not any(quote in on_one_line(passage) for passage in own_words(*_parts(turn, said)).passages):
        raise RefusedError("handed over")
    return Evidence(
        Source(turn.at, turn.session, turn.number, (said.link,)), said.link, quote, said.text, _others(turns, turn)
    )


def stated(value: str, found: Evidence, states: Callable[[str, str, str], str] | None = None) -> str:
    """Returns the value, or as much of its beginning as the quotation states, where its later clauses tell details that
    the quotation does not have. `states`: in the place of `supports`. Raises RefusedError if it does not state that
    either."""
    states = states or partial(supports, others=found.others)
    reason = states(found.quote, value, found.message)
    if not reason:
        return value
    ends = [cut.start() for cut in _CUT.finditer(value)] if reason == DETAILS else []
    for end in reversed(ends):
        if terms(value[:end]) and not states(found.quote, value[:end], found.message):
            return value[:end]
    raise RefusedError(reason)


def tells_end(quote: str, fact: Fact) -> Refusal | Literal[""]:
    """Returns "" if a quotation tells that a fact has ended, else the reason why it does not."""
    if not mentions(quote, fact):
        return "unrelated"
    if analyse(quote).ends and not analyse(fact.value).ends:
        return ""
    values = ComparedValues()
    values.add((fact.value, quote))
    return "" if ended_by(values[quote], [values[fact.value]], values) else "no end"


def on_one_line(text: str) -> str:
    """Returns the text with its white space folded."""
    return " ".join(text.split())


def _others(turns: Mapping[int, ArchivedTurn], turn: ArchivedTurn) -> str:
    """Returns the user's own words in all turns but one."""
    said = (each for other in turns.values() if other is not turn for each in other.utterances if each.role == "user")
    return "\n".join(passage for each in said for passage in own_words(each.text).passages)


def _is_forgotten(said: Utterance, quote: str, forgotten: Callable[[bytes], bool]) -> bool:
    """Tells whether the message was forgotten, or a statement in the quoted part of it, which was said elsewhere."""
    if forgotten(said.link) or forgotten(mark(quote)):
        return True
    stated = (on_one_line(each.value) for each in extract(said.text) if forgotten(mark(each.value)))
    return any(value in quote or quote in value for value in stated)


def _parts(turn: ArchivedTurn, said: Utterance) -> tuple[str, ...]:
    """Returns the text parts of a message: of several, one may be handed over. They are in the client's bytes."""
    try:
        messages = unpacked(turn.messages) if turn.messages else ()
    except (ValueError, RecursionError):
        messages = ()
    of_it = (each.texts for each in messages if each.role == said.role and len(each.texts) > 1)
    joined = on_one_line(said.text)
    return next((tuple(texts) for texts in of_it if on_one_line(" ".join(texts)) == joined), (said.text,))
