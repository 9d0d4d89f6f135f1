"""Every Prometheus metric, and the only code that touches one. Labels are bounded: what a client can choose freely
(a model's name) is one of a limited number of values, or `other`."""

from typing import Any, TypeVar

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from proxy.types import LedgerRow

_SECONDS = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0)
_UPSTREAM_SECONDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0)
_AGREEMENT = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)
_BATCH = (1, 2, 4, 8, 16, 32)
MOST_MODELS = 100

Metric = TypeVar("Metric", Counter, Gauge, Histogram)

disable_created_metrics()  # type: ignore[no-untyped-call]  # a time stamp for every series doubles their number
LONGEST_MODEL = 100  # characters


class Metrics:
    """One registry per server, so that several can live in one process (tests do)."""

    content_type = CONTENT_TYPE_LATEST

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        self._models: set[str] = set()
        self._children: dict[tuple[object, tuple[str, ...]], Any] = {}
        self.requests = Counter(
            "olvido_requests",
            "Requests to the managed route.",
            ["upstream", "model", "source", "outcome"],
            registry=registry,
        )
        self.tokens = Counter(
            "olvido_tokens",
            "Tokens. original: prompt as the client sent it; sent: prompt as it went upstream; cached: of these, held "
            "by the provider's prefix cache; billed: prompt tokens charged for; completion: generated upstream. "
            "measured says whether the upstream counted them or we estimated.",
            ["kind", "model", "measured"],
            registry=registry,
        )
        self.saved_tokens = Counter(
            "olvido_saved_tokens",
            "Prompt and completion tokens not billed, by what saved them.",
            ["mechanism", "model"],
            registry=registry,
        )
        self.cost = Counter(
            "olvido_cost_dollars",
            "What the upstream's prices make of the billed tokens.",
            ["upstream", "model"],
            registry=registry,
        )
        self.saved_cost = Counter(
            "olvido_saved_cost_dollars",
            "Against plain pass-through, by what saved it.",
            ["mechanism", "model"],
            registry=registry,
        )
        self.added_cost = Counter(
            "olvido_added_cost_dollars",
            "What requests cost beyond plain pass-through, by what made them dearer: a fold is paid in advance.",
            ["mechanism", "model"],
            registry=registry,
        )
        self.reuse = Counter(
            "olvido_reuse",
            "Look-ups of earlier answers: hit, or the reason why not.",
            ["kind", "result"],
            registry=registry,
        )
        self.reuse_reports = Counter(
            "olvido_reuse_reports",
            "Reused answers that were not the right one: reported as wrong, asked again in other words (rephrased) or "
            "to be generated anew.",
            ["kind"],
            registry=registry,
        )
        self.reuse_agreement = Histogram(
            "olvido_reuse_agreement",
            "Cosine between a reused answer and what the upstream answers to the same question, of a sample.",
            buckets=_AGREEMENT,
            registry=registry,
        )
        self.reuse_entries = Gauge("olvido_reuse_entries", "Questions in memory, by intent.", registry=registry)
        self.reuse_bytes = Gauge("olvido_reuse_index_bytes", "Size of these and their vectors.", registry=registry)
        self.reuse_stopped = Gauge(
            "olvido_reuse_breaker_open",
            "Partitions in which reuse by intent is stopped: one entry answered too many questions.",
            registry=registry,
        )
        self.embed_seconds = Histogram(
            "olvido_embed_seconds", "Time of one run of the embedding model.", buckets=_SECONDS, registry=registry
        )
        self.embed_batch = Histogram(
            "olvido_embed_batch_texts", "Texts in one such run.", buckets=_BATCH, registry=registry
        )
        self.context_tokens = Counter(
            "olvido_context_tokens",
            "Tokens that context management left out of prompts (window, capped, tools, elided) or added to them "
            "(summaries, facts, recall), by mechanism.",
            ["mechanism", "model"],
            registry=registry,
        )
        self.busted_tokens = Counter(
            "olvido_prefix_busted_tokens",
            "Prompt tokens that the provider's prefix cache held and that were billed anew, since a fold changed what "
            "stands before them.",
            ["model"],
            registry=registry,
        )
        self.plans = Counter("olvido_plans", "Requests by what was made of them.", ["kind"], registry=registry)
        self.memory_pending = Gauge(
            "olvido_memory_pending", "Answered requests that are still being learnt from.", registry=registry
        )
        self.stage_seconds = Histogram(
            "olvido_stage_seconds", "Time in each stage of ours.", ["stage"], buckets=_SECONDS, registry=registry
        )
        self.overhead_seconds = Histogram(
            "olvido_overhead_seconds",
            "Total time of a request minus the upstream's.",
            buckets=_SECONDS,
            registry=registry,
        )
        self.upstream_seconds = Histogram(
            "olvido_upstream_seconds",
            "Time from sending a request to the last byte of its answer.",
            ["upstream"],
            buckets=_UPSTREAM_SECONDS,
            registry=registry,
        )
        self.first_byte_seconds = Histogram(
            "olvido_upstream_first_byte_seconds",
            "Time from sending a request to the answer's headers.",
            ["upstream"],
            buckets=_UPSTREAM_SECONDS,
            registry=registry,
        )
        self.upstream_errors = Counter(
            "olvido_upstream_errors",
            "Answers that are errors, and answers that never came.",
            ["upstream", "kind"],
            registry=registry,
        )
        self.upstream_retries = Counter(
            "olvido_upstream_retries", "Requests sent again to the same upstream.", ["upstream"], registry=registry
        )
        self.upstream_fallbacks = Counter(
            "olvido_upstream_fallbacks",
            "Requests handed on to the fallback of an upstream.",
            ["upstream"],
            registry=registry,
        )
        self.breaker_open = Gauge(
            "olvido_upstream_breaker_open",
            "1 while an upstream is left alone after repeated failures.",
            ["upstream"],
            registry=registry,
        )
        self.in_flight = Gauge("olvido_in_flight", "Requests being answered now.", registry=registry)
        self.fail_open = Counter(
            "olvido_fail_open",
            "Stages of ours that failed; the request went on without them.",
            ["stage", "reason"],
            registry=registry,
        )
        self.writer_queue = Gauge("olvido_writer_queue", "Rows waiting to be written.", registry=registry)
        self.writer_dropped = Gauge("olvido_writer_dropped", "Rows lost since the start.", registry=registry)

    def of(self, metric: Metric, *labels: str) -> Metric:
        """The series of `metric` with these labels. Kept here: the library takes a lock and 2 µs to find one."""
        child: Metric | None = self._children.get((metric, labels))
        if child is None:
            child = self._children[metric, labels] = metric.labels(*labels)
        return child

    def failed_open(self, stage: str, reason: str) -> None:
        self.of(self.fail_open, stage, reason).inc()

    def embedded(self, texts: int, seconds: float) -> None:
        self.embed_batch.observe(texts)
        self.embed_seconds.observe(seconds)

    def model(self, name: str, *, served: bool) -> str:
        """`name` as a label: itself while there are few, then `other`. So are a name that is too long, and one that no
        upstream has answered for yet: a client can invent as many as it likes."""
        if name in self._models:
            return name
        if not served or len(self._models) >= MOST_MODELS or len(name) > LONGEST_MODEL:
            return "other"
        self._models.add(name)
        return name

    def recorded(self, row: LedgerRow) -> None:
        """Everything that a ledger row says; so metrics and ledger can't disagree."""
        of = self.of
        model = self.model(row.model, served=200 <= row.status < 300)
        measured = "true" if row.measured else "false"
        of(self.requests, row.upstream, model, row.source, row.outcome).inc()
        for kind, count in (
            ("original", row.tokens_original),
            ("sent", row.tokens_sent),
            ("cached", row.tokens_cached),
            ("billed", row.tokens_billed),
            ("completion", row.tokens_completion if row.source == "upstream" else 0),
        ):
            if count:
                of(self.tokens, kind, model, measured).inc(count)
        of(self.reuse, "exact", row.reuse_reason).inc()
        if row.intent_reason:
            of(self.reuse, "intent", row.intent_reason).inc()
        if row.cost:
            of(self.cost, row.upstream, model).inc(row.cost)
        self._planned(row, model)
        if row.source != "upstream":
            of(self.saved_tokens, row.source, model).inc(row.tokens_original + row.tokens_completion)
            of(self.saved_cost, row.source, model).inc(row.cost_saved)
        for stage, seconds in row.stage_seconds.items():
            of(self.stage_seconds, stage).observe(seconds)
        self.overhead_seconds.observe(max(0.0, row.total_seconds - row.upstream_seconds))

    def _planned(self, row: LedgerRow, model: str) -> None:
        """What context management made of a request."""
        of = self.of
        if row.source == "upstream":
            of(self.plans, row.plan).inc()
        for mechanism, tokens in row.mechanisms.items():
            of(self.context_tokens, mechanism, model).inc(tokens)
        if row.mechanisms:
            of(self.saved_tokens, "context", model).inc(max(0, row.tokens_original - row.tokens_sent))
            of(self.saved_cost, "context", model).inc(max(0.0, row.cost_saved))
            of(self.added_cost, "context", model).inc(max(0.0, -row.cost_saved))
        if row.tokens_busted:
            of(self.busted_tokens, model).inc(row.tokens_busted)

    def exposition(self) -> bytes:
        return generate_latest(self.registry)
