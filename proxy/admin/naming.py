"""Names that people know: of scopes, by the key that they came with and the end user, or by an alias.

GET  /admin/api/scopes?scope=&before=&limit=
        who asks, and when each was last heard of, latest first; `next` is the `before` of the next page. `key`,
        `team`: of its key, if the proxy has given it out; `alias`: the name that it was given, or null
POST /admin/api/scopes   {scope, alias}: gives a scope a name; null takes it away. A scope of which nothing is kept
                         is a 404
"""

from typing import Annotated

import msgspec

from proxy.admin.codec import Asked, Moment, as_json, page, without_body
from proxy.admin.parts import Admin
from proxy.errors import BadRequest, UnknownRoute
from proxy.http.exchange import Call
from proxy.storage.pending import tenant_of
from proxy.types import Answer

USUAL_SCOPES, MOST_SCOPES = 200, 1_000
LONGEST = 80  # characters


class ScopesAsked(Asked, frozen=True):
    """Parameters of the list of scopes. `scope`: those of its tenant alone."""

    scope: str | None = None
    before: Moment = 0.0
    limit: Annotated[int, msgspec.Meta(ge=1, le=MOST_SCOPES)] = USUAL_SCOPES


class Naming(Asked, frozen=True):
    """The body by which a scope is named."""

    scope: str
    alias: str | None = None


async def scopes(call: Call, admin: Admin, asked: ScopesAsked) -> Answer:
    """Answers with a page of the scopes."""
    services = admin.services
    whose = None if asked.scope is None else tenant_of(asked.scope)
    found = await services.storage.accounts.scopes(asked.limit + 1, before=asked.before or None, tenant=whose)
    listed, after = page(found, asked.limit, lambda each: each[1])
    aliases = await services.storage.aliases.all()
    told = []
    for scope, at in listed:
        key = services.keys.named(scope)
        names = {"key": key.name, "team": key.team} if key is not None else {"key": None, "team": None}
        told.append({"scope": scope, "last_at": at, **names, "alias": aliases.get(scope)})
    return as_json({"scopes": told, "next": after})


async def name_scope(call: Call, admin: Admin, asked: Naming) -> Answer:
    """Gives a scope its alias."""
    alias = " ".join((asked.alias or "").split())
    if len(alias) > LONGEST or not alias.isprintable():
        raise BadRequest(f"alias: a line of {LONGEST} characters at most", param="alias")
    if not await admin.services.storage.database.has_scope(asked.scope):
        raise UnknownRoute(f"There is no scope {asked.scope[:60]!r}.")
    await admin.services.storage.aliases.put(asked.scope, alias)
    return without_body()
