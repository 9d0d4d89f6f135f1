"""Routes of the admin API, and those handlers that belong to none of its views.

    GET  /metrics            all metrics; the gauges among them that are read only then, and the lag of the event loop
    GET  /admin/api/me       what this proxy is; the only route that says anything without admission: its version, and
                             whether it wants a token
    POST /admin/api/login    {token}: 204 and a cookie for twelve hours; wrong: 401; wrong too often: 429. A key of this
                             proxy is a token too: of its own numbers and contents
    POST /admin/api/logout   204, and the cookie is gone, and of no use to whoever has copied it

A route needs authentication unless its entry says that it does not. The cookie says who has had the token, signed with
it, so that every process of the proxy knows it without storing it. No script can read it, and it goes to the admin API
alone.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import version
from itertools import groupby
from operator import attrgetter
from time import perf_counter, time
from typing import Any, TypeVar

import msgspec

from proxy.admin import desk, files, finding, jobs, keys, ledger, memory, naming, quality, request, what_if
from proxy.admin.auth import ADMIN, COOKIE, COOKIE_SECONDS, Visitor
from proxy.admin.codec import Asked, as_json, decoded, without_body
from proxy.admin.parts import Admin
from proxy.admin.presets import presets
from proxy.config import fingerprint, shows_content
from proxy.errors import Forbidden, MethodNotAllowed, Unauthorized
from proxy.http.exchange import Call
from proxy.memory.edits import decay
from proxy.memory.facts import status
from proxy.observe.merging import Snapshot
from proxy.observe.metrics import BEAT
from proxy.observe.siblings import Siblings, Worker
from proxy.pipeline import Services
from proxy.protocol import headers as wire_headers
from proxy.storage.pending import tenant_of
from proxy.types import Answer, Headers, Json
from proxy.types.keys import ApiKey

A = TypeVar("A", bound=Any)

Handler = Callable[[Call, Admin], Awaitable[None]]

API = "/admin/api"
_VERSION = version("olvido")


# --- logging in and out, and what a client is told about itself ---


class Login(Asked, frozen=True):
    """The body of a login."""

    token: str


async def me(call: Call, admin: Admin, asked: Asked) -> Answer:
    """Answers with the version, and to whom is admitted with the settings that the page needs."""
    told = {"version": _VERSION, "needs_token": admin.auth.needs_token, "is_admitted": False}
    try:
        visitor = await admin.auth.admit(call.headers, call.method, call.client)
    except (Unauthorized, Forbidden):
        return as_json(told)
    config = admin.services.config
    more = {
        "is_admitted": True,
        "key": None if visitor.key is None else _told_of(visitor.key, visitor.tenant),
        "config": fingerprint.of_config(config),
        "storage": fingerprint.of_storage(admin.services.storage.secret),
        "show_content": shows_content(config),
        "profile": config.context.profile,
        "profile_with_tools": config.context.profile_with_tools,
        "profiles": {name: asdict(profile) for name, profile in config.profiles.items()},
        "presets": {name: presets(profile) for name, profile in config.profiles.items()},
        "upstreams": [upstream.name for upstream in config.upstreams],
        "now": time(),
    }
    return as_json(told | more)


def _told_of(key: ApiKey, tenant: str) -> Mapping[str, Json]:
    """The key that a visitor has come with, for the page."""
    return {"id": key.id, "name": key.name, "team": key.team, "tenant": tenant}


async def login(call: Call, admin: Admin, asked: Login) -> Answer:
    """Gives a browser its cookie."""
    cookie = await admin.auth.login(asked.token, call.client)
    return without_body(_cookie(cookie, COOKIE_SECONDS, call.headers))


async def logout(call: Call, admin: Admin, asked: Asked) -> Answer:
    """Ends the cookie, wherever there are copies of it."""
    await admin.auth.logout(call.headers)
    return without_body(_cookie("", 0, call.headers))


def _cookie(value: str, seconds: int, asked: Headers) -> tuple[str, str]:
    is_https = (wire_headers.get(asked, "x-forwarded-proto") or "").split(",")[0].strip().lower() == "https"
    secure = "; Secure" if is_https else ""
    # Without a path: a browser takes that of the admin API, under whatever prefix it reaches it. What goes to /v1 may
    # go on to an upstream, cookies included.
    return "set-cookie", f"{COOKIE}={value}; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}"


# --- the table ---


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
        await call.answer(await self.handler(call, admin, asked))


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
    _route("GET me", me, Asked, is_guarded=False),
    _route("POST login", login, Login, is_guarded=False),
    _route("POST logout", logout, Asked, is_guarded=False),
    # Those that are open to keys they may ask of their own scopes; all others are the administrator's.
    _route("GET scopes", naming.scopes, naming.ScopesAsked, is_open_to_keys=True),
    _route("POST scopes", naming.name_scope, naming.Naming),
    _route("GET summary", ledger.summary, ledger.SummaryAsked, is_open_to_keys=True),
    _route("GET requests", finding.requests, finding.RequestsAsked, is_open_to_keys=True),
    _route("GET requests/export", finding.export, finding.Wanted, is_open_to_keys=True),
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
    _route("GET facts", memory.facts, memory.FactsAsked, is_open_to_keys=True),
    _route("POST facts", memory.add_fact, memory.NewFact),
    _route("GET facts/wiped", memory.wiped_facts, memory.WipedAsked),
    _route("POST facts/derive", memory.derive_fact, memory.Derivation),
    _route("POST facts/restore", memory.restore_facts, memory.Restore),
    _route("GET facts/{id}", memory.fact, Asked),
    _route("PATCH facts/{id}", memory.change_fact, memory.Change),
    _route("DELETE facts/{id}", memory.forget_fact, Asked),
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
    _route("GET reuse", memory.reuse_log, memory.LogAsked),
    _route("GET reuse/{id}", memory.reuse_entry, Asked),
    _route("POST reuse/{id}/wrong", memory.report_wrong, Asked),
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


# --- metrics ---


class LagMeter:
    """Measures the lag of the event loop, since whatever holds it up holds up every request. Calls `beat` every
    `interval` seconds with the lag in seconds. A timer and no task: nobody waits for its end."""

    def __init__(self, beat: Callable[[float], None], interval: float) -> None:
        self._beat = beat
        self._interval = interval
        self._due = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Sets the timer, on the running event loop."""
        self._due = perf_counter() + self._interval
        self._timer = asyncio.get_running_loop().call_later(self._interval, self._look)

    def stop(self) -> None:
        """Ends the beats."""
        if self._timer is not None:
            self._timer.cancel()

    def _look(self) -> None:
        late = max(0.0, perf_counter() - self._due)
        self.start()
        self._beat(late)


