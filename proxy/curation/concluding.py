"""The end of a session at the desk: memory's model is asked for lessons, the state of the task and notes, and what it
proposes becomes edits of the sections, in the desk's ledger with before and after.

Carried out after a kill it is carried out once: a document and the event of its edit are one transaction, and what
stands there already is not written again.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial
from time import time
from typing import TypeVar

from proxy.config.memory import DeskSections
from proxy.curation import lessons, sessions
from proxy.curation.asking import Question
from proxy.curation.lessons import Edited, Editing, Proposal, by_people
from proxy.curation.prompts import Prompts
from proxy.curation.sessions import SECTIONS, Heard, Page, ShownEnd
from proxy.curation.spending import Caller, Left, Unaffordable
from proxy.desk.sections import file_of
from proxy.storage.desk import DeskStore
from proxy.storage.jobs import JobStore
from proxy.storage.recollection import Archive
from proxy.types.curation import Finished, Job, OutcomeLine
from proxy.types.desk import DeskEvent, Document, Edit, Ended, SectionName, TapeLine

T = TypeVar("T")

MOST_TOKENS = 12_000  # of messages in one question
SMALLER = 4  # times fewer of them, where that is too dear, or has brought no answer
LAST_ATTEMPT = 5  # with an answer that is none: it is told, and nothing is changed
MOST_MESSAGES = 400  # of a session that are looked at, the newest
MOST_REMEMBERED = 200  # jobs of a scope by which it is known how far a session was concluded before
TRIES = 4  # to write where others write, too


@dataclass(frozen=True, slots=True, eq=False)
class Concluding:
    """The conclusions of sessions, for one owner of jobs."""

    caller: Caller
    jobs: JobStore
    desks: DeskStore
    archive: Archive
    prompts: Prompts
    limits: DeskSections
    count: Callable[[str], int]  # tokens
    executor: Executor
    clock: Callable[[], float] = time

    async def concluded(self, job: Job) -> Finished:
        """Returns what comes of a job that was claimed; "nothing new" if there is nothing to ask about. Raises
        Unaffordable, Unanswerable, Failed, Left, StorageError."""
        session, project = sessions.told_in(job.subject)
        if not job.answer:
            messages = await self._unread(job, session)
            if not messages:
                return Finished(reason="nothing new")
            pages = {section: _page(await self._document(job, name), name) for section, name in _names(project)}
            question = await self._affordable(job, messages, pages)
            is_last = job.attempts >= LAST_ATTEMPT
            job = await self.caller.ask(job, question, _missing if is_last else _unreadable)
        proposal = lessons.read(job.answer)
        if isinstance(proposal, str):
            return Finished((OutcomeLine("", "refused", proposal),))
        shown, lines = sessions.shown_of(job.shown), list[OutcomeLine]()
        for section, name in _names(project):
            lines += await self._written(job, session, section, name, proposal, shown)
        return Finished((*lines, *lessons.strangers(proposal), *proposal.refused))

    # --- what is asked ------------------------------------------------------------------------------------------------

    async def _unread(self, job: Job, session: str) -> tuple[Heard, ...]:
        """Returns what was said since the session was concluded last, with what it began with; nothing if nobody has
        asked anything since, or the desk was taken away from the model."""
        news = await self.desks.since(job.scope, session, 0, 0)
        before = await self._concluded_before(job)
        since = [line for line in news.lines if line.id > before]
        is_over = any(isinstance(event.payload, Ended) for event in news.events)
        if is_over or not any(line.role in ("user", "tool") for line in since):
            return ()
        first = next((line for line in news.lines if line.role == "user"), since[0])
        wanted = dict.fromkeys(line.link for line in (first, *since[-MOST_MESSAGES:]))
        found = await self.desks.tape(job.scope, session, limit=len(wanted), links=list(wanted))
        messages = await self._in_thread(partial(sessions.heard, found))
        if not any(each.role == "user" for each in messages):
            return ()  # it was forgotten
        return (*messages, *await self._answered(job.scope, session, news.lines))

    async def _answered(self, scope: str, session: str, lines: Sequence[TapeLine]) -> tuple[Heard, ...]:
        """Returns the newest answer: it gets onto the tape with the request after it, which may never come."""
        await self.archive.flush()
        newest = await self.archive.latest(scope, session)
        known = {line.link for line in lines}
        if newest is None or not any(each.link in known for each in newest.utterances):
            return ()
        new = (each for each in newest.utterances if each.link not in known and each.text.strip())
        return tuple(Heard(0, each.link, each.role, each.text) for each in new)

    async def _concluded_before(self, job: Job) -> int:
        """Returns the id of the last message that was shown when the session was concluded last; 0 if it was not."""
        done = await self.jobs.jobs(job.scope, states=("done",), limit=MOST_REMEMBERED)
        same = (each for each in done if (each.kind, each.subject) == (job.kind, job.subject))
        return max((sessions.shown_of(each.shown).last for each in same), default=0)

    async def _affordable(self, job: Job, messages: Sequence[Heard], pages: Mapping[SectionName, Page]) -> Question:
        """Returns the largest question about the newest of these messages that can be paid, and has paid for it. Raises
        Unaffordable."""
        most = MOST_TOKENS // SMALLER ** (min(job.attempts, LAST_ATTEMPT) - 1)
        asked: Sequence[Heard] = ()
        while True:
            fitting = await self._in_thread(partial(sessions.fitting, messages, self.count, most))
            if fitting != asked:
                asked = fitting
                question = await self._in_thread(partial(self._question, asked, pages))
                try:
                    await self.caller.reserve(job, question)
                except Unaffordable as unaffordable:
                    short = unaffordable
                else:
                    return question
            if not most:
                raise short
            most //= SMALLER

    def _question(self, messages: Sequence[Heard], pages: Mapping[SectionName, Page]) -> Question:
        model = self.caller.model
        return sessions.conclusion(
            messages, pages, prompts=self.prompts, settings=model.settings, schemas=model.schemas
        )

    # --- what comes of it ---------------------------------------------------------------------------------------------

    async def _written(
        self, job: Job, session: str, section: SectionName, name: str, proposal: Proposal, shown: ShownEnd
    ) -> Sequence[OutcomeLine]:
        """Edits a section; returns what came of each proposal for it. Raises Left if others keep writing there, or the
        job is another's by now."""
        for _ in range(TRIES):
            document = await self._document(job, name)
            page = _page(document, name)
            older = await self.desks.older(job.scope, name) if page.version else []
            editing = self._editing(section, page, shown.versions.get(section, 0), document, older)
            edited = await self._in_thread(partial(editing.edited, proposal, shown))
            try:
                if edited.text == page.text or await self._put(job, session, page, edited):
                    return edited.lines
            except ValueError:  # the folder is full
                return [replace(each, result="refused", reason="too many") for each in edited.lines]
        raise Left

    def _editing(
        self, section: SectionName, page: Page, shown: int, document: Document | None, older: Sequence[Document]
    ) -> Editing:
        versions = [*reversed(older), *([document] if document is not None else [])]
        known = {each.version: each.text for each in versions} | {0: ""}
        most: int = getattr(self.limits, section)
        return Editing(section, page, known.get(shown), by_people(versions), most, self.count)

    async def _put(self, job: Job, session: str, page: Page, edited: Edited) -> bool:
        if not await self.caller.holds(job):
            raise Left
        now = self.clock()
        noted = Edit("", page.name, page.text, edited.text, version=page.version + 1)
        wrote = await self.desks.put(
            job.scope,
            page.name,
            edited.text,
            version=page.version,
            at=now,
            by="memory model",
            session=session,
            events=[DeskEvent(now, "", noted)],
        )
        return wrote is not None

    async def _document(self, job: Job, name: str) -> Document | None:
        return await self.desks.document(job.scope, name)

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self.executor, work)


def _names(project: str) -> Sequence[tuple[SectionName, str]]:
    return [(section, file_of(section, project)) for section in SECTIONS]


def _page(document: Document | None, name: str) -> Page:
    if document is None:
        return Page(name)
    return Page(name, document.version, "" if document.is_removed else document.text)


def _missing(answer: bytes) -> str:
    return "" if answer else "no answer"


def _unreadable(answer: bytes) -> str:
    found = lessons.read(answer)
    return found if isinstance(found, str) else ""
