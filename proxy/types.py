"""Everything that flows between modules. Frozen: a stage reads what it is given and returns something new.

Token counts are in the upstream's own tokens where it told us (`Usage`), else estimates by the o200k ranks,
calibrated per model. Durations are seconds, sizes bytes, prices US dollars per million tokens.
"""

import sys
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt

Json: TypeAlias = Any
Headers: TypeAlias = tuple[tuple[str, str], ...]  # lower-case names, in the order received
Vector: TypeAlias = npt.NDArray[np.float32]  # an embedding: one dimension, of length 1; or a matrix of them, a row each

Source = Literal["upstream", "exact", "intent"]
Mode = Literal["on", "meter", "off"]
PlanKind = Literal["untouched", "managed", "over-budget", "fail-open"]
SessionSource = Literal["header", "client", "prompt_cache_key", "metadata", "chain", "new"]
Continuity = Literal["new", "continued", "branched", "regenerated"]
Outcome = Literal["complete", "client_gone", "upstream_broken", "upstream_error", "our_error"]


# --- the request ------------------------------------------------------------------------------------------------


class Message(msgspec.Struct, frozen=True):
    """One element of `messages`: the client's own bytes, and what they say. A msgspec struct, since there are many to
    a request: it is made in a tenth of a frozen dataclass's time."""

    raw: bytes
    data: Mapping[str, Json]

    @property
    def role(self) -> str:
        role = self.data.get("role")
        return role if isinstance(role, str) else ""


@dataclass(frozen=True, slots=True)
class Turn:
    """A user message and everything up to the next one. Messages before the first user message form the preamble
    (`start == 0`, no user message). `units` are index ranges that must never be cut inside: an assistant message
    with `tool_calls` together with all its tool results, or a single message."""

    start: int  # index of the first message
    stop: int  # index after the last message
    units: tuple[tuple[int, int], ...]  # half-open index ranges that tile [start, stop)


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A `/v1/chat/completions` body, parsed once. `raw` is what the client sent, to the byte."""

    raw: bytes
    fields: Mapping[str, Json]  # every top-level field but `messages`, decoded
    messages: tuple[Message, ...]

    @property
    def model(self) -> str:
        return str(self.fields["model"])

    @property
    def stream(self) -> bool:
        return self.fields.get("stream") is True

    @property
    def wants_usage_chunk(self) -> bool:
        options = self.fields.get("stream_options")
        return isinstance(options, dict) and options.get("include_usage") is True


@dataclass(frozen=True, slots=True)
class Directives:
    """What the client asks of us, and not of the upstream: `x-olvido-*` and `Cache-Control`."""

    mode: Mode = "on"
    lookup: bool = True  # may this request be answered from memory?
    store: bool = True  # may its answer be remembered?
    opted_in: bool = False  # `x-olvido-cache: on|refresh`: reuse even if the request is not deterministic
    session: str | None = None
    user: str | None = None


@dataclass(frozen=True, slots=True)
class Incoming:
    """One HTTP request to the managed route, before anything is decided."""

    request_id: str
    headers: Headers
    body: bytes
    received_at: float  # time.time(): the clock of every decision about this request
    tenant: str = ""  # keyed hash of the client's API key, hex
    query: str = ""  # of the URL, without its question mark


# --- who asks, and in which conversation --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Scope:
    """The wall nothing crosses: every read and write of memory, cache, index and ledger is by scope."""

    tenant: str  # keyed hash of the API key, hex
    user: str = ""  # the end user that the client names, or ""

    @property
    def id(self) -> str:
        # The tenant has a fixed length, so no user name can make two scopes collide.
        return sys.intern(f"{self.tenant}/{self.user}")  # it is part of many keys that are kept


@dataclass(frozen=True, slots=True)
class Identity:
    """`chain[i]` identifies messages 0..i within the scope: equal links mean equal histories."""

    scope: Scope
    session: str
    session_source: SessionSource
    chain: tuple[bytes, ...]  # 16 bytes a link, one per message
    known: int = 0  # how many leading messages an earlier request of this session already had
    continuity: Continuity = "new"


# --- reuse ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Usage:
    """What the upstream says it counted and billed."""

    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int = 0  # the part of prompt_tokens that its prefix cache held
    reasoning_tokens: int = 0  # the part of completion_tokens that was thinking


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """A complete 2xx answer, as the `chat.completion` object that it was or would have been."""

    completion: bytes  # JSON
    created_at: float
    upstream: str
    model: str
    streamed: bool  # it came as SSE; `completion` was accumulated from it
    usage: Usage | None = None


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


# --- planning ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Plan:
    """What the upstream will get. `messages is None` means: what the client sent."""

    kind: PlanKind
    tokens_original: int
    tokens_sent: int
    rough: int = 0  # the sent prompt by the rough count: what the upstream's own is compared with
    reason: str = ""
    messages: tuple[Message, ...] | None = None


@dataclass(frozen=True, slots=True)
class Prompt:
    """A body ready to be sent. `strip_usage`: we asked for the usage chunk, the client did not."""

    body: bytes
    plan: Plan
    strip_usage: bool = False


# --- the answer ----------------------------------------------------------------------------------------------------


class StreamedBody(Protocol):
    """Iterated at most once; closed in any case."""

    def __aiter__(self) -> AsyncIterator[bytes]: ...
    async def aclose(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Answer:
    """What goes back to the client. A body that is an iterator is streamed with no buffering."""

    status: int
    headers: Headers
    body: bytes | StreamedBody
    source: Source = "upstream"


@dataclass(frozen=True, slots=True)
class Delivery:
    """What became of a forwarded request, known once the last byte has passed or the stream has broken."""

    outcome: Outcome
    status: int
    upstream: str
    model: str  # as the upstream names it in its answer, else as asked for
    streamed: bool
    usage: Usage | None = None
    completion: Mapping[str, Json] | None = None  # the whole `chat.completion`, None unless complete
    raw_completion: bytes | None = None  # the upstream's own bytes of it, when it was not streamed
    partial: Mapping[str, Json] | None = None  # of a stream that is not complete: as far as it came
    retries: int = 0
    upstream_seconds: float = 0.0  # from sending to the last byte
    first_byte_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Passage:
    """All that was decided about a request on its way to the upstream: what `record` needs once it is answered."""

    incoming: Incoming
    request: ChatRequest
    identity: Identity
    directives: Directives
    miss: ReuseMiss
    plan: Plan
    upstream: str  # that shall answer; a fallback may
    started: float  # perf_counter


# --- the ledger ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens."""

    input: float = 0.0
    cached: float = 0.0  # prompt tokens that the provider's prefix cache held
    write: float = 0.0  # prompt tokens written to it
    output: float = 0.0


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """One row a request. No contents, no keys."""

    request_id: str
    at: float  # unix seconds
    scope: str
    session: str
    model: str
    upstream: str
    source: Source
    status: int
    outcome: Outcome
    stream: bool
    plan: PlanKind
    plan_reason: str
    reuse_reason: str  # of exact reuse: hit, or why not
    tokens_original: int  # prompt as the client sent it
    tokens_sent: int  # prompt as it went upstream; 0 when reused
    tokens_cached: int
    tokens_billed: int  # prompt tokens the upstream charged for
    tokens_completion: int
    measured: bool  # the four above come from the upstream's usage, not from our estimate
    cost: float  # US dollars
    cost_saved: float  # against plain pass-through; reuse only so far
    total_seconds: float
    upstream_seconds: float
    retries: int = 0
    intent_reason: str = ""  # of reuse by intent: hit, why not, or "" if none was looked for
    stage_seconds: Mapping[str, float] = field(default_factory=dict)
