"""Composition root: every part, built once from the configuration, and closed in the reverse order."""

import asyncio
import gc
import secrets
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
from proxy.curation.arming import Arming
from proxy.curation.concluding import Concluding
from proxy.curation.doing import Doing
from proxy.curation.prompts import Prompts
from proxy.curation.spending import Caller
from proxy.curation.watching import Unwatched
from proxy.curation.working import Curator
from proxy.curation.writing import FactWriter
from proxy.embedding import Embedder
from proxy.embedding.service import open_embedder
from proxy.files.desk_syncing import desk_files
from proxy.files.serving import Files
from proxy.http.access import Authenticator, OriginPolicy
from proxy.keys.book import KeyBook
from proxy.keys.limiting import Limiter
from proxy.memory.ageing import decay
from proxy.memory.learn import Learner, Obedience
from proxy.memory.library import Library
from proxy.memory.vectors import VectorQueue
from proxy.memory.warming import warm
from proxy.observe.ledger import DEADLINE as TOTALS_DEADLINE
from proxy.observe.ledger import KeyAccounts, LedgerTotals
from proxy.observe.metrics import Metrics
from proxy.observe.totals import ledger_name
from proxy.observe.tracing import Tracing
from proxy.pipeline import Services, limits
from proxy.pipeline.answered_scopes import AnsweredScopes
from proxy.pipeline.commanding import Commander
from proxy.pipeline.desk import Desks
from proxy.pipeline.ending_sessions import Ends, Listener, OnEnd, to_all
from proxy.pipeline.ledger import Keeper
from proxy.pipeline.memory_model import UpstreamMemoryModel
from proxy.pipeline.mirror import Mirror
from proxy.pipeline.own_requests import OwnRequests, UpstreamJudge, Verifier
from proxy.pipeline.record import Keep, Recorder
from proxy.pipeline.rollout import Rollout
from proxy.pipeline.unmanaged import Unmanaged
from proxy.protocol.chat import Chains
from proxy.reuse.intent import Intent
from proxy.reuse.judging import Judging
from proxy.reuse.partitions import Partitions
from proxy.storage.base import StorageError
from proxy.storage.opening import SharedObserver, Storage, open_storage, with_hot_contexts
from proxy.storage.pending import WriterLimits
from proxy.storage.redis import shared_state
from proxy.storage.shared import SharedState
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
    services = compose(
        config,
        upstreams=[Upstream(upstream, shared.breakers) for upstream in config.upstreams],
        storage=storage,
        shared=shared,
        counter=counter,
        embedder=embedder,
        executor=executor,
        tasks=tasks,
        metrics=metrics,
        patience=patience,
        tracing=_tracing(config, metrics),
    )
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


def _forget(embedder: Embedder, desks: Desks) -> None:
    """Drops from memory what may be forgotten in storage."""
    embedder.forget()
    desks.forget()


def _files(config: Config, storage: Storage, counter: TokenCounter, tasks: Tasks, metrics: Metrics) -> Files | None:
    if config.memory.files is None or not storage.facts.keeps:
        return None
    tools = config.memory.tools
    desk = desk_files(tools, storage.desks, counter.text)
    return Files(config.memory.files, storage, tasks, metrics.failed_open, desk, tape_mb=tools.tape_mb)


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


def _limiter(config: Config, keys: KeyBook, storage: Storage, shared: SharedState, metrics: Metrics) -> Limiter:
    return Limiter(
        keys,
        config.limits.users.limits(),
        shared.counters,
        storage.keys,
        storage.accounts,
        on_refused=metrics.refused_by_limit,
        on_failed=partial(metrics.failed_open, "limits"),
    )


def _settle(limiter: Limiter, rollout: Rollout, row: LedgerRow) -> None:
    """Tells those of a row who count on it."""
    limits.settle(limiter, row)
    rollout.heard(row)


