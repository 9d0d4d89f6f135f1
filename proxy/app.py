"""Routes and lifespan of the application, and the handlers of the API: the managed route, and the pass-through of every
other `/v1` route, streamed to the first upstream and back, unchanged. Plain ASGI endpoints under Starlette's router:
its request and response objects would buffer what must stream."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.resources import files
from time import time
from urllib.parse import unquote

import msgspec
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.types import ASGIApp

from proxy import page
from proxy.admin import routes as admin
from proxy.admin.parts import Admin
from proxy.config import Config
from proxy.errors import (
    FAILED,
    ForeignHost,
    ForeignOrigin,
    OlvidoError,
    RequestTimeout,
    ShuttingDown,
    TooLarge,
    UnknownRoute,
    UpstreamError,
)
from proxy.http.access import METHODS, OPTIONS, Kind, options_answer
from proxy.http.exchange import AsgiMessage, Call, ClientGone, Receive, Send, read_body, refuse_coding, stream_body
from proxy.keys.limits import with_room
from proxy.observe.siblings import Worker
from proxy.observe.tracing import CURRENT
from proxy.pipeline import Services, desk_api, limits, sessions_api
from proxy.pipeline.chat import handle
from proxy.pipeline.context_api import ContextReader
from proxy.pipeline.unmanaged import Passage, Unmanaged
from proxy.protocol import headers as wire_headers
from proxy.services import build
from proxy.types import Answer, Incoming
from proxy.upstream.client import Response, Upstream

log = logging.getLogger(__name__)

CHAT = "/v1/chat/completions"

Handler = Callable[[Call, Services], Awaitable[None]]


class Application(Starlette):
    """Starlette without its middleware, which wraps every message of an answer to catch errors that our endpoints do
    not let out."""

    def build_middleware_stack(self) -> ASGIApp:
        """Returns the bare router."""
        return self.router


def create_app(config: Config, worker: Worker | None = None) -> Starlette:
    """Returns the proxy as an ASGI application. Its parts are built when the server starts it, as `app.state.services`
    and `app.state.admin`. `worker`: None for a process that serves alone."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        app.state.services = services = await build(config, run_time=None if worker is None else worker.folder)
        siblings = admin.siblings_of(services, worker)
        app.state.admin = Admin.of(services, siblings)
        app.state.contexts = ContextReader(services)
        pulse = admin.watch(services)
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

    def administered(handler: admin.Handler) -> Handler:
        return lambda call, _: handler(call, app.state.admin)

    app = Application(
        routes=[
            route(CHAT, chat, "POST", kind="api"),
            route("/v1/{path:path}", pass_through, kind="api"),  # with any method: the upstream knows them
            route("/olvido/context", lambda call, _: context(call, app.state.contexts), "POST", kind="api"),
            route("/olvido/sessions/{session:path}/end", end_session, "POST", kind="api"),
            route("/olvido/sessions/{session:path}/report", report_session, "POST", kind="api"),
            route("/olvido/sessions/{session:path}/reset", reset_desk, "POST", kind="api"),
            route("/olvido/sessions/{session:path}/pins", pin_message, "POST", kind="api"),
            route("/olvido/openapi.yaml", openapi, "GET"),
            route("/healthz", healthz, "GET"),
            route("/readyz", lambda call, services: readyz(call, services, worker), "GET"),
            route("/metrics", administered(admin.metrics), "GET", kind="numbers"),
            *(Route(path, Endpoint(administered(each), methods=each.methods)) for path, each in admin.PATHS.items()),
            route("/", page.to_page, "GET"),
            route("/ui", page.page, "GET"),
            route("/ui/docs", page.to_documents, "GET"),
            route("/ui/docs/{document:path}", page.document, "GET"),
            route("/ui/{file:path}", page.file, "GET"),
            route("/{path:path}", nothing_here),
        ],
        lifespan=lifespan,
    )
    # Paths that match no route at all (a line end in them) get our error shape, and not the router's answer.
    app.router.default = Endpoint(nothing_here)
    return app


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


async def chat(call: Call, services: Services) -> None:
    """Answers the managed route, `/v1/chat/completions`."""
    if services.tracing is None:
        await _chat(call, services)
        return
    trace = services.tracing.begin(call.headers, call.request_id)
    mark = CURRENT.set(trace)
    status, error = 0, ""
    try:
        status = (await _chat(call, services)).status
    except OlvidoError as refused:
        # An answer that has begun has the status that it began with.
        status, error = 0 if call.answered else refused.status, refused.code or type(refused).__name__
        raise
    except BaseException as failure:
        status, error = 0, "client_gone" if isinstance(failure, ClientGone | asyncio.CancelledError) else "our_error"
        raise
    finally:
        CURRENT.reset(mark)
        route = {"http.request.method": call.method, "http.route": CHAT, "url.path": CHAT, "url.scheme": "http"}
        trace.end(f"{call.method} {CHAT}", {**route, "olvido.request": call.request_id}, status, error)


async def _chat(call: Call, services: Services) -> Answer:
    incoming = await _incoming(call, services)
    count, in_flight = services.metrics.tally.add, services.metrics.in_flight
    count(in_flight, 1)
    try:
        try:
            answer = await handle(incoming, services)
        except BaseException:
            services.limiter.release(incoming.request_id)  # no row will settle it
            raise
        await call.answer(answer)
    finally:
        count(in_flight, -1)
    return answer


async def context(call: Call, contexts: ContextReader) -> None:
    """Answers `/olvido/context`: a conversation as the archive has it, for whoever builds prompts himself."""
    answer = await contexts.answer(await _incoming(call, contexts.services))
    await call.answer(replace(answer, headers=(*answer.headers, ("x-olvido-request", call.request_id))))


