"""The catalogue of metrics: name, meaning and labels of each. `make metrics-docs` prints it.

To add one: its entry here, the event that counts it in metrics.py, then `make metrics-docs`.
"""

from typing import get_args

from proxy.observe.labels import (
    ADDED_BY,
    FACT,
    JOB_RESULT,
    KEY,
    LEDGER,
    LIMIT,
    MEASURED,
    MECHANISM,
    MODEL,
    OPERATION,
    QUALITY_SKIPPED,
    QUALITY_WAY,
    RESULT,
    ROWS,
    SAVED_BY,
    SHARED_PART,
    SHARED_REASON,
    SHARED_STATE,
    STAGE,
    TEAM,
    TOKENS,
    TOOL_CALL,
    TOOL_ROUND,
    UPSTREAM,
    UPSTREAM_ERROR,
    USER,
)
from proxy.observe.register import Register
from proxy.protocol.routes import ROUTES
from proxy.types import ApiName, ContextRead, FoldReason, Outcome, PlanKind, ShiftCause, Source
from proxy.types.curation import JobKind
from proxy.types.desk import ToolName

_SECONDS = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0)
_UPSTREAM_SECONDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0)
_LATE_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
_STORAGE_SECONDS = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2.5)
_TOKENS = (0, 50, 100, 200, 400, 800, 1_600, 3_200, 6_400)
_TURNS = (0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64)


