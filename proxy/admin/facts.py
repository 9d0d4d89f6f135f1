"""Facts of people, for whoever runs the proxy to read and change.

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
            domain, key and pinned that are not named are derived from the value, as those of extracted facts
    POST   /admin/api/facts/derive {scope, value}
            domain and key that would be derived, and what the fact would take the place of; nothing is written
    PATCH  /admin/api/facts/{id}
            any fields of a fact but scope, and confirm: true; or restore: true alone: a deleted or superseded fact
            holds again, in place of what holds now for its domain and key
    DELETE /admin/api/facts/{id}
            forgotten, with the messages that said it

A fact tells its `source`: explicit (the user stated it), auto (derived with a model's help), file (written into
MEMORY.md), api (here, on the page, or by a tool); and its `status`: active, retrieval-only, stale, superseded (by
`superseded_by`), or deleted (out of MEMORY.md: `superseded_by` is its own id).

An id names one fact. What is written here the very next prompt sees, and is durable once it is answered.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from functools import partial
from time import time
from typing import Annotated, Any, Literal, TypeAlias, TypeVar

import msgspec
from msgspec import UNSET, UnsetType

from proxy.admin.codec import Asked, as_json, page
from proxy.admin.jobs import quoted
from proxy.admin.parts import Admin
from proxy.config import shows_content
from proxy.conversation.names import is_scope
from proxy.errors import BadRequest, UnknownRoute
from proxy.http.exchange import Call
from proxy.memory import edits, sources
from proxy.memory.ageing import decay, status
from proxy.memory.credentials import NEVER_KEPT, has_credential
from proxy.memory.deriving import derived, drafted
from proxy.memory.edits import Draft, Edit, Edited, Name, Value
from proxy.memory.showing import card, newest_first
from proxy.memory.sources import Origin
from proxy.pipeline import Services
from proxy.storage.pending import tenant_of
from proxy.storage.stores.whose import is_tenant
from proxy.types import Answer, Confidence, Fact, FactStatus, Json

T = TypeVar("T")

MOST_FACTS = 1_000
USUAL_FACTS = 100

Limit = Annotated[int, msgspec.Meta(ge=1, le=MOST_FACTS)]
Place: TypeAlias = tuple[str, float, str]  # of a fact in the list: its scope, when it was stated (negative), its id


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
    now, ageing = time(), decay(services.config.memory)
    found: list[tuple[str, Fact]] = []
    async for of, fact in _every(services, scopes, before):
        is_meant = asked.domain in (None, fact.domain) and asked.session in (None, fact.session)
        if is_meant and asked.status in ("", status(fact, now, ageing)):
            found.append((of, fact))
            if len(found) > asked.limit:
                break
    facts, after = page(found, asked.limit, lambda each: _place_of(*each))
    cards = [card(of, fact, now, ageing) for of, fact in facts]
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
    _check_value(asked.value)
    async with services.library.editing(scope):
        known = {fact.id: fact for fact in await services.library.facts.all(scope)}
        draft = await _draft(services, asked, known.values())
        made = edits.add(known.values(), draft, scope=scope, now=time(), source="api")
        return await _written(services, scope, known, made, 200 if made.fact.id in known else 201)


async def derive_fact(call: Call, admin: Admin, asked: Derivation) -> Answer:
    """Answers with the place that a fact would have."""
    services = admin.services
    known = await services.library.facts.all(_scope(asked.scope))
    place = await _off_the_loop(services, partial(derived, asked.value, known))
    now, ageing = time(), decay(services.config.memory)
    replaces = place.replaces and card(asked.scope, place.replaces, now, ageing)
    return as_json({"domain": place.domain, "key": place.key, "pinned": place.pinned, "replaces": replaces})


def _check_value(value: str) -> None:
    if has_credential(value):
        raise BadRequest(NEVER_KEPT, param="value")


async def _draft(services: Services, asked: NewFact, known: Collection[Fact]) -> Draft:
    named: dict[str, Any] = {
        "domain": asked.domain,
        "key": asked.key,
        "pinned": asked.pinned,
        "confidence": asked.confidence,
    }
    return await _off_the_loop(services, partial(drafted, asked.value, known, **named))


async def _off_the_loop(services: Services, work: Callable[[], T]) -> T:
    """Models read the words of a fact."""
    return await asyncio.get_running_loop().run_in_executor(services.executor, work)


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
    if asked.value is not UNSET and asked.value.strip() != fact.value:
        _check_value(asked.value)
    async with services.library.editing(scope):
        known = {each.id: each for each in await services.library.facts.all(scope)}
        made = edits.edit(known.values(), known.get(fact.id, fact), asked, scope=scope, now=time(), source="api")
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
        for fact in newest_first(await services.library.facts.all(scope)):
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
    now, ageing = time(), decay(services.config.memory)
    past = edits.history(facts, fact)
    before, after = ([card(scope, each, now, ageing) for each in some] for some in (past.before, past.after))
    return {"fact": card(scope, fact, now, ageing), "history": {"before": before, "after": after}}
