"""Memory with a model's help, for whoever runs the proxy: what the model did, what was kept or refused and why, what it
cost, and its undoing.

    GET  /admin/api/jobs?scope=&state=&before=&limit=
            jobs, newest first, with the number of their lines by result; `next` is the `before` of the next page
    GET  /admin/api/jobs/{id}
            a job, and its lines: what the model proposed, its quotation, what came of it
    POST /admin/api/jobs {scope, kind, subject}
            a job is due now: a conversation is read (kind "extract", the subject its session), facts are compared
            ("consolidate"), a digest is made ("digest", such as "day 2026-11-23"), or a session at the desk is
            concluded ("conclude", its project and name: "shop/trips", "/trips"): 202
    POST /admin/api/jobs/{id}/undo {fact}
            what the job has kept of a fact is undone, durably: what it ended holds again
    GET  /admin/api/jobs/spend?scope=
            the model and its limits, null if there is none; what it has cost, and what was saved meanwhile
    GET  /admin/api/digests?scope=&span=&from=&to=
            digests of hours, days or weeks, and the newest events, oldest first

Texts (keys, values, quotations, events, digests) are told where contents are shown (`admin.show_content`), else null.
"""

from collections.abc import Mapping
from dataclasses import asdict
from time import time
from typing import Annotated, Literal

import msgspec

from proxy.admin.codec import Asked, Moment, RowNumber, as_json, as_json_offloaded, page, total
from proxy.admin.parts import Admin
from proxy.config import shows_content
from proxy.curation.digesting import spanned
from proxy.curation.looking import card, line_cards, quotations, undoing
from proxy.curation.sessions import told_in
from proxy.errors import BadRequest, Conflict, UnknownRoute
from proxy.http.exchange import Call
from proxy.pipeline import Services
from proxy.storage.erasures import base_of
from proxy.storage.jobs import DAY, SHARE_DAYS, done_lately
from proxy.types import Answer, Fact, Json
from proxy.types.curation import DigestSpan, Job, JobKind, JobState, MemorySpend

USUAL_JOBS, MOST_JOBS = 50, 500
MOST_EVENTS = 500
MOST_DIGESTED = 366 * DAY
USUAL_SPANS: Mapping[DigestSpan, float] = {"hour": 2 * DAY, "day": 31 * DAY, "week": 182 * DAY}


class JobsAsked(Asked, frozen=True):
    """Parameters of the list of jobs."""

    scope: str | None = None
    state: JobState | Literal[""] = ""
    before: RowNumber | None = None
    limit: Annotated[int, msgspec.Meta(ge=1, le=MOST_JOBS)] = USUAL_JOBS


class Run(Asked, frozen=True):
    """The body of a job to be done now."""

    scope: str
    kind: JobKind = "extract"
    subject: str = ""


class Undo(Asked, frozen=True):
    """The body of an undoing."""

    fact: str


class SpendAsked(Asked, frozen=True):
    """Parameters of what memory costs."""

    scope: str | None = None


class DigestsAsked(Asked, frozen=True):
    """Parameters of the digests of a scope."""

    scope: str
    span: DigestSpan = "day"
    start: Moment | None = msgspec.field(default=None, name="from")
    to: Moment | None = None


async def jobs(call: Call, admin: Admin, asked: JobsAsked) -> Answer:
    """Answers with a page of the jobs."""
    services = admin.services
    states = (asked.state,) if asked.state else ()
    found = await services.storage.jobs.jobs(asked.scope, before=asked.before, limit=asked.limit + 1, states=states)
    listed, after = page(found, asked.limit, lambda job: job.id)
    return await as_json_offloaded(services, lambda: {"jobs": [card(job) for job in listed], "next": after})


async def job(call: Call, admin: Admin, asked: Asked) -> Answer:
    """Answers with a job and its lines."""
    return await _with_lines(admin.services, await _found(call, admin.services))


async def run(call: Call, admin: Admin, asked: Run) -> Answer:
    """Arms a job for now, and has the worker of this process look for it at once."""
    services = admin.services
    if services.curator is None:
        raise UnknownRoute("No model helps memory: memory.model names none.")
    scope = asked.scope
    if asked.kind == "extract":
        scope = await _memory_of(services, asked.scope, asked.subject)
    elif not await services.answered.has(base_of(scope)):
        raise UnknownRoute(f"Nothing is kept of a scope {scope[:80]!r}.")
    elif not _is_named(asked):
        raise BadRequest("subject names no such job", param="subject")
    now = time()
    services.storage.jobs.arm(scope, asked.kind, asked.subject, now, sooner=True, anyway=True)
    await services.storage.jobs.flush()
    services.curator.arming.on_due()
    return as_json({"scope": scope, "kind": asked.kind, "subject": asked.subject, "due_at": now}, 202)


