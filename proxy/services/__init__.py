"""Composition root: every part, built once from the configuration, and closed in the reverse order.

opened.py       the parts that are opened before the others are composed of them
remembering.py  memory: facts, old turns, desks, files
asking.py       requests of our own: judges, and the model that memory asks
"""

import asyncio
import gc
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path

import tiktoken

from proxy.config import Config
from proxy.config.upstreams import named_models, table
from proxy.context.planner import Planner
from proxy.conversation.names import end_user
from proxy.embedding.service import open_embedder
from proxy.http.access import Authenticator, OriginPolicy
from proxy.keys.book import KeyBook
from proxy.keys.limiting import Limiter
from proxy.memory.library import Library
from proxy.memory.warming import warm
from proxy.observe.ledger import DEADLINE as TOTALS_DEADLINE
from proxy.observe.ledger import KeyAccounts, LedgerTotals
from proxy.observe.metrics import Metrics
from proxy.observe.totals import ledger_name
from proxy.observe.tracing import Tracing
from proxy.pipeline import Services, limits
from proxy.pipeline.answered_scopes import AnsweredScopes
from proxy.pipeline.ledger import Keeper
from proxy.pipeline.own_requests import OwnRequests, Verifier
from proxy.pipeline.record import Keep, Recorder
from proxy.pipeline.rollout import Rollout
from proxy.pipeline.unmanaged import Unmanaged
from proxy.protocol.chains import Chains
from proxy.reuse.intent import Intent
from proxy.reuse.partitions import Partitions
from proxy.services import asking, remembering
from proxy.services.opened import Opened
from proxy.services.remembering import Memory
from proxy.storage.base import StorageError
from proxy.storage.opening import SharedObserver, open_storage, with_hot_contexts
from proxy.storage.pending import WriterLimits
from proxy.storage.redis import shared_state
from proxy.tasks import Tasks
from proxy.tokens import TokenCounter, load_tokenizer
from proxy.types import LedgerRow
from proxy.upstream.client import Router, Upstream

# Two, so that parsing one large request does not hold up counting another; more would only compete for the cores.
CPU_THREADS = 2
# The garbage collector's thresholds in a process that serves: see server.prepare.
COLLECTING = (20_000, 20, 20)


async def build(
    config: Config,
    *,
    encoding: Callable[[], tiktoken.Encoding] = load_tokenizer,
    writing: WriterLimits | None = None,
    run_time: Path | None = None,
    patience: float = 1.0,
) -> Services:
    """Returns all services, opened and started. `run_time`: a folder that this process shares with other workers.
    `patience`: factor of the deadlines of all stages. Raises StorageError if the storage folder can't be used, and
    OSError or ValueError if the token ranks can't."""
    executor = ThreadPoolExecutor(CPU_THREADS, thread_name_prefix="cpu")
    counter = TokenCounter(await asyncio.get_running_loop().run_in_executor(executor, encoding))
    tasks = Tasks()
    metrics = Metrics()
    watching = SharedObserver(metrics.shared_failed, metrics.shared_changed)
    storage = await open_storage(config, tasks, metrics.stored, metrics.failed_open, writing, watching)
    shared = shared_state(storage.shared, storage.database.folder or run_time, run_time)
    if (connection := storage.shared) is not None and config.shared is not None:
        storage = with_hot_contexts(storage, connection, config.shared.hot_context_ttl)
        await connection.open()
    await shared.logouts.refresh()
    embedder = open_embedder(config, observed=metrics.embedded)
    opened = Opened(
        config=config,
        storage=storage,
        shared=shared,
        counter=counter,
        embedder=embedder,
        executor=executor,
        tasks=tasks,
        metrics=metrics,
    )
    upstreams = [Upstream(upstream, shared.breakers) for upstream in config.upstreams]
    services = compose(opened, upstreams, patience=patience, tracing=_tracing(config, metrics))
    with suppress(StorageError):  # it is tried again
        await services.keys.look()
    services.keys.start(tasks)
    await services.rollout.start()
    embedder.start()
    services.intent.start(tasks)
    if services.files is not None:
        services.files.start()
    if services.curator is not None:
        services.curator.start()
    tasks.spawn(_warmed(config, executor, services.planner.library), name="warm")
    return services


def _expect(config: Config, metrics: Metrics) -> None:
    """Begins the metrics of what is configured."""
    metrics.expect({upstream.name: named_models(upstream) for upstream in config.upstreams})
    if config.observe.users:
        metrics.tell_users([end_user(name) for name in config.observe.users])


def _tracing(config: Config, metrics: Metrics) -> Tracing | None:
    settings = config.observe.tracing
    if settings is None:
        return None
    from proxy.observe.otlp import open_tracing  # noqa: PLC0415 (its library is an extra)

    return open_tracing(settings, lambda result, spans: metrics.tally.add(metrics.spans, spans, result))


def _limiter(opened: Opened, keys: KeyBook) -> Limiter:
    storage, metrics = opened.storage, opened.metrics
    return Limiter(
        keys,
        opened.config.limits.users.limits(),
        opened.shared.counters,
        storage.keys,
        storage.accounts,
        on_refused=metrics.refused_by_limit,
        on_failed=partial(metrics.failed_open, "limits"),
    )


