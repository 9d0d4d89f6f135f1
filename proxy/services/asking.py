"""Requests of our own, composed: the judges of reuse and of managed answers, and the model that reads conversations for
memory."""

import secrets

from proxy.curation.concluding import Concluding
from proxy.curation.doing import Doing
from proxy.curation.prompts import Prompts
from proxy.curation.spending import Caller
from proxy.curation.watching import Unwatched
from proxy.curation.working import Curator
from proxy.curation.writing import FactWriter
from proxy.memory.library import Library
from proxy.pipeline.memory_model import UpstreamMemoryModel
from proxy.pipeline.mirror import Mirror
from proxy.pipeline.own_requests import OwnRequests, UpstreamJudge
from proxy.reuse.judging import Judging
from proxy.reuse.partitions import Partitions
from proxy.services.opened import Opened
from proxy.services.remembering import Memory
from proxy.upstream.client import Router


def judging(opened: Opened, router: Router, requests: OwnRequests, partitions: Partitions) -> Judging | None:
    """Returns the judge of questions that the comparison refuses; None if none is configured."""
    if (judge := opened.config.reuse.intent.judge) is None:
        return None
    metrics = opened.metrics
    return Judging(
        judge,
        UpstreamJudge(judge, router, requests),
        partitions,
        opened.storage.ledger,
        breakers=opened.shared.breakers,
        told=lambda result: metrics.of(metrics.reuse_judged, result).inc(),
        tasks=opened.tasks,
    )


def mirror(opened: Opened, router: Router, requests: OwnRequests, library: Library) -> Mirror | None:
    """Returns the part that has a sample of requests answered as they were, too; None if none is configured."""
    quality, storage = opened.config.quality, opened.storage
    if quality is None or not quality.share or not storage.quality.keeps:
        return None
    judge = quality.judge
    return Mirror(
        quality,
        requests,
        router,
        storage.quality,
        opened.embedder,
        opened.executor,
        foreign_writes=storage.database.foreign_writes,
        has_forgotten=library.has_forgotten,
        keeps_texts=storage.contents.keeps,
        judge=None if judge is None else UpstreamJudge(judge, router, requests, reason="quality_judge"),
    )


def curator(opened: Opened, router: Router, requests: OwnRequests, memory: Memory) -> Curator | None:
    """Returns the part that has a model read conversations; None if none is configured, or nothing is kept."""
    config, storage, executor, count = opened.config.memory, opened.storage, opened.executor, opened.counter.text
    if (model := config.model) is None or memory.arming is None:
        return None
    asked = UpstreamMemoryModel(model, router, requests, executor)
    caller = Caller(asked, model, storage.jobs, storage.accounts, opened.tasks, owner=secrets.token_hex(8))
    prompts = Prompts(model.prompts)
    alone = None if storage.hot is None else storage.hot.contexts.alone
    doing = Doing(
        caller,
        FactWriter(memory.library, executor, alone),
        memory.library,
        storage.jobs,
        prompts,
        concluding=Concluding(
            caller, storage.jobs, storage.desks, storage.archive, prompts, config.tools.sections, count, executor
        ),
        count=count,
        embed=memory.vectors.of,
        executor=executor,
        watch=memory.files or Unwatched(),
        on_line=opened.metrics.curated,
    )
    told = opened.metrics
    return Curator(memory.arming, doing, storage.jobs, opened.tasks, told.failed_open, on_job=told.worked)
