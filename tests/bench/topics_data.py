"""Conversations whose topic shifts and decisions are labelled, read from `OLVIDO_EVAL_DATA`."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import msgspec
import numpy as np

from proxy.config.profiles import Window
from proxy.conversation.topics import LOOKED_BACK, Topic, TurnTexts, continuity, domain, shift
from proxy.embedding.engines import LocalEngine
from proxy.embedding.exported import BUILTIN
from tests.bench.reuse_data import AUTHORED

FOLDER = AUTHORED / "conversations"
MODEL = Path.home() / ".cache" / "olvido" / "embedding"


class Spoken(msgspec.Struct, frozen=True):
    user: str
    assistant: str


class Labelled(msgspec.Struct, frozen=True):
    """`how`: explicit phrase, semantic or domain."""

    turn: int
    how: str


class Decision(msgspec.Struct, frozen=True):
    turn: int
    text: str


class Conversation(msgspec.Struct, frozen=True):
    id: str
    lang: Literal["es", "en"]
    turns: tuple[Spoken, ...]
    topic_shifts: tuple[Labelled, ...]
    decisions: tuple[Decision, ...]

    @property
    def shifts(self) -> dict[int, str]:
        return {label.turn: label.how for label in self.topic_shifts}

    def message(self, turn: int) -> str:
        return self.turns[turn - 1].user

    def before(self, turn: int) -> list[TurnTexts]:
        """The turns that turn number `turn` is compared with."""
        return [TurnTexts(each.user, each.assistant) for each in self.turns[max(0, turn - 1 - LOOKED_BACK) : turn - 1]]


def conversations() -> list[Conversation]:
    decoder = msgspec.json.Decoder(Conversation)
    return [decoder.decode(path.read_bytes()) for path in sorted(FOLDER.glob("*.json"))]


def cosines(told: Sequence[Conversation]) -> list[list[float]]:
    """Of each conversation, the cosine of every user message with the turn before; of the first it is 1."""
    return asyncio.run(_cosines(told))


async def _cosines(told: Sequence[Conversation]) -> list[list[float]]:
    engine = LocalEngine(BUILTIN, [MODEL])
    await engine.open()
    found = []
    for each in told:
        asked = np.asarray(await engine.vectors([turn.user for turn in each.turns]))
        turns = np.asarray(await engine.vectors([TurnTexts(turn.user, turn.assistant).text for turn in each.turns]))
        found.append([1.0, *np.sum(asked[1:] * turns[:-1], axis=1).tolist()])
    await engine.close()
    return found


def topic(message: str, before: Sequence[TurnTexts], *, since: int, cosine: float | None, numbers: Window) -> Topic:
    """The topic of a user message after the turns `before`, oldest first. `since`: complete turns since the last change
    of topic, that one included. `cosine`: of `message` and `before[-1].text`; None if one is missing."""
    near = None if cosine is None or not before else continuity(message, before, cosine)
    return Topic(near, shift(message, before, since=since, near=near, numbers=numbers), domain(message))
