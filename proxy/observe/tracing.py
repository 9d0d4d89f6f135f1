"""Traces: the spans of a request, its stages and its calls to upstreams, by the conventions of OpenTelemetry for
generative AI (https://github.com/open-telemetry/semantic-conventions-genai, November 2026). Contents are never told.

A span is noted when it has ended, as a few numbers, and all of a request's are handed on at once when it is recorded:
`otlp.py` sends them, in a thread. A request that is not in the sample has a name for log lines, and no spans; without
`observe.tracing` there is not even that.
"""

from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from random import getrandbits
from re import compile as pattern
from time import perf_counter, time_ns
from typing import Literal, TypeAlias
from urllib.parse import urlsplit

from proxy.observe.sampling import Sampler
from proxy.protocol import headers as wire_headers
from proxy.types import Delivery, Headers, LedgerRow, Usage

Value: TypeAlias = str | bool | int | float | Sequence[str]
Kind = Literal["internal", "server", "client"]

PARENT = "traceparent"
MOST_SPANS = 200  # of a request; a tool loop has a dozen for each round
LONGEST_MODEL = 200  # characters
_TRACEPARENT = pattern(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?")
# Names that the conventions have for providers, by our dialects, and in their style where they have none.
PROVIDERS: Mapping[str, str] = {
    "openai": "openai",
    "deepseek": "deepseek",
    "mistral": "mistral_ai",
    "kimi": "moonshot_ai",
    "vllm": "vllm",
}


@dataclass(slots=True)
class Span:
    """A span that has ended. Times are of `perf_counter`."""

    name: str
    id: int
    parent: int | None
    started: float
    ended: float
    kind: Kind = "internal"
    attributes: dict[str, Value] = field(default_factory=dict)
    error: str = ""  # class of the error that it ended with


@dataclass(frozen=True, slots=True)
class Finished:
    """The spans of a trace that have ended, to be sent."""

    trace: int
    spans: Sequence[Span]
    clock: int  # nanoseconds since 1970 of perf_counter's 0


@dataclass(frozen=True, slots=True)
class Parent:
    """The span of whoever has called us."""

    trace: int
    span: int
    is_sampled: bool


def parent_in(headers: Headers) -> Parent | None:
    """Returns the caller's span by its `traceparent` header (https://www.w3.org/TR/trace-context/); None if there is
    none, or it cannot be read."""
    found = _TRACEPARENT.fullmatch((wire_headers.get(headers, PARENT) or "").strip())
    if found is None or found[1] == "ff" or (found[1] == "00" and len(found[0]) != 55):
        return None
    trace, span = int(found[2], 16), int(found[3], 16)
    return Parent(trace, span, is_sampled=bool(int(found[4], 16) & 1)) if trace and span else None


def with_parent(headers: Sequence[tuple[str, str]], parent: str) -> list[tuple[str, str]]:
    """Returns the headers with this `traceparent`, in place of another one."""
    return [(PARENT, parent), *(each for each in headers if each[0] != PARENT)]


class Trace:
    """The trace of one request. It is handed on when nobody holds it any more: the request has been answered, and
    recorded. What ends after that is handed on by itself."""

    __slots__ = ("_calls", "_holds", "_put", "_request_id", "_spans", "clock", "id", "is_sampled", "root")

    def __init__(
        self, parent: Parent | None, sampler: Sampler, put: Callable[[Finished], None], request_id: str
    ) -> None:
        if parent is None:
            self.id = getrandbits(128) or 1
            self.is_sampled = sampler.begun_here(self.id)
        else:
            self.id = parent.trace
            self.is_sampled = sampler.handed_on(is_sampled=parent.is_sampled)
        now = perf_counter()
        self.root = Span("", getrandbits(64) or 1, None if parent is None else parent.span, now, now, "server")
        self.clock = 0
        self._put = put
        self._request_id = request_id
        self._spans: list[Span] = []
        self._calls: list[Call] = []  # that are not accounted for
        self._holds = 1
        if self.is_sampled:
            self.clock = time_ns() - round(now * 1e9)

    @property
    def parent(self) -> str:
        """The `traceparent` for whom the request is passed on to."""
        return f"00-{self.id:032x}-{self.root.id:016x}-01"

    # --- what is noted ---

    def stage(self, name: str, started: float, ended: float, error: str | None) -> None:
        """Notes a stage of ours. `error`: reason for which it failed; None: it did not."""
        self._add(Span(name, getrandbits(64) or 1, self.root.id, started, ended, error=error or ""))

    def tool(self, name: str, started: float, ended: float, error: str | None) -> None:
        """Notes a tool that was run here, at the model's call."""
        told: dict[str, Value] = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name}
        told["gen_ai.tool.type"] = "function"
        span = Span(f"execute_tool {name}", getrandbits(64) or 1, self.root.id, started, ended, "internal", told)
        span.error = error or ""
        self._add(span)

    def call(self, upstream: str, dialect: str, base_url: str, model: str, *, streamed: bool, resent: int) -> "Call":
        """Begins a call to an upstream. `resent`: attempts before it."""
        made = Call(self, upstream, dialect, base_url, model[:LONGEST_MODEL], streamed=streamed, resent=resent)
        self._calls.append(made)
        return made

    def accounted(self, row: LedgerRow, delivery: Delivery | None) -> None:
        """Notes what the ledger says of the request, and what its upstreams have told of their answers."""
        if row.request_id == self._request_id:
            _tell_request(self.root.attributes, row)
            if row.outcome not in ("complete", "upstream_error"):
                self.root.error = row.outcome
        if delivery is None:
            return
        answered = [call for call in self._calls if call.is_answer]
        if delivery.rounds:
            for call, told in zip(answered, delivery.rounds, strict=False):
                call.used(told.usage)
        elif answered:
            answered[-1].used(delivery.usage)
        if answered:
            answered[-1].said(delivery)
        self._calls.clear()

    # --- its end ---

    def hold(self) -> None:
        """Keeps it until `release`."""
        self._holds += 1

    def release(self) -> None:
        """Hands it on, if this was the last to hold it."""
        self._holds -= 1
        if not self._holds and self.is_sampled:
            self._put(Finished(self.id, self._spans, self.clock))
            self._spans = []

    def end(self, name: str, attributes: Mapping[str, Value], status: int, error: str = "") -> None:
        """Ends the request. `status`: of its answer; 0: none was sent."""
        root = self.root
        root.name, root.ended = name, perf_counter()
        root.attributes.update(attributes)
        if status:
            root.attributes["http.response.status_code"] = status
        root.error = error or root.error or (str(status) if status >= 500 else "")
        self._add(root)
        self.release()

    def ended(self, span: Span) -> None:
        """Notes a span that has ended."""
        self._add(span)

    def _add(self, span: Span) -> None:
        if not self.is_sampled:
            return
        if not self._holds:
            self._put(Finished(self.id, (span,), self.clock))
        elif len(self._spans) < MOST_SPANS or span is self.root:
            self._spans.append(span)


