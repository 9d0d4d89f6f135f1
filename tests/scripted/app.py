"""The scripted upstream as an application. One way for every request: received, refused or answered, delivered."""

import hashlib
import math
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import TypeAlias, cast

import msgspec
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.scripted import refusals
from tests.scripted.chat import DialectChat
from tests.scripted.config import ScriptedConfig
from tests.scripted.delivery import Delivery, Releases
from tests.scripted.faults import STATUSES, Fault, FaultCounter, parse
from tests.scripted.recording import Received, Recorder
from tests.scripted.refusals import Refusal
from tests.scripted.reply import Reply
from tests.scripted.surface import Surface

Handler: TypeAlias = Callable[[Received, Mapping[str, str]], Reply | Refusal]
Endpoint: TypeAlias = Callable[[Request], Awaitable[Response]]
METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD"]

_LIMITS = {
    "x-ratelimit-limit-requests": "10000",
    "x-ratelimit-limit-tokens": "2000000",
    "x-ratelimit-remaining-requests": "9999",
    "x-ratelimit-remaining-tokens": "1999000",
    "x-ratelimit-reset-requests": "6ms",
    "x-ratelimit-reset-tokens": "30ms",
}


class Scripted:
    """What runs behind the routes; tests in the same process reach it at `app.state.demo`.

    `recorder`, `faults`, `releases` and `chat.cache` may be read from other threads; `release` may only be called on
    the server's own loop (from elsewhere: POST /__demo/release).
    """

    def __init__(self, config: ScriptedConfig) -> None:
        self.config = config
        self.fault = config.fault  # may be changed while it runs; `x-demo-fault` goes before it
        self.recorder = Recorder(config.record)
        self.faults = FaultCounter()
        self.releases = Releases()
        self.chat = DialectChat(config)
        self.surface = Surface(config)

    def endpoint(self, handler: Handler) -> Endpoint:
        async def handle(request: Request) -> Response:
            received = await self._receive(request)
            self.recorder.arrived(received)
            try:
                fault, reply = self._answer(received, handler, request.path_params)
            except BaseException:
                self.recorder.done(received)
                raise
            received.fault = fault.name if fault else ""
            delivery = Delivery(reply, fault, received, recorder=self.recorder, releases=self.releases)
            return cast(Response, delivery)  # all that Starlette does with a response is to call it

        return handle

    async def _receive(self, request: Request) -> Received:
        scope = request.scope
        return Received(
            method=scope["method"],
            path=scope["raw_path"].decode("latin-1"),
            query=scope["query_string"].decode("latin-1"),
            headers=tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]),
            body=await request.body(),
            arrived=self.config.clock(),
        )

    def _answer(self, received: Received, handler: Handler, path: Mapping[str, str]) -> tuple[Fault | None, Reply]:
        digest = hashlib.sha256(received.path.encode() + received.body).hexdigest()
        headers = {
            "x-request-id": f"req_{digest[:32]}",
            "openai-organization": "demo-org",
            "openai-processing-ms": "42",
            "openai-version": "2020-10-01",
            **_LIMITS,
        }
        fault: Fault | None = None
        refused = self._unauthorised(received)
        if refused is None:
            key = received.header("x-demo-fault-key") or received.header("idempotency-key") or digest
            try:
                fault = self.faults.next(received.header("x-demo-fault") or self.fault, key)
            except ValueError as error:
                refused = Refusal(400, refusals.openai_error(str(error), param="x-demo-fault"))
        if fault is not None and fault.name in STATUSES:
            failed = _failure(fault)
            return fault, replace(failed, headers={**headers, **failed.headers})
        answer = refused or handler(received, path)
        if isinstance(answer, Refusal):
            answer = Reply(answer.status, [msgspec.json.encode(answer.body)])
        return fault, replace(answer, headers={**headers, **answer.headers})

    def _unauthorised(self, received: Received) -> Refusal | None:
        if not received.api_key:
            return refusals.no_key()
        if self.config.api_keys and received.api_key not in self.config.api_keys:
            return refusals.wrong_key(received.api_key)
        return None


def _failure(fault: Fault) -> Reply:
    """The answer of a server that cannot or will not."""
    status = int(fault.name)
    match status:
        case 429:
            seconds = 1.0 if fault.value is None else fault.value
            message = "Rate limit reached for requests. Please try again later."
            body = refusals.openai_error(message, kind="requests", code="rate_limit_exceeded")
            headers = {
                "retry-after": str(math.ceil(seconds)),
                "retry-after-ms": str(round(seconds * 1000)),
                "x-ratelimit-remaining-requests": "0",
                "x-should-retry": "true",
            }
            return Reply(status, [msgspec.json.encode(body)], headers=headers)
        case 502:
            return Reply(status, [refusals.BAD_GATEWAY], "text/html")
        case 503:
            body = refusals.openai_error(refusals.OVERLOADED, kind="service_unavailable", code="503")
        case _:
            body = refusals.openai_error(refusals.SERVER_ERROR, kind="server_error")
    return Reply(status, [msgspec.json.encode(body)])


def create_app(config: ScriptedConfig | None = None) -> Starlette:
    """A fresh upstream: its own cache, files, counters and recording."""
    demo = Scripted(config or ScriptedConfig())
    surface, wrap = demo.surface, demo.endpoint

    async def requests(request: Request) -> Response:
        if request.method == "DELETE":
            demo.recorder.clear()
            demo.faults.clear()
            return Response(status_code=204)
        recorder = demo.recorder
        told = {"received": recorder.received, "closed_early": recorder.closed_early, "in_flight": recorder.in_flight}
        recorded = [received.as_json() for received in recorder.requests]
        return JSONResponse({**told, "faults": dict(demo.faults.happened), "requests": recorded})

    async def fault(request: Request) -> Response:
        spec = (await request.body()).decode().strip()
        try:
            if spec:
                parse(spec)
        except ValueError as error:
            return JSONResponse(refusals.openai_error(str(error)), status_code=400)
        demo.fault = spec
        return Response(status_code=204)

    async def release(_request: Request) -> Response:
        demo.releases.release()
        return Response(status_code=204)

    async def left(_request: Request, _error: Exception) -> Response:
        return Response(status_code=400)  # nobody reads it: the client left while it was sending

    app = Starlette(
        routes=[
            Route("/__demo/requests", requests, methods=["GET", "DELETE"]),
            Route("/__demo/fault", fault, methods=["PUT"]),
            Route("/__demo/release", release, methods=["POST"]),
            Route("/v1/chat/completions", wrap(lambda request, _path: demo.chat.answer(request)), methods=["POST"]),
            Route("/v1/models", wrap(surface.models), methods=["GET"]),
            Route("/v1/models/{model:path}", wrap(surface.model), methods=["GET"]),
            Route("/v1/embeddings", wrap(surface.embeddings), methods=["POST"]),
            Route("/v1/files", wrap(surface.upload), methods=["POST"]),
            Route("/v1/files/{file}/content", wrap(surface.content), methods=["GET"]),
            Route("/v1/files/{file}", wrap(surface.delete), methods=["DELETE"]),
            Route("/v1/echo", wrap(surface.echo), methods=METHODS),
            Route("/v1/echo/{path:path}", wrap(surface.echo), methods=METHODS),
            Route("/{path:path}", wrap(_nowhere), methods=METHODS),
        ],
        exception_handlers={ClientDisconnect: left},
    )
    app.state.demo = demo
    return app


def _nowhere(request: Received, _path: Mapping[str, str]) -> Refusal:
    return refusals.unknown_url(request.method, request.path)
