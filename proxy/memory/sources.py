"""The origin of a fact: the messages that said it, as far as the archive has them, or why there are none to show.

Pure; `Fact.source` tells the way by which its value came.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from proxy.conversation.blocks import without_ours
from proxy.types import ArchivedTurn, Fact

MOST_SHOWN = 300  # characters of an excerpt
MOST_MESSAGES = 5  # that are told of a fact
_LEAST_WORDS = 2  # of a value's beginning that is looked for

# kept, gone: the messages are in the archive, or no longer; hidden: contents are not shown; by_hand: added by hand, in
# databases of before `Fact.source` told how; the others as `Fact.source` names them.
OriginState = Literal["kept", "gone", "hidden", "by_hand", "auto", "file", "api"]


@dataclass(frozen=True, slots=True)
class Said:
    """An excerpt of a user message that said a fact, and its place."""

    text: str
    session: str
    turn: int
    at: float  # seconds since the epoch, of the turn


@dataclass(frozen=True, slots=True)
class Origin:
    """The messages that said a fact, oldest first; if none is told, `state` says why."""

    state: OriginState
    messages: tuple[Said, ...] = ()


def unsaid(fact: Fact) -> Origin | None:
    """Returns the origin of a fact that no message said, or whose messages were forgotten; None for others."""
    if fact.links:
        return None
    if fact.source != "explicit":
        return Origin(fact.source)
    return Origin("gone" if fact.turn else "by_hand")


def said(fact: Fact, turns: Iterable[ArchivedTurn]) -> Origin:
    """Returns the first messages among `turns`, oldest first, that said the fact."""
    found = {
        each.link: Said(excerpt(each.text, fact.value), turn.session, turn.number, turn.at)
        for turn in reversed(list(turns))  # of several answers to one message the first counts
        for each in turn.utterances
        if each.role == "user" and each.link in fact.links
    }
    told = tuple(sorted(found.values(), key=lambda each: each.at)[:MOST_MESSAGES])
    return Origin("kept" if told else "gone", told)


def excerpt(said: str, value: str) -> str:
    """Cuts a message to `MOST_SHOWN` characters around the fact's value, if it occurs there; "…" marks each cut."""
    text = without_ours(said).strip()
    if len(text) <= MOST_SHOWN:
        return text
    start, stop = _place(text, value)
    room = max(0, MOST_SHOWN - 2 - (stop - start))
    begin = max(0, min(start - room // 2, len(text) - (MOST_SHOWN - 2)))
    end = min(len(text), begin + MOST_SHOWN - 2)
    return f"{'…' if begin else ''}{text[begin:end]}{'…' if end < len(text) else ''}"


def _place(text: str, value: str) -> tuple[int, int]:
    """Returns the span of the value, or of as much of its beginning as occurs; (0, 0) if none does: it may be made of
    several sentences, with others between."""
    words = value.split()
    for number in range(len(words), max(min(len(words), _LEAST_WORDS) - 1, 0), -1):
        if found := re.search(r"\s+".join(map(re.escape, words[:number])), text, re.IGNORECASE):
            return found.span()
    return 0, 0
