"""Facts: what is remembered of people, for whoever runs the proxy.

    GET    /admin/api/facts?scope=&session=&status=&domain=&before=&limit=
                                                                 newest first; without a scope those of every scope, one
                                                                 scope after the other; `next` is the `before` of the
                                                                 next page
    GET    /admin/api/facts/wiped?scope=&before=&limit=          what the newest wipe took and can be brought
                                                                 back, and until when, a scope each
    POST   /admin/api/facts/restore                              {scope, until?}: what the newest wipe took comes
                                                                 back (`until`: if it is that one); what newer
                                                                 facts have ended, as history
    GET    /admin/api/facts/{id}                                 a fact, what it took the place of, what took its place,
                                                                 and the messages that said it
    POST   /admin/api/facts                                      {scope, domain, key, value, confidence, pinned}
    PATCH  /admin/api/facts/{id}                                 any of those but scope, and confirm: true
    DELETE /admin/api/facts/{id}                                 forgotten, with the messages that said it

An id names one fact. What is written here the very next prompt sees, and is durable once it is answered.
"""

import re
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import asdict
from time import time
from typing import TypeAlias, get_args

from proxy.admin import form
from proxy.call import Call
from proxy.config.rules import shows_content
from proxy.errors import BadRequest, UnknownRoute
from proxy.memory import edits
from proxy.memory.edits import Draft, Edit, Edited
from proxy.memory.facts import status
from proxy.memory.provenance import excerpt
from proxy.services import Services
from proxy.stages.identify import is_scope
from proxy.types import Answer, Fact, FactStatus, Json

MOST_FACTS = 1_000
USUAL_FACTS = 100
MOST_SAID = 5  # messages that said a fact

_DRAFT = frozenset(Draft.__struct_fields__)
_EDIT = frozenset(Edit.__struct_fields__)


async def listed(call: Call, services: Services) -> None:
    query = form.Query(call)
    limit = query.whole("limit", USUAL_FACTS, most=MOST_FACTS)
    wanted = query.get("status")
    if wanted is not None and wanted not in get_args(FactStatus):
        raise BadRequest(f"status is one of {', '.join(get_args(FactStatus))}", param="status")
    scope, session, domain = query.get("scope"), query.get("session"), query.get("domain")
    before = _place(query.word("before"))
    scopes = await services.library.facts.scopes() if scope is None else [scope]
    now, ageing = time(), edits.decay(services.config.memory)
    found: list[tuple[str, Fact]] = []
    async for of, fact in _every(services, scopes, before):
        if (
            wanted in (None, status(fact, now, ageing))
            and domain in (None, fact.domain)
            and session in (None, fact.session)
        ):
            found.append((of, fact))
            if len(found) > limit:
                break
    cards: list[Json] = [edits.card(of, fact, now, ageing) for of, fact in found[:limit]]
    has_more = len(found) > limit
    after = _named(*found[limit - 1]) if has_more else None
    await call.answer(form.answered({"facts": cards, "more": has_more, "next": after}))


async def shown(call: Call, services: Services) -> None:
    scope, fact = await _found(call, services)
    said = await _said(services, scope, fact)
    await call.answer(_shown(services, scope, fact, await services.library.facts.all(scope), said=said))


async def wiped(call: Call, services: Services) -> None:
    query = form.Query(call)
    limit = query.whole("limit", USUAL_FACTS, most=MOST_FACTS)
    scope, before = query.word("scope"), query.word("before")
    found = await services.library.wipes.wiped(time(), scope, after=before or "", limit=limit + 1)
    after = found[limit - 1].scope if len(found) > limit else None
    await call.answer(form.answered({"wiped": [asdict(each) for each in found[:limit]], "next": after}))


async def restored(call: Call, services: Services) -> None:
    given = await form.body(call, services, allowed=("scope", "until"), required=("scope",))
    scope, until = given["scope"], given.get("until")
    is_named = isinstance(scope, str) and isinstance(until, int | float | None)
    back = await services.library.restore(scope, until) if is_named else None
    if back is None:
        raise UnknownRoute("Nothing of that scope can be brought back: nothing was wiped, or not lately, or not then.")
    await call.answer(form.answered({"scope": back.scope, "facts": back.facts, "turns": back.turns}))


async def added(call: Call, services: Services) -> None:
    given = await form.body(call, services, allowed=_DRAFT | {"scope"}, required=("scope", "domain", "key", "value"))
    scope = given["scope"]
    if not isinstance(scope, str) or not is_scope(scope):
        raise BadRequest(
            "scope is a tenant's 32 hex digits, a slash, and the end user's name or nothing", param="scope"
        )
    draft = form.converted({name: value for name, value in given.items() if name in _DRAFT}, Draft)
    if not services.library.facts.keeps:
        raise BadRequest("No facts are kept: memory.facts or storage.kind says so, or the database cannot be used.")
    known = {fact.id: fact for fact in await services.library.facts.all(scope)}
    made = edits.add(known.values(), draft, scope=scope, now=time())
    await _write(services, scope, made)
    told = {**known, **{row.id: row for row in made.rows}}
    await call.answer(_shown(services, scope, made.fact, told.values(), 200 if made.fact.id in known else 201))


