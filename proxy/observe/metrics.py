"""The metrics of this process, and the only code that touches them. Labels are bounded: what a client can choose freely
(a model's name) is one of a limited number of values, or `other`.
"""

import platform
from collections import deque
from collections.abc import Collection, Mapping, Sequence
from importlib.metadata import version
from typing import get_args

from prometheus_client import ProcessCollector
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from proxy.observe.catalogue import Catalogue
from proxy.observe.labels import FACT, MECHANISM, MOST_MODELS, SAVED_BY, SHARED_STATE, TOKENS
from proxy.observe.merging import Snapshot, exposition, merged, snapshot
from proxy.observe.siblings import Gathered
from proxy.storage.accounts import OTHER
from proxy.storage.database import DatabaseState, Shared
from proxy.types import LedgerRow, Trail
from proxy.types.curation import OutcomeLine
from proxy.types.quality import COMPARING

LONGEST_MODEL = 100  # characters
BEAT = 0.5  # seconds between two measurements of the event loop's lag
_MINUTE = round(60 / BEAT)  # looks
_VERSION = version("olvido")
# What begins at 0, of what could happen.
EXPECTED_ERRORS = ("429", "500", "502", "503", "upstream_unreachable", "upstream_broken", "upstream_timeout", "cut")
EXPECTED_STAGES = ("identify", "exact", "intent", "plan", "assemble")


