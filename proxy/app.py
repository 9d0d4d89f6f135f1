"""Routes and lifespan of the application, and the handlers of what is not the API (proxy/api.py). Plain ASGI endpoints
under Starlette's router: its request and response objects would buffer what must stream."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import lru_cache, partial
from importlib.resources import files

import msgspec
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.types import ASGIApp, Scope

from proxy import page
from proxy.admin import metrics
from proxy.admin.parts import Admin
from proxy.admin.routes import PATHS
from proxy.admin.routes import Handler as AdminHandler
from proxy.api import (
    CHAT,
    MESSAGES,
    RESPONSES,
    Handler,
    conversation,
    count_tokens,
    incoming_of,
    kept_response,
    otherwise,
    responses,
)
from proxy.config import Config
from proxy.errors import (
    FAILED,
    ForeignHost,
    ForeignOrigin,
    OlvidoError,
    RequestTimeout,
    ShuttingDown,
    StorageUnavailable,
    TooLarge,
    UnknownRoute,
)
from proxy.http.access import METHODS, OPTIONS, Kind, options_answer
from proxy.http.exchange import AsgiMessage, Call, ClientGone, Receive, Send
from proxy.observe.siblings import Worker
from proxy.pipeline import Services, desk_api, other_apis, sessions_api
from proxy.pipeline.chat import handle
from proxy.pipeline.context_api import ContextReader
from proxy.services import build
from proxy.storage.base import StorageError
from proxy.types import Answer

log = logging.getLogger(__name__)


class Application(Starlette):
    """Starlette without its middleware, which wraps every message of an answer to catch errors that our endpoints do
    not let out."""

    def build_middleware_stack(self) -> ASGIApp:
        """Returns the bare router."""
        return self.router


def create_app(config: Config, worker: Worker | None = None, *, patience: float = 1.0) -> Starlette:
    """Returns the proxy as an ASGI application. Its parts are built when the server starts it, as `app.state.services`
    and `app.state.admin`. `worker`: None for a process that serves alone. `patience`: factor of the deadlines of all
    stages."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        try:
            app.state.services = services = await build(
                config, run_time=None if worker is None else worker.folder, patience=patience
            )
        except (StorageError, OSError) as error:
            app.state.why = f"cannot start: {error}"  # a folder or a server: a traceback would hide it
            raise
        siblings = metrics.siblings_of(services, worker)
        app.state.admin = Admin.of(services, siblings)
        app.state.contexts = ContextReader(services)
        pulse = metrics.watch(services)
        try:
            if siblings is not None:
                await siblings.open()
            yield
        finally:
            pulse.stop()
            await app.state.admin.close()
            await services.close()
            if siblings is not None:
                await siblings.close()

    def route(path: str, handler: Handler, *methods: str, kind: Kind = "other") -> Route:
        """A route of these methods and OPTIONS, of any if none is named."""
        return Route(path, Endpoint(handler, kind, methods), methods=(*methods, OPTIONS) if methods else None)

    def administered(handler: AdminHandler) -> Handler:
        return lambda call, _: handler(call, app.state.admin)

    chat, messages = conversation("chat", handle), conversation("messages", other_apis.messages)
    app = Application(
        routes=[
            route(CHAT, chat, "POST", kind="api"),
            route(RESPONSES, responses, kind="api"),
            route("/v1/responses/{response}", kept_response, kind="api"),
            route("/v1/responses/{response}/{what}", kept_response, kind="api"),
            route(MESSAGES, messages, "POST", kind="api"),
            route("/v1/messages/count_tokens", count_tokens, "POST", kind="api"),
            # With any method: the upstream knows them.
            route("/v1/{path:path}", otherwise({CHAT: chat, RESPONSES: responses, MESSAGES: messages}), kind="api"),
            route("/olvido/context", lambda call, _: context(call, app.state.contexts), "POST", kind="api"),
            route("/olvido/sessions/{session:path}/end", end_session, "POST", kind="api"),
            route("/olvido/sessions/{session:path}/report", report_session, "POST", kind="api"),
            route("/olvido/sessions/{session:path}/reset", reset_desk, "POST", kind="api"),
            route("/olvido/sessions/{session:path}/pins", pin_message, "POST", kind="api"),
            route("/olvido/openapi.yaml", openapi, "GET"),
            route("/healthz", healthz, "GET"),
            route("/readyz", lambda call, services: readyz(call, services, worker), "GET"),
            route("/metrics", administered(metrics.metrics), "GET", kind="numbers"),
            *(Route(path, Endpoint(administered(each), methods=each.methods)) for path, each in PATHS.items()),
            route("/", page.to_page, "GET"),
            route("/ui", page.page, "GET"),
            route("/ui/docs", page.to_documents, "GET"),
            route("/ui/docs/{document:path}", page.document, "GET"),
            route("/ui/{file:path}", page.file, "GET"),
            route("/{path:path}", nothing_here),
        ],
        lifespan=lifespan,
    )
    # Starlette would tell a traceback, and its router has no other place to say something else.
    app.router.lifespan = partial(_told, app, app.router.lifespan)  # type: ignore[method-assign]  # as said above
    # Paths that match no route at all (a line end in them) get our error shape, and not the router's answer.
    app.router.default = Endpoint(nothing_here)
    return app


