"""Commands as whole messages (`memory.commands`): `/clear`, `/remember key: value`, `/forget key`, `/memory`.

A command is a user message that is nothing else. The system answers it, and no model ever sees it: a client that sends
its whole history sends the command and its answer again each time, so both are left out of every later request; behind
a `/clear` so is all that was said before it, but for the system's preamble. Which messages these are follows from the
messages alone: the command, and the answer at the place behind it. An answer that calls tools was a model's, to a
message that was sent on as text before commands were switched on: it stays, and so does what it answers.

Any other word behind a slash is the client's own, and a text like any other.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, cast

from proxy.conversation.blocks import without_ours
from proxy.conversation.turns import archived
from proxy.protocol.message import INSTRUCTIONS, unpacked
from proxy.types import ArchivedTurn, Identity, Message

Name = Literal["clear", "remember", "forget", "memory"]

LONGEST = 8_000  # characters of a command; what is longer was pasted
MOST_ADDED = 64 * 2**10  # characters with our own blocks: longer messages are not searched for them
LONGEST_KEY = 64  # characters
KEY_WORDS = 5
_COMMAND = re.compile(r"/(clear|remember|forget|memory)(?:\s+(\S.*))?", re.IGNORECASE | re.DOTALL)
_ALONE = ("clear", "memory")  # commands without words behind them
_KEY = re.compile(r"([^\s:](?:[^:\n]*[^\s:])?)\s*:(?!//)(\s*)(\S.*)", re.DOTALL)
_FIGURES = re.compile(r"[\d\W]+")


@dataclass(frozen=True, slots=True)
class Command:
    """A command, with the words behind it."""

    name: Name
    words: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """The commands of a request, and what remains of its messages."""

    kept: tuple[int, ...]  # indices of the messages that remain
    cleared: int | None  # index of the last message that a `/clear` and its answer take up; None: nothing was cleared
    command: Command | None  # the newest message, which is to be answered now, and none of those that remain
    is_answerable: bool  # the newest message remains: there is something to be sent on


def command_in(said: Message) -> Command | None:
    """Returns the command that a user message is; None if it is anything else, or more than that."""
    if said.role != "user" or "/" not in said.text or len(said.text) > MOST_ADDED:
        return None
    if said.is_plain:
        own = without_ours(said.text).strip()
    else:
        parts = [own for part in said.texts if (own := without_ours(part).strip())]
        own = parts[0] if len(parts) == 1 and said.has_only_text else ""
    if len(own) > LONGEST or (match := _COMMAND.fullmatch(own)) is None:
        return None
    name, words = cast(Name, match[1].lower()), (match[2] or "").strip()
    return None if words and name in _ALONE else Command(name, words)


def keyed(words: str) -> tuple[str, str]:
    """Splits the words of `/remember` into a key, as it was written, and the rest; the key is "" if there is none: "at
    10:30" and "https://…" have none."""
    match = _KEY.fullmatch(words)
    if match is None:
        return "", words
    key, space, rest = match.groups()
    is_name = len(key) <= LONGEST_KEY and len(key.split()) <= KEY_WORDS and _FIGURES.fullmatch(key) is None
    return (key, rest) if is_name and (space or len(key.split()) == 1) else ("", words)


def reading(messages: Sequence[Message]) -> Reading | None:
    """Returns the commands of a request; None if it has none."""
    last = len(messages) - 1
    found = {index: given for index, said in enumerate(messages) if (given := command_in(said)) is not None}
    if not found:
        return None
    preamble = next((index for index, said in enumerate(messages) if said.role not in INSTRUCTIONS), last)
    kept: list[int] = []
    cleared: int | None = None
    goes_on = True  # a user has said something since the conversation was cleared
    index = 0
    while index <= last:
        said, given = messages[index], found.get(index)
        answer = messages[index + 1] if index < last and messages[index + 1].role == "assistant" else None
        if given is not None and (answer is None or not answer.calls_tools):
            end = index if answer is None else index + 1
            if given.name == "clear" and index < last:
                kept, cleared, goes_on = list(range(preamble)), end, False
            index = end + 1
            continue
        goes_on = goes_on or said.role == "user"
        if goes_on or said.role in INSTRUCTIONS:  # results that come late belong to what was cleared
            kept.append(index)
        index += 1
    return Reading(tuple(kept), cleared, found.get(last), is_answerable=kept[-1:] == [last])


def without_commands(identity: Identity, read: Reading) -> Identity:
    """Returns the identity of the messages that remain: their links are those that they have among all."""
    chain = identity.chain
    return replace(
        identity,
        chain=tuple(chain[index] for index in read.kept),
        known=sum(index < identity.known for index in read.kept),
        root=b"" if read.cleared is None else chain[read.cleared],
    )


# --- the archive ------------------------------------------------------------------------------------------------------


def clearing(
    messages: Sequence[Message], identity: Identity, read: Reading, answer: Message, link: bytes, *, at: float
) -> ArchivedTurn:
    """Returns a `/clear` and its answer as a turn for the archive, where a client without a history of its own goes on
    from. It has no utterances: nobody finds it, or is told of it. `link`: of the answer."""
    rest = without_commands(identity, read)
    said = (*(messages[index] for index in read.kept), messages[-1], answer)
    chain, number = (*rest.chain, identity.chain[-1], link), sum(each.role == "user" for each in said)
    start = len(read.kept) if number > 1 else 0
    turn = archived(said, chain, start, len(said), number=number, session=identity.session, at=at, root=rest.root)
    return replace(turn, utterances=())


def is_clearing(turn: ArchivedTurn) -> bool:
    """Tells whether a turn of the archive is a `/clear`."""
    return not turn.utterances and any(
        given.name == "clear" for said in unpacked(turn.messages) if (given := command_in(said)) is not None
    )


def since_cleared(path: Sequence[ArchivedTurn]) -> list[ArchivedTurn]:
    """Returns the turns of a conversation after it was cleared last; all of them if it was not."""
    last = next((number for number in range(len(path), 0, -1) if is_clearing(path[number - 1])), 0)
    return list(path[last:])


def before_end(path: Sequence[ArchivedTurn]) -> list[ArchivedTurn]:
    """Returns the turns of a conversation that has ended, by a `/clear` or otherwise, since it was cleared before."""
    turns = list(path)
    while turns and is_clearing(turns[-1]):
        turns.pop()
    return since_cleared(turns)
