"""Routes of the admin API: their table, and what each asks of whoever comes.

A route needs authentication unless its entry says that it does not. A key of this proxy may ask those that its entry
opens to keys, of what is its own.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from operator import attrgetter
from typing import Any, TypeVar

import msgspec

from proxy.admin import (
    desk,
    exporting,
    facts,
    files,
    finding,
    jobs,
    keys,
    ledger,
    login,
    naming,
    quality,
    request,
    reuse,
    what_if,
)
from proxy.admin.auth import ADMIN, Visitor
from proxy.admin.codec import Asked, decoded
from proxy.admin.parts import Admin
from proxy.errors import Forbidden, MethodNotAllowed
from proxy.http.exchange import Call
from proxy.storage.pending import tenant_of
from proxy.types import Answer, StreamedBody

A = TypeVar("A", bound=Any)

Handler = Callable[[Call, Admin], Awaitable[None]]

API = "/admin/api"


@dataclass(frozen=True, slots=True)
class Route:
    """A method of a path: what answers it, and the struct that its parameters are decoded into."""

    method: str
    path: str
    handler: Callable[[Call, Admin, Any], Awaitable[Answer]]
    asked: type[Any]
    is_guarded: bool = True
    is_open_to_keys: bool = False  # a key of this proxy may ask, of what is its own: the parameters have a `scope` then

    async def answer(self, call: Call, admin: Admin) -> None:
        """Answers a request whose sender is admitted, or that needs no admission."""
        visitor = ADMIN
        if self.is_guarded:
            visitor = await admin.auth.admit(call.headers, call.method, call.client)
            if visitor.key is not None and not self.is_open_to_keys:
                raise Forbidden("A key sees its own numbers and contents, and changes nothing: this needs admin.token.")
        elif self.method != "GET":
            admin.auth.refuse_others(call.headers)
        asked = await decoded(call, admin.services, self.asked)
        if visitor.key is not None:
            asked = narrowed(asked, visitor)
        answer = await self.handler(call, admin, asked)
        if self.is_guarded and not isinstance(answer.body, bytes):
            answer = replace(answer, body=_Held(answer.body, partial(admin.auth.refuse_ended, visitor, call.headers)))
        await call.answer(answer)


@dataclass(frozen=True, slots=True)
class _Held:
    """A stream that breaks off once its visitor would not be admitted any more."""

    body: StreamedBody
    refuse_ended: Callable[[], Awaitable[None]]

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self.body:
            await self.refuse_ended()
            yield chunk

    async def aclose(self) -> None:
        await self.body.aclose()


def narrowed(asked: A, visitor: Visitor) -> A:
    """Returns the parameters of a key's request, of its own scopes: of all of them where none is asked for. Raises
    Forbidden for another tenant's."""
    scope = asked.scope
    if scope is not None and tenant_of(scope) != visitor.tenant:
        raise Forbidden("A key sees what is its own: that scope is not.")
    return msgspec.structs.replace(asked, scope=scope or visitor.tenant)


def _route(
    line: str,
    handler: Callable[[Call, Admin, A], Awaitable[Answer]],
    asked: type[A],
    *,
    is_guarded: bool = True,
    is_open_to_keys: bool = False,
) -> Route:
    method, path = line.split()
    return Route(method, f"{API}/{path}", handler, asked, is_guarded, is_open_to_keys)


