"""Access to the API: by key; from web sites (CORS), with protection against DNS rebinding.

Any page in a browser can send requests to this machine, and its own host name can be made to resolve to it: then
everybody could use the upstream's key.

A browser tells the page's site (Sec-Fetch-Site, Origin) and the host name that it used (Host), and lets no page change
either. Other programs send Host alone.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from typing import Literal, TypeAlias
from urllib.parse import urlsplit

from proxy.config import Config, is_loopback
from proxy.errors import ForeignHost, ForeignOrigin, Unauthorized
from proxy.keys.book import KeyBook
from proxy.keys.making import tenant_of
from proxy.protocol import headers as wire_headers
from proxy.types import Answer, Headers

# Kinds of routes, by their protection; see `OriginPolicy.check`.
Kind: TypeAlias = Literal["api", "numbers", "other"]

_OURS = ("none", "same-origin")  # of Sec-Fetch-Site: typed by the user; our own page
_OF_BROWSERS = frozenset({"host", "origin", "sec-fetch-site"})
_PORTS = {"http": 80, "https": 443}
OPTIONS = "OPTIONS"
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")  # assumed where only the upstream knows them
_TOKENS = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z, -]{1,2000}")  # of a list of header names
_HOST = re.compile(r"(?:[\w.-]*|\[[0-9A-Fa-f:.%\w]+\])(?::\d{0,5})?")  # nothing in front of it, and no path
_PREFLIGHT_SECONDS = 600
# Headers of gateways that select a provider's key identify customers as well.
KEYS = wire_headers.KEYS | {"cf-aig-authorization", "helicone-auth", "x-portkey-api-key", "x-portkey-virtual-key"}
EXPOSED = (
    *("x-olvido-source", "x-olvido-session", "x-olvido-request", "x-olvido-tokens-original", "x-olvido-tokens-sent"),
    *("x-olvido-plan", "x-olvido-reuse", "x-request-id", "age", "retry-after"),
    *(f"x-ratelimit-{what}-{unit}" for what in ("limit", "remaining", "reset") for unit in ("requests", "tokens")),
)


class Authenticator:
    """Authenticates requests, and derives their tenant."""

    def __init__(self, config: Config, secret: bytes, keys: KeyBook | None = None) -> None:
        """`keys`: None: those of the configuration alone."""
        self._secret = secret
        self._keys = keys or KeyBook(config, secret)

    def tenant(self, headers: Headers) -> str:
        """Returns a keyed hash of the API key, 32 hex digits; the key itself goes no further. With own keys it is a
        hash of the key's name, so a key can be replaced without losing what is remembered. Raises Unauthorized."""
        credentials = _credentials(headers)
        if not self._keys.checks:
            return tenant_of("key", "\n".join(credentials), self._secret)
        key = next((found for each in credentials if (found := self._keys.find(each)) is not None), None)
        if key is None:
            raise Unauthorized("Incorrect API key provided: it is none of those this proxy accepts.")
        self._keys.use(key)
        return self._keys.tenant(key)


