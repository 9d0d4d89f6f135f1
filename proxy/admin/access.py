"""Who may administer. With a token: who has it. Without one: programs of this machine, if the proxy serves nobody else.

A page of another site that the user has open in a browser is no such program, so without a token the names by which a
browser reached us are checked, and the site that asked.
"""

import hmac
from urllib.parse import urlsplit

from proxy.config import Config
from proxy.config.rules import is_loopback
from proxy.errors import Forbidden, Unauthorized
from proxy.types import Headers
from proxy.wire import headers as wire_headers


class Door:
    def __init__(self, config: Config) -> None:
        token = config.admin.token
        self._token = None if token is None else token.get_secret_value().encode()
        self._is_private = is_loopback(config.server.host)

    def admit(self, headers: Headers) -> None:
        """Raises Unauthorized or Forbidden."""
        if self._token is not None:
            scheme, _, given = (wire_headers.get(headers, "authorization") or "").partition(" ")
            if scheme.lower() != "bearer" or not hmac.compare_digest(given.strip().encode(), self._token):
                raise Unauthorized("The admin API needs the token of admin.token: Authorization: Bearer <token>.")
            return
        if not self._is_private:
            raise Forbidden("The admin API needs admin.token to be set: the proxy does not listen on loopback only.")
        host = wire_headers.get(headers, "host") or ""
        if not is_loopback(_host(host)):
            raise Forbidden("Without admin.token, the admin API answers to this machine's own name only.")
        # Another program of this machine has another port: that is another site. Not every browser tells both.
        origin = wire_headers.get(headers, "origin")
        is_other = origin is not None and origin.partition("://")[2] != host
        if is_other or wire_headers.get(headers, "sec-fetch-site") not in (None, "none", "same-origin"):
            raise Forbidden("Without admin.token, the admin API does not answer to other sites.")


def _host(name: str) -> str:
    try:
        return urlsplit(f"//{name}").hostname or ""
    except ValueError:
        return ""
