"""Turns as memory keeps them."""

from collections.abc import Sequence

import msgspec

from proxy.memory.block import without_ours
from proxy.types import ArchivedTurn, Message, Utterance
from proxy.wire.content import text


def archived(
    messages: Sequence[Message], chain: Sequence[bytes], start: int, stop: int, *, number: int, session: str, at: float
) -> ArchivedTurn:
    """The turn that is messages[start:stop]. The first one of a conversation begins with the preamble."""
    utterances = []
    for index in range(start, stop):
        role, said = messages[index].role, without_ours(text(messages[index].data))
        if role in ("user", "assistant") and said.strip():
            utterances.append(Utterance("user" if role == "user" else "assistant", said, chain[index]))
    return ArchivedTurn(
        link=chain[stop - 1],
        parent=chain[start - 1] if start else b"",
        session=session,
        number=number,
        at=at,
        messages=b"[" + b",".join(said.raw for said in messages[start:stop]) + b"]",
        utterances=tuple(utterances),
    )


def complete(messages: Sequence[Message]) -> list[tuple[int, int]]:
    """The turns that are over, as ranges of messages: each begins with a user message, the first one with all that
    stands before it, and the last one ends with an answer that calls no tool."""
    starts = [index for index, said in enumerate(messages) if said.role == "user"]
    if not starts:
        return []
    starts[0] = 0
    stops = [*starts[1:], len(messages)]
    found = list(zip(starts, stops, strict=True))
    if not _is_answer(messages[-1]):
        found.pop()
    return found


def messages_of(turn: ArchivedTurn) -> tuple[Message, ...]:
    """The client's own bytes again."""
    return tuple(Message(bytes(raw), msgspec.json.decode(raw)) for raw in _raw.decode(turn.messages))


def _is_answer(said: Message) -> bool:
    return said.role == "assistant" and not said.data.get("tool_calls") and not said.data.get("function_call")


_raw = msgspec.json.Decoder(list[msgspec.Raw])
