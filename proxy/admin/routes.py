"""Routes of the admin API. A route needs authentication unless its entry says that it does not."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import Any, TypeVar

from proxy.admin import facts, login, requests, reuse, summary, what_if
from proxy.admin.codec import Nothing, decoded
from proxy.admin.parts import Admin
from proxy.errors import MethodNotAllowed
from proxy.http.exchange import Call
from proxy.memory.edits import Edit
from proxy.types import Answer

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

    async def answer(self, call: Call, admin: Admin) -> None:
        """Answers a request whose sender is admitted, or that needs no admission."""
        if self.is_guarded:
            await admin.auth.admit(call.headers, call.method, call.client)
        elif self.method != "GET":
            admin.auth.refuse_others(call.headers)
        asked = await decoded(call, admin.services, self.asked)
        await call.answer(await self.handler(call, admin, asked))


def _route(
    line: str, handler: Callable[[Call, Admin, A], Awaitable[Answer]], asked: type[A], *, is_guarded: bool = True
) -> Route:
    method, path = line.split()
    return Route(method, f"{API}/{path}", handler, asked, is_guarded)


ROUTES = (
    # Whoever is not admitted yet asks these.
    _route("GET me", login.me, Nothing, is_guarded=False),
    _route("POST login", login.login, login.Login, is_guarded=False),
    _route("POST logout", login.logout, Nothing, is_guarded=False),
    _route("GET scopes", summary.scopes, summary.ScopesAsked),
    _route("GET summary", summary.summary, summary.SummaryAsked),
    _route("GET requests", requests.listed, requests.RequestsAsked),
    _route("GET requests/{id}", requests.shown, requests.RequestAsked),
    _route("GET live", requests.live, Nothing),
    _route("GET sessions", requests.sessions, requests.SessionsAsked),
    _route("GET sessions/{session:path}", requests.session, requests.SessionAsked),  # a client's name may have a slash
    _route("POST what-if", what_if.asked, what_if.WhatIf),
    _route("GET facts", facts.listed, facts.FactsAsked),
    _route("POST facts", facts.added, facts.NewFact),
    _route("GET facts/wiped", facts.wiped, facts.WipedAsked),
    _route("POST facts/restore", facts.restored, facts.Restore),
    _route("GET facts/{id}", facts.shown, Nothing),
    _route("PATCH facts/{id}", facts.changed, Edit),
    _route("DELETE facts/{id}", facts.forgotten, Nothing),
    _route("GET reuse", reuse.log, reuse.LogAsked),
    _route("GET reuse/{id}", reuse.entry, Nothing),
    _route("POST reuse/{id}/wrong", reuse.wrong, Nothing),
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