async def changed(call: Call, services: Services) -> None:
    given = await form.body(call, services, allowed=_EDIT)
    if not given or any(value is None for value in given.values()):
        raise BadRequest(f"Name what shall be otherwise: {', '.join(sorted(_EDIT))}.")
    wanted = form.converted(given, Edit)
    if "confirm" in given and not wanted.confirm:
        raise BadRequest("confirm can only be true: nothing that was confirmed is taken back", param="confirm")
    scope, fact = await _found(call, services)
    if fact.superseded_by is not None:
        raise BadRequest(f"{fact.id} is history, {fact.superseded_by} has taken its place: change that one.")
    known = {each.id: each for each in await services.library.facts.all(scope)}
    made = edits.edit(known.values(), fact, wanted, scope=scope, now=time())
    await _write(services, scope, made)
    told = {**known, **{row.id: row for row in made.rows}}
    await call.answer(_shown(services, scope, made.fact, told.values()))


async def forgotten(call: Call, services: Services) -> None:
    scope, fact = await _found(call, services)
    await services.library.forget(scope, [fact])
    await services.library.facts.flush()
    await call.answer(form.answered({"id": fact.id, "scope": scope, "forgotten": True}))


# --- parts -----------------------------------------------------------------------------------------------------------


Place: TypeAlias = tuple[str, float, str]  # of a fact in the list: its scope, when it was stated (negative), its id


async def _every(services: Services, scopes: Sequence[str], before: Place | None) -> AsyncIterator[tuple[str, Fact]]:
    """One scope after the other, so that a limit bounds what is read; with `before`, what comes after that place,
    whether or not the fact that stood there is still known."""
    for scope in scopes:
        if before is not None and scope < before[0]:
            continue
        for fact in edits.newest_first(await services.library.facts.all(scope)):
            if before is None or (scope, -fact.created_at, fact.id) > before:
                yield scope, fact


def _named(scope: str, fact: Fact) -> str:
    """The place of a fact, as `before` takes it."""
    return f"{fact.created_at!r}~{fact.id}~{scope}"


def _place(given: str | None) -> Place | None:
    """Raises BadRequest."""
    if given is None:
        return None
    at, fact_id, scope = [*given.split("~", 2), "", ""][:3]
    if not re.fullmatch(r"[0-9.e+-]{1,30}", at) or not fact_id or not scope:
        raise BadRequest("before is the `next` of the page before", param="before")
    try:
        return scope, -float(at), fact_id
    except ValueError:
        raise BadRequest("before is the `next` of the page before", param="before") from None


async def _found(call: Call, services: Services) -> tuple[str, Fact]:
    """As it is in storage now: another process may have changed it a moment ago."""
    found = await services.library.facts.find(call.parameters["id"])
    if found is None:
        raise UnknownRoute(f"There is no fact {call.parameters['id'][:40]!r}.")
    return found


async def _write(services: Services, scope: str, made: Edited) -> None:
    shelf = await services.library.shelf(scope)
    services.library.learn(scope, shelf, made.rows)
    await services.library.facts.flush()


async def _said(services: Services, scope: str, fact: Fact) -> Mapping[str, Json]:
    """The first messages that said it, as far as the archive still has them; and if none is told, why."""
    if not fact.links:
        return {"state": "by_hand", "messages": []}
    if not shows_content(services.config):
        return {"state": "hidden", "messages": []}
    found = await services.library.archive.said(scope, fact.links)
    messages: dict[bytes, dict[str, Json]] = {
        said.link: {
            "text": excerpt(said.text, fact.value),
            "session": turn.session,
            "turn": turn.number,
            "at": turn.at,
        }
        for turn in reversed(found)  # of several answers to one message the first counts
        for said in turn.utterances
        if said.role == "user" and said.link in fact.links
    }
    told = sorted(messages.values(), key=lambda each: each["at"])[:MOST_SAID]
    return {"state": "kept" if told else "gone", "messages": told}


def _shown(
    services: Services,
    scope: str,
    fact: Fact,
    facts: Collection[Fact],
    code: int = 200,
    *,
    said: Mapping[str, Json] | None = None,
) -> Answer:
    now, ageing = time(), edits.decay(services.config.memory)
    past = edits.history(facts, fact)
    history = {
        "before": [edits.card(scope, each, now, ageing) for each in past.before],
        "after": [edits.card(scope, each, now, ageing) for each in past.after],
    }
    told: dict[str, Json] = {"fact": edits.card(scope, fact, now, ageing), "history": history}
    return form.answered(told if said is None else {**told, "said": said}, code)