class Call:
    """A call to an upstream, of one attempt: from its sending to the last byte of its answer."""

    __slots__ = ("_span", "_trace", "is_answer")

    def __init__(
        self, trace: Trace, upstream: str, dialect: str, base_url: str, model: str, *, streamed: bool, resent: int
    ) -> None:
        now = perf_counter()
        url = urlsplit(base_url)
        told: dict[str, Value] = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": PROVIDERS.get(dialect, upstream),
            "gen_ai.request.model": model,
            "http.request.method": "POST",
            "olvido.upstream": upstream,
            "server.address": url.hostname or "",
            "server.port": url.port or (80 if url.scheme == "http" else 443),
        }
        if streamed:
            told["gen_ai.request.stream"] = True
        if resent:
            told["http.request.resend_count"] = resent
        self._span = Span(f"chat {model}", getrandbits(64) or 1, trace.root.id, now, now, "client", told)
        self._trace = trace
        self.is_answer = False  # it is the answer that goes to the client, and no failure before it

    @property
    def parent(self) -> str:
        """The `traceparent` for the upstream."""
        return f"00-{self._trace.id:032x}-{self._span.id:016x}-01"

    def failed(self, error: str, status: int = 0) -> None:
        """Ends it without an answer that goes on to the client."""
        if status:
            self._span.attributes["http.response.status_code"] = status
        self._span.error = error
        self._end()

    def answered(self, delivery: Delivery) -> None:
        """Ends it with its answer, or as much as has come of it."""
        span = self._span
        span.attributes["http.response.status_code"] = delivery.status
        if delivery.streamed:
            span.attributes["gen_ai.response.time_to_first_chunk"] = delivery.first_byte_seconds
        if delivery.outcome != "complete":
            span.error = str(delivery.status) if delivery.status >= 400 else delivery.outcome
        self.is_answer = True
        self._end()

    def used(self, usage: Usage | None) -> None:
        """Notes the usage that the upstream has told."""
        if usage is None:
            return
        told = self._span.attributes
        told["gen_ai.usage.input_tokens"] = usage.prompt_tokens
        told["gen_ai.usage.output_tokens"] = usage.completion_tokens
        if usage.cached_tokens:
            told["gen_ai.usage.cache_read.input_tokens"] = usage.cached_tokens
        if usage.written_tokens:
            told["gen_ai.usage.cache_creation.input_tokens"] = usage.written_tokens
        if usage.reasoning_tokens:
            told["gen_ai.usage.reasoning.output_tokens"] = usage.reasoning_tokens

    def said(self, delivery: Delivery) -> None:
        """Notes what the answer says of itself, never its text."""
        told, completion = self._span.attributes, delivery.completion or delivery.partial or {}
        told["gen_ai.response.model"] = delivery.model[:LONGEST_MODEL]
        if isinstance(name := completion.get("id"), str) and name:
            told["gen_ai.response.id"] = name[:LONGEST_MODEL]
        choices = completion.get("choices")
        reasons = [each.get("finish_reason") for each in choices] if isinstance(choices, list) else []
        if known := [each[:64] for each in reasons if isinstance(each, str)]:
            told["gen_ai.response.finish_reasons"] = known

    def _end(self) -> None:
        self._span.ended = perf_counter()
        self._trace.ended(self._span)