class OriginPolicy:
    """Rules for requests from browsers, by host name and origin."""

    def __init__(self, config: Config) -> None:
        self._is_private = is_loopback(config.server.host)
        self._needs_key = config.auth.mode == "keys"
        self._origins = frozenset(config.server.allowed_origins)
        # An IPv6 address stands in brackets, which are no part of its name.
        self._hosts = frozenset(host[1:-1] if host.endswith("]") else host for host in config.server.allowed_hosts)
        # Most requests say what the one before them said, and reading it takes 10 µs. Refusals are not kept.
        self._pass = lru_cache(64)(self._check)

    def check(self, kind: Kind, headers: Headers, port: int | None) -> None:
        """Checks host name and origin. `port`: the local port of the request; None if unknown. Kinds of routes: `api`
        needs a key if any is needed; `numbers` is closed to other sites; `other` is open to links from anywhere. Raises
        ForeignHost and ForeignOrigin."""
        if kind == "api" and self._needs_key:
            return
        self._pass(kind, tuple([each for each in headers if each[0] in _OF_BROWSERS]), port)

    def _check(self, kind: Kind, headers: Headers, port: int | None) -> None:
        for host in _all(headers, "host"):
            if not self._is_accepted(host, port):
                raise ForeignHost(
                    f"This proxy serves this machine, and {host[:100]!r} is none of its names: "
                    "list it in server.allowed_hosts if it is."
                )
        if kind != "other":
            self._refuse_foreign(headers)

    def preflight(self, headers: Headers, methods: Sequence[str] = METHODS) -> Answer:
        """Returns the answer to OPTIONS: the methods, and the permissions of a browser's page. Raises ForeignOrigin,
        even where a key is needed: pages send none with this request."""
        plain = options_answer(methods)
        if not is_listed(headers, self._origins):
            self._refuse_foreign(headers)
            return plain
        wanted = wire_headers.get(headers, "access-control-request-headers") or ""
        answer: Headers = (
            *plain.headers,
            ("access-control-allow-methods", ", ".join(methods)),
            ("access-control-max-age", str(_PREFLIGHT_SECONDS)),
        )
        if _TOKENS.fullmatch(wanted):
            answer = (*answer, ("access-control-allow-headers", wanted))
        if wire_headers.get(headers, "access-control-request-private-network") == "true":
            answer = (*answer, ("access-control-allow-private-network", "true"))
        return Answer(204, answer, b"")

    def cors_headers(self, headers: Headers) -> Headers:
        """Returns the CORS headers of every answer of the API."""
        if not self._origins:
            return ()
        vary = ("vary", "origin")
        if not is_listed(headers, self._origins):
            return (vary,)
        origin = wire_headers.get(headers, "origin") or ""
        return (
            vary,
            ("access-control-allow-origin", origin),
            ("access-control-expose-headers", ", ".join(EXPOSED)),
        )

    def _refuse_foreign(self, headers: Headers) -> None:
        if is_listed(headers, self._origins):
            return
        origins = tuple(_all(headers, "origin"))
        own = _all(headers, "host")
        names = {authority(scheme, host) for host in own for scheme in _PORTS}
        foreign = any(authority(*_parts(origin)) not in names for origin in origins)
        if foreign or any(site not in _OURS for site in _all(headers, "sec-fetch-site")):
            raise ForeignOrigin("This proxy does not answer to pages of other sites: see server.allowed_origins.")

    def _is_accepted(self, host: str, port: int | None) -> bool:
        if not self._is_private or {host.lower(), name_of(host)} & self._hosts:
            return True
        return is_loopback(name_of(host)) and (port is None or authority("http", host)[2] == port)


def options_answer(methods: Sequence[str]) -> Answer:
    """Returns the answer to OPTIONS where no page of another site may call."""
    return Answer(204, (("allow", ", ".join((*methods, OPTIONS))),), b"")


def is_listed(headers: Headers, origins: Collection[str]) -> bool:
    """True if the request names origins, all of them among `origins`."""
    said = tuple(_all(headers, "origin"))
    return bool(said) and all(_normal(origin) in origins for origin in said)


def authority(scheme: str, host: str) -> tuple[str, str, int | None]:
    """Returns scheme, name and port of a Host header; the port is None if it is no number."""
    try:
        if not _HOST.fullmatch(host):
            return scheme, "", None
        url = urlsplit(f"//{host}")
        return scheme, (url.hostname or ""), url.port or _PORTS.get(scheme)
    except ValueError:
        return scheme, "", None


def name_of(host: str) -> str:
    """Returns the name in a Host header, in lower case and without its port; "" if it has none."""
    return authority("http", host)[1]


def _credentials(headers: Headers) -> list[str]:
    """Returns every key in the request, the bearer token first. Many clients send a dummy in Authorization, and only
    the upstream knows which key counts, so all of them together identify the tenant."""
    given = [(name, value) for name, value in headers if value and name in KEYS]
    bearers = [_bearer(value) for name, value in given if name == "authorization"]
    others = [value for name, value in given if name != "authorization"]
    keys = list(dict.fromkeys(key for key in (*bearers, *others) if key))
    return keys or [wire_headers.get(headers, "authorization") or ""]


def _bearer(authorization: str) -> str:
    scheme, _, token = authorization.partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def _parts(origin: str) -> tuple[str, str]:
    scheme, _, rest = origin.lower().partition("://")
    return scheme, rest


def _normal(origin: str) -> str:
    """Returns the origin as the configuration writes it: in lower case, without a default port."""
    scheme, rest = _parts(origin)
    return f"{scheme}://{rest.removesuffix(f':{_PORTS.get(scheme)}')}"


def _all(headers: Headers, name: str) -> Iterator[str]:
    return (value for key, value in headers if key == name)