async def end_session(call: Call, services: Services) -> None:
    """Answers `/olvido/sessions/{session}/end`."""
    answer = await sessions_api.end(await _incoming(call, services), call.parameters["session"], services)
    await call.answer(replace(answer, headers=(*answer.headers, ("x-olvido-request", call.request_id))))


async def report_session(call: Call, services: Services) -> None:
    """Answers `/olvido/sessions/{session}/report`."""
    answer = await sessions_api.report(await _incoming(call, services), call.parameters["session"], services)
    await call.answer(replace(answer, headers=(*answer.headers, ("x-olvido-request", call.request_id))))


async def reset_desk(call: Call, services: Services) -> None:
    """Answers `/olvido/sessions/{session}/reset`."""
    answer = await desk_api.reset(await _incoming(call, services), call.parameters["session"], services)
    await call.answer(replace(answer, headers=(*answer.headers, ("x-olvido-request", call.request_id))))


async def pin_message(call: Call, services: Services) -> None:
    """Answers `/olvido/sessions/{session}/pins`."""
    answer = await desk_api.pin(await _incoming(call, services), call.parameters["session"], services)
    await call.answer(replace(answer, headers=(*answer.headers, ("x-olvido-request", call.request_id))))


async def openapi(call: Call, services: Services) -> None:  # noqa: ARG001 (a handler's shape)
    """Answers with the types of the API."""
    await call.answer(Answer(200, (("content-type", "application/yaml"),), _openapi()))


@lru_cache(1)
def _openapi() -> bytes:
    return files("proxy").joinpath("openapi.yaml").read_bytes()


async def _incoming(call: Call, services: Services) -> Incoming:
    """Reads a request of the API whole. Raises what refuses its key, its coding or its body."""
    tenant = services.authenticator.tenant(call.headers)
    refuse_coding(call.headers)
    server = services.config.server
    received_at = time()
    body = await read_body(
        call.receive, call.headers, max_bytes=server.max_body_mb * 2**20, seconds=server.body_timeout
    )
    call.watch.start()
    return Incoming(call.request_id, call.headers, body, received_at, tenant, call.query)


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


async def pass_through(call: Call, services: Services) -> None:
    """Forwards one request. No retries, since a streamed body can be sent only once. Nothing is decided about it, nor
    learnt: what it was is noticed as it passes, for the ledger."""
    tenant = services.authenticator.tenant(call.headers)  # with own keys: raises Unauthorized for anybody else's
    if leads_out(call.path):
        raise UnknownRoute(f"Unknown request URL: {call.method} {call.path[:200]}.")
    upstream = services.router.default
    passage = services.unmanaged.begin(call.request_id, call.method, call.path, call.headers, tenant)
    room = await limits.admit_other(services, passage.scope, call.request_id, passage.at)
    body = _body(call, upstream, passage)
    if body is None:
        call.watch.start()
    url = upstream.url(call.path.removeprefix("/v1"), call.query)
    headers = wire_headers.to_upstream(call.headers, authorization=upstream.authorization, managed=False)
    try:
        # The answer's headers may come only after a long upload, whose silence `stream_body` bounds.
        response = await upstream.send(call.method, url, headers, body, upstream.config.timeout.answer)
    except UpstreamError as error:
        refused = _cause(error.__cause__) or error
        services.unmanaged.end(passage, status=refused.status)
        raise refused from error.__cause__
    except BaseException:  # the client has gone
        services.unmanaged.end(passage, "client_gone")
        raise
    passage.answered(response.status, response.headers)
    kept = wire_headers.to_client(response.headers, length=True)
    through = _Through(response, passage, services.unmanaged)
    await call.answer(Answer(response.status, (*with_room(kept, room), ("x-olvido-request", call.request_id)), through))


def leads_out(path: str) -> bool:
    """True if `path` has dot segments, which could resolve to a URL outside of the API and take the upstream's key
    there."""
    return any(unquote(step) in (".", "..") for step in unquote(path).replace("\\", "/").split("/"))


def _body(call: Call, upstream: Upstream, passage: Passage) -> AsyncIterator[bytes] | None:
    """Returns the stream of the request's body; None if it announces none, as GET does."""
    length = wire_headers.get(call.headers, "content-length")
    if length in (None, "0") and wire_headers.get(call.headers, "transfer-encoding") is None:
        return None
    return _noticed(stream_body(call.receive, idle=upstream.config.timeout.idle, on_end=call.watch.start), passage)


async def _noticed(body: AsyncIterator[bytes], passage: Passage) -> AsyncIterator[bytes]:
    async for piece in body:
        passage.sent(piece)
        yield piece


def _cause(error: BaseException | None) -> OlvidoError | None:
    """Returns our own error in reading the client's body, if that made the HTTP client give up."""
    while error is not None:
        if isinstance(error, OlvidoError):
            return error
        error = error.__cause__ or error.__context__
    return None


@dataclass(frozen=True, slots=True)
class _Through:
    """The upstream's body as a stream, recorded at its end."""

    response: Response
    passage: Passage
    unmanaged: Unmanaged

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            while chunk := await self.response.read():
                self.passage.came(chunk)
                yield chunk
            self.passage.outcome = "complete"
        except UpstreamError as error:
            self.passage.outcome = "upstream_broken"
            raise _cause(error.__cause__) or error from error.__cause__

    async def aclose(self) -> None:
        self.response.close()
        self.unmanaged.end(self.passage)
