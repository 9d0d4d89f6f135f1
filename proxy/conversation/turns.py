"""Turns of a conversation, as memory archives them."""

from collections.abc import Collection, Sequence

from proxy.conversation.blocks import without_ours
from proxy.protocol.message import packed, unpacked
from proxy.types import ArchivedTurn, Message, OpenTurn, Utterance


def archived(
    messages: Sequence[Message], chain: Sequence[bytes], start: int, stop: int, *, number: int, session: str, at: float
) -> ArchivedTurn:
    """Returns messages[start:stop] as a turn for the archive. The first turn of a conversation includes the
    preamble."""
    utterances = []
    for index in range(start, stop):
        role, said = messages[index].role, without_ours(messages[index].text)
        if role in ("user", "assistant") and said.strip():
            utterances.append(Utterance("user" if role == "user" else "assistant", said, chain[index]))
    return ArchivedTurn(
        link=chain[stop - 1],
        parent=chain[start - 1] if start else b"",
        session=session,
        number=number,
        at=at,
        messages=packed(messages[start:stop]),
        utterances=tuple(utterances),
    )


def complete(messages: Sequence[Message]) -> list[tuple[int, int]]:
    """Returns the complete turns, as ranges of messages: each begins with a user message, the first one with everything
    before it, and the last one ends with an answer that calls no tool."""
    starts = [index for index, said in enumerate(messages) if said.role == "user"]
    if not starts:
        return []
    starts[0] = 0
    stops = [*starts[1:], len(messages)]
    found = list(zip(starts, stops, strict=True))
    if not _is_answer(messages[-1]):
        found.pop()
    return found


def open_turn(messages: Sequence[Message], chain: Sequence[bytes]) -> OpenTurn | None:
    """Returns the last turn if it ends with calls, else None."""
    if not messages or not messages[-1].tool_calls:
        return None
    asked = [index for index, said in enumerate(messages) if said.role == "user"]
    start = asked[-1] if len(asked) > 1 else 0
    return OpenTurn(tuple(messages[start:]), chain[start - 1] if start else b"")


def up_to_calls(messages: Sequence[Message], ids: Collection[str]) -> tuple[Message, ...]:
    """Returns the messages of a turn up to the last answer that made exactly the calls with these ids; () if none
    did."""
    for index in range(len(messages) - 1, -1, -1):
        made = [call.id for call in messages[index].tool_calls]
        if made and sorted(made) == sorted(ids):
            return tuple(messages[: index + 1])
    return ()


def messages_of(turn: ArchivedTurn) -> tuple[Message, ...]:
    """Returns the client's messages of an archived turn, byte for byte."""
    return unpacked(turn.messages)


def _is_answer(said: Message) -> bool:
    return said.role == "assistant" and not said.calls_tools
