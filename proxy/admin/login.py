"""Logging in and out, and what a visitor is told about this proxy and about itself.

    GET  /admin/api/me       what this proxy is; the only route that says anything without admission: its version, and
                             whether it wants a token
    POST /admin/api/login    {token}: 204 and a cookie for twelve hours; wrong: 401; wrong too often: 429. A key of this
                             proxy is a token too: of its own numbers and contents
    POST /admin/api/logout   204, and the cookie is gone, and of no use to whoever has copied it

The cookie says who has had the token, signed with it, so that every process of the proxy knows it without storing it.
No script can read it, and it goes to the admin API alone.
"""

from collections.abc import Mapping
from dataclasses import asdict
from importlib.metadata import version
from time import time

from proxy.admin.auth import COOKIE, COOKIE_SECONDS
from proxy.admin.codec import Asked, as_json, without_body
from proxy.admin.parts import Admin
from proxy.admin.presets import presets
from proxy.config import fingerprint, shows_content
from proxy.errors import Forbidden, Unauthorized
from proxy.http.exchange import Call
from proxy.protocol import headers as wire_headers
from proxy.types import Answer, Headers, Json
from proxy.types.keys import ApiKey

_VERSION = version("olvido")


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
