"""One upstream: its connections, its timeouts, and the bytes in both directions; and the router, which says which
upstream serves a model, and its fallbacks.

httpx's own transport costs about 800 µs of CPU a request, aiohttp's sockets under httpx's types about 270 µs (`make
bench` measures both). So requests and responses are httpx's and the transport is httpx-aiohttp. httpx's client is left
out: it would add its own headers, cookies and redirects, and a proxy must do none of that.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache, partial
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
import httpx
from aiohttp.client_proto import ResponseHandler
from httpx_aiohttp import AiohttpTransport
from multidict import CIMultiDict

from proxy.config import Upstream as UpstreamConfig
from proxy.errors import ImpossibleStatus, UnknownModel, UpstreamTimeout, from_transport
from proxy.storage.shared import Breakers
from proxy.storage.shared.local import LocalBreakers
from proxy.types import Headers

# Providers send long header lines (cookies, policies); aiohttp's default of 8 KiB refuses some of them.
_HEADER_BYTES = 64 * 1024
_TRANSPORT_ERRORS = (httpx.TransportError, aiohttp.ClientError, OSError)  # a TimeoutError is an OSError


class Upstream:
    """Connections to one provider, shared by all requests. Keeps no state of any client: no cookies, no credentials."""

    def __init__(self, config: UpstreamConfig, breakers: Breakers | None = None) -> None:
        self.config = config
        self.name = config.name
        settings = config.breaker
        self.breaker = (breakers or LocalBreakers()).of(config.name, settings.failures, settings.open_seconds)
        self._base_url = config.base_url.rstrip("/")
        self._timeouts: dict[str, float | None] = {"connect": config.timeout.connect, "read": None, "pool": None}
        self.url = lru_cache(maxsize=64)(self._url)  # parsing one takes 20 µs
        self._tls = httpx.create_ssl_context()  # the certificates that SDKs trust; 25 ms, so once
        self._transport = AiohttpTransport(
            client=self._session, proxy=_environment_proxy(self._base_url), verify=self._tls
        )

    def _session(self) -> aiohttp.ClientSession:
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
            # credentials of whoever runs us for a client that has none. Proxies are read once, below.
            trust_env=False,
            max_line_size=_HEADER_BYTES,
            max_field_size=_HEADER_BYTES,
        )

    @property
    def authorization(self) -> str | None:
        """The Authorization header that replaces the client's own; None to pass the client's."""
        key = self.config.api_key
        return None if key is None else f"Bearer {key.get_secret_value()}"

    def _url(self, path: str, query: str = "") -> httpx.URL:
        """Returns the URL for a path. `path` follows `/v1` and begins with a slash."""
        return httpx.URL(f"{self._base_url}{path}{'?' + query if query else ''}")

    async def send(
        self,
        method: str,
        url: httpx.URL,
        headers: Sequence[tuple[str, str]],
        content: bytes | AsyncIterator[bytes] | None,
        first_byte: float | None,
    ) -> httpx.Response:
        """Returns the response, its body still to be read. Raises UpstreamError, also if the headers do not arrive
        within `first_byte` seconds."""
        request = PreparedRequest(method, url, headers, content, {"timeout": self._timeouts})
        try:
            async with asyncio.timeout(first_byte):
                response = await self._transport.handle_async_request(request)
            if not 200 <= response.status_code <= 599:  # our server could not send any other
                await close_response(response)
                raise ImpossibleStatus(str(response.status_code))
        except _TRANSPORT_ERRORS as error:
            raise from_transport(_told_apart(error), self.name) from error
        return response

    async def body(self, response: httpx.Response) -> AsyncGenerator[bytes, None]:
        """Yields the body as it arrives, undecoded. Raises UpstreamError when the connection breaks, and after
        `timeout.idle` seconds of silence."""
        idle = self.config.timeout.idle
        loop = asyncio.get_running_loop()
        stream = response.stream
        assert isinstance(stream, httpx.AsyncByteStream)
        try:
            async with asyncio.timeout(idle) as silence:
                async for chunk in stream:
                    silence.reschedule(None)  # the client's reading time does not count
                    yield chunk
                    silence.reschedule(loop.time() + idle)
        except TimeoutError as error:
            raise UpstreamTimeout(f"upstream {self.name!r} sent nothing for {idle:g} s") from error
        except _TRANSPORT_ERRORS as error:
            raise from_transport(error, self.name) from error

    async def close(self) -> None:
        """Closes the connections."""
        await self._transport.aclose()


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


class PreparedRequest(httpx.Request):
    """A request with parts that need no processing: httpx's own would parse the URL again, and complete and copy the
    headers, which takes longer than aiohttp needs to send them."""

    def __init__(
        self,
        method: str,
        url: httpx.URL,
        headers: Sequence[tuple[str, str]],
        content: bytes | AsyncIterator[bytes] | None,
        extensions: dict[str, Any],
    ) -> None:
        self.method = method
        self.url = url
        self.headers: Any = CIMultiDict(headers)  # as aiohttp takes them, repeated ones apart
        self.extensions = extensions
        self._body = content

    @property
    def content(self) -> bytes:
        """The body in memory. Raises httpx.RequestNotRead for a streamed one: the transport then takes `stream`."""
        if self._body is None or isinstance(self._body, bytes):
            return self._body or b""
        self.stream: Any = self._body
        raise httpx.RequestNotRead


def _told_apart(error: Exception) -> Exception:
    """Returns the error, or the one for a broken connection where httpx-aiohttp raises ConnectTimeout for it: most
    often a kept-alive connection that the upstream had just closed."""
    is_timeout = isinstance(error.__cause__, aiohttp.ServerTimeoutError | aiohttp.ClientConnectorError)
    return error if is_timeout or not isinstance(error, httpx.ConnectTimeout) else httpx.RemoteProtocolError(str(error))


def _environment_proxy(url: str) -> httpx.Proxy | None:
    """Returns the proxy for this URL by HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY; None if there is none."""
    target = urlsplit(url)
    if target.hostname is None or proxy_bypass(target.netloc):
        return None
    proxies = getproxies()
    proxy = proxies.get(target.scheme) or proxies.get("all")
    return httpx.Proxy(proxy) if proxy else None


def response_headers(response: httpx.Response) -> Headers:
    """Returns the headers of an answer, names in lower case, in order."""
    return tuple((name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in response.headers.raw)


async def close_response(response: httpx.Response) -> None:
    """Closes a response in any state. An unread body closes the connection, so the upstream notices at once."""
    stream: Any = response.stream
    try:
        await stream.aclose()
    except _TRANSPORT_ERRORS:
        return  # closed already