async def metrics(call: Call, admin: Admin) -> None:
    """Answers with all metrics, of all workers."""
    services = admin.services
    await admin.auth.admit_metrics(call.headers, call.client)
    if admin.siblings is None:
        await refresh(services)
        body = await asyncio.to_thread(services.metrics.exposition)
    else:
        body = await asyncio.to_thread(services.metrics.exposition_of, await admin.siblings.gather())
    await call.answer(Answer(200, (("content-type", services.metrics.content_type),), body))


def siblings_of(services: Services, worker: Worker | None) -> Siblings | None:
    """Returns the siblings of a worker, not opened; None for a process that serves alone."""
    if worker is None:
        return None

    async def look() -> Snapshot:
        await refresh(services)
        return await asyncio.to_thread(services.metrics.snapshot)

    return Siblings(worker.folder, worker.name, look)


async def refresh(services: Services) -> None:
    """Sets the metrics that describe the present state of the services."""
    told, storage, intent = services.metrics, services.storage, services.intent
    told.memory_pending.set(services.learner.pending)
    writer = storage.database.writer
    told.writer_queue.set(writer.depth)
    told.writer_lag.set(writer.lag)
    told.dropped(writer.dropped)
    told.storage_failing.set(bool(storage.troubles))
    if (shared := storage.database.shared) is not None:
        told.database(shared, time())
    told.tasks.set(len(services.tasks))
    told.reuse_entries.set(intent.partitions.entries)
    told.reuse_bytes.set(intent.partitions.bytes)
    told.reuse_stopped.set(services.shared.hit_rates.open_partitions(time()))
    for upstream in services.router.upstreams:
        told.of(told.breaker_open, upstream.name).set(upstream.breaker.state != "closed")
        for counted in (told.upstream_retries, told.upstream_fallbacks):
            told.of(counted, upstream.name)  # creates the series, at 0
    held = services.library.held()
    told.memory_scopes.set(held.scopes)
    told.memory_bytes.set(held.bytes)
    ageing, now = decay(services.config.memory), time()
    # Many scopes may have many facts.
    statuses = await asyncio.to_thread(lambda: Counter[str](status(fact, now, ageing) for fact in held.facts))
    told.holding(statuses)
    told.ready.set(storage.failing is None)
    await services.totals.refresh()


def watch(services: Services) -> LagMeter:
    """Starts a pulse that feeds the metrics; whoever serves stops it."""
    pulse = LagMeter(services.metrics.beat, BEAT)
    pulse.start()
    return pulse