class Metrics(Catalogue):
    """Counts events, in every metric of the catalogue."""

    content_type = CONTENT_TYPE_LATEST

    def __init__(self) -> None:
        super().__init__()
        self._models: set[str] = set()
        self.expected: set[str] = set()  # models that the configuration names
        self._users: frozenset[str] | None = None  # end users that are told by name; None: none is told
        self._late: deque[float] = deque(maxlen=_MINUTE)
        self._dropped: dict[str, int] = {}
        self._open: dict[str, bool] = {}  # breakers, by upstream
        for kind in ("exact", "intent"):
            self.of(self.reuse, kind, "hit")
        self.of(self.build_info, _VERSION, platform.python_version()).set(1)
        self.workers.set(1)
        self.worker_starts.inc()
        ProcessCollector(registry=self.registry)

    def exposition(self) -> bytes:
        """Returns the metrics in Prometheus' text format, made in a worker thread: it takes a while if there are many
        series."""
        return generate_latest(self.registry)

    def snapshot(self) -> Snapshot:
        """Returns what the metrics say now, for other workers; made in a thread, as above."""
        return snapshot(self.registry)

    def exposition_of(self, gathered: Gathered) -> bytes:
        """Returns the metrics of all workers in the same format, made in a thread."""
        self.workers_silent.inc(gathered.silent)  # is told the next time
        return exposition(merged(gathered.live, gathered.gone, self.rules))

    # --- what happens outside of a request's row ----------------------------------------------------------------------

    def expect(self, models: Mapping[str, Sequence[str]]) -> None:
        """Begins at 0 the series of what is configured, and of all other models: nobody could tell how much one has
        grown that begins with a value. `models`: the names that the configuration has, by upstream."""
        for upstream, names in models.items():
            known = [name for name in names if self.model(name, served=True) == name]
            self.expected.update(known)
            for name in (*known, OTHER):
                for source in ("upstream", "exact", "intent"):
                    self.of(self.requests, upstream, name, source, "complete")
                self.of(self.cost, upstream, name)
                self._expect_model(name)
            for kind in EXPECTED_ERRORS:
                self.of(self.upstream_errors, upstream, kind)
            for counter in (self.upstream_retries, self.upstream_fallbacks):
                self.of(counter, upstream)
            self.of(self.breaker_open, upstream)
            for histogram in (self.upstream_seconds, self.first_byte_seconds):
                self.of(histogram, upstream)
        for stage in EXPECTED_STAGES:
            self.of(self.stage_seconds, stage)
            self.of(self.fail_open, stage, "deadline")

    def tell_users(self, names: Collection[str]) -> None:
        """Begins to count these end users by name, and all others together."""
        self._users = frozenset(names)
        for name in (*names, OTHER):
            for metric in (self.user_requests, self.user_tokens, self.user_cost, self.user_saved):
                self.of(metric, name)

    def _expect_model(self, name: str) -> None:
        for kind in TOKENS:
            self.of(self.tokens, kind, name, "true")
        for mechanism in SAVED_BY:
            self.of(self.saved_cost, mechanism, name)
            self.of(self.saved_tokens, mechanism, name, "false" if mechanism == "context" else "true")
        self.of(self.added_cost, "context", name)
        self.of(self.busted_tokens, name)
        for mechanism in MECHANISM:
            self.of(self.context_tokens, mechanism, name)

    def failed_open(self, stage: str, reason: str) -> None:
        """Counts a stage that failed and was skipped."""
        self.of(self.fail_open, stage, reason).inc()

    def refused_by_limit(self, whose: str, limit: str) -> None:
        """Counts a request whose key or end user was at a limit."""
        self.of(self.limited, whose, limit).inc()

    def embedded(self, texts: int, seconds: float) -> None:
        """Counts a run of the embedding model."""
        self.embed_batch.observe(texts)
        self.embed_seconds.observe(seconds)

    def stored(self, operation: str, seconds: float) -> None:
        """Counts a storage operation: "read", "write" of a batch, or the "wait" for a connection. Called in any
        thread."""
        if operation == "wait":
            self.pool_wait.observe(seconds)
        else:
            self.of(self.storage_seconds, operation).observe(seconds)

    def database(self, now_is: Shared, at: float) -> None:
        """Sets what is told of a database that machines share, at a time in Unix seconds."""
        self.of(self.pool_connections, "used").set(now_is.used)
        self.of(self.pool_connections, "idle").set(now_is.idle)
        self.spool_rows.set(now_is.spooled)
        self.spool_seconds.set(0.0 if now_is.spooled_since is None else max(0.0, at - now_is.spooled_since))
        for state in get_args(DatabaseState):
            self.of(self.storage_state, state).set(now_is.state == state)

    def shared_failed(self, part: str, reason: str) -> None:
        """Counts something that several processes share, and that was done without the others."""
        self.tally.add(self.shared_failures, 1, part, reason)

    def shared_changed(self, status: str) -> None:
        """Sets the state of the connection to what several processes share."""
        for each in SHARED_STATE:
            self.of(self.shared_state, each).set(each == status)

    def breaker(self, upstream: str, *, is_open: bool) -> None:
        """Sets whether the breaker of an upstream is open."""
        if self._open.get(upstream) is not is_open:
            self._open[upstream] = is_open
            self.of(self.breaker_open, upstream).set(is_open)

    def dropped(self, rows: Mapping[str, int]) -> None:
        """Sets the number of rows of each kind that have been lost since the start."""
        for kind, count in rows.items():
            self.of(self.writer_dropped, kind).inc(count - self._dropped.get(kind, 0))
            self._dropped[kind] = count

    def beat(self, late: float) -> None:
        """Counts a lag of the event loop, in seconds."""
        self._late.append(late)
        self.loop_late.observe(late)
        self.loop_latest.set(max(self._late))

    def worked(self, kind: str, result: str) -> None:
        """Counts a job of memory's model."""
        self.of(self.memory_jobs, kind, result).inc()

    def curated(self, line: OutcomeLine) -> None:
        """Counts something that memory's model has proposed."""
        self.of(self.memory_operations, line.op or "unreadable", line.result).inc()

    def tool_called(self, tool: str, result: str) -> None:
        """Counts a call that memory's tools have answered. `result`: "ok", "unreached", or a reason why not."""
        told = result if result in ("ok", "unreached") else "refused"
        self.of(self.memory_tool_calls, tool, told).inc()

    def holding(self, facts: Mapping[str, int]) -> None:
        """Sets the number of facts of each status."""
        for status in FACT:
            self.of(self.facts, status).set(facts.get(status, 0))

    # --- a request's row ----------------------------------------------------------------------------------------------

    def model(self, name: str, *, served: bool) -> str:
        """Returns `name` as a label: itself while there are few, then `other`. So are a name that is too long, and one
        that no upstream has answered for yet: a client can invent as many as it likes."""
        if name in self._models:
            return name
        if not served or len(self._models) >= MOST_MODELS or len(name) > LONGEST_MODEL:
            return OTHER
        self._models.add(name)
        return name

    def recorded(self, row: LedgerRow) -> None:
        """Counts everything that a ledger row says; so metrics and ledger can't disagree."""
        add, observe = self.tally.add, self.tally.observe
        model = self.model(row.model, served=200 <= row.status < 300)
        measured = "true" if row.measured else "false"
        if row.reuse_reason in COMPARING:  # no client's: nothing of it counts but what it cost
            add(self.reuse, 1, "exact", row.reuse_reason)
            add(self.cost, row.cost, row.upstream, model)
            return
        add(self.requests, 1, row.upstream, model, row.source, row.outcome)
        for kind, count in (
            ("sent", row.tokens_sent),
            ("cached", row.tokens_cached),
            ("billed", row.tokens_billed),
            ("completion", row.tokens_completion if row.source == "upstream" else 0),
        ):
            if count:
                add(self.tokens, count, kind, model, measured)
        if row.tokens_original:
            # The tokens of a prompt that was not sent are estimates only.
            as_sent = "false" if row.mechanisms else measured
            add(self.tokens, row.tokens_original, "original", model, as_sent)
        add(self.reuse, 1, "exact", row.reuse_reason)
        if row.intent_reason:
            add(self.reuse, 1, "intent", row.intent_reason)
        if row.cost:
            add(self.cost, row.cost, row.upstream, model)
        self._planned(row, model)
        if self._users is not None:
            self._of_user(row, self._users)
        if row.source in ("exact", "intent"):
            add(self.saved_tokens, row.tokens_original + row.tokens_completion, row.source, model, measured)
            add(self.saved_cost, row.cost_saved, row.source, model)
        for stage, seconds in row.stage_seconds.items():
            observe(self.stage_seconds, seconds, stage)
        observe(self.overhead_seconds, max(0.0, row.total_seconds - row.upstream_seconds))

    def passed_through(self, row: LedgerRow) -> None:
        """Counts the row of a request to another route."""
        self.tally.add(self.unmanaged, 1, row.route)
        if row.cost:
            self.tally.add(self.unmanaged_cost, row.cost, row.route)

    def _of_user(self, row: LedgerRow, told: frozenset[str]) -> None:
        name = row.scope.partition("/")[2]
        if not name:
            return
        add, user = self.tally.add, name if name in told else OTHER
        add(self.user_requests, 1, user)
        if row.source == "upstream":
            add(self.user_tokens, row.tokens_billed + row.tokens_completion, user)
        add(self.user_cost, row.cost, user)
        add(self.user_saved, max(0.0, row.cost_saved), user)

    def _planned(self, row: LedgerRow, model: str) -> None:
        """Counts the effect of context management on a request."""
        add = self.tally.add
        if row.source == "upstream":
            add(self.plans, 1, row.plan)
        for mechanism, tokens in row.mechanisms.items():
            add(self.context_tokens, tokens, mechanism, model)
        if row.mechanisms:
            add(self.saved_tokens, max(0, row.tokens_original - row.tokens_sent), "context", model, "false")
            add(self.saved_cost, max(0.0, row.cost_saved), "context", model)
            add(self.added_cost, max(0.0, -row.cost_saved), "context", model)
        if row.tokens_busted:
            add(self.busted_tokens, row.tokens_busted, model)
        if row.trail is not None:
            self._looked_into(row.trail)

    def _looked_into(self, trail: Trail) -> None:
        add, observe = self.tally.add, self.tally.observe
        observe(self.window_turns, trail.kept)
        observe(self.recall_tokens, sum(line.tokens for line in trail.recalled))
        if trail.kept < trail.turns - 1:
            observe(self.summaries, trail.summaries)
        if trail.shift is not None:
            add(self.shifts, 1, trail.shift)
        decided = trail.break_even
        if decided is not None and decided.leave:
            add(self.folds, 1, decided.reason)
            add(self.folded_turns, decided.leave)
