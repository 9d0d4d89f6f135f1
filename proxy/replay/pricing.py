"""Simulates the provider's prefix cache, for the prompts that were sent and for those that might have been, by the same
rules.

A prefix cache finds the longest beginning that an earlier prompt had, within its time to live: the tools, then whole
messages, and of the first message that differs what both have in common.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field

from proxy.protocol.turns import INSTRUCTIONS
from proxy.types import Message

SLIDING_TURNS = 6  # of the plain sliding window that many clients have
MOST_LOOKED_AT = (
    8  # cached messages in the place of one that is not cached, newest first, whose beginnings are compared
)


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt as it is priced."""

    preface: bytes  # the JSON before the messages: tools, response format
    preface_tokens: int
    messages: Sequence[Message]


class Weights:
    """A cache of token counts: each message is counted once."""

    def __init__(self, message: Callable[[Message], int], count: Callable[[str], int]) -> None:
        self._message = message
        self._known: dict[bytes, int] = {}
        self.text = count

    def __call__(self, said: Message) -> int:
        """Counts the tokens of a message."""
        if (tokens := self._known.get(said.raw)) is None:
            tokens = self._known[said.raw] = self._message(said)
        return tokens

    def prompt(self, prompt: Prompt) -> int:
        """Counts the tokens of a whole prompt."""
        return prompt.preface_tokens + sum(map(self, prompt.messages))


@dataclass(slots=True)
class _Node:
    """A prefix that was sent: all messages from the root to here."""

    said: Message | None
    at: float
    next: OrderedDict[bytes, "_Node"] = field(default_factory=OrderedDict)  # least recently sent first


class PrefixCache:
    """The simulated cache of a provider: the prompts of each owner (its customer, at one model), for `ttl` seconds."""

    def __init__(self, weights: Weights) -> None:
        self._weights = weights
        self._roots: dict[tuple[Hashable, bytes], _Node] = {}

    def send(self, owner: Hashable, prompt: Prompt, at: float, ttl: float) -> int:
        """Adds a prompt; returns how many tokens of its beginning were cached before. `at`: unix seconds."""
        if ttl <= 0:
            return 0
        node = self._roots.get((owner, prompt.preface))
        is_held = node is not None and _is_alive(node, at, ttl)
        held = prompt.preface_tokens if is_held else 0
        if node is None:
            node = self._roots[owner, prompt.preface] = _Node(None, at)
        node.at = at
        for said in prompt.messages:
            found = node.next.get(said.raw)
            if is_held and found is not None and _is_alive(found, at, ttl):
                held += self._weights(said)
            elif is_held:
                is_held = False
                held += self._begun(node, said, at, ttl)
            if found is None:
                found = node.next[said.raw] = _Node(said, at)
            found.at = at
            node.next.move_to_end(said.raw)
            node = found
        return held

    def _begun(self, node: _Node, said: Message, at: float, ttl: float) -> int:
        """Counts the tokens that a message shares with a cached one that stood in its place."""
        latest = [child for _, child in zip(range(MOST_LOOKED_AT), reversed(node.next.values()), strict=False)]
        own = said.text
        longest = max(
            (
                common(own, child.said.text)
                for child in latest
                if child.said is not None and child.said.role == said.role and _is_alive(child, at, ttl)
            ),
            default=0,
        )
        return self._weights.text(own[:longest]) if longest else 0


def _is_alive(node: _Node, at: float, ttl: float) -> bool:
    return at - node.at <= ttl


def common(one: str, other: str) -> int:
    """The length of the common beginning of two texts, in characters."""
    shorter = min(len(one), len(other))
    if one[:shorter] == other[:shorter]:
        return shorter
    low, high = 0, shorter  # [:low] is equal, [:high] is not
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if one[low:middle] == other[low:middle] else (low, middle)
    return low


def sliding(messages: Sequence[Message], turns: int = SLIDING_TURNS) -> tuple[Message, ...]:
    """The instructions and the newest `turns` turns: the plain sliding window of many clients."""
    starts = [index for index, said in enumerate(messages) if said.role == "user"]
    start = starts[-turns] if len(starts) > turns else 0
    return tuple(said for index, said in enumerate(messages) if index >= start or said.role in INSTRUCTIONS)


def worst(costs: Iterable[tuple[float, float]]) -> float:
    """The highest ratio, at any request, of the cost so far to that of pass-through. `costs`: of pass-through and of
    ours, a pair a request."""
    full = ours = highest = 0.0
    for whole, sent in costs:
        full += whole
        ours += sent
        highest = max(highest, ours / full if full else 0.0)
    return highest