async def _told(
    app: Starlette,
    lifespan: Callable[[Scope, Receive, Send], Awaitable[None]],
    scope: Scope,
    receive: Receive,
    send: Send,
) -> None:
    """Runs a lifespan. Where it cannot begin for a reason that its user can mend, that is told instead of a
    traceback."""

    async def say(message: AsgiMessage) -> None:
        if message["type"] == "lifespan.startup.failed" and (why := getattr(app.state, "why", None)):
            message = {**message, "message": why}
        await send(message)

    await lifespan(scope, receive, say)


class Endpoint:
    """An ASGI application around a handler, and the last error handler: in any case the client gets OpenAI's error
    shape, or a closed connection if its answer had already begun."""

    def __init__(self, handler: Handler, kind: Kind = "other", methods: Sequence[str] = ()) -> None:
        """`methods`: those of its path; () if they are unknown."""
        self._handler = handler
        self._kind: Kind = kind
        self._methods = (*methods, "HEAD") if "GET" in methods else methods

    async def __call__(self, scope: AsgiMessage, receive: Receive, send: Send) -> None:
        """Runs the handler, and answers its errors."""
        services: Services = scope["app"].state.services
        call = Call(scope, receive, send, services.tasks)
        try:
            services.origins.check(self._kind, call.headers, call.port)
            if self._kind == "api":
                call.common_headers = services.origins.cors_headers(call.headers)
            async with call.watch:
                if call.method == OPTIONS and self._kind == "api":
                    await call.answer(services.origins.preflight(call.headers, self._methods or METHODS))
                elif call.method == OPTIONS and self._methods:
                    await call.answer(options_answer(self._methods))
                else:
                    await self._handler(call, services)
        except ClientGone:
            return
        except asyncio.CancelledError:  # by the server, after its grace period
            await call.break_off(ShuttingDown("The proxy was stopped before the answer was complete."))
            raise
        except OlvidoError as error:
            await _refuse(call, services, error)
        except StorageError as error:  # of the admin API: conversations go on without storage
            log.warning("request failed", extra={"request": call.request_id, "reason": str(error)})
            # Why is not for every key to know: it may name a folder.
            await _refuse(call, services, StorageUnavailable("What is kept can't be read or written now: see /readyz."))
        except Exception:
            log.exception("request failed", extra={"request": call.request_id})
            if not call.answered:
                await call.refuse(OlvidoError(FAILED))


async def _refuse(call: Call, services: Services, error: OlvidoError) -> None:
    if call.answered:
        log.info("answer broken off", extra={"request": call.request_id, "reason": error.code})
        return
    if isinstance(error, ForeignHost | ForeignOrigin):
        services.metrics.of(services.metrics.refused, error.code).inc()
    # At most twice the limit: enough for every honest client to finish its body.
    most = 2 * services.config.server.max_body_mb * 2**20
    await call.refuse(error, unread=most if isinstance(error, TooLarge | RequestTimeout) else 0)