def _tell_request(told: dict[str, Value], row: LedgerRow) -> None:
    told["gen_ai.operation.name"] = "chat"
    told["gen_ai.request.model"] = row.model[:LONGEST_MODEL]
    told["gen_ai.conversation.id"] = row.session
    told["olvido.source"] = row.source
    told["olvido.plan"] = row.plan
    told["olvido.tokens.original"] = row.tokens_original
    told["olvido.tokens.sent"] = row.tokens_sent
    told["olvido.cost.dollars"] = row.cost
    told["olvido.saved.dollars"] = row.cost_saved


@dataclass(frozen=True, slots=True)
class Tracing:
    """The beginnings of traces. `put` takes what is to be sent; it neither waits nor raises."""

    sampler: Sampler
    put: Callable[[Finished], None]
    close: Callable[[], None] = lambda: None  # sends what is left; it may wait

    def begin(self, headers: Headers, request_id: str) -> Trace:
        """Begins the trace of a request."""
        return Trace(parent_in(headers), self.sampler, self.put, request_id)


# The trace of the request that is being answered, for log lines and for what is done on its behalf.
CURRENT: ContextVar[Trace | None] = ContextVar("olvido.trace", default=None)


def current() -> Trace | None:
    """Returns the trace of this request; None if it is not in the sample, or nothing is traced."""
    trace = CURRENT.get()
    return trace if trace is not None and trace.is_sampled else None
