"""Authentication for the admin API. With a token: whoever has it, or the cookie that a browser got for it. Without one:
programs of this machine, if the proxy serves nobody else.

Beside the token a key of this proxy gets in, as the same header or for a cookie of its own: as a visitor of its tenant,
who sees what is its own (`routes.py`). Whoever has the token sees all.

A page of another site that the user has open in a browser is no such program, so without a token the names by which a
browser reached us are checked, and the site that asked. A browser adds a cookie on its own, too: what changes anything
by cookie has to come from our own page.
"""

import hmac
import re
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import time

from pydantic import SecretStr

from proxy.config import Config, is_loopback
from proxy.errors import BadRequest, Forbidden, TooMany, Unauthorized
from proxy.http.access import is_listed, name_of
from proxy.keys.book import KeyBook
from proxy.protocol import headers as wire_headers
from proxy.storage.shared import Logouts, Throttle
from proxy.types import Headers
from proxy.types.keys import ApiKey

COOKIE = "olvido_admin"
COOKIE_SECONDS = 12 * 3_600


@dataclass(frozen=True, slots=True)
class Visitor:
    """Somebody who was admitted."""

    key: ApiKey | None = None  # whose own he sees; None: he sees all
    tenant: str = ""  # of the key


ADMIN = Visitor()

_SAFE = ("GET", "HEAD")
# Its id, its end, the id of a key if it is one's, the signature.
_COOKIE = re.compile(r"([0-9a-f]{32})\.([0-9]{1,12})(\.[0-9a-f]{16})?\.([0-9a-f]{64})")


class AdminAuthenticator:
    """Authenticates requests to the admin API and to `/metrics`, and makes cookies for the token."""

    def __init__(
        self,
        config: Config,
        throttle: Throttle,
        logouts: Logouts,
        clock: Callable[[], float] = time,
        keys: KeyBook | None = None,
    ) -> None:
        self._keys = keys
        self._token = _bytes(config.admin.token)
        self._metrics_token = _bytes(config.admin.metrics_token)
        self._open_metrics = config.server.open_metrics
        self._is_private = is_loopback(config.server.host)
        self._origins = frozenset(config.server.allowed_origins)
        self._clock = clock
        self._throttle = throttle
        self._logouts = logouts

    @property
    def needs_token(self) -> bool:
        """True if a token is configured."""
        return self._token is not None

    async def admit(self, headers: Headers, method: str = "GET", client: str = "") -> Visitor:
        """Authenticates a request, and returns who makes it. `client`: its IP address. Raises Unauthorized, Forbidden,
        or TooMany for an address that guesses."""
        if self._token is None:
            self._admit_private(headers)
            return ADMIN
        await self._logouts.refresh()
        # Before any token is looked at: a page of another site that was given it, or guesses, is refused as one.
        if not is_listed(headers, self._origins):
            self.refuse_others(headers)
        visitor, is_by_cookie = self._known(headers)
        if visitor is None:
            if _bearer(headers):
                await self._note_guess(client)
            raise Unauthorized("The admin API needs the token of admin.token: Authorization: Bearer <token>.")
        if is_by_cookie and method not in _SAFE:
            _refuse_forged(headers)
        return visitor

    async def refuse_ended(self, visitor: Visitor, headers: Headers) -> None:
        """Raises Unauthorized once what a visitor was admitted with holds no more: its key is revoked, its cookie over
        or ended."""
        if self._token is None:
            return
        await self._logouts.refresh()
        known, _ = self._known(headers)
        if known is None or known.tenant != visitor.tenant:
            raise Unauthorized("What this was asked with holds no more.")

    async def admit_metrics(self, headers: Headers, client: str = "") -> None:
        """Authenticates a scrape. Raises Unauthorized, or TooMany for an address that guesses."""
        if self._open_metrics or (self._is_private and self._metrics_token is None):
            return
        known = [token for token in (self._metrics_token, self._token) if token is not None]
        if not _is_one_of(_bearer(headers), *known):
            if _bearer(headers):
                await self._note_guess(client)
            raise Unauthorized(
                "/metrics needs the token of admin.metrics_token, or that of admin.token: Authorization: Bearer "
                "<token>; or server.open_metrics."
            )

    async def login(self, token: str, client: str) -> str:
        """Makes the cookie's value in exchange for the token, or for a key of this proxy. Raises Unauthorized; TooMany
        for an address that guesses; BadRequest where there is no token."""
        if self._token is None:
            raise BadRequest("There is no admin.token, so there is nothing to log in with.")
        given, of_key = token.encode("utf-8", "replace"), ""
        if not hmac.compare_digest(given, self._token):
            own = self._of_key(given)
            if own is None or own.key is None:
                await self._note_guess(client)
                raise Unauthorized("That is neither the token of admin.token nor a key of this proxy.", param="token")
            of_key = f".{own.key.id}"
        said = f"{secrets.token_hex(16)}.{int(self._clock()) + COOKIE_SECONDS}{of_key}"
        return f"{said}.{self._signed(said)}"

    async def logout(self, headers: Headers) -> None:
        """Revokes the cookies in this request, wherever there are copies of them."""
        await self._logouts.refresh()
        for told in filter(None, map(self._told_by, _cookies(headers))):
            await self._logouts.add(*told)

    def refuse_others(self, headers: Headers) -> None:
        """Raises Forbidden if a page of another site asks."""
        site = wire_headers.get(headers, "sec-fetch-site")
        if site not in (None, "none", "same-origin") or (site is None and _is_other(headers)):
            raise Forbidden("The admin API does not answer to other sites.")

    def _known(self, headers: Headers) -> tuple[Visitor | None, bool]:
        """Returns who makes a request, None if nobody knows, and whether a cookie says so."""
        given = _bearer(headers)
        if self._token is not None and _is_one_of(given, self._token):
            return ADMIN, False
        if (own := self._of_key(given)) is not None:
            return own, False
        return next(filter(None, map(self._visitor, _cookies(headers))), None), True

    def _admit_private(self, headers: Headers) -> None:
        if not self._is_private:
            raise Forbidden("The admin API needs admin.token to be set: the proxy does not listen on loopback only.")
        if not is_loopback(name_of(wire_headers.get(headers, "host") or "")):
            raise Forbidden("Without admin.token, the admin API answers to this machine's own name only.")
        # Another port of this machine is another site. Not every browser sends both headers.
        site = wire_headers.get(headers, "sec-fetch-site")
        if _is_other(headers) or site not in (None, "none", "same-origin"):
            raise Forbidden("Without admin.token, the admin API does not answer to other sites.")

    async def _note_guess(self, client: str) -> None:
        """Raises TooMany for an address that has guessed too often."""
        now = self._clock()
        if (seconds := await self._throttle.wait(client, now)) > 0:
            after = (("retry-after", str(round(seconds) + 1)),)
            raise TooMany("Too many wrong tokens from this address. Wait a minute.", headers=after)
        await self._throttle.note(client, now)

    def _told_by(self, cookie: str) -> tuple[str, int] | None:
        """The id and the end of a cookie that gets in. Every process that has the same token says the same of it, and
        none once the token is another."""
        match = _COOKIE.fullmatch(cookie)
        if match is None or not hmac.compare_digest(self._signed(cookie.rpartition(".")[0]), match[4]):
            return None
        is_over = self._clock() >= int(match[2]) or self._logouts.has(match[1])
        return None if is_over else (match[1], int(match[2]))

    def _visitor(self, cookie: str) -> Visitor | None:
        """Whoever a cookie lets in; that of a key nobody, once the key is revoked."""
        match = _COOKIE.fullmatch(cookie)
        if match is None or self._told_by(cookie) is None:
            return None
        if match[3] is None:
            return ADMIN
        key = None if self._keys is None else self._keys.by_id(match[3][1:])
        return None if key is None or self._keys is None else Visitor(key, self._keys.tenant(key))

    def _of_key(self, given: bytes) -> Visitor | None:
        """The visitor that a key of this proxy lets in; None if it is none."""
        if self._keys is None or not given or not self._keys.checks:
            return None
        key = self._keys.find(given.decode("utf-8", "replace"))
        return None if key is None else Visitor(key, self._keys.tenant(key))

    def _signed(self, said: str) -> str:
        assert self._token is not None
        return hmac.digest(self._token, f"{COOKIE}:{said}".encode(), "sha256").hex()