async def context(call: Call, contexts: ContextReader) -> None:
    """Answers `/olvido/context`: a conversation as the archive has it, for whoever builds prompts himself."""
    answer = await contexts.answer(await incoming_of(call, contexts.services))
    await call.answer(replace(answer, headers=(*answer.headers, ("x-olvido-request", call.request_id))))


async def end_session(call: Call, services: Services) -> None:
    """Answers `/olvido/sessions/{session}/end`."""
    answer = await sessions_api.end(await incoming_of(call, services), call.parameters["session"], services)
    await call.answer(replace(answer, headers=(*answer.headers, ("x-olvido-request", call.request_id))))


async def report_session(call: Call, services: Services) -> None:
    """Answers `/olvido/sessions/{session}/report`."""
    answer = await sessions_api.report(await incoming_of(call, services), call.parameters["session"], services)
    await call.answer(replace(answer, headers=(*answer.headers, ("x-olvido-request", call.request_id))))


async def reset_desk(call: Call, services: Services) -> None:
    """Answers `/olvido/sessions/{session}/reset`."""
    answer = await desk_api.reset(await incoming_of(call, services), call.parameters["session"], services)
    await call.answer(replace(answer, headers=(*answer.headers, ("x-olvido-request", call.request_id))))


async def pin_message(call: Call, services: Services) -> None:
    """Answers `/olvido/sessions/{session}/pins`."""
    answer = await desk_api.pin(await incoming_of(call, services), call.parameters["session"], services)
    await call.answer(replace(answer, headers=(*answer.headers, ("x-olvido-request", call.request_id))))


async def openapi(call: Call, services: Services) -> None:  # noqa: ARG001 (a handler's shape)
    """Answers with the types of the API."""
    await call.answer(Answer(200, (("content-type", "application/yaml"),), _openapi()))


@lru_cache(1)
def _openapi() -> bytes:
    return files("proxy").joinpath("openapi.yaml").read_bytes()


async def healthz(call: Call, services: Services) -> None:  # noqa: ARG001 (a handler's shape)
    """Answers 200 while the process runs."""
    await call.answer(_json({"status": "ok"}))


async def readyz(call: Call, services: Services, worker: Worker | None) -> None:
    """Answers with the state of each part. 503 while rows may be lost (a full disk): a load balancer should prefer
    another proxy. With a shared database or Redis away it is 200, `degraded`: they are away for all, requests are
    answered, and rows wait on disk. Requests are answered all the same (fail open), as they are
    without a part that could not be opened, or with a broken upstream: the answer names these. A worker answers for
    itself, and says which it is."""
    upstreams = {upstream.name: {"breaker": upstream.breaker.state} for upstream in services.router.upstreams}
    parts = {
        "tokenizer": "ready",
        "storage": services.storage.troubles or "ready",
        **({} if services.storage.shared is None else {"shared": services.storage.shared.state}),
        "reuse by intent": services.intent.state,
        "embedding": services.intent.embedder.state,
        "upstreams": upstreams,
    }
    if services.storage.failing is not None:
        status, code = "not ready", 503
    else:
        status, code = "degraded" if services.storage.troubles else "ready", 200
    whose = {} if worker is None else {"worker": worker.name}  # each has breakers and a model of its own
    await call.answer(_json({"status": status, "parts": parts, **whose}, code))


async def nothing_here(call: Call, services: Services) -> None:  # noqa: ARG001 (a handler's shape)
    """Raises UnknownRoute."""
    raise UnknownRoute(f"Unknown request URL: {call.method} {call.path[:200]}. The API is under /v1.")


def _json(value: object, code: int = 200) -> Answer:
    return Answer(code, (("content-type", "application/json"),), msgspec.json.encode(value))
