"""Who asks, and how a browser gets in.

    GET  /admin/api/me       what this proxy is; the only route that says anything without admission: its version, and
                             whether it wants a token
    POST /admin/api/login    {token}: 204 and a cookie for twelve hours; wrong: 401; wrong too often: 429
    POST /admin/api/logout   204, and the cookie is gone, and of no use to whoever has copied it

The cookie says who has had the token, signed with it, so that every process of the proxy knows it without storing it.
No script can read it, and it goes to the admin API alone.
"""

from dataclasses import asdict
from functools import cache
from importlib.metadata import version
from time import time

from proxy.admin import form
from proxy.admin.access import COOKIE, COOKIE_SECONDS
from proxy.admin.parts import Admin
from proxy.call import Call
from proxy.config.rules import shows_content
from proxy.errors import BadRequest, Forbidden, Unauthorized
from proxy.types import Headers, Json
from proxy.wire import headers as wire_headers


async def me(call: Call, admin: Admin) -> None:
    told: dict[str, Json] = {"version": _version(), "needs_token": admin.door.needs_token, "is_admitted": False}
    try:
        await admin.door.admit(call.headers, call.method, call.client)
    except (Unauthorized, Forbidden):
        await call.answer(form.answered(told))
        return
    config = admin.services.config
    more: dict[str, Json] = {
        "is_admitted": True,
        "show_content": shows_content(config),
        "profile": config.context.profile,
        "profile_with_tools": config.context.profile_with_tools,
        "profiles": {name: asdict(profile) for name, profile in config.profiles.items()},
        "upstreams": [upstream.name for upstream in config.upstreams],
        "now": time(),
    }
    await call.answer(form.answered(told | more))


async def login(call: Call, admin: Admin) -> None:
    admin.door.refuse_others(call.headers)
    given = await form.body(call, admin.services, allowed=("token",), required=("token",))
    if not isinstance(given["token"], str):
        raise BadRequest("token is a text", param="token")
    cookie = await admin.door.enter(given["token"], call.client)
    await call.answer(form.done(_cookie(cookie, COOKIE_SECONDS, call.headers)))


async def logout(call: Call, admin: Admin) -> None:
    admin.door.refuse_others(call.headers)
    await admin.door.leave(call.headers)
    await call.answer(form.done(_cookie("", 0, call.headers)))


def _cookie(value: str, seconds: int, asked: Headers) -> tuple[str, str]:
    is_https = (wire_headers.get(asked, "x-forwarded-proto") or "").split(",")[0].strip().lower() == "https"
    secure = "; Secure" if is_https else ""
    # Without a path: a browser takes that of the admin API, under whatever prefix it reaches it. What goes to /v1 may
    # go on to an upstream, cookies included.
    return "set-cookie", f"{COOKIE}={value}; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}"


@cache
def _version() -> str:
    return version("olvido")
