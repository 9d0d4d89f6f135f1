"""Answers: of the upstream, to the client, stored; their reuse: questions, entries, hits and misses."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from proxy.types.request import ApiName, Headers, Json, Outcome, Source, Vector


@dataclass(frozen=True, slots=True)
class Usage:
    """The token counts that an upstream reports for an answer."""

    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int = 0  # the part of prompt_tokens that its prefix cache held
    reasoning_tokens: int = 0  # the part of completion_tokens that was thinking
    written_tokens: int | None = None  # the part of prompt_tokens that was written to it; None: not reported
    reports_none_cached: bool = False  # it reported cached tokens, and that they are 0
    written_for_an_hour: int = 0  # the part of written_tokens that stays for an hour


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """A complete 2xx answer as a `chat.completion` object, also if it was streamed."""

    completion: bytes  # JSON
    created_at: float
    upstream: str
    model: str
    streamed: bool  # it came as SSE; `completion` was accumulated from it
    usage: Usage | None = None


class StreamedBody(Protocol):
    """The bytes of an answer as they arrive. It is iterated at most once, and must be closed in any case."""

    def __aiter__(self) -> AsyncIterator[bytes]: ...
    async def aclose(self) -> None:
        """Ends the stream and frees its connection."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An HTTP answer to the client. A body that is an iterator is streamed without buffering."""

    status: int
    headers: Headers
    body: bytes | StreamedBody
    source: Source = "upstream"
    api: ApiName = "chat"  # the API whose form the body has
    is_unstored: bool = False  # its provider keeps nothing of it, where the client thinks it does (Responses)


@dataclass(frozen=True, slots=True)
class Round:
    """One call of an upstream, of an answer that took several."""

    upstream: str
    usage: Usage | None  # None: not reported


@dataclass(frozen=True, slots=True)
class Delivery:
    """The outcome of a forwarded request, known once the last byte has passed or the stream has broken."""

    outcome: Outcome
    status: int
    upstream: str
    model: str  # as the upstream names it in its answer, else as asked for
    streamed: bool
    usage: Usage | None = None  # of all rounds
    completion: Mapping[str, Json] | None = None  # the whole `chat.completion`, None unless complete
    raw_completion: bytes | None = None  # the upstream's own bytes of it, if it was not streamed
    partial: Mapping[str, Json] | None = None  # the received part of a stream that broke
    retries: int = 0  # attempts after the first
    upstream_seconds: float = 0.0  # from sending to the last byte
    first_byte_seconds: float = 0.0
    rounds: tuple[Round, ...] = ()  # in their order, of an answer that took several; (): it took one


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that reuse by intent may answer, and the entry that its own answer would become."""

    entry_id: str  # of the entry that it will be
    partition: str
    language: Literal["es", "en"]
    question: str  # the newest user message, as asked
    context: tuple[str, ...]  # the user messages before it, oldest first
    follows_reuse: bool = False  # the answer right before it came from memory by intent
    vector: Vector | None = None  # of the question, if it was needed already


@dataclass(frozen=True, slots=True)
class ReuseMiss:
    """The miss of a request that goes upstream. `key` is set if its answer may be stored for exact reuse, `asked` if it
    may be for reuse by intent."""

    reason: str  # of the miss by exact reuse; a bounded set: metrics label
    key: str | None = None
    intent: str = ""  # reason of the miss by intent; "" without a look-up
    asked: Asked | None = None
    lead: int | None = None  # number of the flight that it leads; None: it leads none
    doubt: "Candidate | None" = None  # near entry that the comparison refused, about which the judge may be asked


@dataclass(frozen=True, slots=True)
class ReuseHit:
    """The hit of a request that is answered without the upstream."""

    source: Literal["exact", "intent"]
    key: str  # of the answer
    answer: StoredAnswer
    missed: str = ""  # by intent: reason of the miss by exact reuse
    entry_id: str = ""  # by intent: the entry
    cosine: float = 0.0  # by intent: of the two questions


@dataclass(frozen=True, slots=True)
class Judgement:
    """The judge's ruling on a question and an entry, of the entry as it was then: after a strike, or with a newer
    answer, it says nothing any more."""

    asked_id: str  # the id that the question has, or would have, as an entry
    same: bool  # the answer is right for both
    model: str  # that judged
    created_at: float  # of the entry
    strikes: int  # of the entry


@dataclass(frozen=True, slots=True)
class ReuseEntry:
    """An answered question, whose answer the same question in other words may get. `id` is a hash of scope, partition,
    question and context: asked again, it is the same entry."""

    id: str  # "r-" and 16 hex digits
    partition: str  # 32 hex digits: scope, model, system prompt, language, embedder, … in which it may be reused
    question: str  # the newest user message, as it was asked
    context: tuple[str, ...]  # the user messages before it, oldest first
    answer_key: str  # of the answer in AnswerCache
    created_at: float
    expires_at: float
    min_cosine: float = 0.0  # that a question must have to get this answer; above 0 after a report
    strikes: int = 0  # reports that it was wrong
    served: int = 0  # how often it was reused
    evicted_at: float = 0.0  # not reused if it was created by then
    judged: tuple[Judgement, ...] = ()

    @property
    def is_evicted(self) -> bool:
        """True if it has not been created anew since its eviction."""
        return self.created_at <= self.evicted_at

    def is_alive(self, now: float) -> bool:
        """Returns True if it may be reused at `now`."""
        return not self.is_evicted and now < self.expires_at

    def judgement(self, asked_id: str) -> Judgement | None:
        """Returns the ruling on this question, if it is one on the entry as it is."""
        return next((each for each in self.judged if each.asked_id == asked_id and self.is_about_this(each)), None)

    def is_about_this(self, judgement: Judgement) -> bool:
        """Returns True for a ruling on this answer with these strikes."""
        return (judgement.created_at, judgement.strikes) == (self.created_at, self.strikes)


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
    """A line of the reuse log: the result of a look-up that had a candidate."""

    request_id: str
    at: float
    result: str  # "hit", or the reason of the miss
    entry_id: str
    cosine: float
    question: str  # that was asked now
    earlier_question: str
    guards: str = ""  # the findings of the guards