def _rollout(config: Config, keys: KeyBook, storage: Storage, metrics: Metrics, tasks: Tasks) -> Rollout:
    return Rollout(
        config.context,
        keys,
        storage.returns,
        storage.accounts,
        tasks,
        is_shared=config.server.workers > 1 or config.storage.kind == "postgres",
        on_return=lambda reason: metrics.of(metrics.returned, reason).inc(),
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


def _mirror(
    config: Config,
    router: Router,
    requests: OwnRequests,
    storage: Storage,
    embedder: Embedder,
    executor: Executor,
    library: Library,
) -> Mirror | None:
    if (quality := config.quality) is None or not quality.share or not storage.quality.keeps:
        return None
    judge = quality.judge
    return Mirror(
        quality,
        requests,
        router,
        storage.quality,
        embedder,
        executor,
        foreign_writes=storage.database.foreign_writes,
        has_forgotten=library.has_forgotten,
        keeps_texts=storage.contents.keeps,
        judge=None if judge is None else UpstreamJudge(judge, router, requests, reason="quality_judge"),
    )


def compose(  # noqa: PLR0913, PLR0915 (the parts that are opened elsewhere; each part is a statement)
    config: Config,
    *,
    upstreams: Sequence[Upstream],
    storage: Storage,
    shared: SharedState,
    counter: TokenCounter,
    embedder: Embedder,
    executor: Executor,
    tasks: Tasks,
    metrics: Metrics,
    keep: Keep | None = None,
    patience: float = 1.0,
    tracing: Tracing | None = None,
) -> Services:
    """Returns all services around parts that are open. `keep`: replaces the keeper of request contents."""
    keys = KeyBook(config, storage.secret, storage.keys)
    limiter = _limiter(config, keys, storage, shared, metrics)
    rollout = _rollout(config, keys, storage, metrics, tasks)

    settle = partial(_settle, limiter, rollout)
    router = Router(upstreams, reject_unknown=config.server.unknown_model == "reject")
    _expect(config, metrics)
    answered = AnsweredScopes(storage.has_scope)
    erasures = storage.database.erasures
    partitions = Partitions(
        storage.reuse, executor, foreign_writes=storage.database.foreign_writes, is_over=erasures.is_over
    )
    intent = Intent(
        config.reuse.intent,
        embedder=embedder,
        partitions=partitions,
        store=storage.reuse,
        answers=storage.answers,
        counter=counter,
        reported=lambda reason: metrics.of(metrics.reuse_reports, reason).inc(),
        executor=executor,
        shared=shared,
    )
    files = _files(config, storage, counter, tasks, metrics)
    desks = Desks(
        config.memory.tools,
        storage.desks,
        counter=counter,
        executor=executor,
        idempotent=config.reuse.tools,
        foreign_writes=storage.database.foreign_writes,
        on_call=metrics.tool_called,
        on_written=(lambda _scope: None) if files is None else files.taped,
    )
    library = Library(
        storage.facts,
        storage.archive,
        storage.states,
        storage.wipes,
        executor,
        tasks,
        contents=storage.contents,
        quality=storage.quality,
        undo=config.memory.undo,
        on_fail_open=metrics.failed_open,
        on_forget=partial(_forget, embedder, desks),
        foreign_writes=storage.database.foreign_writes,
        is_hot=storage.is_hot,
        watch=files,
        beside=None if files is None else files.beside,
        jobs=None if config.memory.model is None else storage.jobs,
    )
    if files is not None:
        files.serve(library)
        erasures.on_erased(files.drop)
    vectors = VectorQueue(library, embedder, executor, tasks, metrics.failed_open)
    is_on = config.context.mode != "off"
    alone = None if storage.hot is None else storage.hot.contexts.alone
    database = storage.database
    is_away = None if database.shared is None else lambda: database.is_away
    model = config.memory.model if storage.jobs.keeps and storage.facts.keeps else None
    tools = config.memory.tools
    arming = None
    if model is not None:
        arming = Arming(model, storage.jobs, project=tools.project, has_desks=storage.desks.keeps)
    learner = Learner(
        library,
        executor,
        tasks,
        shared.open_turns,
        is_on=is_on,
        alone=alone,
        is_away=is_away,
        **({} if arming is None else {"on_learnt": arming.learnt}),
    )
    obedience = Obedience(library, tasks, learner.learning, is_answered=answered.has)
    told: list[OnEnd] = [part.ended for part in (files, arming) if part is not None]
    listener = Listener(to_all(told), learner.settled_in, metrics.failed_open, tasks) if told else None
    ends = Ends(config.memory.idle, listener)
    for part in (library, partitions, answered, shared.open_turns, shared.last_served, ends, arming, desks, rollout):
        if part is not None:
            erasures.on_erased(part.drop)
    commander = None
    if config.memory.commands:
        ageing = decay(config.memory)
        commander = Commander(library, obedience, learner, answered, shared.open_turns, ageing, archives_all=is_on)
    planner = Planner(
        config,
        counter=counter,
        calibrations=shared.calibrations,
        library=library,
        vectors=vectors,
        executor=executor,
        patience=patience,
        on_read=lambda result: metrics.of(metrics.context_reads, result).inc(),
        on_compressed=metrics.context_compressed.inc,
    )
    recorder = Recorder(
        answered=answered,
        storage=storage,
        shared=shared,
        counter=counter,
        metrics=metrics,
        router=router,
        remember=intent.remember,
        learner=learner,
        obedience=obedience,
        tasks=tasks,
        executor=executor,
        ttl=config.reuse.exact.ttl,
        ends=ends,
        settle=settle,
        keep=keep or (Keeper(storage.contents, library.has_forgotten).keep if storage.contents.keeps else None),
    )
    own_requests = OwnRequests(planner.count, recorder, metrics, tasks)
    judging = None
    if (judge := config.reuse.intent.judge) is not None:
        judging = Judging(
            judge,
            UpstreamJudge(judge, router, own_requests),
            partitions,
            storage.ledger,
            breakers=shared.breakers,
            told=lambda result: metrics.of(metrics.reuse_judged, result).inc(),
            tasks=tasks,
        )
    curator = None
    if model is not None and arming is not None:
        asked = UpstreamMemoryModel(model, router, own_requests, executor)
        caller = Caller(asked, model, storage.jobs, storage.accounts, tasks, owner=secrets.token_hex(8))
        prompts = Prompts(model.prompts)
        concluding = Concluding(
            caller, storage.jobs, storage.desks, storage.archive, prompts, tools.sections, counter.text, executor
        )
        doing = Doing(
            caller,
            FactWriter(library, executor, alone),
            library,
            storage.jobs,
            prompts,
            concluding=concluding,
            count=counter.text,
            embed=vectors.of,
            executor=executor,
            watch=files or Unwatched(),
            on_line=metrics.curated,
        )
        curator = Curator(arming, doing, storage.jobs, tasks, metrics.failed_open, on_job=metrics.worked)
    return Services(
        config=config,
        authenticator=Authenticator(config, storage.secret, keys),
        keys=keys,
        limiter=limiter,
        rollout=rollout,
        origins=OriginPolicy(config),
        router=router,
        metrics=metrics,
        totals=LedgerTotals(
            storage.accounts,
            metrics,
            tasks,
            ledger_name(storage.secret),
            KeyAccounts(keys, storage.keys) if keys.checks else None,
            deadline=TOTALS_DEADLINE * patience,
        ),
        answered=answered,
        chains=Chains(),
        intent=intent,
        judging=judging,
        library=library,
        planner=planner,
        learner=learner,
        obedience=obedience,
        commander=commander,
        ends=ends,
        desks=desks,
        files=files,
        curator=curator,
        mirror=_mirror(config, router, own_requests, storage, embedder, executor, library),
        verifier=Verifier(config.reuse.intent, embedder, own_requests),
        recorder=recorder,
        unmanaged=Unmanaged(answered, storage, metrics, router, tasks, executor, partial(limits.settle, limiter)),
        tasks=tasks,
        executor=executor,
        counter=counter,
        storage=storage,
        shared=shared,
        patience=patience,
        tracing=tracing,
    )
