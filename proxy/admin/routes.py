"""Every route of the admin API. A route is behind the door unless it is written here that it is not."""

from collections.abc import Awaitable, Callable, Mapping

from proxy.admin import facts, form, live, login, requests, reuse, sessions, summary, what_if
from proxy.call import Call
from proxy.services import Services

Handler = Callable[[Call, Services], Awaitable[None]]

API = "/admin/api"


def admitted(handler: Handler) -> Handler:
    """Only for whoever may administer."""

    async def guarded(call: Call, services: Services) -> None:
        await services.door.logouts.refresh()
        services.door.admit(call.headers, call.method, call.client)
        await handler(call, services)

    return guarded


# Who is not admitted yet asks these.
OPEN: tuple[tuple[str, str, Handler], ...] = (
    ("GET", f"{API}/me", login.me),
    ("POST", f"{API}/login", login.login),
    ("POST", f"{API}/logout", login.logout),
)
GUARDED: tuple[tuple[str, str, Handler], ...] = (
    ("GET", f"{API}/scopes", summary.scopes),
    ("GET", f"{API}/summary", summary.summary),
    ("GET", f"{API}/requests", requests.listed),
    ("GET", f"{API}/requests/{{id}}", requests.shown),
    ("GET", f"{API}/live", live.stream),
    ("GET", f"{API}/sessions", sessions.listed),
    ("GET", f"{API}/sessions/{{session:path}}", sessions.shown),  # a client's name for one may have a slash
    ("POST", f"{API}/what-if", what_if.asked),
    ("GET", f"{API}/facts", facts.listed),
    ("POST", f"{API}/facts", facts.added),
    ("GET", f"{API}/facts/wiped", facts.wiped),
    ("POST", f"{API}/facts/restore", facts.restored),
    ("GET", f"{API}/facts/{{id}}", facts.shown),
    ("PATCH", f"{API}/facts/{{id}}", facts.changed),
    ("DELETE", f"{API}/facts/{{id}}", facts.forgotten),
    ("GET", f"{API}/reuse", reuse.log),
    ("GET", f"{API}/reuse/{{id}}", reuse.entry),
    ("POST", f"{API}/reuse/{{id}}/wrong", reuse.wrong),
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

    async def checked(call: Call, services: Services) -> None:
        form.refuse_unknown(call, known)
        await handler(call, services)

    return checked


ROUTES: tuple[tuple[str, str, Handler], ...] = (
    *((method, path, strict(method, path, handler)) for method, path, handler in OPEN),
    *((method, path, admitted(strict(method, path, handler))) for method, path, handler in GUARDED),
)
