"""Facts: what is remembered of people, for whoever runs the proxy.

    GET    /admin/api/facts?scope=S&status=…&domain=…&limit=N   newest first; without a scope those of every scope
    GET    /admin/api/facts/{id}                                 a fact, what it took the place of, what took its place
    POST   /admin/api/facts                                      {scope, domain, key, value, confidence, pinned}
    PATCH  /admin/api/facts/{id}                                 any of those but scope, and confirm: true
    DELETE /admin/api/facts/{id}                                 forgotten, with the messages that said it

An id names one fact. What is written here the very next prompt sees, and is durable once it is answered.
"""

import re
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from time import time
from typing import TypeVar, get_args
from urllib.parse import parse_qs

import msgspec

from proxy.call import Call
from proxy.edge import read_body, refuse_coding
from proxy.errors import BadRequest, InvalidJson, MissingParameter, UnknownRoute
from proxy.memory import edits
from proxy.memory.edits import Draft, Edit, Edited
from proxy.memory.facts import status
from proxy.services import Services
from proxy.stages.identify import is_scope
from proxy.storage.recollection import FactsOff
from proxy.types import Answer, Fact, FactStatus, Json

T = TypeVar("T")

MOST_FACTS = 1_000
USUAL_FACTS = 100

_DRAFT = frozenset(Draft.__struct_fields__)
_EDIT = frozenset(Edit.__struct_fields__)


async def listed(call: Call, services: Services) -> None:
    services.door.admit(call.headers)
    query = {name: values[0] for name, values in parse_qs(call.query, keep_blank_values=True).items()}
    limit = _limit(query.get("limit", str(USUAL_FACTS)))
    wanted = query.get("status")
    if wanted is not None and wanted not in get_args(FactStatus):
        raise BadRequest(f"status is one of {', '.join(get_args(FactStatus))}", param="status")
    scopes = [query["scope"]] if "scope" in query else await services.library.facts.scopes()
    now, ageing = time(), edits.decay(services.config.memory)
    cards: list[Json] = []
    async for scope, fact in _every(services, scopes):
        if wanted in (None, status(fact, now, ageing)) and query.get("domain", fact.domain) == fact.domain:
            cards.append(edits.card(scope, fact, now, ageing))
            if len(cards) > limit:
                break
    await call.answer(_json({"facts": cards[:limit], "more": len(cards) > limit}))


async def shown(call: Call, services: Services) -> None:
    services.door.admit(call.headers)
    scope, fact = await _found(call, services)
    await call.answer(_shown(services, scope, fact, await services.library.facts.all(scope)))


async def added(call: Call, services: Services) -> None:
    services.door.admit(call.headers)
    given = await _body(call, services, allowed=_DRAFT | {"scope"}, required=("scope", "domain", "key", "value"))
    scope = given["scope"]
    if not isinstance(scope, str) or not is_scope(scope):
        raise BadRequest(
            "scope is a tenant's 32 hex digits, a slash, and the end user's name or nothing", param="scope"
        )
    draft = _converted({name: value for name, value in given.items() if name in _DRAFT}, Draft)
    if isinstance(services.library.facts, FactsOff):
        raise BadRequest("No facts are kept: memory.facts or storage.kind says so, or the database cannot be used.")
    known = {fact.id: fact for fact in await services.library.facts.all(scope)}
    made = edits.add(known.values(), draft, scope=scope, now=time())
    await _write(services, scope, made)
    told = {**known, **{row.id: row for row in made.rows}}
    await call.answer(_shown(services, scope, made.fact, told.values(), 200 if made.fact.id in known else 201))


async def changed(call: Call, services: Services) -> None:
    services.door.admit(call.headers)
    given = await _body(call, services, allowed=_EDIT, required=())
    if not given or any(value is None for value in given.values()):
        raise BadRequest(f"Name what shall be otherwise: {', '.join(sorted(_EDIT))}.")
    wanted = _converted(given, Edit)
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
    services.door.admit(call.headers)
    scope, fact = await _found(call, services)
    await services.library.forget(scope, [fact])
    await services.library.facts.flush()
    await call.answer(_json({"id": fact.id, "scope": scope, "forgotten": True}))


# --- parts -----------------------------------------------------------------------------------------------------------


async def _every(services: Services, scopes: Sequence[str]) -> AsyncIterator[tuple[str, Fact]]:
    """One scope after the other, so that a limit bounds what is read."""
    for scope in scopes:
        for fact in edits.newest_first(await services.library.facts.all(scope)):
            yield scope, fact


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


async def _body(
    call: Call, services: Services, *, allowed: Collection[str], required: Sequence[str]
) -> Mapping[str, Json]:
    refuse_coding(call.headers)
    server = services.config.server
    raw = await read_body(call.receive, call.headers, max_bytes=server.max_body_mb * 2**20, seconds=server.body_timeout)
    try:
        given = msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidJson(f"The body is not valid JSON: {error}") from None
    if not isinstance(given, dict):
        raise BadRequest("The body is a JSON object.")
    if unknown := sorted(name for name in given if name not in allowed):
        names = ", ".join(name[:40] for name in unknown[:10])
        raise BadRequest(f"Unknown: {names}. Known: {', '.join(sorted(allowed))}.", param=unknown[0][:40])
    if missing := [name for name in required if name not in given]:
        raise MissingParameter(f"Missing: {', '.join(missing)}.", param=missing[0])
    return given


def _converted(given: Mapping[str, Json], kind: type[T]) -> T:
    try:
        return msgspec.convert(given, kind)
    except msgspec.ValidationError as error:
        place = re.search(r"\$\.(\w+)", str(error))
        raise BadRequest(str(error), param=place[1] if place else None) from None


def _limit(given: str) -> int:
    if not re.fullmatch(r"[0-9]{1,4}", given) or not 1 <= int(given) <= MOST_FACTS:
        raise BadRequest(f"limit is a number from 1 to {MOST_FACTS}", param="limit")
    return int(given)


def _shown(services: Services, scope: str, fact: Fact, facts: Collection[Fact], code: int = 200) -> Answer:
    now, ageing = time(), edits.decay(services.config.memory)
    past = edits.history(facts, fact)
    history = {
        "before": [edits.card(scope, each, now, ageing) for each in past.before],
        "after": [edits.card(scope, each, now, ageing) for each in past.after],
    }
    return _json({"fact": edits.card(scope, fact, now, ageing), "history": history}, code)


def _json(value: Json, code: int = 200) -> Answer:
    return Answer(
        code, (("content-type", "application/json"), ("cache-control", "no-store")), msgspec.json.encode(value)
    )
