"""One upstream: its connections, its timeouts, and the bytes in both directions; and the router, which says which
upstream serves a model, and its fallbacks.

The client is aiohttp's (`make bench` compares it with httpx's, which take two to eight times the CPU), without all that
a proxy must not do: cookies, redirects, headers of its own, decompression.
"""

import asyncio
import copy
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache, partial
from ssl import SSLContext
from typing import Any, Protocol
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
import httpx
from aiohttp.client_proto import ResponseHandler

from proxy.config import Upstream as UpstreamConfig
from proxy.errors import ImpossibleStatus, UnknownModel, UpstreamTimeout, UpstreamUnreachable, from_transport
from proxy.storage.shared import Breakers
from proxy.storage.shared.breakers import LocalBreakers
from proxy.types import ApiName, Headers
from proxy.upstream.outage import Outage

# Providers send long header lines (cookies, policies); aiohttp's default of 8 KiB refuses some of them.
_HEADER_BYTES = 64 * 1024
_TRANSPORT_ERRORS = (aiohttp.ClientError, OSError)  # a TimeoutError is an OSError


class Response(Protocol):
    """An upstream's answer: its head, and its body still to be read."""

    status: int
    headers: Headers  # names in lower case, in order

    async def read(self) -> bytes:
        """Returns the next piece of the body as it arrives, undecoded; b"" at its end. Raises UpstreamError when the
        connection breaks, and after `timeout.idle` seconds of silence."""

    def close(self) -> None:
        """Closes the answer, in any state. An unread body closes the connection, so the upstream notices at once."""


class Upstream:
    """Connections to one provider, shared by all requests. Keeps no state of any client: no cookies, no credentials."""

    def __init__(self, config: UpstreamConfig, breakers: Breakers | None = None) -> None:
        self.config = config
        self.name = config.name
        settings = config.breaker
        self.breaker = (breakers or LocalBreakers()).of(config.name, settings.failures, settings.open_seconds)
        self._base_url = config.base_url.rstrip("/")
        key = config.api_key
        self._outage = Outage(config.name, has_key=key is not None)
        # The Authorization header that replaces the client's own; None to pass the client's.
        self.authorization = None if key is None else f"Bearer {key.get_secret_value()}"
        self._key = key
        self.url = lru_cache(maxsize=64)(self._url)  # parsing one takes 20 µs
        self._tls = _trusting()
        self._through = _environment_proxy(self._base_url)
        self._session: aiohttp.ClientSession | None = None  # begun with the first request, in its event loop

    def key_for(self, api: ApiName) -> tuple[str, str | None]:
        """Returns the header that carries its key in an API, and its value; None: the client's own key is passed."""
        if api == "messages" and "messages" in self.config.spoken:
            return "x-api-key", None if self._key is None else self._key.get_secret_value()
        return "authorization", self.authorization

    def _begun(self) -> aiohttp.ClientSession:
        connector = aiohttp.TCPConnector(ssl=self._tls, limit=0, keepalive_timeout=30, ttl_dns_cache=60)
        connector._factory = partial(ReportingResponseHandler, loop=asyncio.get_running_loop())  # type: ignore[assignment]  # noqa: SLF001 (aiohttp offers no other way)
        return aiohttp.ClientSession(
            connector=connector,
            # One client's cookie must never be sent with another's request.
            cookie_jar=aiohttp.DummyCookieJar(),
            # Headers that the client did not send are not added.
            skip_auto_headers=("User-Agent", "Accept", "Accept-Encoding", "Content-Type"),
            auto_decompress=False,
            # It would read ~/.netrc and the proxy variables in a thread for every request (1 ms), and send the
            # credentials of whoever runs us for a client that has none. Proxies are read once, above.
            trust_env=False,
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=self.config.timeout.connect),
            max_line_size=_HEADER_BYTES,
            max_field_size=_HEADER_BYTES,
        )

    def _url(self, path: str, query: str = "") -> str:
        """Returns the URL for a path. `path` follows `/v1` and begins with a slash."""
        return str(httpx.URL(f"{self._base_url}{path}{'?' + query if query else ''}"))

    async def send(
        self,
        method: str,
        url: str,
        headers: Sequence[tuple[str, str]],
        content: bytes | AsyncIterator[bytes] | None,
        first_byte: float | None,
    ) -> Response:
        """Returns the response, its body still to be read. Raises UpstreamError, also if the headers do not arrive
        within `first_byte` seconds."""
        if self._session is None:
            self._session = self._begun()
        try:
            async with asyncio.timeout(first_byte):
                answer = await self._session.request(
                    method,
                    url,
                    headers=headers,
                    data=content or None,
                    allow_redirects=False,
                    **self._through,
                )
            if not 200 <= answer.status <= 599:  # our server could not send any other
                answer.close()
                raise ImpossibleStatus(str(answer.status))
        except _TRANSPORT_ERRORS as error:
            failure = from_transport(error, self.name)
            if isinstance(failure, UpstreamUnreachable | UpstreamTimeout):
                self._outage.failed(failure.message)
            raise failure from error
        if self._outage.is_told or answer.status in self._outage.telling:
            self._outage.answered(answer.status)
        return Received(answer, self.name, self.config.timeout.idle)

    def aside(self) -> "Upstream":
        """Returns the same upstream over the same connections for requests that no client waits for: they are not sent
        again, and their failures open no breaker."""
        if self._session is None:
            self._session = self._begun()
        twin = copy.copy(self)
        twin.config = self.config.model_copy(update={"retries": 0, "fallback": None})
        twin.breaker = LocalBreakers().of(self.name, 0, 1.0)
        return twin

    async def close(self) -> None:
        """Closes the connections."""
        if self._session is not None:
            await self._session.close()


