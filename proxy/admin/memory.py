"""Memory, for whoever runs the proxy to read and change: facts of people, and answers that are reused.

    GET    /admin/api/facts?scope=&session=&status=&domain=&before=&limit=
            newest first; without a scope those of every scope, one scope after the other; `next` is the `before` of the
            next page
    GET    /admin/api/facts/wiped?scope=&before=&limit=
            what the newest wipe took and can be brought back, and until when, a scope each
    POST   /admin/api/facts/restore {scope, until?}
            what the newest wipe took comes back (`until`: if it is that one); what newer facts have ended, as history
    GET    /admin/api/facts/{id}
            a fact, what it took the place of, what took its place, and where it comes from: `said` has the messages
            that said it (`state` is kept), or tells why there are none: they are gone, or hidden; or the fact came by
            hand into an old database (by_hand), from a MEMORY.md (file), by this API (api), from a model (auto). Of a
            fact that a model derived, `quotations` has the words it rests on, and the jobs that read them
    POST   /admin/api/facts {scope, value, domain?, key?, confidence?, pinned?}
            domain and key that are not named are derived from the value, as those of extracted facts
    POST   /admin/api/facts/derive {scope, value}
            domain and key that would be derived, and what the fact would take the place of; nothing is written
    PATCH  /admin/api/facts/{id}
            any fields of a fact but scope, and confirm: true; or restore: true alone: a deleted or superseded fact
            holds again, in place of what holds now for its domain and key
    DELETE /admin/api/facts/{id}
            forgotten, with the messages that said it
    GET    /admin/api/reuse?scope=&before=&limit=
            the reuse log of a scope, newest first; of the entries that were reused, those that were reported as wrong
    GET    /admin/api/reuse/{id}
            an entry and its lines of the log
    POST   /admin/api/reuse/{id}/wrong
            the entry is evicted, and needs more than it had to be reused again

A fact tells its `source`: explicit (the user stated it), auto (derived with a model's help), file (written into
MEMORY.md), api (here, on the page, or by a tool); and its `status`: active, retrieval-only, stale, superseded (by
`superseded_by`), or deleted (out of MEMORY.md: `superseded_by` is its own id).

An id names one fact. What is written here the very next prompt sees, and is durable once it is answered. The id of an
entry is in the `x-olvido-reuse` header of every reused answer.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import asdict
from hashlib import blake2b
from time import time
from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from proxy.admin.codec import Asked, as_json, page
from proxy.admin.jobs import quoted
from proxy.admin.parts import Admin
from proxy.config import shows_content
from proxy.conversation.identify import is_scope
from proxy.errors import BadRequest, UnknownRoute
from proxy.http.exchange import Call
from proxy.memory import edits, sources
from proxy.memory.deriving import Derived, derived
from proxy.memory.edits import Draft, Edit, Edited, Name, Value
from proxy.memory.facts import status
from proxy.memory.sources import Origin
from proxy.pipeline import Services
from proxy.storage.pending import tenant_of
from proxy.storage.stores.whose import is_tenant
from proxy.types import Answer, Confidence, Fact, FactStatus, Json, ReuseDecision, ReuseEntry

MOST_FACTS = 1_000
USUAL_FACTS = 100
MOST_RETURNED = 50  # conversations that one report returns to pass-through
MOST_LINES = 1_000
USUAL_LINES = 100

Limit = Annotated[int, msgspec.Meta(ge=1, le=MOST_FACTS)]
Place: TypeAlias = tuple[str, float, str]  # of a fact in the list: its scope, when it was stated (negative), its id


# --- facts ---


class FactsAsked(Asked, frozen=True):
    """Parameters of the list of facts."""

    scope: str | None = None
    session: str | None = None
    status: FactStatus | Literal[""] = ""
    domain: str | None = None
    before: str | None = None
    limit: Limit = USUAL_FACTS


class WipedAsked(Asked, frozen=True):
    """Parameters of the list of wipes."""

    scope: str | None = None
    before: str = ""
    limit: Limit = USUAL_FACTS


class NewFact(Asked, frozen=True, kw_only=True):
    """The body of a fact to be added. What is unset is derived from its value."""

    scope: str
    value: Value
    domain: Name | UnsetType = UNSET
    key: Name | UnsetType = UNSET
    confidence: Confidence = "high"
    pinned: bool | UnsetType = UNSET


class Derivation(Asked, frozen=True):
    """The body of a question for the place of a fact."""

    scope: str
    value: Value


class Change(Edit, frozen=True):
    """The body of a change to a fact."""

    restore: bool | UnsetType = UNSET  # only true


class Restore(Asked, frozen=True):
    """The body of a wipe to be undone."""

    scope: str
    until: float | None = None  # unix seconds


async def facts(call: Call, admin: Admin, asked: FactsAsked) -> Answer:
    """Answers with a page of the facts."""
    services = admin.services
    before = None if asked.before is None else _place(asked.before)
    whose = asked.scope
    scopes = [whose] if whose is not None and not is_tenant(whose) else await services.library.facts.scopes()
    if whose is not None:
        scopes = [each for each in scopes if whose in (each, tenant_of(each))]
    now, ageing = time(), edits.decay(services.config.memory)
    found: list[tuple[str, Fact]] = []
    async for of, fact in _every(services, scopes, before):
        is_meant = asked.domain in (None, fact.domain) and asked.session in (None, fact.session)
        if is_meant and asked.status in ("", status(fact, now, ageing)):
            found.append((of, fact))
            if len(found) > asked.limit:
                break
    facts, after = page(found, asked.limit, lambda each: _place_of(*each))
    cards = [edits.card(of, fact, now, ageing) for of, fact in facts]
    return as_json({"facts": cards, "more": after is not None, "next": after})


async def fact(call: Call, admin: Admin, asked: Asked) -> Answer:
    """Answers with a fact, its history and the messages that said it."""
    services = admin.services
    scope, fact = await _found(call, services)
    told = _with_history(services, scope, fact, await services.library.facts.all(scope))
    quotations = await quoted(services, scope, fact)
    return as_json({**told, "said": await _said(services, scope, fact), "quotations": quotations})


async def wiped_facts(call: Call, admin: Admin, asked: WipedAsked) -> Answer:
    """Answers with a page of the wipes that can be undone."""
    found = await admin.services.library.wipes.wiped(time(), asked.scope, after=asked.before, limit=asked.limit + 1)
    listed, after = page(found, asked.limit, lambda each: each.scope)
    return as_json({"wiped": listed, "next": after})


async def restore_facts(call: Call, admin: Admin, asked: Restore) -> Answer:
    """Restores the facts of the newest wipe."""
    back = await admin.services.library.restore(asked.scope, asked.until)
    if back is None:
        raise UnknownRoute("Nothing of that scope can be brought back: nothing was wiped, or not lately, or not then.")
    return as_json({"scope": back.scope, "facts": back.facts, "turns": back.turns})


async def add_fact(call: Call, admin: Admin, asked: NewFact) -> Answer:
    """Adds a fact; 201, or 200 for one that is known."""
    services = admin.services
    scope = _scope(asked.scope)
    if not services.library.facts.keeps:
        raise BadRequest("No facts are kept: memory.facts or storage.kind says so, or the database cannot be used.")
    known = {fact.id: fact for fact in await services.library.facts.all(scope)}
    draft = await _draft(services, asked, known.values())
    made = edits.add(known.values(), draft, scope=scope, now=time(), source="api")
    return await _written(services, scope, known, made, 200 if made.fact.id in known else 201)


async def derive_fact(call: Call, admin: Admin, asked: Derivation) -> Answer:
    """Answers with the place that a fact would have."""
    services = admin.services
    known = await services.library.facts.all(_scope(asked.scope))
    place = await _derived(services, asked.value, known)
    now, ageing = time(), edits.decay(services.config.memory)
    replaces = place.replaces and edits.card(asked.scope, place.replaces, now, ageing)
    return as_json({"domain": place.domain, "key": place.key, "pinned": place.pinned, "replaces": replaces})


async def _draft(services: Services, asked: NewFact, known: Collection[Fact]) -> Draft:
    domain, key, pinned = asked.domain, asked.key, asked.pinned
    if domain is UNSET or key is UNSET:
        place = await _derived(services, asked.value, known)
        domain = place.domain if domain is UNSET else domain
        key = place.key if key is UNSET else key
        pinned = place.pinned if pinned is UNSET else pinned
    return Draft(domain, key, asked.value, asked.confidence, pinned is True)


async def _derived(services: Services, value: str, known: Collection[Fact]) -> Derived:
    """Off the event loop: models read the words."""
    return await asyncio.get_running_loop().run_in_executor(services.executor, derived, value, known)


def _scope(given: str) -> str:
    """Returns a scope. Raises BadRequest if it is none."""
    if not is_scope(given):
        raise BadRequest(
            "scope is a tenant's 32 hex digits, a slash, and the end user's name or nothing", param="scope"
        )
    return given


async def change_fact(call: Call, admin: Admin, asked: Change) -> Answer:
    """Changes, confirms or restores a fact."""
    services = admin.services
    if asked.confirm is False:
        raise BadRequest("confirm can only be true: nothing that was confirmed is taken back", param="confirm")
    if asked.restore is False:
        raise BadRequest("restore can only be true: DELETE forgets a fact", param="restore")
    if asked == Change():
        raise BadRequest(f"Name what shall be otherwise: {', '.join(sorted(Change.__struct_fields__))}.")
    if asked.restore and asked != Change(restore=True):
        raise BadRequest("restore goes alone: change the fact once it holds again", param="restore")
    scope, fact = await _found(call, services)
    if asked.restore:
        every = {each.id: each for each in await services.library.facts.all(scope)}
        return await _written(services, scope, every, edits.restore(every.values(), fact, time()))
    if fact.is_deleted:
        raise BadRequest(f"{fact.id} was deleted: restore it before you change it (restore: true).")
    if fact.superseded_by is not None:
        raise BadRequest(f"{fact.id} is history, {fact.superseded_by} has taken its place: change that one.")
    known = {each.id: each for each in await services.library.facts.all(scope)}
    made = edits.edit(known.values(), fact, asked, scope=scope, now=time(), source="api")
    return await _written(services, scope, known, made)


async def forget_fact(call: Call, admin: Admin, asked: Asked) -> Answer:
    """Forgets a fact and the messages that said it."""
    services = admin.services
    scope, fact = await _found(call, services)
    await services.library.forget(scope, [fact])
    await services.library.facts.flush()
    return as_json({"id": fact.id, "scope": scope, "forgotten": True})


async def _every(services: Services, scopes: Sequence[str], before: Place | None) -> AsyncIterator[tuple[str, Fact]]:
    """One scope after the other, so that a limit bounds what is read; with `before`, what comes after that place,
    whether or not the fact that stood there is still known."""
    for scope in scopes:
        if before is not None and scope < before[0]:
            continue
        for fact in edits.newest_first(await services.library.facts.all(scope)):
            if before is None or (scope, -fact.created_at, fact.id) > before:
                yield scope, fact


def _place_of(scope: str, fact: Fact) -> str:
    """The place of a fact, as `before` takes it."""
    return f"{fact.created_at!r}~{fact.id}~{scope}"


def _place(given: str) -> Place:
    """The place that `_place_of` has named. Raises BadRequest."""
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?)~([^~]+)~(.+)", given, re.DOTALL)
    if match is None:
        raise BadRequest("before is the `next` of the page before", param="before")
    return match[3], -float(match[1]), match[2]


async def _found(call: Call, services: Services) -> tuple[str, Fact]:
    """As it is in storage now: another process may have changed it a moment ago."""
    found = await services.library.facts.find(call.parameters["id"])
    if found is None:
        raise UnknownRoute(f"There is no fact {call.parameters['id'][:40]!r}.")
    return found


async def _written(services: Services, scope: str, known: Mapping[str, Fact], made: Edited, code: int = 200) -> Answer:
    shelf = await services.library.shelf(scope)
    services.library.learn(scope, shelf, made.rows)
    await services.library.facts.flush()
    facts = {**known, **{row.id: row for row in made.rows}}
    return as_json(_with_history(services, scope, made.fact, facts.values()), code)


async def _said(services: Services, scope: str, fact: Fact) -> Origin:
    if (unsaid := sources.unsaid(fact)) is not None:
        return unsaid
    if not shows_content(services.config):
        return Origin("hidden")
    return sources.said(fact, await services.library.archive.containing(scope, fact.links))


def _with_history(services: Services, scope: str, fact: Fact, facts: Collection[Fact]) -> dict[str, Json]:
    now, ageing = time(), edits.decay(services.config.memory)
    past = edits.history(facts, fact)
    before, after = ([edits.card(scope, each, now, ageing) for each in some] for some in (past.before, past.after))
    return {"fact": edits.card(scope, fact, now, ageing), "history": {"before": before, "after": after}}


# --- reused answers ---


class LogAsked(Asked, frozen=True):
    """Parameters of the reuse log."""

    scope: str
    before: str | None = None
    limit: Annotated[int, msgspec.Meta(ge=1, le=MOST_LINES)] = USUAL_LINES


async def reuse_log(call: Call, admin: Admin, asked: LogAsked) -> Answer:
    """Answers with a page of the log of a scope."""
    services = admin.services
    # As many are kept of a scope as can be read at once.
    most = asked.limit + 1 if asked.before is None else services.config.reuse.intent.log_rows
    kept_lines = await services.storage.reuse.recent(asked.scope, most)
    rest = kept_lines if asked.before is None else _following(kept_lines, asked.before)
    lines, after = page(rest, asked.limit, _line_name)
    reused = {line.entry_id for line in lines if line.result == "hit"}
    entries = [await services.storage.reuse.get(asked.scope, name) for name in sorted(reused)]
    reported = {kept.id: _report(kept) for kept in entries if kept is not None and kept.strikes}
    return as_json({"scope": asked.scope, "log": lines, "reported": reported, "next": after})


async def reuse_entry(call: Call, admin: Admin, asked: Asked) -> Answer:
    """Answers with an entry and its lines of the log."""
    found = await admin.services.storage.reuse.find(call.parameters["id"])
    if found is None:
        raise _unknown(call)
    scope, kept = found
    lines = [line for line in await admin.services.storage.reuse.recent(scope, MOST_LINES) if line.entry_id == kept.id]
    return as_json({"scope": scope, "entry": {**asdict(kept), "evicted": kept.is_evicted}, "log": lines})


async def report_wrong(call: Call, admin: Admin, asked: Asked) -> Answer:
    """Takes the report that an answer was wrong."""
    services, entry = admin.services, call.parameters["id"]
    known = await services.storage.reuse.find(entry)
    ended = await services.intent.reports.wrong(entry, time())
    if ended is None or known is None:
        raise _unknown(call)
    await _give_back(services, known[0], entry)
    return as_json({"id": ended.id, "evicted": True, "min_cosine": ended.min_cosine, "strikes": ended.strikes})


async def _give_back(services: Services, scope: str, entry: str) -> None:
    """Returns the conversations to pass-through that the entry has answered lately."""
    lines = await services.storage.reuse.recent(scope, MOST_LINES)
    answered = [line.request_id for line in lines if line.entry_id == entry and line.result == "hit"]
    for request_id in answered[:MOST_RETURNED]:
        row = await services.storage.accounts.row(request_id, scope)
        if row is not None:
            services.rollout.give_back(scope, row.session, "reported")


def _line_name(line: ReuseDecision) -> str:
    """The place of a line in its log, as `before` takes it."""
    return f"{line.at!r}~{blake2b(repr(line).encode('utf-8', 'replace'), digest_size=8).hexdigest()}"


def _following(lines: Sequence[ReuseDecision], before: str) -> Sequence[ReuseDecision]:
    """The lines after that place; where its line has left the log meanwhile, so have all that were older. Raises
    BadRequest."""
    if not re.fullmatch(r"[0-9.e+-]{1,30}~[0-9a-f]{16}", before):
        raise BadRequest("before is the `next` of the page before", param="before")
    place = next((number for number, line in enumerate(lines) if _line_name(line) == before), len(lines))
    return lines[place + 1 :]


def _unknown(call: Call) -> UnknownRoute:
    return UnknownRoute(f"There is no reuse entry {call.parameters['id'][:40]!r}.")


def _report(kept: ReuseEntry) -> Json:
    return {"min_cosine": kept.min_cosine, "strikes": kept.strikes, "evicted_at": kept.evicted_at}
