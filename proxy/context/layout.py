"""The prefix-stable layout of a managed prompt.

    [preamble: the client's bytes] [memory head + first kept user message] [window: the client's bytes]
    [volatile block + newest user message] [what follows it: the client's bytes]

Between folds nothing but the end changes, so the provider's prefix cache holds all before the newest user message.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from proxy.protocol.content import instruction, prefixed, suffixed
from proxy.protocol.turns import INSTRUCTIONS
from proxy.types import Message


@dataclass(frozen=True, slots=True)
class Layout:
    """What of a request's messages is sent, and what stands before it."""

    preamble: int  # messages before the first user message: always sent
    start: int  # index of the first kept user message
    newest: int  # index of the newest user message
    head: str = ""
    volatile: str = ""
    role: Literal["user", "system"] = "user"  # where the head stands
    instructions: tuple[int, ...] = ()  # system messages among those left out: they are sent all the same
    replaced: Mapping[int, Message] = field(default_factory=dict)  # shortened messages, by index

    def __post_init__(self) -> None:
        assert self.preamble <= self.start <= self.newest


def kept(messages: Sequence[Message], layout: Layout) -> tuple[int, ...]:
    """Indices of the messages that are sent. System messages among those left out go to the others at the beginning: an
    answer that stands there, a greeting, may not be followed by one everywhere."""
    system = 1 + max((at for at in range(layout.preamble) if messages[at].role in INSTRUCTIONS), default=-1)
    preamble = (*range(system), *layout.instructions, *range(system, layout.preamble))
    return (*preamble, *range(layout.start, len(messages)))


def lay_out(messages: Sequence[Message], layout: Layout) -> tuple[Message, ...]:
    """The messages that are sent: the client's bytes, but for those that carry a block or are replaced."""
    before = {layout.start: [layout.head] if layout.head and layout.role == "user" else []}
    before.setdefault(layout.newest, []).extend([layout.volatile] if layout.volatile else [])
    sent = []
    for index in kept(messages, layout):
        said = layout.replaced.get(index, messages[index])
        blocks = before.get(index)
        sent.append(prefixed(said, "\n".join(blocks)) if blocks else said)
    if layout.head and layout.role == "system":
        _into_instructions(sent, layout.head)
    return tuple(sent)


def _into_instructions(sent: list[Message], head: str) -> None:
    """At the end of the system message, or as one: never a second, never in mid-conversation."""
    if sent and sent[0].role in INSTRUCTIONS:
        sent[0] = suffixed(sent[0], head)
    else:
        sent.insert(0, instruction(head))
