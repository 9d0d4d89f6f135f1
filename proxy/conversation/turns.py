"""Turns of a conversation, as ranges of its messages: those that are complete, as memory archives them, and the one
that is open while a client runs its tools."""

from collections.abc import Collection, Sequence

from proxy.conversation.blocks import without_ours
from proxy.protocol.message import packed
from proxy.types import ArchivedTurn, Message, OpenTurn, Utterance


def archived(
    messages: Sequence[Message],
    chain: Sequence[bytes],
    start: int,
    stop: int,
    *,
    number: int,
    session: str,
    at: float,
    root: bytes = b"",
) -> ArchivedTurn:
    """Returns messages[start:stop] as a turn for the archive. The first turn of a conversation includes the preamble,
    unless there was something before it (`root`, see Identity)."""
    start, parent = _begun(messages, chain, start, root)
    utterances = []
    for index in range(start, stop):
        role, said = messages[index].role, without_ours(messages[index].text)
        if role in ("user", "assistant") and said.strip():
            utterances.append(Utterance("user" if role == "user" else "assistant", said, chain[index]))
    return ArchivedTurn(
        link=chain[stop - 1],
        parent=parent,
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
    if messages[-1].role != "assistant" or messages[-1].calls_tools:
        found.pop()
    return found


def _begun(messages: Sequence[Message], chain: Sequence[bytes], start: int, root: bytes) -> tuple[int, bytes]:
    """Returns the first message of a turn, and the link of the message before it."""
    if start or not root:
        return start, chain[start - 1] if start else b""
    return next((index for index, said in enumerate(messages) if said.role == "user"), 0), root


def open_turn(messages: Sequence[Message], chain: Sequence[bytes], root: bytes = b"") -> OpenTurn | None:
    """Returns the last turn if it ends with calls, else None. `root`: as for `archived`."""
    if not messages or not messages[-1].tool_calls:
        return None
    asked = [index for index, said in enumerate(messages) if said.role == "user"]
    start, parent = _begun(messages, chain, asked[-1] if len(asked) > 1 else 0, root)
    return OpenTurn(tuple(messages[start:]), parent)


def up_to_calls(messages: Sequence[Message], ids: Collection[str]) -> tuple[Message, ...]:
    """Returns the messages of a turn up to the last answer that made exactly the calls with these ids; () if none
    did."""
    for index in range(len(messages) - 1, -1, -1):
        made = [call.id for call in messages[index].tool_calls]
        if made and sorted(made) == sorted(ids):
            return tuple(messages[: index + 1])
    return ()
