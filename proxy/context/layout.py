"""The prefix-stable layout of a managed prompt.

    [preamble: the client's bytes] [memory head + first kept user message] [window: the client's bytes]
    [volatile block + newest user message] [what follows it: the client's bytes]

Between folds nothing but the end changes, so the provider's prefix cache holds all before the newest user message.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from proxy.protocol.message import instruction, prefixed, suffixed
from proxy.protocol.turns import INSTRUCTIONS
from proxy.types import Message


@dataclass(frozen=True, slots=True)
class Layout:
    """Indices of the messages that are sent, and the blocks that are added to them."""

    preamble: int  # messages before the first user message: always sent
    start: int  # index of the first kept user message
    newest: int  # index of the newest user message
    head: str = ""
    volatile: str = ""
    role: Literal["user", "system"] = "user"  # of the message that carries the head
    instructions: tuple[int, ...] = ()  # system messages among those left out: they are sent all the same
    replaced: Mapping[int, Message] = field(default_factory=dict)  # shortened messages, by index

    def __post_init__(self) -> None:
        assert self.preamble <= self.start <= self.newest


def kept(messages: Sequence[Message], layout: Layout) -> tuple[int, ...]:
    """Returns the indices of the messages that are sent. System messages from omitted turns move to the others at the
    beginning: not every upstream takes one behind an answer that stands there (a greeting)."""
    system = 1 + max((at for at in range(layout.preamble) if messages[at].role in INSTRUCTIONS), default=-1)
    preamble = (*range(system), *layout.instructions, *range(system, layout.preamble))
    return (*preamble, *range(layout.start, len(messages)))


def lay_out(messages: Sequence[Message], layout: Layout) -> tuple[Message, ...]:
    """Returns the messages that are sent: the client's bytes, except for those that carry a block or are replaced."""
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
    """Appends the head to the system message, or inserts it as the only one."""
    if sent and sent[0].role in INSTRUCTIONS:
        sent[0] = suffixed(sent[0], head)
    else:
        sent.insert(0, instruction(head))