def _refuse_forged(headers: Headers) -> None:
    """Refuses what another page makes a browser send with its cookie. It can neither name our origin as its own
    nor, without being asked first, send JSON."""
    site, origin = wire_headers.get(headers, "sec-fetch-site"), wire_headers.get(headers, "origin")
    is_own = site == "same-origin" if site is not None else origin is not None and not _is_other(headers)
    if not is_own:
        raise Forbidden("By cookie, the admin API is changed from its own page only.")
    kind, _, _ = (wire_headers.get(headers, "content-type") or "").partition(";")
    if kind.strip().lower() != "application/json":
        raise Forbidden("By cookie, the admin API is changed with content-type application/json only.")


def _is_other(headers: Headers) -> bool:
    """Tells whether a page of another origin makes the request, by its headers. Another scheme is another origin, and
    ours is http, unless whoever ends TLS before us tells another one; where a browser has compared them itself, it
    knows better."""
    host = wire_headers.get(headers, "host") or ""
    schemes = {wire_headers.get(headers, "x-forwarded-proto") or "http"}
    if wire_headers.get(headers, "sec-fetch-site") == "same-origin":
        schemes = {"http", "https"}
    origins = (value.partition("://") for name, value in headers if name == "origin")
    return any(scheme not in schemes or named != host for scheme, _, named in origins)


def _is_one_of(given: bytes, *known: bytes) -> bool:
    """Told in the same time wherever they differ. A right token gets in however many wrong ones came from its address:
    else whoever shares that, behind a proxy of their own, would lock its owner out."""
    return sum(hmac.compare_digest(given, token) for token in known) > 0


def _bytes(token: SecretStr | None) -> bytes | None:
    return None if token is None else token.get_secret_value().encode()


def _bearer(headers: Headers) -> bytes:
    """The bearer token of an Authorization header; empty if it has none."""
    scheme, _, given = (wire_headers.get(headers, "authorization") or "").partition(" ")
    return given.strip().encode() if scheme.lower() == "bearer" else b""


def _cookies(headers: Headers) -> Iterator[str]:
    """The values of ours; another program of this machine may have set one of the same name."""
    for name, value in headers:
        if name == "cookie":
            for pair in value.split(";"):
                key, _, said = pair.strip().partition("=")
                if key == COOKIE:
                    yield said