class Catalogue(Register):
    """All metrics, an attribute each."""

    def __init__(self) -> None:
        super().__init__()
        self._requests()
        self._ledger()
        self._keys()
        self._reuse()
        self._quality()
        self._context()
        self._memory()
        self._upstreams()
        self._health()
        self._database()

    def _requests(self) -> None:
        self.requests = self.counter(
            "olvido_requests",
            "Requests to the managed route.",
            {"upstream": UPSTREAM, "model": MODEL, "source": get_args(Source), "outcome": get_args(Outcome)},
        )
        self.api_requests = self.counter(
            "olvido_api_requests",
            "Requests of conversations that were answered, by the API that the client has used.",
            {"api": get_args(ApiName)},
        )
        self.unmanaged = self.counter(
            "olvido_unmanaged_requests",
            "Requests to other routes, which are passed through as they are: none of them is counted elsewhere.",
            {"route": ROUTES},
        )
        self.unmanaged_cost = self.counter(
            "olvido_unmanaged_cost_dollars",
            "What the upstream's prices make of the tokens that it told for these, in answers that can be read in "
            "passing.",
            {"route": ROUTES},
        )
        self.tokens = self.counter(
            "olvido_tokens",
            "Tokens. original: prompt as the client sent it; sent: prompt as it went upstream; cached: of these, held "
            "by the provider's prefix cache; billed: prompt tokens charged for; completion: generated upstream. "
            "measured says whether the upstream counted them or we estimated.",
            {"kind": TOKENS, "model": MODEL, "measured": MEASURED},
        )
        self.saved_tokens = self.counter(
            "olvido_saved_tokens",
            "Prompt and completion tokens not billed, by what saved them. What the provider's prefix cache held is "
            "none of them. What context management left out was never sent, so nobody measured it.",
            {"mechanism": SAVED_BY, "model": MODEL, "measured": MEASURED},
        )
        self.cost = self.counter(
            "olvido_cost_dollars",
            "What the upstream's prices make of the billed tokens.",
            {"upstream": UPSTREAM, "model": MODEL},
        )
        self.saved_cost = self.counter(
            "olvido_saved_cost_dollars",
            "Against plain pass-through with the provider's prefix cache, by what saved it.",
            {"mechanism": SAVED_BY, "model": MODEL},
        )
        self.added_cost = self.counter(
            "olvido_added_cost_dollars",
            "What requests cost beyond plain pass-through, by what made them dearer: a fold is paid in advance, "
            "recalled turns, facts and summaries are paid for whenever they are sent.",
            {"mechanism": SAVED_BY, "model": MODEL},
        )
        self.in_flight = self.gauge("olvido_in_flight", "Requests being answered now.", "sum")
        self.stage_seconds = self.histogram(
            "olvido_stage_seconds", "Time in each stage of ours.", _SECONDS, {"stage": STAGE}
        )
        self.overhead_seconds = self.histogram(
            "olvido_overhead_seconds", "Total time of a request minus the upstream's.", _SECONDS
        )
        self.fail_open = self.counter(
            "olvido_fail_open",
            "Stages of ours that failed; the request went on without them.",
            {"stage": STAGE, "reason": "`deadline`, or the class of the exception"},
        )

    def _ledger(self) -> None:
        """The totals of the ledger: they neither begin anew with a process nor add up over those that share it."""
        whose = {"ledger": LEDGER, "model": MODEL}
        self.ledger_requests = self.gauge(
            "olvido_ledger_requests",
            "Requests since the ledger began. exact, intent: answered from memory; upstream: all others.",
            "max",
            {"source": ("upstream", "exact", "intent"), **whose},
        )
        self.ledger_errors = self.gauge(
            "olvido_ledger_errors",
            "Of these, those with a status of 400 and above, or without a whole answer though the client waited.",
            "max",
            whose,
        )
        self.ledger_tokens = self.gauge(
            "olvido_ledger_tokens",
            "Tokens since the ledger began, of the kinds of olvido_tokens.",
            "max",
            {"kind": TOKENS, **whose},
        )
        self.ledger_reused_tokens = self.gauge(
            "olvido_ledger_reused_tokens",
            "Prompt and completion tokens of answers from memory since the ledger began: none was billed.",
            "max",
            whose,
        )
        self.ledger_context_tokens = self.gauge(
            "olvido_ledger_context_tokens",
            "Tokens left out of prompts or added to them since the ledger began: see olvido_context_tokens.",
            "max",
            {"mechanism": MECHANISM, **whose},
        )
        self.ledger_busted = self.gauge(
            "olvido_ledger_prefix_busted_tokens",
            "Tokens billed anew because of a fold since the ledger began: see olvido_prefix_busted_tokens.",
            "max",
            whose,
        )
        self.ledger_cost = self.gauge(
            "olvido_ledger_cost_dollars",
            "What the upstreams' prices make of the billed tokens, since the ledger began.",
            "max",
            whose,
        )
        self.ledger_saved = self.gauge(
            "olvido_ledger_saved_cost_dollars",
            "Saved against plain pass-through since the ledger began, by what saved it.",
            "max",
            {"mechanism": SAVED_BY, **whose},
        )
        self.ledger_added = self.gauge(
            "olvido_ledger_added_cost_dollars",
            "What requests cost beyond plain pass-through since the ledger began: see olvido_added_cost_dollars.",
            "max",
            {"mechanism": ADDED_BY, **whose},
        )
        self.ledger_unmanaged = self.gauge(
            "olvido_ledger_unmanaged_requests",
            "Requests to other routes since the ledger began: see olvido_unmanaged_requests.",
            "max",
            whose,
        )
        self.ledger_since = self.gauge(
            "olvido_ledger_since_seconds",
            "Unix time of the first request of a model: to the minute for two hours, then to the hour or the day.",
            "max",
            whose,
        )

    def _keys(self) -> None:
        """The totals of keys, and counts of end users."""
        whose = {"ledger": LEDGER, "key": KEY, "team": TEAM}
        self.key_requests = self.gauge(
            "olvido_ledger_key_requests",
            "Requests of a key since the ledger began, to any route.",
            "max",
            whose,
        )
        self.key_tokens = self.gauge(
            "olvido_ledger_key_tokens", "Prompt and completion tokens that an upstream billed for them.", "max", whose
        )
        self.key_cost = self.gauge("olvido_ledger_key_cost_dollars", "What they have cost.", "max", whose)
        self.key_saved = self.gauge(
            "olvido_ledger_key_saved_cost_dollars",
            "Saved of them against plain pass-through, less what folds and memory cost: it may fall.",
            "max",
            whose,
        )
        self.key_since = self.gauge(
            "olvido_ledger_key_since_seconds", "Unix time at which a key was created; 0: configured.", "max", whose
        )
        self.user_requests = self.counter(
            "olvido_user_requests", "Requests of an end user, if `observe.users` names any.", {"user": USER}
        )
        self.user_tokens = self.counter(
            "olvido_user_tokens", "Prompt and completion tokens that an upstream billed for these.", {"user": USER}
        )
        self.user_cost = self.counter("olvido_user_cost_dollars", "What they have cost.", {"user": USER})
        self.user_saved = self.counter(
            "olvido_user_saved_cost_dollars", "Saved of those that were cheaper than pass-through.", {"user": USER}
        )

    def _reuse(self) -> None:
        self.reuse = self.counter(
            "olvido_reuse",
            "Look-ups of earlier answers: hit, or the reason why not.",
            {"kind": ("exact", "intent"), "result": RESULT},
        )
        self.reuse_reports = self.counter(
            "olvido_reuse_reports",
            "Reused answers that were not the right one: reported as wrong, asked again in other words (rephrased) or "
            "to be generated anew.",
            {"kind": ("wrong", "rephrased", "regenerated")},
        )
        self.reuse_judged = self.counter(
            "olvido_reuse_judged",
            "Questions that the comparison refused, and what the judge said of them: same, different; it failed; or it "
            "was not asked, since its dollars of the day or its questions of the minute were used up (capped).",
            {"result": ("same", "different", "failed", "capped")},
        )
        self.reuse_agreement = self.histogram(
            "olvido_reuse_agreement",
            "Cosine between a reused answer and what the upstream answers to the same question, of a sample.",
            (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0),
        )
        self.reuse_entries = self.gauge("olvido_reuse_entries", "Questions in memory, by intent.", "sum")
        self.reuse_bytes = self.gauge(
            "olvido_reuse_index_bytes", "Bytes of the questions in memory, by intent, and of their vectors.", "sum"
        )
        self.reuse_stopped = self.gauge(
            "olvido_reuse_breaker_open",
            "Partitions in which reuse by intent is stopped: one entry answered too many questions.",
            "max",
        )
        self.embed_seconds = self.histogram("olvido_embed_seconds", "Time of one run of the embedding model.", _SECONDS)
        self.embed_batch = self.histogram(
            "olvido_embed_batch_texts", "Texts in one run of the embedding model.", (1, 2, 4, 8, 16, 32)
        )

    def _quality(self) -> None:
        self.quality_pairs = self.counter(
            "olvido_quality_pairs",
            "Managed answers beside those of the same request as it was: held, or lost (the managed one is worse), by "
            "what decided it.",
            {"result": ("held", "lost"), "way": QUALITY_WAY},
        )
        self.quality_skipped = self.counter(
            "olvido_quality_skipped",
            "Requests that were drawn to be asked twice, and were not: the price is unknown, the day's money spent, "
            "too many were under way, the upstream is left alone for now, it failed.",
            {"reason": QUALITY_SKIPPED},
        )

    def _context(self) -> None:
        self.plans = self.counter(
            "olvido_plans", "Requests that went upstream, by what was made of them.", {"kind": get_args(PlanKind)}
        )
        self.context_tokens = self.counter(
            "olvido_context_tokens",
            "Tokens that context management left out of prompts (window, capped, tools, elided, pruned) or added to "
            "them (summaries, facts, recall, desk), by mechanism. As we count them.",
            {"mechanism": MECHANISM, "model": MODEL},
        )
        self.busted_tokens = self.counter(
            "olvido_prefix_busted_tokens",
            "Prompt tokens that the provider's prefix cache held and that were billed anew, since a fold changed what "
            "stands before them.",
            {"model": MODEL},
        )
        self.folds = self.counter(
            "olvido_folds",
            "Times that old turns left the window, by what it was done for.",
            {"reason": get_args(FoldReason)},
        )
        self.folded_turns = self.counter("olvido_folded_turns", "Turns that left the window.")
        self.summaries = self.histogram(
            "olvido_summaries", "Summaries in a prompt of which old turns have left.", (0, 1, 2, 3, 4, 6, 8)
        )
        self.recall_tokens = self.histogram(
            "olvido_recall_tokens", "Tokens of recalled old turns in a prompt that was looked into.", _TOKENS
        )
        self.window_turns = self.histogram(
            "olvido_window_turns", "Complete turns that a prompt that was looked into holds.", _TURNS
        )
        self.shifts = self.counter(
            "olvido_topic_shifts",
            "Requests whose newest turn begins another topic, by what says so.",
            {"cause": get_args(ShiftCause)},
        )
        self.facts = self.gauge(
            "olvido_facts",
            "Facts of the scopes that are held in memory, by what may become of them.",
            "max",
            {"status": FACT},
        )
        self.context_reads = self.counter(
            "olvido_context_reads",
            "Look-ups of a conversation's state before its prompt is planned, by the place where it was found: memory "
            "of this process, hot context that processes share, database; failed: none could be read in time.",
            {"result": get_args(ContextRead)},
        )
        self.context_compressed = self.counter(
            "olvido_context_compressed", "Prompts of which turns have just left, into summaries or altogether."
        )
        self.memory_scopes = self.gauge("olvido_memory_scopes", "Scopes that are held in memory.", "max")
        self.memory_bytes = self.gauge(
            "olvido_memory_index_bytes",
            "Bytes of the indexes of old turns of the scopes that are held in memory.",
            "sum",
        )
        self.memory_pending = self.gauge(
            "olvido_memory_pending", "Answered requests that are still being learnt from.", "sum"
        )

    def _memory(self) -> None:
        """Memory with a model's help."""
        self.memory_jobs = self.counter(
            "olvido_memory_jobs",
            "Jobs of memory's model: done; done without a call, since there was nothing new (nothing); put off after a "
            "failure, or until its money of the next day (unaffordable); given up; left to another process, or "
            "begun again, since what was read has changed meanwhile (left).",
            {"kind": get_args(JobKind), "result": JOB_RESULT},
        )
        self.memory_operations = self.counter(
            "olvido_memory_operations",
            "What memory's model has proposed, and whether it was kept. unreadable: an answer of which nothing could "
            "be read.",
            {"op": OPERATION, "result": ("kept", "refused")},
        )
        self.memory_tool_calls = self.counter(
            "olvido_memory_tool_calls",
            "Calls of memory's tools by the model (memory: the one that Anthropic's models have), and of the client's "
            "tools that were answered from what the conversation has (client). refused: the model was told why not; "
            "unreached: memory could not be reached.",
            {"tool": (*get_args(ToolName), "memory", "client"), "result": TOOL_CALL},
        )
        self.memory_tool_rounds = self.counter(
            "olvido_memory_tool_rounds",
            "Rounds of answers that the client did not see, or not whole, since the model called its memory's tools in "
            "them: it was asked again (continued); it has called the client's tools too (mixed); no further round was "
            "left (stripped). failed: such an answer could not be finished, and the client's own request was sent.",
            {"result": TOOL_ROUND},
        )

    def _upstreams(self) -> None:
        self.upstream_seconds = self.histogram(
            "olvido_upstream_seconds",
            "Time from sending a request to the last byte of its answer.",
            _UPSTREAM_SECONDS,
            {"upstream": UPSTREAM},
        )
        self.first_byte_seconds = self.histogram(
            "olvido_upstream_first_byte_seconds",
            "Time from sending a request to the answer's headers.",
            _UPSTREAM_SECONDS,
            {"upstream": UPSTREAM},
        )
        self.upstream_errors = self.counter(
            "olvido_upstream_errors",
            "Answers that are errors, and answers that never came.",
            {"upstream": UPSTREAM, "kind": UPSTREAM_ERROR},
        )
        self.upstream_retries = self.counter(
            "olvido_upstream_retries", "Requests sent again to the same upstream.", {"upstream": UPSTREAM}
        )
        self.upstream_fallbacks = self.counter(
            "olvido_upstream_fallbacks", "Requests handed on to the fallback of an upstream.", {"upstream": UPSTREAM}
        )
        self.breaker_open = self.gauge(
            "olvido_upstream_breaker_open",
            "1 while an upstream is left alone after repeated failures.",
            "max",
            {"upstream": UPSTREAM},
        )

    def _health(self) -> None:
        self.refused = self.counter(
            "olvido_refused",
            "Requests that were refused because of the web page that made them, or the name it found the proxy by.",
            {"reason": ("foreign_host", "foreign_origin")},
        )
        self.limited = self.counter(
            "olvido_limited",
            "Requests that were refused since their key or end user was at a limit.",
            {"whose": ("key", "user"), "limit": LIMIT},
        )
        self.returned = self.counter(
            "olvido_returned_conversations",
            "Conversations that returned to pass-through by themselves: they had come to cost more than that, by more "
            "than `context.dearer`, or were reported wrong.",
            {"reason": ("dearer", "reported")},
        )
        self.writer_queue = self.gauge("olvido_writer_queue", "Rows waiting to be written.", "sum")
        self.writer_lag = self.gauge(
            "olvido_writer_lag_seconds", "How long the oldest row has been waiting to be written.", "max"
        )
        self.writer_dropped = self.counter(
            "olvido_writer_dropped_rows",
            "Rows lost: their tenant's share of the queue was full, or the database refused them. cut_links: the older "
            "part of a history that is longer than what one request may write of it.",
            {"kind": ROWS},
        )
        self.storage_failing = self.gauge(
            "olvido_storage_failing",
            "1 while a part of the storage cannot do its work: a full disk, say, while rows wait in the queue.",
            "max",
        )
        self.ready = self.gauge(
            "olvido_ready", "1 while /readyz says 200; 0: rows may be lost. The least of all workers.", "min"
        )
        self.storage_seconds = self.histogram(
            "olvido_storage_seconds",
            "Time of a query, and of a batch of writes, in the database.",
            _STORAGE_SECONDS,
            {"operation": ("read", "write")},
        )
        self.shared_failures = self.counter(
            "olvido_shared_failures",
            "What several processes share, and what was done without the others since Redis is gone, slow or full, or "
            "another of them has held a scope for too long.",
            {"part": SHARED_PART, "reason": SHARED_REASON},
        )
        self.shared_state = self.gauge(
            "olvido_shared_state",
            "Processes whose connection to Redis is in this state; all 0 where processes share nothing.",
            "sum",
            {"state": SHARED_STATE},
        )
        self.tasks = self.gauge("olvido_tasks", "Background tasks under way.", "sum")
        self.loop_late = self.histogram(
            "olvido_loop_lag_seconds", "How late the event loop was, looked at twice a second.", _LATE_SECONDS
        )
        self.loop_latest = self.gauge(
            "olvido_loop_lag_max_seconds", "The latest that the event loop was within the last minute.", "max"
        )
        self.workers = self.gauge("olvido_workers", "Processes that serve, and told their metrics in time.", "sum")
        self.worker_starts = self.counter("olvido_worker_starts", "Processes that began to serve, the first ones too.")
        self.workers_silent = self.counter(
            "olvido_workers_silent",
            "Times that a worker did not tell its metrics in time to the one that was scraped, which then told what "
            "that worker had counted when it was asked before.",
        )
        self.spans = self.counter(
            "olvido_spans",
            "Spans of traces: made; exported to the collector; failed: it did not take them; lost: too many waited.",
            {"result": ("made", "exported", "failed", "lost")},
        )
        self.build_info = self.gauge(
            "olvido_build_info", "Always 1.", "max", {"version": "of Olvido", "python": "of Python"}
        )

    def _database(self) -> None:
        """A database that many processes share: PostgreSQL."""
        self.pool_wait = self.histogram(
            "olvido_pool_wait_seconds", "Time that work waits for a connection to PostgreSQL.", _STORAGE_SECONDS
        )
        self.pool_connections = self.gauge(
            "olvido_pool_connections",
            "Connections to PostgreSQL: at work, and open without work.",
            "sum",
            {"state": ("used", "idle")},
        )
        self.spool_rows = self.gauge(
            "olvido_spool_rows", "Rows that PostgreSQL could not take, and that wait on this machine's disk.", "sum"
        )
        self.spool_seconds = self.gauge(
            "olvido_spool_seconds",
            "How long the oldest of the rows on the disk has been waiting. 0: none is.",
            "max",
        )
        self.storage_state = self.gauge(
            "olvido_storage_state",
            "Processes that find PostgreSQL in this state; unreachable: they go on without it, and try it again. All 0 "
            "with another storage.",
            "sum",
            {"state": ("ready", "unreachable")},
        )
