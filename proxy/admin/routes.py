"""Every route of the admin API. A route is behind the door unless it is written here that it is not."""

from collections.abc import Awaitable, Callable, Mapping

from proxy.admin import facts, form, live, login, requests, reuse, sessions, summary, what_if
from proxy.admin.parts import Admin
from proxy.call import Call
from proxy.services import Services

Handler = Callable[[Call, Admin], Awaitable[None]]
Reader = Callable[[Call, Services], Awaitable[None]]

API = "/admin/api"


def admitted(handler: Handler) -> Handler:
    """Only for whoever may administer."""

    async def guarded(call: Call, admin: Admin) -> None:
        await admin.door.admit(call.headers, call.method, call.client)
        await handler(call, admin)

    return guarded


def of_services(handler: Reader) -> Handler:
    """A handler that needs none of the admin API's own parts."""

    async def handled(call: Call, admin: Admin) -> None:
        await handler(call, admin.services)

    return handled


# Who is not admitted yet asks these.
OPEN: tuple[tuple[str, str, Handler], ...] = (
    ("GET", f"{API}/me", login.me),
    ("POST", f"{API}/login", login.login),
    ("POST", f"{API}/logout", login.logout),
)
GUARDED: tuple[tuple[str, str, Handler], ...] = (
    ("GET", f"{API}/scopes", of_services(summary.scopes)),
    ("GET", f"{API}/summary", of_services(summary.summary)),
    ("GET", f"{API}/requests", of_services(requests.listed)),
    ("GET", f"{API}/requests/{{id}}", of_services(requests.shown)),
    ("GET", f"{API}/live", live.stream),
    ("GET", f"{API}/sessions", of_services(sessions.listed)),
    (
        "GET",
        f"{API}/sessions/{{session:path}}",
        of_services(sessions.shown),
    ),  # a client's name for one may have a slash
    ("POST", f"{API}/what-if", what_if.asked),
    ("GET", f"{API}/facts", of_services(facts.listed)),
    ("POST", f"{API}/facts", of_services(facts.added)),
    ("GET", f"{API}/facts/wiped", of_services(facts.wiped)),
    ("POST", f"{API}/facts/restore", of_services(facts.restored)),
    ("GET", f"{API}/facts/{{id}}", of_services(facts.shown)),
    ("PATCH", f"{API}/facts/{{id}}", of_services(facts.changed)),
    ("DELETE", f"{API}/facts/{{id}}", of_services(facts.forgotten)),
    ("GET", f"{API}/reuse", of_services(reuse.log)),
    ("GET", f"{API}/reuse/{{id}}", of_services(reuse.entry)),
    ("POST", f"{API}/reuse/{{id}}/wrong", of_services(reuse.wrong)),
)
# What a query string may hold, where it may hold anything.
PARAMETERS: Mapping[str, frozenset[str]] = {
    f"GET {API}/{path}": frozenset(names.split())
    for path, names in (
        ("scopes", "before limit"),
        ("summary", "from to by scope"),
        ("requests", "scope session before limit"),
        ("requests/{id}", "scope"),
        ("sessions", "scope before limit"),
        ("sessions/{session:path}", "scope before"),
        ("facts", "scope session status domain before limit"),
        ("facts/wiped", "scope before limit"),
        ("reuse", "scope before limit"),
    )
}


def strict(method: str, path: str, handler: Handler) -> Handler:
    """Refuses parameters that the route does not know."""
    known = PARAMETERS.get(f"{method} {path}", frozenset())

    async def checked(call: Call, admin: Admin) -> None:
        form.refuse_unknown(call, known)
        await handler(call, admin)

    return checked


ROUTES: tuple[tuple[str, str, Handler], ...] = (
    *((method, path, strict(method, path, handler)) for method, path, handler in OPEN),
    *((method, path, admitted(strict(method, path, handler))) for method, path, handler in GUARDED),
)
