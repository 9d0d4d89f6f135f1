"""Conversations of the evaluation data in an index each, and the prompt that recall would make of a question: the
newest turns, what is recalled, the question.

Vectors are by the embedding model in use, computed once and kept in build/recall-vectors.npz.
"""

import asyncio
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

import numpy as np

from proxy.embedding.engines import LocalEngine
from proxy.memory.recall import WEIGHTS, Query, Weights, rank
from proxy.memory.selecting import Need, need, select
from proxy.memory.turn_index import TurnIndex
from proxy.tokens import PER_MESSAGE, load_tokenizer
from proxy.types import ArchivedTurn, Utterance, Vector
from tests.bench.context_data import Conversation, Question

KEPT = Path("build/recall-vectors.npz")
EXPORTS = (Path.home() / ".cache" / "olvido" / "embedding",)
BATCH = 16
BLOCK = 30  # tokens of what stands around all excerpts
WINDOW_SHARE, WINDOW_MOST = 0.3, 1_200

Method = Literal["window", "words", "fused", "gated"]


@dataclass(frozen=True, slots=True)
class Case:
    conversation: Conversation
    index: TurnIndex
    links: tuple[bytes, ...]
    starts: tuple[int, ...]  # first message of every turn
    tokens: tuple[int, ...]  # of every message


@dataclass(frozen=True, slots=True)
class Prompt:
    texts: tuple[str, ...]  # whole messages, and excerpts
    recalled: int  # tokens
    need: Need | None = None

    def evidence(self, asked: Question) -> float:
        """The share of what the answer needs that is there."""
        if asked.evidence:
            whole = frozenset(self.texts)
            return float(np.mean([text in whole for text in asked.evidence]))
        said = "\n".join(self.texts).casefold()
        return float(np.mean([answer.casefold() in said for answer in asked.answers]))


@cache
def counted(text: str) -> int:
    return len(_tokenizer().encode_ordinary(text))


_tokenizer = cache(load_tokenizer)


def turns(conversation: Conversation, number: int | None = None) -> list[ArchivedTurn]:
    """The turns of the first `number` messages (default: all), what tools said left out."""
    found: list[list[Utterance]] = []
    for at, said in enumerate(conversation.messages[:number]):
        if said["role"] == "user" or not found:
            found.append([])
        if said["role"] in ("user", "assistant") and isinstance(said.get("content"), str):
            found[-1].append(Utterance(said["role"], said["content"], link(at)))
    return [
        ArchivedTurn(said[-1].link, b"", conversation.name, at, 0.0, b"", tuple(said))
        for at, said in enumerate(found, 1)
        if said
    ]


def link(at: int) -> bytes:
    return at.to_bytes(16, "big")


def case(conversation: Conversation, vectors: "Vectors | None", number: int | None = None) -> Case:
    """`vectors`: None if none is in the index yet."""
    index = TurnIndex()
    for turn in turns(conversation, number):
        index.add(turn, None if vectors is None else vectors.of(index.texts(turn)))
    messages = conversation.messages[:number]
    return Case(
        conversation,
        index,
        tuple(map(link, range(len(messages)))),
        tuple(at for at, said in enumerate(messages) if said["role"] == "user"),
        tuple(counted(str(said.get("content") or "")) for said in messages),
    )


def window(of: Case, limit: float, most_turns: int) -> tuple[int, int]:
    """The first message of the newest turns within `limit` tokens, and what they take."""
    first, used = len(of.links), 0
    for start in of.starts[: -most_turns - 1 : -1]:
        tokens = sum(of.tokens[start:first]) + PER_MESSAGE * (first - start)
        if used + tokens > limit:
            break
        first, used = start, used + tokens
    return first, used


def prompt(
    of: Case,
    asked: Question,
    vectors: "Vectors",
    method: Method,
    *,
    budget: int,
    limit: float | None = None,
    weights: Weights = WEIGHTS,
    window_turns: int = 2,
) -> Prompt:
    """`limit`: tokens of the window, by default 30 % of the budget and 1,200 at most. Without recall it is all there
    is."""
    room = budget - counted(asked.text) - PER_MESSAGE - BLOCK
    if method == "window":
        first, _ = window(of, room, len(of.starts))
        return Prompt(_said(of, first), 0)
    most = min(WINDOW_SHARE * budget, WINDOW_MOST) if limit is None else limit
    vector = None if method == "words" else vectors.of([asked.text])[0]
    needed = None
    if method == "gated":  # the gate sees the whole window
        first, used = window(of, most, 6)
        query = Query(asked.text, vector, of.links, frozenset(of.links[first:]))
        ranking = rank(of.index, query, weights)
        needed = need(of.index, query, ranking)
    if needed is None or needed.kind == "past":
        first, used = window(of, most, window_turns)
        query = Query(asked.text, vector, of.links, frozenset(of.links[first:]))
        ranking = rank(of.index, query, weights)
    share = 1.0 if needed is None else needed.share
    excerpts = select(
        of.index,
        ranking,
        query,
        budget_tokens=int(share * (room - used)),
        count=counted,
        weights=weights,
    )
    recalled = sum(excerpt.tokens for excerpt in excerpts)
    if used + recalled > room:
        raise AssertionError(f"{used + recalled} tokens in a room of {room}")
    return Prompt((*_said(of, first), *(excerpt.text for excerpt in excerpts)), recalled, needed)


def _said(of: Case, first: int) -> tuple[str, ...]:
    return tuple(str(said.get("content") or "") for said in of.conversation.messages[first:])


class Vectors:
    """Of texts, by their hash."""

    def __init__(self, known: dict[str, Vector]) -> None:
        self._known = known

    @classmethod
    def open(cls, texts: Iterable[str]) -> "Vectors":
        """With a vector for each of `texts`; what is new takes 5 ms each."""
        known: dict[str, Vector] = {}
        if KEPT.exists():
            with np.load(KEPT) as kept:
                known = dict(zip(kept["keys"].tolist(), kept["rows"].astype(np.float32), strict=True))
        new = sorted({text for text in texts if _key(text) not in known}, key=len)
        if new:
            known |= dict(zip(map(_key, new), asyncio.run(_embedded(new)), strict=True))
            KEPT.parent.mkdir(exist_ok=True)
            np.savez(KEPT, keys=np.array(list(known)), rows=np.array(list(known.values()), dtype=np.float16))
        return cls(known)

    def of(self, texts: Sequence[str]) -> Vector:
        rows = [self._known[_key(text)] for text in texts]
        return np.array(rows, dtype=np.float32).reshape(len(rows), -1)


def wanted(conversations: Iterable[Conversation]) -> set[str]:
    """The texts that need a vector: what is indexed, and what is asked."""
    empty = TurnIndex()
    found: set[str] = set()
    for conversation in conversations:
        found.update(asked.text for asked in conversation.questions)
        for turn in turns(conversation):
            found.update(empty.texts(turn))
            found.update(said.text for said in turn.utterances if said.role == "user")
    return found


def _key(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


async def _embedded(texts: Sequence[str]) -> list[Vector]:
    engine = LocalEngine("builtin", EXPORTS)
    await engine.open()
    try:
        batches = [await engine.vectors(texts[at : at + BATCH]) for at in range(0, len(texts), BATCH)]
    finally:
        await engine.close()
    return [row for batch in batches for row in batch]
