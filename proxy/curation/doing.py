"""The work of one job, from its row to what came of it: reads what it is about, asks the model, carries out, and tells.

A job without an answer is asked (anew), one with an answer is carried out, without asking again. An answer that is none
makes the next question smaller: if one turn makes the model talk nonsense, it is passed over in the end, alone.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from functools import partial
from time import time
from typing import Protocol, TypeAlias, TypeVar, get_args

from proxy.curation import answers, asking, consolidating, digesting, operations, retracting
from proxy.curation.asking import Question
from proxy.curation.concluding import Concluding
from proxy.curation.prompts import Prompts
from proxy.curation.retracting import OrdersSince
from proxy.curation.spending import Caller, Failed, Left, Unaffordable, Unanswerable
from proxy.curation.watching import CurationWatch, Unwatched
from proxy.curation.writing import Decide, FactWriter, Written
from proxy.embedding import EmbeddingUnavailable
from proxy.memory.library import Library
from proxy.storage.jobs import JobStore
from proxy.storage.recollection import links_of
from proxy.tasks import within
from proxy.types import ArchivedTurn, Fact, Json, Vector
from proxy.types.curation import (
    Digest,
    DigestSpan,
    Finished,
    Job,
    OperationName,
    OutcomeLine,
    StoredSummary,
)

T = TypeVar("T")

MOST_TOKENS = 12_000  # of turns in one question
SMALLER = 4  # times fewer of them, where that is too dear, or has brought no answer
PAGE = 100  # turns that are looked up at once
MOST_TURNS = 1_000  # of a conversation that are read; of a longer one the newest
MOST_COMPARED = 500  # facts of a scope that are compared, the newest
EMBEDDED_AT_ONCE = 8
MOST_REMEMBERED = 200  # jobs of a scope by which it is known what was compared before
EMBEDDING_DEADLINE = 20.0  # seconds
SETTLED = 3_600.0  # seconds after a change of facts at which they are put in order
LATE = 60.0  # seconds after a span at which it is digested: what ends with it is in
LAST_ATTEMPT = 5  # with an answer that is none: its turns are passed over

Embed: TypeAlias = Callable[[Sequence[str]], Awaitable[Sequence[Vector]]]  # may raise EmbeddingUnavailable
OF_FACTS = frozenset(get_args(OperationName))


@dataclass(frozen=True, slots=True, eq=False)
class Doing:
    """The work on jobs, for one owner."""

    caller: Caller
    writer: FactWriter
    library: Library
    jobs: JobStore
    prompts: Prompts
    count: Callable[[str], int]  # tokens
    embed: Embed
    executor: Executor
    watch: CurationWatch = field(default_factory=Unwatched)
    concluding: Concluding | None = None  # None: no session has a desk
    on_line: Callable[[OutcomeLine], None] = lambda _line: None
    clock: Callable[[], float] = time

    async def do(self, job: Job) -> bool:
        """Works on a job that was claimed; False if there was nothing to do. Raises Unaffordable,
        Unanswerable, Failed, Left, and whatever storage raises."""
        match job.kind:
            case "extract":
                return await self._extract(job)
            case "consolidate":
                return await self._consolidate(job)
            case "digest":
                return await self._digest(job)
            case "conclude":
                finished = await self.concluding.concluded(job) if self.concluding else Finished(reason="nothing new")
                return await self._finish(job, finished)

    # --- what a conversation says -------------------------------------------------------------------------------------

    async def _extract(self, job: Job) -> bool:
        if not job.answer:
            unread = await self._unread(job.scope, job.subject)
            if not unread:
                return await self._finish(job, Finished(reason="nothing new"))
            shelf = await self.library.renewed(job.scope)
            question = await self._affordable(job, unread, tuple(shelf.facts.values()))
            is_last = job.attempts >= LAST_ATTEMPT
            job = await self.caller.ask(job, question, _missing if is_last else _unreadable)
        turns = await self._turns_of(job)
        if not turns:  # they have expired since
            return await self._finish(job, Finished(reason="nothing new"))
        now = self.clock()
        orders = await self._orders(job, turns)
        written = await self._carried(
            job, lambda facts, gone: operations.extracted(job, turns, facts, forgotten=gone, now=now, orders=orders)
        )
        carried, last = written.carried, turns[-1]
        found = carried.summary
        summary = None if found is None else StoredSummary(last.link, job.subject, last.at, found)
        for subject in {digesting.subject_of("hour", event.at) for event in carried.events}:
            self._arm_digest(job.scope, subject)
        if any(line.result == "kept" and line.op in OF_FACTS for line in carried.lines):
            self.jobs.arm(job.scope, "consolidate", "", now + SETTLED)
        if await self._unread(job.scope, job.subject, beside=turns):
            self.jobs.arm(job.scope, "extract", job.subject, now, sooner=True)
        return await self._finish(
            job,
            Finished(carried.lines, carried.events, summary=summary, slug=carried.slug),
            written,
        )

    async def _unread(self, scope: str, session: str, beside: Sequence[ArchivedTurn] = ()) -> tuple[ArchivedTurn, ...]:
        """Returns the turns of a session that no job has read, oldest first. `beside`: but for these."""
        archive = self.library.archive
        await archive.flush()
        newest = await archive.latest(scope, session)
        link, found = (b"" if newest is None else newest.link), tuple[ArchivedTurn, ...]()
        seen = {turn.link for turn in beside}
        while link and len(found) < MOST_TURNS:
            page = await archive.path(scope, link, PAGE)
            read = await self.jobs.was_read(scope, [name for turn in page for name in links_of(turn)])
            left = asking.unread(page, read | seen)
            found = (*left, *found)
            if len(left) < len(page) or not page:
                break  # the oldest are read first
            link = page[0].parent
        return found

    async def _affordable(self, job: Job, unread: Sequence[ArchivedTurn], facts: Sequence[Fact]) -> Question:
        """Returns the largest question about the first of these turns that can be paid, and has paid for it. Raises
        Unaffordable."""
        attempt = job.attempts
        most = MOST_TOKENS // SMALLER ** (attempt - 1) if attempt < LAST_ATTEMPT else 0  # then one turn
        asked = 0
        while True:
            turns = await self._in_thread(partial(asking.fitting, unread, self.count, most))
            if len(turns) != asked:
                asked = len(turns)
                question = await self._questioned(partial(asking.extraction, turns, facts))
                try:
                    await self.caller.reserve(job, question)
                except Unaffordable:
                    if asked == 1:
                        raise
                else:
                    return question
            most //= SMALLER

    async def _turns_of(self, job: Job) -> tuple[ArchivedTurn, ...]:
        """Returns the turns that the model was shown, in their order."""
        shown = {link: place for place, link in enumerate(job.read)}
        turns = await self.library.archive.containing(job.scope, job.read)
        return tuple(sorted((turn for turn in turns if turn.link in shown), key=lambda turn: shown[turn.link]))

    async def _orders(self, job: Job, turns: Sequence[ArchivedTurn]) -> OrdersSince:
        """Returns the orders to forget: of this conversation, and of any that this process has just heard."""
        archive, scope = self.library.archive, job.scope
        newest = await archive.latest(scope, job.subject)
        path = () if newest is None else await archive.path(scope, newest.link, PAGE)
        every = {turn.link: turn for turn in (*turns, *path)}.values()
        given = await self._in_thread(partial(retracting.given_in, sorted(every, key=lambda turn: turn.number)))
        return lambda at, number: (*retracting.since(given, at, number), *self.library.orders.since(scope, at))

    # --- facts in order -----------------------------------------------------------------------------------------------

    async def _consolidate(self, job: Job) -> bool:
        if not job.answer:
            shelf = await self.library.renewed(job.scope)
            facts = [fact for fact in shelf.facts.values() if fact.superseded_by is None]
            facts = sorted(facts, key=lambda fact: fact.created_at)[-MOST_COMPARED:]
            cosine = await self._cosines([fact.value for fact in facts])
            alike = await self._in_thread(partial(consolidating.candidates, facts, cosine))
            done = await self.jobs.jobs(job.scope, states=("done",), limit=MOST_REMEMBERED) if alike else []
            shown = [each.shown for each in done if each.kind == "consolidate"]
            groups = (await self._in_thread(partial(consolidating.fresh, alike, shown)))[: consolidating.MOST_GROUPS]
            if not groups:
                return await self._finish(job, Finished(reason="nothing new"))
            question = await self._questioned(partial(asking.consolidation, groups))
            # A fact may hold of which one message was forgotten: what is asked about does not rest on that one.
            gone = await self.library.archive.forgotten_at(job.scope, question.read)
            question = replace(question, read=tuple(link for link in question.read if link not in gone))
            await self.caller.reserve(job, question)
            job = await self.caller.ask(job, question, _unreadable)
        now = self.clock()
        written = await self._carried(job, lambda facts, _: consolidating.consolidated(job, facts, now=now))
        return await self._finish(job, Finished(written.carried.lines), written)

    async def _cosines(self, texts: Sequence[str]) -> Callable[[str, str], float | None]:
        """Returns the cosine of two of these texts; of any, None, where there are no vectors."""
        vectors: dict[str, Vector] = {}

        async def embedded() -> None:
            for start in range(0, len(texts), EMBEDDED_AT_ONCE):
                some = texts[start : start + EMBEDDED_AT_ONCE]
                vectors.update(zip(some, await self.embed(some), strict=True))

        try:
            await within(EMBEDDING_DEADLINE, embedded())
        except (EmbeddingUnavailable, TimeoutError):
            vectors.clear()

        def cosine(one: str, other: str) -> float | None:
            return float(vectors[one] @ vectors[other]) if one in vectors and other in vectors else None

        return cosine

    # --- diaries ------------------------------------------------------------------------------------------------------

    async def _digest(self, job: Job) -> bool:
        span, begin, end = digesting.spanned(job.subject)
        events = await self.jobs.events(job.scope, begin, end)
        texts = [event.text for event in events]
        if span != "hour":
            below = await self.jobs.digests(job.scope, "hour" if span == "day" else "day", begin, end)
            texts = [each.text for each in below]
        if not texts:
            return await self._finish(job, Finished(reason="nothing new"))
        # The events of its links are what it tells: if one is forgotten, there is no such digest.
        read = tuple(dict.fromkeys(event.link for event in events))
        text = digesting.digested(job.answer.decode()) if job.answer else None
        if not job.answer and len(texts) > digesting.JOINED:
            text = await self._told(job, span, texts, read)
        if not job.answer and text is None and not await self._is_read(job, read):
            raise Left
        digest = Digest(span, begin, text or digesting.plain(texts), by_model=text is not None)
        if (wider := digesting.after(span)) is not None:
            self._arm_digest(job.scope, digesting.subject_of(wider, begin))
        return await self._finish(job, Finished(digest=digest))

    async def _told(self, job: Job, span: DigestSpan, texts: Sequence[str], read: tuple[bytes, ...]) -> str | None:
        """Returns the model's digest; None if there is none to be had."""
        question = replace(await self._questioned(partial(asking.digestion, span, texts)), read=read)
        try:
            await self.caller.reserve(job, question)
            job = await self.caller.ask(job, question, _untold)
        except (Unaffordable, Unanswerable, Failed):
            return None
        told: str | None = digesting.digested(job.answer.decode())
        return told

    async def _is_read(self, job: Job, read: Sequence[bytes]) -> bool:
        """Records what a digest without a model is about; False if it was forgotten, or the job has another owner."""
        return await self.jobs.asked(job.id, self.caller.owner, model="", prompt="", shown=b"", read=read)

    def _arm_digest(self, scope: str, subject: str) -> None:
        _, _, end = digesting.spanned(subject)
        self.jobs.arm(scope, "digest", subject, max(end, self.clock()) + LATE)

    # --- of all jobs --------------------------------------------------------------------------------------------------

    async def _questioned(self, asks: "Asks") -> Question:
        model = self.caller.model
        return await self._in_thread(lambda: asks(prompts=self.prompts, settings=model.settings, schemas=model.schemas))

    async def _carried(self, job: Job, decide: Decide) -> Written:
        return await self.writer.carry_out(job.scope, decide, lambda: self.caller.holds(job))

    async def _finish(self, job: Job, finished: Finished, written: Written | None = None) -> bool:
        """Ends the job, once what it has armed is durable. Returns False if there was nothing to do. Raises Left if
        it may not end so."""
        await self.jobs.flush()
        is_finished = await self.jobs.finish(job.id, self.caller.owner, finished, self.clock())
        if not is_finished:
            if written is not None:
                await self.writer.spare(job.scope, written)
            raise Left
        for line in finished.lines:
            self.on_line(line)
        if finished.summary is not None:
            self.library.summarised(job.scope)
        if finished.events:
            self.watch.happened(job.scope, finished.events)
        if finished.digest is not None:
            self.watch.digested(job.scope, finished.digest)
        if finished.slug:
            self.watch.named(job.scope, job.subject, finished.slug)
        return finished.reason != "nothing new"

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self.executor, work)


class Asks(Protocol):
    """Puts a question together."""

    def __call__(self, *, prompts: Prompts, settings: Mapping[str, Json], schemas: bool) -> Question:
        """Returns it."""


def _missing(answer: bytes) -> str:
    return "" if answer else "no answer"


def _unreadable(answer: bytes) -> str:
    found = answers.read(answer)
    return found if isinstance(found, str) else ""


def _untold(answer: bytes) -> str:
    return "" if digesting.digested(answer.decode()) else "no digest"