ROUTES = (
    # Whoever is not admitted yet asks these.
    _route("GET me", login.me, Asked, is_guarded=False),
    _route("POST login", login.login, login.Login, is_guarded=False),
    _route("POST logout", login.logout, Asked, is_guarded=False),
    # Those that are open to keys they may ask of their own scopes; all others are the administrator's.
    _route("GET scopes", naming.scopes, naming.ScopesAsked, is_open_to_keys=True),
    _route("POST scopes", naming.name_scope, naming.Naming),
    _route("GET summary", ledger.summary, ledger.SummaryAsked, is_open_to_keys=True),
    _route("GET requests", finding.requests, finding.RequestsAsked, is_open_to_keys=True),
    _route("GET requests/export", exporting.export, finding.Wanted, is_open_to_keys=True),
    _route("GET requests/{id}", request.request, request.RequestAsked, is_open_to_keys=True),
    _route("GET live", ledger.live, ledger.LiveAsked, is_open_to_keys=True),
    _route("GET sessions", ledger.sessions, ledger.SessionsAsked, is_open_to_keys=True),
    # A client's name may have a slash.
    _route("GET sessions/{session:path}", ledger.session, ledger.SessionAsked, is_open_to_keys=True),
    _route("GET keys", keys.keys, keys.KeysAsked, is_open_to_keys=True),
    _route("POST keys", keys.create, keys.NewKey),
    _route("DELETE keys/{id}", keys.revoke, Asked),
    _route("GET desk", desk.desk, desk.DeskAsked),
    _route("GET desk/document", desk.document, desk.DocumentAsked),
    _route("POST desk/document", desk.edit_document, desk.DocumentEdit),
    _route("GET desk/tape", desk.tape, desk.TapeAsked),
    _route("POST desk/pins", desk.pin, desk.PinWish),
    _route("POST desk/edits", desk.decide, desk.Decision),
    _route("POST desk/reset", desk.reset, desk.Whose),
    _route("POST what-if", what_if.asked, what_if.WhatIf),
    _route("GET facts", facts.facts, facts.FactsAsked, is_open_to_keys=True),
    _route("POST facts", facts.add_fact, facts.NewFact),
    _route("GET facts/wiped", facts.wiped_facts, facts.WipedAsked),
    _route("POST facts/derive", facts.derive_fact, facts.Derivation),
    _route("POST facts/restore", facts.restore_facts, facts.Restore),
    _route("GET facts/{id}", facts.fact, Asked),
    _route("PATCH facts/{id}", facts.change_fact, facts.Change),
    _route("DELETE facts/{id}", facts.forget_fact, Asked),
    _route("GET files", files.folders, Asked),
    _route("POST files", files.act, files.FilesAction),
    _route("GET files/syncs", files.last_syncs, files.SyncsAsked),
    _route("GET jobs", jobs.jobs, jobs.JobsAsked),
    _route("POST jobs", jobs.run, jobs.Run),
    _route("GET jobs/spend", jobs.spend, jobs.SpendAsked),
    _route("GET jobs/{id}", jobs.job, Asked),
    _route("POST jobs/{id}/undo", jobs.undo, jobs.Undo),
    _route("GET digests", jobs.digests, jobs.DigestsAsked),
    _route("GET quality", quality.share, quality.HeldAsked, is_open_to_keys=True),
    _route("GET quality/pairs", quality.pairs, quality.PairsAsked, is_open_to_keys=True),
    _route("GET quality/pairs/{id}", quality.pair, quality.PairAsked, is_open_to_keys=True),
    _route("GET reuse", reuse.reuse_log, reuse.LogAsked),
    _route("GET reuse/{id}", reuse.reuse_entry, Asked),
    _route("POST reuse/{id}/wrong", reuse.report_wrong, Asked),
)


class Path:
    """The handler of all methods of a path."""

    def __init__(self, by_method: Mapping[str, Route]) -> None:
        self._by_method = by_method
        self.methods = tuple(by_method)

    async def __call__(self, call: Call, admin: Admin) -> None:
        """Answers by the method that is asked. Raises MethodNotAllowed."""
        route = self._by_method.get("GET" if call.method == "HEAD" else call.method)
        if route is None:
            allowed = ", ".join((*self.methods, *(["HEAD"] if "GET" in self.methods else ())))
            text = f"{call.method[:20]} is no method of this route. It has {allowed}."
            raise MethodNotAllowed(text, headers=(("allow", allowed),))
        await route.answer(call, admin)


# Handlers by path, in the order in which paths are tried.
PATHS: Mapping[str, Path] = {
    path: Path({route.method: route for route in routes}) for path, routes in groupby(ROUTES, attrgetter("path"))
}
