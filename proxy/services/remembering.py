"""Memory, composed: facts and old turns, the desks of models that manage their own, a person's folder, and all that
learns, obeys and hears of a conversation's end."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from proxy.curation.arming import Arming
from proxy.embedding import Embedder
from proxy.files.desk_syncing import desk_files
from proxy.files.serving import Files
from proxy.memory.ageing import decay
from proxy.memory.learn import Learner
from proxy.memory.library import Library
from proxy.memory.obedience import Obedience
from proxy.memory.vectors import VectorQueue
from proxy.pipeline.answered_scopes import AnsweredScopes
from proxy.pipeline.commanding import OBEYING, Commander
from proxy.pipeline.desk import Desks
from proxy.pipeline.ending_sessions import Ends, Listener, OnEnd, to_all
from proxy.services.opened import Opened


@dataclass(frozen=True, slots=True)
class Memory:
    """The parts that remember."""

    files: Files | None  # None: memory is in the database alone
    desks: Desks
    library: Library
    vectors: VectorQueue
    arming: Arming | None  # None: memory does without a model
    learner: Learner
    obedience: Obedience
    ends: Ends
    commander: Commander | None  # None: no message is a command


def memory(opened: Opened, answered: AnsweredScopes, patience: float) -> Memory:
    """Returns the memory of a process. `answered`: scopes that an upstream has answered. `patience`: factor of what
    requests wait for."""
    config, storage, shared = opened.config, opened.storage, opened.shared
    database, is_on = storage.database, config.context.mode != "off"
    files = _files(opened)
    desks = _desks(opened, files)
    library = _library(opened, files, desks, patience)
    if files is not None:
        files.serve(library)
        database.erasures.on_erased(files.drop)
    alone = None if storage.hot is None else storage.hot.contexts.alone
    arming = _arming(opened)
    learner = Learner(
        library,
        opened.executor,
        opened.tasks,
        shared.open_turns,
        is_on=is_on,
        alone=alone,
        is_away=None if database.shared is None else lambda: database.is_away,
        **({} if arming is None else {"on_learnt": arming.learnt}),
    )
    obedience = Obedience(library, opened.tasks, learner.learning, is_answered=answered.has, patience=patience)
    commander = None
    if config.memory.commands:
        ageing = decay(config.memory)
        commander = Commander(
            library,
            obedience,
            learner,
            answered,
            shared.open_turns,
            ageing,
            archives_all=is_on,
            obeying=OBEYING * patience,
        )
    return Memory(
        files=files,
        desks=desks,
        library=library,
        vectors=VectorQueue(library, opened.embedder, opened.executor, opened.tasks, opened.metrics.failed_open),
        arming=arming,
        learner=learner,
        obedience=obedience,
        ends=_ends(opened, learner, [part.ended for part in (files, arming) if part is not None]),
        commander=commander,
    )


def _files(opened: Opened) -> Files | None:
    settings, storage = opened.config.memory, opened.storage
    if settings.files is None or not storage.facts.keeps:
        return None
    desk = desk_files(settings.tools, storage.desks, opened.counter.text)
    told = opened.metrics.failed_open
    return Files(settings.files, storage, opened.tasks, told, desk, tape_mb=settings.tools.tape_mb)


def _desks(opened: Opened, files: Files | None) -> Desks:
    config, storage = opened.config, opened.storage
    return Desks(
        config.memory.tools,
        storage.desks,
        counter=opened.counter,
        executor=opened.executor,
        idempotent=config.reuse.tools,
        foreign_writes=storage.database.foreign_writes,
        on_call=opened.metrics.tool_called,
        on_written=(lambda _scope: None) if files is None else files.taped,
    )


def _library(opened: Opened, files: Files | None, desks: Desks, patience: float) -> Library:
    config, storage = opened.config, opened.storage
    return Library(
        storage.facts,
        storage.archive,
        storage.states,
        storage.wipes,
        opened.executor,
        opened.tasks,
        contents=storage.contents,
        quality=storage.quality,
        undo=config.memory.undo,
        on_fail_open=opened.metrics.failed_open,
        on_forget=partial(_forget, opened.embedder, desks),
        foreign_writes=storage.database.foreign_writes,
        is_hot=storage.is_hot,
        watch=files,
        beside=None if files is None else files.beside,
        jobs=None if config.memory.model is None else storage.jobs,
        patience=patience,
    )


def _forget(embedder: Embedder, desks: Desks) -> None:
    """Drops from memory what may be forgotten in storage."""
    embedder.forget()
    desks.forget()


def _arming(opened: Opened) -> Arming | None:
    settings, storage = opened.config.memory, opened.storage
    if settings.model is None or not (storage.jobs.keeps and storage.facts.keeps):
        return None
    return Arming(settings.model, storage.jobs, project=settings.tools.project, has_desks=storage.desks.keeps)


def _ends(opened: Opened, learner: Learner, told: Sequence[OnEnd]) -> Ends:
    if not told:
        return Ends(opened.config.memory.idle, None)
    listener = Listener(to_all(told), learner.settled_in, opened.metrics.failed_open, opened.tasks)
    return Ends(opened.config.memory.idle, listener)