def _is_named(asked: Run) -> bool:
    if asked.kind == "consolidate":
        return not asked.subject
    if asked.kind == "conclude":
        return bool(told_in(asked.subject)[0])
    try:
        spanned(asked.subject)
    except ValueError:
        return False
    return True


async def undo(call: Call, admin: Admin, asked: Undo) -> Answer:
    """Undoes what a job has kept of a fact."""
    services = admin.services
    found = await _found(call, services)
    scope = found.scope
    shelf = await services.library.shelf(scope)
    known = {fact.id: fact for fact in await services.library.facts.all(scope)}
    made = undoing(found, asked.fact, known, time())
    if not made.is_possible:
        told = f"Job {found.id} has kept nothing of {asked.fact[:40]!r} that can be undone: what came later rests on it"
        raise Conflict(f"{told}, or it was undone.", param="fact")
    services.library.learn(scope, shelf, made.rows)
    await services.library.facts.flush()
    await services.storage.jobs.undone(found.id, asked.fact)
    return await _with_lines(services, await _found(call, services))


async def spend(call: Call, admin: Admin, asked: SpendAsked) -> Answer:
    """Answers with what memory costs, and the limits of that."""
    services = admin.services
    store, now = services.storage.jobs, time()
    midnight, begin = now - now % DAY, now - SHARE_DAYS * DAY
    today, lately = await store.spent(midnight), await store.spent(begin)
    if asked.scope is None:
        told = MemorySpend(today, today, lately)
    else:
        told = MemorySpend(today, await store.spent(midnight, asked.scope), await store.spent(begin, asked.scope))
    whose = None if asked.scope is None else base_of(asked.scope)
    buckets = await services.storage.accounts.buckets(begin - begin % DAY, now, 86_400, whose)
    sums = total(each.sums for each in buckets)
    saved = sums.saved_exact + sums.saved_intent + sums.saved_context - sums.added_context
    more = {"saved_30_days": saved, "net_30_days": saved - told.scope_30_days}
    return as_json({"model": _model(services), "scope": asked.scope, **asdict(told), **more})


async def digests(call: Call, admin: Admin, asked: DigestsAsked) -> Answer:
    """Answers with digests and events of a scope."""
    services = admin.services
    end = time() if asked.to is None else asked.to
    start = max(end - USUAL_SPANS[asked.span], 0.0) if asked.start is None else asked.start
    if not start < end <= start + MOST_DIGESTED:
        raise BadRequest("from is before to, by a year at most", param="from")
    store = services.storage.jobs
    found = await store.digests(asked.scope, asked.span, start, end)
    events = await store.events(asked.scope, start, end)
    with_text = shows_content(services.config)

    def text(said: str) -> str | None:
        return said if with_text else None

    def told() -> Json:
        listed = [{"at": each.at, "text": text(each.text), "by_model": each.by_model} for each in found]
        named = [
            {"code": each.code, "at": each.at, "session": each.session, "turn": each.turn, "text": text(each.text)}
            for each in events[-MOST_EVENTS:]
        ]
        head = {"scope": asked.scope, "span": asked.span, "from": start, "to": end}
        return {**head, "digests": listed, "events": named, "more_events": len(events) > MOST_EVENTS}

    return await as_json_offloaded(services, told)


async def quoted(services: Services, scope: str, fact: Fact) -> Json:
    """Returns the quotations of the jobs that made a fact, as JSON: none for what a model has not derived."""
    if fact.source != "auto":
        return []
    found = await done_lately(services.storage.jobs, scope)
    hidden = {} if shows_content(services.config) else {"quote": None}
    return [asdict(each) | hidden for each in quotations(found, fact.id)]


async def _found(call: Call, services: Services) -> Job:
    name = call.parameters["id"]
    number = int(name) if name.isascii() and name.isdigit() and len(name) <= len(str(2**62)) else 0
    found = await services.storage.jobs.job(number)
    if found is None:
        raise UnknownRoute(f"There is no job {name[:40]!r}.")
    return found


async def _with_lines(services: Services, found: Job) -> Answer:
    known = {fact.id: fact for fact in await services.library.facts.all(found.scope)}
    with_text = shows_content(services.config)
    return await as_json_offloaded(
        services, lambda: {"job": card(found), "lines": line_cards(found, known, time(), with_text=with_text)}
    )


async def _memory_of(services: Services, scope: str, session: str) -> str:
    """Returns the scope of memory that has the turns of a conversation: the end user's, or its own. Raises
    UnknownRoute."""
    for each in (scope, f"{scope}~{session}"):
        if await services.library.archive.latest(each, session) is not None:
            return each
    raise UnknownRoute(f"Nothing is kept of a session {session[:40]!r} of this scope.")


def _model(services: Services) -> Json:
    settings = services.config.memory.model
    if settings is None:
        return None
    return {
        "upstream": settings.upstream,
        "model": settings.model,
        "when": settings.when,
        "idle": settings.idle,
        "max_share": settings.max_share,
        "allowance": settings.allowance,
        "per_day": settings.per_day,
    }