def _settle(limiter: Limiter, rollout: Rollout, row: LedgerRow) -> None:
    """Tells those of a row who count on it."""
    limits.settle(limiter, row)
    rollout.heard(row)


def _rollout(opened: Opened, keys: KeyBook) -> Rollout:
    config, storage, metrics = opened.config, opened.storage, opened.metrics
    return Rollout(
        config.context,
        keys,
        storage.returns,
        storage.accounts,
        opened.tasks,
        is_shared=config.server.workers > 1 or config.storage.kind == "postgres",
        on_return=lambda reason: metrics.of(metrics.returned, reason).inc(),
    )


def _intent(opened: Opened, partitions: Partitions) -> Intent:
    config, storage, metrics = opened.config, opened.storage, opened.metrics
    return Intent(
        config.reuse.intent,
        embedder=opened.embedder,
        partitions=partitions,
        store=storage.reuse,
        answers=storage.answers,
        counter=opened.counter,
        reported=lambda reason: metrics.of(metrics.reuse_reports, reason).inc(),
        executor=opened.executor,
        shared=opened.shared,
    )


def _planner(opened: Opened, memory: Memory, patience: float) -> Planner:
    metrics = opened.metrics
    return Planner(
        opened.config,
        counter=opened.counter,
        calibrations=opened.shared.calibrations,
        library=memory.library,
        vectors=memory.vectors,
        executor=opened.executor,
        patience=patience,
        on_read=lambda result: metrics.of(metrics.context_reads, result).inc(),
        on_compressed=metrics.context_compressed.inc,
    )


def _totals(opened: Opened, keys: KeyBook, patience: float) -> LedgerTotals:
    storage = opened.storage
    return LedgerTotals(
        storage.accounts,
        opened.metrics,
        opened.tasks,
        ledger_name(storage.secret),
        KeyAccounts(keys, storage.keys) if keys.checks else None,
        deadline=TOTALS_DEADLINE * patience,
    )


async def _warmed(config: Config, executor: Executor, library: Library) -> None:
    """Loads what the first request would wait for."""
    loop = asyncio.get_running_loop()
    await loop.run_in_executor(executor, table)
    if config.context.mode != "off":
        await loop.run_in_executor(executor, warm)
        await library.warm()
    if gc.get_threshold() == COLLECTING:  # a process that serves: what came since it was prepared stays as long
        gc.freeze()


def compose(
    opened: Opened,
    upstreams: Sequence[Upstream],
    *,
    keep: Keep | None = None,
    patience: float = 1.0,
    tracing: Tracing | None = None,
) -> Services:
    """Returns all services around parts that are open. `keep`: replaces the keeper of request contents."""
    config, storage, shared, metrics = opened.config, opened.storage, opened.shared, opened.metrics
    executor, tasks, database = opened.executor, opened.tasks, storage.database
    keys = KeyBook(config, storage.secret, storage.keys)
    limiter, rollout = _limiter(opened, keys), _rollout(opened, keys)
    router = Router(upstreams, reject_unknown=config.server.unknown_model == "reject")
    _expect(config, metrics)
    answered = AnsweredScopes(storage.has_scope, are_ours=config.auth.mode == "keys")
    erasures = database.erasures
    partitions = Partitions(storage.reuse, executor, foreign_writes=database.foreign_writes, is_over=erasures.is_over)
    intent = _intent(opened, partitions)
    memory = remembering.memory(opened, answered, patience)
    library, ends = memory.library, memory.ends
    held = shared.open_turns, shared.last_served
    for part in (library, partitions, answered, *held, ends, memory.arming, memory.desks, rollout):
        if part is not None:
            erasures.on_erased(part.drop)
    planner = _planner(opened, memory, patience)
    recorder = Recorder(
        answered=answered,
        storage=storage,
        shared=shared,
        counter=opened.counter,
        metrics=metrics,
        router=router,
        remember=intent.remember,
        learner=memory.learner,
        obedience=memory.obedience,
        tasks=tasks,
        executor=executor,
        ttl=config.reuse.exact.ttl,
        ends=ends,
        settle=partial(_settle, limiter, rollout),
        keep=keep or (Keeper(storage.contents, library.has_forgotten).keep if storage.contents.keeps else None),
    )
    requests = OwnRequests(planner.count, recorder, metrics, tasks)
    return Services(
        config=config,
        authenticator=Authenticator(config, storage.secret, keys),
        keys=keys,
        limiter=limiter,
        rollout=rollout,
        origins=OriginPolicy(config),
        router=router,
        metrics=metrics,
        totals=_totals(opened, keys, patience),
        answered=answered,
        chains=Chains(),
        intent=intent,
        judging=asking.judging(opened, router, requests, partitions),
        library=library,
        planner=planner,
        learner=memory.learner,
        obedience=memory.obedience,
        commander=memory.commander,
        ends=ends,
        desks=memory.desks,
        files=memory.files,
        curator=asking.curator(opened, router, requests, memory),
        mirror=asking.mirror(opened, router, requests, library),
        verifier=Verifier(config.reuse.intent, opened.embedder, requests),
        recorder=recorder,
        unmanaged=Unmanaged(answered, storage, metrics, router, tasks, executor, partial(limits.settle, limiter)),
        tasks=tasks,
        executor=executor,
        counter=opened.counter,
        storage=storage,
        shared=shared,
        patience=patience,
        tracing=tracing,
    )
