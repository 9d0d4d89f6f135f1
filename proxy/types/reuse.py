"""Answers from memory: what may be reused, and what became of looking for it."""

from dataclasses import dataclass
from typing import Literal

from proxy.types.answer import StoredAnswer
from proxy.types.base import Vector


@dataclass(frozen=True, slots=True)
class Asked:
    """A question whose answer may be given to the same question in other words, and under what it would be kept."""

    entry_id: str  # of the entry that it will be
    partition: str
    language: Literal["es", "en"]
    question: str  # the newest user message, as asked
    context: tuple[str, ...]  # the user messages before it, oldest first
    follows_reuse: bool = False  # the answer right before it came from memory by intent
    vector: Vector | None = None  # of the question, if it was needed already


@dataclass(frozen=True, slots=True)
class ReuseMiss:
    """Why this request goes to the upstream. `key` is set when its answer may be stored for the next identical one,
    `asked` when it may be for the same question in other words."""

    reason: str  # why there is no identical one; a bounded set: metrics label
    key: str | None = None
    intent: str = ""  # why there is none by intent; "" if none was looked for
    asked: Asked | None = None
    lead: int | None = None  # others wait for its answer, under this number


@dataclass(frozen=True, slots=True)
class ReuseHit:
    source: Literal["exact", "intent"]
    key: str  # of the answer
    answer: StoredAnswer
    missed: str = ""  # by intent: why there was no identical one
    entry_id: str = ""  # by intent: whose answer
    cosine: float = 0.0  # by intent: how near its question


@dataclass(frozen=True, slots=True)
class ReuseEntry:
    """A question that was answered, for whoever asks the same in other words. `id` is a hash of scope, partition,
    question and context: asked again, it is the same entry."""

    id: str  # "r-" and 16 hex digits
    partition: str  # 32 hex digits: scope, model, system prompt, language, embedder, … in which it may be reused
    question: str  # the newest user message, as it was asked
    context: tuple[str, ...]  # the user messages before it, oldest first
    answer_key: str  # of the answer in AnswerCache
    created_at: float
    expires_at: float
    min_cosine: float = 0.0  # what a question needs to get this answer; above 0 after a report
    strikes: int = 0  # reports that it was wrong
    served: int = 0  # how often it was reused
    evicted_at: float = 0.0  # what was created by then is not reused any more

    @property
    def is_evicted(self) -> bool:
        return self.created_at <= self.evicted_at

    def is_alive(self, now: float) -> bool:
        return not self.is_evicted and now < self.expires_at


@dataclass(frozen=True, slots=True)
class Served:
    """A reuse by intent: the entry whose answer was given."""

    entry: ReuseEntry
    cosine: float
    at: float


@dataclass(frozen=True, slots=True)
class Candidate:
    """An entry whose question is near enough to be looked at."""

    entry: ReuseEntry
    cosine: float


@dataclass(frozen=True, slots=True)
class ReuseDecision:
    """A line of the reuse log: what became of a lookup that had a candidate."""

    request_id: str
    at: float
    result: str  # "hit", or why not
    entry_id: str
    cosine: float
    question: str  # that was asked now
    earlier_question: str
    guards: str = ""  # what they saw
