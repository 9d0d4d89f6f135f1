"""Fates of the messages of a request (kept, shortened, marker, folded, recalled, left out), each with its reason, as
the plan decided them. The page, `olvido replay` and what-if read them here."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import msgspec

from proxy.types import Fates, Message

Fate: TypeAlias = Literal["kept", "shortened", "marker", "folded", "recalled", "left out"]
FateAndReason: TypeAlias = tuple[Fate, str]

BEGINNING = 60  # characters of a message that are shown

pack = msgspec.msgpack.encode
unpack = msgspec.msgpack.Decoder(Fates).decode  # raises msgspec.ValidationError


@dataclass(frozen=True, slots=True)
class ExplainedMessage:
    """One message of a request, and its fate."""

    index: int
    role: str
    tokens: int  # as the client sent it
    fate: Fate
    why: str
    begins: str


@dataclass(frozen=True, slots=True)
class ExplainedPrompt:
    """The messages of a request with their fates, and the blocks that were added."""

    messages: tuple[ExplainedMessage, ...]
    head: str = ""
    volatile: str = ""


def explained(messages: Sequence[Message], fates: Fates | None, tokens: Callable[[Message], int]) -> ExplainedPrompt:
    """Returns the fate of each of the client's `messages`. `fates`: the plan's; None if all were sent as they came.
    `tokens` counts a message."""
    as_it_came: FateAndReason = ("kept", "sent as it was")
    told = _fates(messages, fates) if fates else iter([as_it_came] * len(messages))
    found = (
        ExplainedMessage(index, said.role, tokens(said), *fate, " ".join(said.text.split())[:BEGINNING])
        for index, (said, fate) in enumerate(zip(messages, told, strict=True))
    )
    return ExplainedPrompt(tuple(found), fates.head if fates else "", fates.volatile if fates else "")


def _fates(messages: Sequence[Message], fates: Fates) -> Iterator[FateAndReason]:
    turn = 0  # from 1; 0 before the first user message
    for index, said in enumerate(messages):
        turn += said.role == "user"
        is_sent = index < fates.preamble or index in fates.instructions or index >= fates.start
        yield _sent(index, fates) if is_sent else _left_out(index, said.role, turn, fates)


def _sent(index: int, fates: Fates) -> FateAndReason:
    if index == 0 and fates.is_elided:
        return "shortened", "what need not be repeated is left out"
    if index < fates.start:
        return "kept", "instructions"
    if index in fates.markers:
        return "marker", "old tool result"
    if index in fates.capped:
        return "shortened", "long older answer"
    return "kept", "newest turn" if index >= fates.newest else "window"


def _left_out(index: int, role: str, turn: int, fates: Fates) -> FateAndReason:
    if index in fates.quoted:
        return "recalled", "the newest question needs it"
    if index >= fates.left:
        return "left out", "makes room for what is recalled, this time"
    if not any(first <= turn <= last for first, last in fates.summaries):
        return "left out", f"turn {turn} left the window, and no summary tells of it"
    if role not in ("user", "assistant"):
        return "left out", f"turn {turn} left the window"
    return "folded", f"turn {turn} left the window for a summary"
