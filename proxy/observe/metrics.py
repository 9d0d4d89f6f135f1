"""The metrics of this process, and the only code that touches them. Labels are bounded: what a client can choose freely
(a model's name) is one of a limited number of values, or `other`.

Several processes on one machine can be told as one: with PROMETHEUS_MULTIPROC_DIR set, the client library keeps its
values in files of that folder, a few for each process, and whoever is scraped adds them up.
"""

import fcntl
import os
import platform
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead

from proxy.observe.catalogue import FACT, MOST_MODELS, SHARED_STATE, Catalogue
from proxy.types import LedgerRow, Trail

LONGEST_MODEL = 100  # characters
BEAT = 0.5  # seconds between two measurements of the event loop's lag
_MINUTE = round(60 / BEAT)  # looks
VARIABLE = "PROMETHEUS_MULTIPROC_DIR"


def shared_folder(environ: Mapping[str, str]) -> Path | None:
    """The folder in which several processes share their metrics; None: this process has its own alone."""
    named = environ.get(VARIABLE)
    return Path(named) if named else None


class SharedFolder:
    """The folder in which several processes keep their metrics.

    A lock tells a new run from one that goes on: every process holds it, shared, while it lives. Whoever gets it alone
    is the first, and clears away what an earlier run has left. What processes of this run have counted stays when they
    end, else sums would fall; what they said of their present state goes.
    """

    def __init__(self, folder: Path) -> None:
        """To be made before the first metric is. Raises OSError if the folder can't be used."""
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._lock = os.open(folder / "olvido.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        with suppress(BlockingIOError):
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            for left in folder.glob("*.db"):
                left.unlink(missing_ok=True)
        fcntl.flock(self._lock, fcntl.LOCK_SH)

    def exposition(self) -> bytes:
        """The metrics of all processes, in Prometheus' text format."""
        self._bury()
        registry = CollectorRegistry()
        MultiProcessCollector(registry, str(self._folder))  # type: ignore[no-untyped-call]  # the library's
        return generate_latest(registry)

    def leave(self) -> None:
        """Removes the gauges of this process."""
        mark_process_dead(os.getpid(), str(self._folder))  # type: ignore[no-untyped-call]  # the library's
        os.close(self._lock)

    def _bury(self) -> None:
        """Takes out the present state of processes that could not say that they left."""
        told = {int(file.stem.rpartition("_")[2]) for file in self._folder.glob("gauge_live*_*.db")}
        for process in told:
            try:
                os.kill(process, 0)
            except ProcessLookupError:
                mark_process_dead(process, str(self._folder))  # type: ignore[no-untyped-call]  # the library's
            except PermissionError:
                continue  # it lives, as another user


class Metrics(Catalogue):
    """Counts events, in every metric of the catalogue."""

    content_type = CONTENT_TYPE_LATEST

    def __init__(self) -> None:
        folder = shared_folder(os.environ)
        self._shared = None if folder is None else SharedFolder(folder)
        super().__init__()
        self._models: set[str] = set()
        self._late: deque[float] = deque(maxlen=_MINUTE)
        self._dropped: dict[str, int] = {}
        self._open: dict[str, bool] = {}  # breakers, by upstream
        for kind in ("exact", "intent"):
            self.of(self.reuse, kind, "hit")
        self.of(self.build_info, version("olvido"), platform.python_version()).set(1)
        if self._shared is None:
            ProcessCollector(registry=self.registry)

    @property
    def is_shared(self) -> bool:
        """True if several processes share their metrics: the one that is scraped answers for all."""
        return self._shared is not None

    def exposition(self) -> bytes:
        """Returns the metrics in Prometheus' text format, made in a worker thread: it takes a while if there are many
        series."""
        if self._shared is None:
            return generate_latest(self.registry)
        self.tally.tell()
        return self._shared.exposition()

    def close(self) -> None:
        """Removes this process from those that share their metrics."""
        if self._shared is not None:
            self.tally.tell()
            self._shared.leave()

    # --- what happens outside of a request's row ----------------------------------------------------------------------

    def failed_open(self, stage: str, reason: str) -> None:
        """Counts a stage that failed and was skipped."""
        self.of(self.fail_open, stage, reason).inc()

    def embedded(self, texts: int, seconds: float) -> None:
        """Counts a run of the embedding model."""
        self.embed_batch.observe(texts)
        self.embed_seconds.observe(seconds)

    def stored(self, operation: str, seconds: float) -> None:
        """Counts a storage operation: "read", or "write" of a batch. Called in any thread."""
        self.of(self.storage_seconds, operation).observe(seconds)

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
        if self._shared is not None:
            self.tally.tell()  # another process may be looked at
        self._late.append(late)
        self.loop_late.observe(late)
        self.loop_latest.set(max(self._late))

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
            return "other"
        self._models.add(name)
        return name

    def recorded(self, row: LedgerRow) -> None:
        """Counts everything that a ledger row says; so metrics and ledger can't disagree."""
        add, observe = self.tally.add, self.tally.observe
        model = self.model(row.model, served=200 <= row.status < 300)
        measured = "true" if row.measured else "false"
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
        if row.source != "upstream":
            add(self.saved_tokens, row.tokens_original + row.tokens_completion, row.source, model, measured)
            add(self.saved_cost, row.cost_saved, row.source, model)
        for stage, seconds in row.stage_seconds.items():
            observe(self.stage_seconds, seconds, stage)
        observe(self.overhead_seconds, max(0.0, row.total_seconds - row.upstream_seconds))

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
