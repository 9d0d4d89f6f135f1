"""What conversations cost through the proxy, against plain pass-through and a sliding window: every conversation is
had turn by turn, and each prompt is priced with a prefix cache that forgets nothing (r: what a token in it costs)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from proxy.types import Message
from tests.bench.context_data import Conversation
from tests.bench.context_replay import (
    Bench,
    Provider,
    Received,
    bench,
    common,
    original,
    plain_tokens,
    tokens_of,
)

SLIDING_TURNS = 6
COLD = 1.0


@dataclass(frozen=True, slots=True)
class Step:
    """One request: tokens, and their price in uncached tokens, of the whole history, a sliding window, and ours."""

    full: int
    full_cost: float
    sliding: int
    sliding_cost: float
    ours: int
    ours_cost: float
    plan: str
    folded: bool  # something of the history is not in the prompt
    recalled: bool


@dataclass(frozen=True, slots=True)
class Course:
    conversation: str
    source: str
    ratio: float  # r
    steps: tuple[Step, ...]

    @property
    def whole(self) -> float:
        return sum(step.ours_cost for step in self.steps) / sum(step.full_cost for step in self.steps)

    @property
    def sliding(self) -> float:
        return sum(step.sliding_cost for step in self.steps) / sum(step.full_cost for step in self.steps)

    @property
    def worst(self) -> float:
        """The highest ratio of what was paid so far, at any point on the way."""
        ours = full = worst = 0.0
        for step in self.steps:
            ours += step.ours_cost
            full += step.full_cost
            worst = max(worst, ours / full)
        return worst

    def beyond(self, tokens: int) -> float | None:
        """The ratio where the full history is longer than that; None if it never is."""
        late = [step for step in self.steps if step.full > tokens]
        return sum(step.ours_cost for step in late) / sum(step.full_cost for step in late) if late else None

    @property
    def slope(self) -> float:
        """Tokens that a prompt of ours grows by a request after the 20th, by least squares."""
        late = [step.ours for step in self.steps[20:]]
        if len(late) < 3:
            return 0.0
        middle = (len(late) - 1) / 2
        mean = sum(late) / len(late)
        above = sum((at - middle) * (tokens - mean) for at, tokens in enumerate(late))
        return above / sum((at - middle) ** 2 for at in range(len(late)))


class Beginnings:
    """All prompts so far, message by message: a cache of blocks finds whatever any of them began with."""

    def __init__(self) -> None:
        self._after: dict[bytes, _Message] = {}  # by tools

    def admit(self, prompt: Received) -> int:
        """Adds a prompt; returns how many tokens of its beginning were there: whole messages, and of the first that is
        new what it has in common with another in its place."""
        is_new = prompt.tools not in self._after
        at = self._after.setdefault(prompt.tools, _Message())
        found = 0 if is_new else plain_tokens(prompt.tools)
        for said in prompt.messages:
            there = at.after.get(said.raw)
            if there is None:
                if not is_new:
                    found += max((common(said, each.said) for each in at.after.values() if each.said), default=0)
                is_new = True
                there = at.after[said.raw] = _Message(said)
            elif not is_new:
                found += tokens_of(said.raw)
            at = there
        return found


@dataclass(slots=True)
class _Message:
    said: Message | None = None
    after: dict[bytes, "_Message"] = field(default_factory=dict)


class Till:
    """What prompts cost that are sent one after another, with a prefix cache of this provider that forgets nothing."""

    def __init__(self, of: Provider) -> None:
        self._of = of
        self._begun = Beginnings()
        self._ends: set[tuple[bytes, ...]] = set()
        self.found = 0  # tokens of the last prompt that the cache held

    def priced(self, prompt: Received) -> tuple[int, float]:
        """Tokens, and their price in uncached ones."""
        tokens, held = prompt.tokens, self._held(prompt)
        self.found = held if tokens >= self._of.minimum else 0
        if tokens < self._of.minimum:
            return tokens, float(tokens)
        self._ends.add(tuple(said.raw for said in prompt.messages))
        return tokens, self._of.write * (tokens - held) + self._of.ratio * held

    def _held(self, prompt: Received) -> int:
        if self._of.ratio == COLD:
            return 0
        if not self._of.breakpoints:
            found = self._begun.admit(prompt)
            return found - found % self._of.block
        raw = tuple(said.raw for said in prompt.messages)
        end = next((end for end in range(len(raw), 0, -1) if raw[:end] in self._ends), 0)
        return Received(prompt.messages[:end], prompt.tools).tokens if end else 0


def courses(conversations: Iterable[Conversation], of: Provider, **sections: Any) -> list[Course]:
    with bench(of, **sections) as running:
        return [course(running, conversation, of) for conversation in conversations]


def course(running: Bench, conversation: Conversation, of: Provider) -> Course:
    """The conversation, told turn by turn by a client that sends its whole history every time."""
    steps = []
    whole, window, mine = Till(of), Till(of), Till(of)
    for messages, reply in conversation.requests():
        got = running.ask(conversation.name, messages, reply=reply, tools=conversation.tools)
        full, full_cost = whole.priced(original(conversation, messages))
        slid, slid_cost = window.priced(original(conversation, sliding(messages)))
        ours, ours_cost = mine.priced(got)
        steps.append(
            Step(
                full,
                full_cost,
                slid,
                slid_cost,
                ours,
                ours_cost,
                got.plan,
                len(got.messages) < len(messages),
                "<recalled>" in got.text,
            )
        )
    return Course(conversation.name, conversation.source, of.ratio, tuple(steps))


def sliding(messages: Sequence[dict[str, object]]) -> list[dict[str, object]]:
    """Instructions and the newest turns: what many clients do."""
    starts = [index for index, said in enumerate(messages) if said["role"] == "user"]
    start = starts[-SLIDING_TURNS] if len(starts) >= SLIDING_TURNS else 0
    return [said for index, said in enumerate(messages) if index >= start or said["role"] == "system"]
