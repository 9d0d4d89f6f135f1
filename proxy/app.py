"""Routes and lifespan. Plain ASGI endpoints under Starlette's router: its request and response objects would buffer
what must stream."""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from time import time

import msgspec
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.types import ASGIApp

from proxy.admin import facts as admin_facts
from proxy.admin import reuse as admin_reuse
from proxy.call import Call
from proxy.config import Config
from proxy.edge import AsgiMessage, ClientGone, Receive, Send, read_body, refuse_coding
from proxy.errors import OlvidoError, RequestTimeout, TooLarge, UnknownRoute
from proxy.passthrough import pass_through
from proxy.pipeline import handle
from proxy.services import Services, build
from proxy.types import Answer, Incoming

log = logging.getLogger(__name__)

Handler = Callable[[Call, Services], Awaitable[None]]


class Application(Starlette):
    """Without Starlette's middleware, which wraps every message of an answer to find errors that our endpoints do not
    let out."""

    def build_middleware_stack(self) -> ASGIApp:
        return self.router


def create_app(config: Config) -> Starlette:
    """The proxy as an ASGI application. Its parts are built when the server starts it, as `app.state.services`."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        app.state.services = services = await build(config)
        try:
            yield
        finally:
            await services.close()

    def route(path: str, handler: Handler, *methods: str) -> Route:
        """Of these methods; of any if none is named."""
        return Route(path, Endpoint(handler), methods=methods or None)

    app = Application(
        routes=[
            route("/v1/chat/completions", chat, "POST"),
            route("/v1/{path:path}", pass_through),
            route("/healthz", healthz, "GET"),
            route("/readyz", readyz, "GET"),
            route("/metrics", metrics, "GET"),
            route("/admin/api/facts", admin_facts.listed, "GET"),
            route("/admin/api/facts", admin_facts.added, "POST"),
            route("/admin/api/facts/{id}", admin_facts.shown, "GET"),
            route("/admin/api/facts/{id}", admin_facts.changed, "PATCH"),
            route("/admin/api/facts/{id}", admin_facts.forgotten, "DELETE"),
            route("/admin/api/reuse", admin_reuse.log, "GET"),
            route("/admin/api/reuse/{id}", admin_reuse.entry, "GET"),
            route("/admin/api/reuse/{id}/wrong", admin_reuse.wrong, "POST"),
            route("/{path:path}", nothing_here),
        ],
        lifespan=lifespan,
    )
    # What matches no route at all, such as a line end in the path: the router's own answer would be no error of ours.
    app.router.default = Endpoint(nothing_here)
    return app


class Endpoint:
    """An ASGI application around a handler: the last error handler. Whatever happens, the client gets OpenAI's error
    shape, or a closed connection if its answer had already begun."""

    def __init__(self, handler: Handler) -> None:
        self._handler = handler

    async def __call__(self, scope: AsgiMessage, receive: Receive, send: Send) -> None:
        services: Services = scope["app"].state.services
        call = Call(scope, receive, send, services.tasks)
        try:
            async with call.watch:
                await self._handler(call, services)
        except ClientGone:
            return
        except (TooLarge, RequestTimeout) as error:
            # As much again as is accepted at most: enough for every honest client to get to the end of its body.
            await call.refuse(error, unread=0 if call.answered else services.config.server.max_body_mb * 2**20)
        except OlvidoError as error:
            if call.answered:
                log.info("answer broken off", extra={"request": call.request_id, "reason": error.code})
            else:
                await call.refuse(error)
        except Exception:
            log.exception("request failed", extra={"request": call.request_id})
            if not call.answered:
                await call.refuse(OlvidoError("The proxy failed to handle this request."))


async def chat(call: Call, services: Services) -> None:
    """The managed route."""
    tenant = services.gate.tenant(call.headers)
    refuse_coding(call.headers)
    server = services.config.server
    received_at = time()
    body = await read_body(
        call.receive, call.headers, max_bytes=server.max_body_mb * 2**20, seconds=server.body_timeout
    )
    call.watch.start()
    incoming = Incoming(call.request_id, call.headers, body, received_at, tenant, call.query)
    services.metrics.in_flight.inc()
    try:
        await call.answer(await handle(incoming, services))
    finally:
        services.metrics.in_flight.dec()


async def healthz(call: Call, services: Services) -> None:  # noqa: ARG001 (a handler's shape)
    await call.answer(_json({"status": "ok"}))


async def readyz(call: Call, services: Services) -> None:
    """Each part's state. Ready while requests can be answered: a broken storage or upstream is told, not hidden, but
    requests go on (fail open), so it is not a reason to take the proxy out of service."""
    upstreams = {upstream.name: {"breaker": upstream.breaker.state} for upstream in services.router.upstreams}
    parts = {
        "tokenizer": "ready",
        "storage": services.storage.failures or "ready",
        "reuse by intent": services.intent.state,
        "embedding": services.intent.embedder.state,
        "upstreams": upstreams,
    }
    await call.answer(_json({"status": "ready", "parts": parts}))


async def metrics(call: Call, services: Services) -> None:
    services.metrics.memory_pending.set(services.learner.pending)
    services.metrics.writer_queue.set(services.storage.queued)
    services.metrics.writer_dropped.set(services.storage.dropped)
    services.metrics.reuse_entries.set(services.intent.partitions.entries)
    services.metrics.reuse_bytes.set(services.intent.partitions.bytes)
    services.metrics.reuse_stopped.set(services.intent.rates.open_partitions(time()))
    body = services.metrics.exposition()
    await call.answer(Answer(200, (("content-type", services.metrics.content_type),), body))


async def nothing_here(call: Call, services: Services) -> None:  # noqa: ARG001 (a handler's shape)
    raise UnknownRoute(f"Unknown request URL: {call.method} {call.path[:200]}. The API is under /v1.")


def _json(value: object) -> Answer:
    return Answer(200, (("content-type", "application/json"),), msgspec.json.encode(value))
