"""Facts that are remembered of people, for whoever runs the proxy to read and change.

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
from time import time
from typing import Annotated, Literal, TypeAlias

import msgspec

from proxy.admin.codec import Asked, as_json, page
from proxy.admin.parts import Admin
from proxy.config import shows_content
from proxy.conversation.identify import is_scope
from proxy.errors import BadRequest, UnknownRoute
from proxy.http.exchange import Call
from proxy.memory import edits
from proxy.memory.edits import Draft, Edit, Edited
from proxy.memory.facts import status
from proxy.memory.portable import excerpt
from proxy.pipeline.parts import Services
from proxy.types import Answer, Fact, FactStatus, Json

MOST_FACTS = 1_000
USUAL_FACTS = 100
MOST_SAID = 5  # messages that are shown as sources of a fact, at most

Limit = Annotated[int, msgspec.Meta(ge=1, le=MOST_FACTS)]


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


class NewFact(Draft, frozen=True, kw_only=True):
    """The body of a fact to be added."""

    scope: str


class Restore(Asked, frozen=True):
    """The body of a wipe to be undone."""

    scope: str
    until: float | None = None  # unix seconds


async def listed(call: Call, admin: Admin, asked: FactsAsked) -> Answer:
    """Answers with a page of the facts."""
    services = admin.services
    before = None if asked.before is None else _place(asked.before)
    scopes = await services.library.facts.scopes() if asked.scope is None else [asked.scope]
    now, ageing = time(), edits.decay(services.config.memory)
    found: list[tuple[str, Fact]] = []
    async for of, fact in _every(services, scopes, before):
        if (
            asked.status in ("", status(fact, now, ageing))
            and asked.domain in (None, fact.domain)
            and asked.session in (None, fact.session)
        ):
            found.append((of, fact))
            if len(found) > asked.limit:
                break
    facts, after = page(found, asked.limit, lambda each: _named(*each))
    cards = [edits.card(of, fact, now, ageing) for of, fact in facts]
    return as_json({"facts": cards, "more": after is not None, "next": after})


async def shown(call: Call, admin: Admin, asked: Asked) -> Answer:
    """Answers with a fact, its history and the messages that said it."""
    services = admin.services
    scope, fact = await _found(call, services)
    said = await _said(services, scope, fact)
    return _shown(services, scope, fact, await services.library.facts.all(scope), said=said)


async def wiped(call: Call, admin: Admin, asked: WipedAsked) -> Answer:
    """Answers with a page of the wipes that can be undone."""
    found = await admin.services.library.wipes.wiped(time(), asked.scope, after=asked.before, limit=asked.limit + 1)
    listed, after = page(found, asked.limit, lambda each: each.scope)
    return as_json({"wiped": listed, "next": after})


async def restored(call: Call, admin: Admin, asked: Restore) -> Answer:
    """Restores the facts of the newest wipe."""
    back = await admin.services.library.restore(asked.scope, asked.until)
    if back is None:
        raise UnknownRoute("Nothing of that scope can be brought back: nothing was wiped, or not lately, or not then.")
    return as_json({"scope": back.scope, "facts": back.facts, "turns": back.turns})


async def added(call: Call, admin: Admin, asked: NewFact) -> Answer:
    """Adds a fact; 201, or 200 for one that is known."""
    services = admin.services
    scope = asked.scope
    if not is_scope(scope):
        raise BadRequest(
            "scope is a tenant's 32 hex digits, a slash, and the end user's name or nothing", param="scope"
        )
    if not services.library.facts.keeps:
        raise BadRequest("No facts are kept: memory.facts or storage.kind says so, or the database cannot be used.")
    known = {fact.id: fact for fact in await services.library.facts.all(scope)}
    made = edits.add(known.values(), asked, scope=scope, now=time())
    return await _written(services, scope, known, made, 200 if made.fact.id in known else 201)


async def changed(call: Call, admin: Admin, asked: Edit) -> Answer:
    """Changes or confirms a fact."""
    services = admin.services
    if asked.confirm is False:
        raise BadRequest("confirm can only be true: nothing that was confirmed is taken back", param="confirm")
    if asked == Edit():
        raise BadRequest(f"Name what shall be otherwise: {', '.join(sorted(Edit.__struct_fields__))}.")
    scope, fact = await _found(call, services)
    if fact.superseded_by is not None:
        raise BadRequest(f"{fact.id} is history, {fact.superseded_by} has taken its place: change that one.")
    known = {each.id: each for each in await services.library.facts.all(scope)}
    return await _written(services, scope, known, edits.edit(known.values(), fact, asked, scope=scope, now=time()))


async def forgotten(call: Call, admin: Admin, asked: Asked) -> Answer:
    """Forgets a fact and the messages that said it."""
    services = admin.services
    scope, fact = await _found(call, services)
    await services.library.forget(scope, [fact])
    await services.library.facts.flush()
    return as_json({"id": fact.id, "scope": scope, "forgotten": True})


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


def _place(given: str) -> Place:
    """The place that `_named` has named. Raises BadRequest."""
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
    return _shown(services, scope, made.fact, facts.values(), code)


async def _said(services: Services, scope: str, fact: Fact) -> Mapping[str, Json]:
    """The first messages that said it, as far as the archive still has them; and if none is told, why."""
    if not fact.links:
        return {"state": "by_hand", "messages": []}
    if not shows_content(services.config):
        return {"state": "hidden", "messages": []}
    found = await services.library.archive.containing(scope, fact.links)
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
    return as_json(told if said is None else {**told, "said": said}, code)
