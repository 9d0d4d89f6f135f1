"""Messages that a mark of the model may not touch: instructions, pins, the newest question, the newest step."""

from collections.abc import Collection, Sequence
from typing import Literal

from proxy.protocol.message import INSTRUCTIONS
from proxy.types import Message

Protection = Literal["system", "pinned", "newest"]


def newest_step(messages: Sequence[Message]) -> range:
    """Returns the indices of the newest step: from the last message that calls tools, if only results follow it; from
    the last message otherwise."""
    last = len(messages) - 1
    start = last
    while start > 0 and messages[start].role in ("tool", "function"):
        start -= 1
    is_step = start < last and messages[start].calls_tools
    return range(start if is_step else max(0, last), last + 1)


def protected(messages: Sequence[Message], chain: Sequence[bytes], pinned: Collection[bytes]) -> dict[int, Protection]:
    """Returns the indices of the messages that stay, with the reason. A call and its results stay together: one of them
    pinned pins all."""
    found: dict[int, Protection] = {}
    newest = next((at for at in reversed(range(len(messages))) if messages[at].role == "user"), None)
    for index in (*newest_step(messages), *(() if newest is None else (newest,))):
        found[index] = "newest"
    if pinned:
        for step in steps(messages, range(len(messages))):
            if any(chain[index] in pinned for index in step):
                found.update(dict.fromkeys(step, "pinned"))
    found.update({index: "system" for index, said in enumerate(messages) if said.role in INSTRUCTIONS})
    return found


def steps(messages: Sequence[Message], within: range) -> list[range]:
    """Splits messages into steps: a message that calls tools with the results behind it, or any other message. Results
    at the beginning of `within` belong to a step before it and are one of their own."""
    found: list[range] = []
    index = within.start
    while index < within.stop:
        end = index + 1
        if messages[index].calls_tools or messages[index].role in ("tool", "function"):
            while end < within.stop and messages[end].role in ("tool", "function"):
                end += 1
        found.append(range(index, end))
        index = end
    return found