@lru_cache(maxsize=1)
def _trusting() -> SSLContext:
    """Returns the TLS context of all upstreams: with the certificates that SDKs trust. Reading them takes 25 ms."""
    return httpx.create_ssl_context()


class Received:
    """A response from aiohttp; `Response` documents it. Its silence is timed by one timer for the whole body, which
    looks after `idle` seconds whether somebody has been waiting as long: a timer for each piece costs more than the
    piece."""

    __slots__ = ("_answer", "_content", "_idle", "_loop", "_since", "_upstream", "_watch", "headers", "status")

    def __init__(self, answer: aiohttp.ClientResponse, upstream: str, idle: float) -> None:
        self.status = answer.status
        self.headers: Headers = tuple([(_lower(name), value.decode("latin-1")) for name, value in answer.raw_headers])
        self._answer = answer
        self._content = answer.content
        self._upstream = upstream
        self._idle = idle
        self._loop = asyncio.get_running_loop()
        self._since: float | None = (
            None  # the loop's time since which somebody waits; the reader's own time is not ours
        )
        self._watch: asyncio.TimerHandle | None = None

    async def read(self) -> bytes:
        """Returns the next piece of the body."""
        content = self._content
        if self._watch is None and not content.is_eof():
            self._watch = self._loop.call_later(self._idle, self._look)
        self._since = self._loop.time()
        try:
            piece = await content.readany()
        except _TRANSPORT_ERRORS as error:
            raise from_transport(error, self._upstream) from error
        self._since = None
        if not piece:
            self._unwatch()
        return piece

    def close(self) -> None:
        """Closes the answer, in any state."""
        self._unwatch()
        self._answer.close()

    def _look(self) -> None:
        now = self._loop.time()
        until = (now if self._since is None else self._since) + self._idle
        if until > now:
            self._watch = self._loop.call_at(until, self._look)
        else:
            silent = UpstreamTimeout(f"upstream {self._upstream!r} sent nothing for {self._idle:g} s")
            self._content.set_exception(silent)

    def _unwatch(self) -> None:
        if self._watch is not None:
            self._watch.cancel()
            self._watch = None


@lru_cache(1_000)
def _lower(name: bytes) -> str:
    return name.decode("latin-1").lower()


@dataclass(frozen=True, slots=True)
class Route:
    """An upstream and its fallbacks, in order."""

    upstream: Upstream
    fallbacks: tuple[Upstream, ...] = ()

    @property
    def candidates(self) -> tuple[Upstream, ...]:
        """The upstream and its fallbacks, in order."""
        return (self.upstream, *self.fallbacks)


class Router:
    """Routes a model to the first configured upstream with a matching pattern."""

    def __init__(self, upstreams: Sequence[Upstream], *, reject_unknown: bool) -> None:
        self.upstreams = tuple(upstreams)
        self._by_name: Mapping[str, Upstream] = {upstream.name: upstream for upstream in upstreams}
        self._reject_unknown = reject_unknown
        self.route = lru_cache(maxsize=256)(self._route)

    def _route(self, model: str) -> Route:
        """Returns the route of a model. Raises UnknownModel, which lists the served models, if no pattern matches and
        the configuration says so; otherwise the first upstream serves it."""
        chosen = next((each for each in self.upstreams if _serves(each, model)), None)
        if chosen is None and self._reject_unknown:
            served = ", ".join(
                f"{pattern} ({upstream.name})" for upstream in self.upstreams for pattern in upstream.config.models
            )
            # The model's name is the client's own text; quote a bounded part of it.
            raise UnknownModel(f"The model {model[:100]!r} is not served here. Served: {served}.", param="model")
        candidates = [chosen or self.default]
        while (name := candidates[-1].config.fallback) is not None:  # the configuration refuses cycles
            candidates.append(self._by_name[name])
        return Route(candidates[0], tuple(candidates[1:]))

    @property
    def default(self) -> Upstream:
        """The upstream of requests that name no model."""
        return self.upstreams[0]

    def speaking(self, api: ApiName) -> Upstream:
        """Returns the first upstream that has an API; the first of all if none has it."""
        return next((each for each in self.upstreams if api in each.config.spoken), self.default)

    def named(self, name: str) -> Upstream:
        """Returns the upstream of this name. Raises KeyError."""
        return self._by_name[name]


def _serves(upstream: Upstream, model: str) -> bool:
    return any(fnmatchcase(model, pattern) for pattern in upstream.config.models)


class ReportingResponseHandler(ResponseHandler):
    """aiohttp's response handler, made to report a body that can't be parsed: aiohttp drops the connection, and its
    reader would wait for the next piece until the timeout."""

    def set_exception(self, exc: BaseException, *cause: BaseException) -> None:
        """Passes the parser's error on to the reader of the body."""
        body = self._payload
        super().set_exception(exc, *cause)
        if body is not None and not body.is_eof() and body.exception() is None:
            body.set_exception(aiohttp.ClientPayloadError(f"the body can't be read: {type(exc).__name__}"), exc)


def _environment_proxy(url: str) -> Mapping[str, Any]:
    """Returns aiohttp's arguments for the proxy of this URL by HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY; none if
    there is no proxy."""
    target = urlsplit(url)
    if target.hostname is None or proxy_bypass(target.netloc):
        return {}
    proxies = getproxies()
    named = proxies.get(target.scheme) or proxies.get("all")
    if not named:
        return {}
    proxy = httpx.Proxy(named)
    auth = aiohttp.BasicAuth(*proxy.auth) if proxy.auth else None
    return {"proxy": str(proxy.url), "proxy_auth": auth}
